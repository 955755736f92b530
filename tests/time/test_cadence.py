from __future__ import annotations

import copy
import pickle
import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.cadence import Cadence
from rota.errors import CadenceInvalid, CadenceNeverComes, InstantNaive, TimeError
from tests.cases import oracle
from tests.time.helpers import at, python, said

NOON = at("2026-03-01T12:00:00Z")


# ---- the value -----------------------------------------------------------------------------------------------------


def test_equal_by_text_zone_and_anchor() -> None:
    one = Cadence.parse("0  9\t* * *", tz="Europe/Berlin")
    assert one == Cadence.parse("0 9 * * *", tz="Europe/Berlin")
    assert hash(one) == hash(Cadence.parse("0 9 * * *", tz="Europe/Berlin"))
    assert one != Cadence.parse("0 9 * * *")
    assert one != Cadence.parse("00 9 * * *", tz="Europe/Berlin")
    assert Cadence.parse("@every 5m", anchor=NOON) != Cadence.parse("@every 5m")
    assert (one.text, one.zone_name, one.anchor, one.is_interval) == ("0 9 * * *", "Europe/Berlin", None, False)


def test_parsing_again_gives_the_same_object() -> None:
    assert Cadence.parse("0 9 * * *", tz="Europe/Berlin") is Cadence.parse("0 9 * * *", tz="Europe/Berlin")


def test_frozen() -> None:
    with pytest.raises(AttributeError):
        Cadence.parse("@daily").text = "@hourly"  # type: ignore[misc]


@pytest.mark.parametrize("cadence", [Cadence.parse("0 9 * * *", "Asia/Tokyo"), Cadence.parse("@every 5m", anchor=NOON)])
def test_copies_are_equal(cadence: Cadence) -> None:
    assert pickle.loads(pickle.dumps(cadence)) == copy.deepcopy(cadence) == cadence


def test_repr() -> None:
    assert repr(Cadence.parse("@daily", "Asia/Tokyo")) == "Cadence('@daily', tz='Asia/Tokyo')"
    interval = Cadence.parse("@every 5m", anchor=NOON)
    assert repr(interval) == "Cadence('@every 5m', tz='UTC', anchor=2026-03-01T12:00:00+00:00)"


def test_importing_it_is_light() -> None:
    loaded = set(python("import sys, rota.cadence; print(*sys.modules)").split())
    assert "rota.cadence" in loaded
    assert not loaded & {"sqlalchemy", "pydantic", "click", "rich", "yaml", "asyncio"}


# ---- instants ------------------------------------------------------------------------------------------------------


def test_answers_are_in_utc_whatever_is_asked() -> None:
    local = NOON.astimezone(ZoneInfo("America/New_York"))
    slot = Cadence.parse("@daily", "Asia/Tokyo").next_after(local)
    assert slot == at("2026-03-01T15:00Z")
    assert slot
    assert slot.tzinfo is UTC


def test_both_passes_of_a_fold_are_told_apart() -> None:
    first = datetime(2026, 11, 1, 1, 30, tzinfo=ZoneInfo("America/New_York"))
    cadence = Cadence.parse("@hourly", "America/New_York")
    assert said(cadence.next_after(first)) == "2026-11-01T06:00:00Z"
    assert said(cadence.next_after(first.replace(fold=1))) == "2026-11-01T07:00:00Z"


def test_strictly_later_and_strictly_earlier() -> None:
    noon = Cadence.parse("0 12 * * *")
    assert noon.next_after(NOON) == NOON + timedelta(days=1)
    assert noon.next_after(NOON - timedelta.resolution) == NOON
    assert noon.last_before(NOON) == NOON - timedelta(days=1)
    assert noon.last_before(NOON + timedelta.resolution) == NOON


def test_naive_instants_are_refused() -> None:
    cadence, naive = Cadence.parse("@every 5m"), datetime(2026, 3, 1, 12)
    for ask in (
        cadence.next_after,
        cadence.last_before,
        cadence.anchored,
        lambda instant: cadence.upcoming(instant, 3),
    ):
        with pytest.raises(InstantNaive):
            ask(naive)


def test_upcoming() -> None:
    assert Cadence.parse("@daily").upcoming(NOON, 0) == []
    assert Cadence.parse("@daily").upcoming(NOON, -1) == []
    assert len(Cadence.parse("* * * * *").upcoming(NOON, 1000)) == 1000


