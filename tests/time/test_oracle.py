"""Cadence beside the referee, which walks every minute: random expressions, all zones, 1990 to 2040, clock changes.

`?` and `5/15` are left out: the referee does not take them (`test_cases` holds them).
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from bench.cron_corpus import WINDOWS, corpus
from hypothesis import HealthCheck, event, given, seed, settings
from hypothesis import strategies as st

from rota.cadence import Cadence
from rota.errors import CadenceNeverComes
from tests.cases import oracle
from tests.time.helpers import DAY, ZONES, at, clock_changes

MINUTE = timedelta(minutes=1)
START, END = at("1990-01-01T00:00Z"), at("2041-01-01T00:00Z")


# ---- what is drawn -------------------------------------------------------------------------------------------------


def items(low: int, high: int, names: tuple[str, ...] = ()) -> st.SearchStrategy[str]:
    """One part of a field: a number or a name, a range, a step."""
    number = st.integers(low, high)
    pair = st.tuples(number, number).map(sorted)
    step = st.integers(1, 2 * (high - low))
    kinds = [
        number.map(str),
        pair.map(lambda ends: f"{ends[0]}-{ends[1]}"),
        st.tuples(pair, step).map(lambda drawn: f"{drawn[0][0]}-{drawn[0][1]}/{drawn[1]}"),
        step.map(lambda size: f"*/{size}"),
    ]
    if names:
        kinds.append(st.sampled_from(names))
    return st.one_of(kinds)


def fields(low: int, high: int, names: tuple[str, ...] = ()) -> st.SearchStrategy[str]:
    parts = st.lists(items(low, high, names), min_size=1, max_size=3).map(",".join)
    return st.one_of(st.just("*"), parts)


def few(*texts: str) -> st.SearchStrategy[str]:
    return st.sampled_from(texts)


minutes = st.one_of(few("0", "30", "15,45", "*/20", "59", "0-59/29", "*"), fields(0, 59))
hours = st.one_of(few("0", "1", "2", "3", "0-4", "23", "1,2", "*", "*/2", "0,23", "2-23/7"), fields(0, 23))
dates = st.one_of(few("*", "29", "30", "31", "30-31"), fields(1, 31))
months = st.one_of(few("*", "2", "4,6,9,11"), fields(1, 12, ("jan", "Mar", "OCT")))
weekdays = st.one_of(st.just("*"), fields(0, 7, ("SUN", "mon", "Sat")))
expressions = st.tuples(minutes, hours, dates, months, weekdays).map(" ".join)


@st.composite
def moments(draw: st.DrawFn, zone: str) -> datetime:
    """An instant: most often near one of the zone's clock changes, to the second."""
    changes = clock_changes(zone)
    if changes and draw(st.integers(0, 5)):
        seconds = draw(st.integers(-86_400, 30_000))
        return draw(st.sampled_from(changes)) + timedelta(seconds=seconds)
    return START + timedelta(seconds=draw(st.integers(0, int((END - START).total_seconds()))))


@st.composite
def questions(draw: st.DrawFn) -> tuple[str, str, datetime]:
    zone = draw(st.sampled_from(ZONES))
    return draw(expressions), zone, draw(moments(zone))


# ---- what must hold ------------------------------------------------------------------------------------------------


def compare(text: str, zone: str, after: datetime) -> int:
    """Every slot of the day and a quarter after the instant, forwards and backwards; how many there were."""
    until = after + 1.25 * DAY
    try:
        expected = oracle.next_fires(text, zone, after, 10_000, until)
    except oracle.NeverFires:
        with pytest.raises(CadenceNeverComes):
            Cadence.parse(text, tz=zone)
        return -1
    cadence = Cadence.parse(text, tz=zone)
    found = slots_between(cadence, after, until)
    assert found == expected
    assert slots_backwards(cadence, after, until) == expected
    return len(found)


