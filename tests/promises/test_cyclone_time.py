"""Cyclone's promises about time: C3 and C27 to C38 (C35 is a column: its test is with the store)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from rota.cadence import Cadence
from rota.cron import DESCRIPTORS
from rota.errors import CadenceInvalid
from tests.time.helpers import at, python, said


def after(text: str, instant: str, tz: str = "UTC") -> str | None:
    return said(Cadence.parse(text, tz=tz).next_after(at(instant)))


def test_c3_minute_0_of_every_hour() -> None:
    assert after("0 * * * *", "2026-03-01T13:20:00Z") == "2026-03-01T14:00:00Z"
    assert after("0 * * * *", "2026-03-01T14:00:00Z") == "2026-03-01T15:00:00Z"


@pytest.mark.parametrize("text", ["0 * * *", "0 0 * * * *", "", "*"])
def test_c27_five_fields(text: str) -> None:
    with pytest.raises(CadenceInvalid, match="needs five: minute hour day-of-month month day-of-week"):
        Cadence.parse(text)
    assert Cadence.parse("0 0 * * *").text == "0 0 * * *"


@pytest.mark.parametrize("text", ["@yearly", "@annually"])
def test_c28_once_a_year(text: str) -> None:
    assert after(text, "2026-03-01T00:00:00Z") == "2027-01-01T00:00:00Z"
    assert after(text, "2027-01-01T00:00:00Z") == "2028-01-01T00:00:00Z"


def test_c29_the_first_of_the_month() -> None:
    assert after("@monthly", "2026-03-01T00:00:00Z") == "2026-04-01T00:00:00Z"


def test_c30_sundays_at_midnight() -> None:
    assert at("2026-08-03T00:00:00Z").strftime("%A") == "Monday"
    assert after("@weekly", "2026-08-03T00:00:00Z") == "2026-08-09T00:00:00Z"
    assert after("@weekly", "2026-08-09T00:00:00Z") == "2026-08-16T00:00:00Z"


def test_c31_every_midnight() -> None:
    start = at("2026-08-03T10:00:00Z")
    daily = Cadence.parse("@daily", tz="Europe/Berlin").upcoming(start, 400)
    assert daily == Cadence.parse("@midnight", tz="Europe/Berlin").upcoming(start, 400)
    assert said(daily[0]) == "2026-08-03T22:00:00Z"


def test_c32_every_hour_at_minute_0() -> None:
    start = at("2026-10-31T00:10:00Z")
    hourly = Cadence.parse("@hourly", tz="America/New_York").upcoming(start, 100)
    assert hourly == Cadence.parse("0 * * * *", tz="America/New_York").upcoming(start, 100)
    assert said(hourly[0]) == "2026-10-31T01:00:00Z"


@pytest.mark.parametrize(("text", "minutes"), [("@every 1h30m", 90), ("@every 5m", 5), ("@every 1.5h", 90)])
def test_c33_every_duration(text: str, minutes: int) -> None:
    anchor = at("2026-03-08T05:11:12Z")
    first, second = Cadence.parse(text, tz="America/New_York", anchor=anchor).upcoming(anchor, 2)
    assert first - anchor == second - first == timedelta(minutes=minutes)


@pytest.mark.parametrize("prefix", ["CRON_TZ=Asia/Tokyo", "TZ=Asia/Tokyo", "cron_tz=Asia/Tokyo"])
@pytest.mark.parametrize("text", ["0 5 * * *", "@daily", "@every 5m"])
def test_c34_no_zone_in_the_text(prefix: str, text: str) -> None:
    with pytest.raises(CadenceInvalid, match="tz='Asia/Tokyo'"):
        Cadence.parse(f"{prefix} {text}")


def test_c36_weekdays_at_nine_in_new_york() -> None:
    cadence = Cadence.parse("0 9 * * 1-5", tz="America/New_York")
    spring = cadence.upcoming(at("2026-03-06T00:00:00Z"), 2)
    autumn = cadence.upcoming(at("2026-10-30T00:00:00Z"), 2)
    assert [said(slot) for slot in spring] == ["2026-03-06T14:00:00Z", "2026-03-09T13:00:00Z"]
    assert [said(slot) for slot in autumn] == ["2026-10-30T13:00:00Z", "2026-11-02T14:00:00Z"]


def test_c37_a_fixed_time_runs_once_on_the_days_of_the_clock_changes() -> None:
    lost = Cadence.parse("30 2 * * *", tz="America/New_York").upcoming(at("2026-03-07T12:00:00Z"), 2)
    twice = Cadence.parse("30 1 * * *", tz="America/New_York").upcoming(at("2026-10-31T12:00:00Z"), 2)
    assert [said(slot) for slot in lost] == ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"]
    assert [said(slot) for slot in twice] == ["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"]


def test_c37_what_begins_with_a_star_follows_the_clock() -> None:
    spring = Cadence.parse("*/30 1-3 * * *", tz="America/New_York").upcoming(at("2026-03-08T05:00:00Z"), 4)
    autumn = Cadence.parse("*/30 1 * * *", tz="America/New_York").upcoming(at("2026-11-01T04:00:00Z"), 4)
    assert [f"{slot:%H:%M}" for slot in spring] == ["06:00", "06:30", "07:00", "07:30"]
    assert [f"{slot:%H:%M}" for slot in autumn] == ["05:00", "05:30", "06:00", "06:30"]


def test_c38_the_process_s_own_zone_plays_no_part() -> None:
    code = """
import time
from datetime import UTC, datetime
from rota.cadence import Cadence
time.tzset()
print(time.tzname[0])
for text in ("0 9 * * 1-5", "@daily", "30 2 * * *", "*/20 * * * *"):
    for tz in ("America/New_York", "UTC", "+02:00"):
        cadence = Cadence.parse(text, tz=tz)
        local = datetime(2026, 3, 7, 12, tzinfo=UTC).astimezone()
        print(text, tz, *cadence.upcoming(local, 5), cadence.last_before(local))
"""
    own, here = python(code, TZ="UTC").splitlines(), python(code, TZ="Asia/Tokyo").splitlines()
    assert (own[0], here[0]) == ("UTC", "JST")
    assert own[1:] == here[1:]
    assert "0 9 * * 1-5 America/New_York 2026-03-09 13:00:00+00:00" in own[1]


def test_every_descriptor_is_promised() -> None:
    assert set(DESCRIPTORS) == {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