@pytest.mark.parametrize("tz", ["UTC", "+14:00", "-12:00", "America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize("text", ["* * * * *", "0 0 29 2 *", "@every 5m", "@every 876600h"])
def test_the_ends_of_the_calendar(text: str, tz: str) -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    for cadence in (Cadence.parse(text, tz), Cadence.parse(text, tz).anchored(NOON)):
        assert cadence.next_after(last) is None
        assert cadence.last_before(first) is None
        assert cadence.next_after(first)
        assert cadence.last_before(last)


def test_the_search_ends_with_the_year_9998() -> None:
    cadence = Cadence.parse("0 0 1 1 *")
    assert said(cadence.next_after(at("9997-06-01T00:00Z"))) == "9998-01-01T00:00:00Z"
    assert cadence.next_after(at("9998-06-01T00:00Z")) is None
    assert cadence.upcoming(at("9996-06-01T00:00Z"), 5) == [at("9997-01-01T00:00Z"), at("9998-01-01T00:00Z")]


@pytest.mark.parametrize(
    ("text", "zone", "after"),
    [
        ("*/20 * * * *", "Africa/Monrovia", "1972-01-06T20:00:00Z"),  # -0:44:30 becomes 0: the clock leaps
        ("10 0 * * *", "Africa/Monrovia", "1972-01-06T20:00:00Z"),
        ("0 0 * * *", "Europe/Amsterdam", "1937-06-29T20:00:00Z"),
        ("*/15 * * * *", "America/New_York", "1883-11-18T12:00:00Z"),  # -4:56:02 becomes -5
        ("0 12 * * *", "America/New_York", "1883-11-17T12:00:00Z"),
        ("30 23 * * *", "Asia/Manila", "1844-12-29T00:00:00Z"),  # a day is dropped
        ("0 12 * * *", "Pacific/Kwajalein", "1993-08-19T12:00:00Z"),
        ("30 11 * * *", "America/Juneau", "1867-10-17T12:00:00Z"),  # a day comes twice
    ],
)
def test_odd_offsets_as_the_referee_has_them(text: str, zone: str, after: str) -> None:
    expected = oracle.next_fires(text, zone, at(after), 4)
    cadence = Cadence.parse(text, zone)
    assert cadence.upcoming(at(after), 4) == expected
    assert cadence.last_before(expected[-1] + timedelta.resolution) == expected[-1]
    assert cadence.last_before(expected[-1]) == expected[-2]


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said_of_it"),
    [
        ("@reboot", "@app.on_start"),
        ("@weekdays", "there is no such descriptor: the ones there are are @yearly"),
        ("@every", "say how often"),
        ("@every 1.5s", "whole seconds"),
        ("@every 0.5s", "whole seconds"),
        ("@every 7d", "@every 168h"),
        ("@every5m", "no such descriptor"),
        ("@daily 5", "no such descriptor"),
        ("0 0 0 * * *", "there is no seconds field (for less than a minute write '@every 30s')"),
        ("0 9 * * Monday", "day-of-week 'Monday': names have three letters: write MON"),
        ("0 0 * * MON#2", "'*/100,8-14'"),
        ("0 0 L * *", "L (the last one) is not offered"),
        ("0 0 15W * *", "W (the nearest working day) is not offered"),
        ("H H * * *", "H (a hashed value) is not offered"),
        ("61 * * * *", "minute '61': 61 is outside 0-59"),
        ("0 0 * * \u017fun", "day-of-week"),  # a long s: 'ſun'.upper() == 'SUN'
        ("999999999999999999999 * * * *", "minute"),
        ("* " * 5000, "over 1,000 characters"),
        ("9" * 10_000 + " * * * *", "over 1,000 characters"),
        (",".join(["1"] * 490) + ", * * * *", "extra comma"),
        ("\x00 * * * *", "minute '\\x00'"),
        ("", "it has 0 fields and needs five"),
        (None, "give a text"),
        (["0", "9"], "give a text"),
    ],
)
def test_refused_quickly_and_clearly(text: str, said_of_it: str) -> None:
    begun = time.perf_counter()
    with pytest.raises(CadenceInvalid) as caught:
        Cadence.parse(text)
    assert time.perf_counter() - begun < 0.5
    assert said_of_it in str(caught.value)
    assert len(str(caught.value)) < 400


def test_what_never_comes_is_refused_when_it_is_parsed() -> None:
    with pytest.raises(CadenceNeverComes, match="no date has that day, month and weekday"):
        Cadence.parse("0 0 30 2 *")
    assert issubclass(CadenceNeverComes, TimeError)


def test_blanks_and_cases_do_not_matter() -> None:
    assert Cadence.parse(" 0\u00a09 *\n* mon ").text == "0 9 * * mon"
    assert Cadence.parse("@Daily").next_after(NOON) == Cadence.parse("@daily").next_after(NOON)


# ---- intervals -----------------------------------------------------------------------------------------------------


def test_an_interval_counts_from_its_anchor() -> None:
    cadence = Cadence.parse("@every 90m").anchored(NOON + timedelta(seconds=7.25))
    assert cadence.anchor == NOON + timedelta(seconds=7)
    first = NOON + timedelta(minutes=90, seconds=7)
    assert cadence.next_after(NOON - timedelta(days=1)) == first
    assert cadence.upcoming(first, 2) == [first + timedelta(minutes=90), first + timedelta(minutes=180)]
    assert cadence.last_before(first) is None
    assert cadence.last_before(first + timedelta.resolution) == first
    assert cadence.is_interval


def test_an_interval_without_an_anchor_counts_from_the_question() -> None:
    cadence = Cadence.parse("@every 1s")
    assert cadence.next_after(NOON) == NOON + timedelta(seconds=1)
    assert cadence.next_after(NOON + timedelta(seconds=0.5)) == NOON + timedelta(seconds=1)
    assert cadence.last_before(NOON) == NOON - timedelta(seconds=1)
    assert cadence.last_before(NOON + timedelta(seconds=0.5)) == NOON


def test_only_an_interval_that_has_none_is_given_an_anchor() -> None:
    daily, anchored = Cadence.parse("@daily"), Cadence.parse("@every 5m", anchor=NOON)
    assert daily.anchored(NOON) is daily
    assert anchored.anchored(NOON + timedelta(hours=1)) is anchored
    assert Cadence.parse("@daily", anchor=NOON) == daily


spans = st.integers(1, 10**7)
instants = st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))


@given(spans, instants, instants)
def test_intervals_as_the_referee_has_them(seconds: int, anchor: datetime, after: datetime) -> None:
    cadence, step = Cadence.parse(f"@every {seconds}s", anchor=anchor), timedelta(seconds=seconds)
    start = anchor.replace(microsecond=0)
    expected = [slot for slot in oracle.every(start, step, after, 4) if slot > start]
    slots = cadence.upcoming(after, 4)
    assert slots[:3] == expected[:3]
    assert cadence.last_before(slots[3]) == slots[2]
    assert cadence.next_after(slots[2] - timedelta.resolution) == slots[2]