def slots_between(cadence: Cadence, after: datetime, until: datetime) -> list[datetime]:
    slots, slot = [], cadence.next_after(after)
    while slot is not None and slot <= until:
        slots.append(slot)
        slot = cadence.next_after(slot)
    return slots


def slots_backwards(cadence: Cadence, after: datetime, until: datetime) -> list[datetime]:
    slots, slot = [], cadence.last_before(until + timedelta.resolution)
    while slot is not None and slot > after:
        slots.append(slot)
        slot = cadence.last_before(slot)
    return slots[::-1]


@settings(max_examples=250, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
@given(questions())
def test_the_referee_agrees(question: tuple[str, str, datetime]) -> None:
    event("slots" if compare(*question) > 0 else "no slot")


@settings(max_examples=150, deadline=None, print_blob=True)
@given(questions())
def test_next_and_last_are_each_other_s_inverse(question: tuple[str, str, datetime]) -> None:
    text, zone, instant = question
    try:
        cadence = Cadence.parse(text, tz=zone)
    except CadenceNeverComes:
        return
    slots = cadence.upcoming(instant, 5)
    assert all(earlier < later for earlier, later in pairwise([instant, *slots]))
    for slot in slots:
        assert cadence.next_after(slot - timedelta.resolution) == slot
        last = cadence.last_before(slot)
        assert last is None or (last < slot and cadence.next_after(last) == slot)


# ---- the windows in which other engines go wrong -------------------------------------------------------------------


@pytest.mark.parametrize(("zone", "start", "days"), WINDOWS)
def test_two_days_around_a_change_for_the_whole_corpus(zone: str, start: str, days: int) -> None:
    after = at(start + "+00:00")
    until = after + days * DAY
    walk = [Walked(after + number * MINUTE, ZoneInfo(zone)) for number in range(1, days * 1440 + 1)]
    for text in corpus():
        cron = oracle.parse(text)
        expected = [seen.minute for seen in walk if seen.fires(cron)]
        assert slots_between(Cadence.parse(text, tz=zone), after, until) == expected, text


class Walked:
    """What the referee sees in a minute, whatever the expression: seen once for the whole corpus."""

    def __init__(self, minute: datetime, zone: ZoneInfo) -> None:
        self.minute = minute
        self.local = oracle._local(minute, zone)
        self.skipped = list(oracle._skipped_minutes(minute, zone))
        self.repeated = oracle._repeated(self.local)

    def fires(self, cron: oracle.Cron) -> bool:
        """`oracle.fires_at`, over what was seen."""
        if cron.wildcard:
            return cron.matches(self.local)
        return any(map(cron.matches, self.skipped)) or (cron.matches(self.local) and not self.repeated)


# ---- the long form -------------------------------------------------------------------------------------------------


@pytest.mark.soak
def test_soak_the_referee_agrees() -> None:
    """ROTA_SOAK_SECONDS (60) of random questions; ROTA_SOAK_SEED repeats them."""
    number = int(os.environ.get("ROTA_SOAK_SEED", random.SystemRandom().randrange(2**32)))
    until = time.monotonic() + float(os.environ.get("ROTA_SOAK_SECONDS", "60"))
    counts: Counter[str] = Counter()
    sys.stdout.write(f"\nseed {number}\n")
    while time.monotonic() < until:
        ask_many(number + counts["rounds"], counts)
    sys.stdout.write(f"seed {number}: {dict(counts)}, 0 differences\n")


def ask_many(number: int, counts: Counter[str]) -> None:
    patient = settings(max_examples=500, deadline=None, database=None, print_blob=True)

    @seed(number)
    @settings(patient, suppress_health_check=list(HealthCheck))
    @given(questions())
    def ask(question: tuple[str, str, datetime]) -> None:
        slots = compare(*question)
        counts.update(questions=1, impossible=slots < 0, slots=max(slots, 0))

    ask()
    counts.update(rounds=1)
