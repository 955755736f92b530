from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota import offsets, zone
from rota.errors import ZoneUnknown
from tests.time.helpers import ZONES, at, clock_changes, python


def test_every_iana_name() -> None:
    for name in ZONES:
        assert zone.parse(name) is ZoneInfo(name)


@pytest.mark.parametrize(
    ("name", "minutes"), [("+02:00", 120), ("-03:30", -210), ("+00:00", 0), ("-00:00", 0), ("+05:45", 345)]
)
def test_fixed_offsets(name: str, minutes: int) -> None:
    assert zone.parse(name) == timezone(timedelta(minutes=minutes))


@pytest.mark.parametrize(
    "name",
    [
        *("+2:00", "+0200", "+02", "02:00", "+24:00", "+02:60", "+25:00", "UTC+2", "UTC+02:00", "+٠٢:٠٠", "+02:00 "),
        *("Z", "utc", "Utc", "europe/berlin", "CEST", "PDT", "Europe", "Europe/", "Europe//Berlin", "./UTC"),
        *(
            "posix/UTC",
            "right/UTC",
            "tzdata.zi",
            "zone1970.tab",
            "leapseconds",
            "Local",
            "local",
            "\x00",
            "Ａsia/Tokyo",
        ),
    ],
)
def test_unknown(name: str) -> None:
    with pytest.raises(ZoneUnknown, match="is not known: give an IANA name"):
        zone.parse(name)


@pytest.mark.parametrize("name", [None, 5, 5.0, ZoneInfo("UTC")])
def test_only_names_are_zones(name: object) -> None:
    with pytest.raises(ZoneUnknown):
        zone.parse(name)


def test_a_slim_machine_refuses_what_a_full_one_refuses(tmp_path: object) -> None:
    code = """
from rota import zone
for name in ("PST", "America", "localtime", "europe/berlin", "../etc/passwd", "UTC\\0", "Europe/Zürich", "a" * 5000):
    try:
        print(zone.parse(name))
    except zone.ZoneUnknown:
        print("refused")
"""
    assert set(python(code, PYTHONTZPATH=str(tmp_path), TZ="Asia/Tokyo").split()) == {"refused"}


# ---- the offsets of a zone -----------------------------------------------------------------------------------------


@given(st.sampled_from(ZONES), st.datetimes(datetime(1800, 1, 1), datetime(2400, 1, 1)))
def test_stretches_say_what_zoneinfo_says(name: str, naive: datetime) -> None:
    instant = naive.replace(tzinfo=UTC, second=0, microsecond=0)
    shift = instant.astimezone(ZoneInfo(name)).utcoffset()
    assert shift is not None
    stretch = offsets.of(zone.parse(name)).at(minute_of(instant))
    assert stretch.start <= minute_of(instant) < stretch.end
    assert stretch.offset == shift // timedelta(minutes=1)


@pytest.mark.parametrize("name", ["America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia"])
def test_stretches_begin_where_the_offset_changes(name: str) -> None:
    found, minute, end = [], minute_of(at("1990-01-01T00:00Z")), minute_of(at("2041-01-01T00:00Z"))
    own = offsets.Offsets(zone.parse(name))
    before = own.at(minute).offset
    while minute < end:
        stretch = own.at(minute)
        if stretch.offset != before:
            found.append(stretch.start)
        before, minute = stretch.offset, stretch.end
    assert found == [minute_of(change) for change in clock_changes(name)]


def minute_of(instant: datetime) -> int:
    return (instant - at("1970-01-01T00:00Z")) // timedelta(minutes=1)


class OneChange(tzinfo):
    """A zone whose clock is set once; `fold` says on which side of that a local time is."""

    def __init__(self, change: datetime, before: timedelta, after: timedelta) -> None:
        self._change, self._before, self._after = change, before, after

    def fromutc(self, local: datetime) -> datetime:
        changed = local.replace(tzinfo=UTC) >= self._change
        return (local + (self._after if changed else self._before)).replace(fold=int(changed))

    def utcoffset(self, local: datetime | None) -> timedelta:
        return self._after if local and local.fold else self._before


@pytest.mark.parametrize("early", [0, 30, 59])
@pytest.mark.parametrize("shift", [60, -60])
def test_a_change_beside_the_border_of_a_page_is_seen_from_both_sides(early: int, shift: int) -> None:
    border = 7 << 22  # stretches are found and kept page by page, of so many minutes
    change = at("1970-01-01T00:00Z") + timedelta(minutes=border - early)
    own = offsets.Offsets(OneChange(change, timedelta(0), timedelta(minutes=shift)))
    assert own.at(border - early - 1).offset == 0
    for minute in (border - early, border, border + 1):
        start, end, offset, fixed_from = own.at(minute)
        assert (start, offset, fixed_from) == (border - early, shift, border - early - shift)
        assert end > minute
