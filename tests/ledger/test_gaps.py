"""Gaps: the slots that had no fire, as few rows as tell them apart, against counting them one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import rota
from rota.cadence import Cadence
from rota.miss import COUNTED, Gap, Miss, Reason, gaps
from rota.testing import Harness
from tests.ledger.specs import HOUR, INSTANT, MINUTE, SECOND, slots_from

STARTS = [
    datetime(2026, 8, 3, 9, 0, tzinfo=UTC),
    datetime(2026, 3, 28, 23, 30, 0, 1, tzinfo=UTC),
    datetime(2026, 10, 25, 0, 15, tzinfo=UTC),
    datetime(9998, 12, 31, 20, 0, tzinfo=UTC),
]
TEXTS = ["* * * * *", "*/7 * * * *", "0 * * * *", "30 1-3 * * *", "@every 11s", "@every 7m", "@every 1h30m"]
SPANS = [timedelta(0), SECOND, MINUTE, 10 * MINUTE, 3 * HOUR, 6 * HOUR, 20 * HOUR]
REASONS: list[Reason] = ["late", "edited", "blocked"]
Turn = tuple[datetime, Reason]


def plain(
    cadence: Cadence, first: datetime, now: datetime, fired: set[datetime], reason: Reason, turns: Sequence[Turn]
) -> list[Gap]:
    """The same, slot by slot."""
    told = [(slot, outcome(slot, fired, reason, turns)) for slot in slots_from(cadence.next_after, first, now)]
    runs = [(why, [slot for slot, _ in some]) for why, some in groupby(told, key=lambda pair: pair[1])]
    return [Gap(some[0], some[-1], counted(some), why) for why, some in runs if why is not None]


def outcome(slot: datetime, fired: set[datetime], reason: Reason, turns: Sequence[Turn]) -> Reason | None:
    passed = [why for turn, why in turns if turn <= slot]
    return None if slot in fired else (passed or [reason])[-1]


def counted(slots: Sequence[datetime]) -> int | None:
    return len(slots) if len(slots) <= COUNTED else None


@st.composite
def questions(draw: st.DrawFn) -> tuple[Cadence, datetime, datetime, set[datetime], Reason, list[Turn]]:
    start = draw(st.sampled_from(STARTS))
    zone = draw(st.sampled_from(["UTC", "Europe/Berlin"])) if start.year < 9998 else "UTC"
    cadence = Cadence.parse(draw(st.sampled_from(TEXTS)), zone, start)
    first = cadence.next_after(start) or start
    if draw(st.booleans()) and draw(st.booleans()):
        first += draw(st.sampled_from([SECOND, -INSTANT, 30 * SECOND]))  # set by hand, beside the cadence
    now = first + draw(st.sampled_from(SPANS)) + draw(st.sampled_from([-INSTANT, timedelta(0), INSTANT, 9 * SECOND]))
    slots = [first, *cadence.upcoming(first, 40)]
    near = st.sampled_from(slots).flatmap(lambda s: st.sampled_from([s - INSTANT, s, s, s, s + INSTANT, s + SECOND]))
    fired = draw(st.sets(near, max_size=6))
    whens = sorted(draw(st.lists(near, max_size=2, unique=True)))
    kinds: list[Reason] = ["paused", "retired"]
    turns = list(zip(whens, kinds[-len(whens) :], strict=True)) if whens else []
    return cadence, first, now, fired, draw(st.sampled_from(REASONS)), turns


@settings(max_examples=400, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
@given(questions())
def test_gaps_are_what_counting_one_by_one_gives(
    question: tuple[Cadence, datetime, datetime, set[datetime], Reason, list[Turn]],
) -> None:
    cadence, first, now, fired, reason, turns = question
    assert list(gaps(cadence, first, now, fired, reason, turns)) == plain(cadence, first, now, fired, reason, turns)


@settings(max_examples=200, deadline=None, print_blob=True)
@given(text=st.sampled_from(TEXTS), slots=st.integers(1, 1200), cut=st.integers(0, 1300), off=st.booleans())
@example(text="* * * * *", slots=1200, cut=999, off=False)
@example(text="* * * * *", slots=1200, cut=1000, off=True)
def test_a_row_cut_short_is_the_row_of_what_is_left(text: str, slots: int, cut: int, off: bool) -> None:
    cadence = Cadence.parse(text, anchor=STARTS[0])
    missed = cadence.upcoming(STARTS[0], slots)
    instant = [*missed, *cadence.upcoming(missed[-1], 1300)][cut] + (INSTANT if off else timedelta(0))
    row = Miss("a", missed[0], missed[-1], counted(missed), "late", None, 1, STARTS[0])
    left = [slot for slot in missed if slot <= instant]
    short = row.cut_after(instant, cadence)
    assert (short.first_slot, short.last_slot, short.slots) == (left[0], left[-1], counted(left))


# ---- rows, as they are written -------------------------------------------------------------------------------------


@pytest.fixture
def minutely(app: rota.App, env: Harness, clean: rota.Job0[None, None]) -> str:
    return app.schedule(clean, "* * * * *", id="minutely")


def rows(env: Harness) -> list[tuple[str, str, int | None, str]]:
    found: Iterable[Miss] = env.misses("minutely")
    return [(f"{m.first_slot:%d %H:%M}", f"{m.last_slot:%d %H:%M}", m.slots, m.reason) for m in found]


def pause_for(app: rota.App, env: Harness, minutes: int) -> None:
    app.pause("minutely")
    env.advance(minutes * MINUTE)
    app.resume("minutely")


def test_a_gap_next_to_the_last_one_extends_its_row(app: rota.App, env: Harness, minutely: str) -> None:
    pause_for(app, env, 5)
    pause_for(app, env, 5)
    assert rows(env) == [("03 09:01", "03 09:10", 10, "paused")]


def test_another_reason_begins_a_row(app: rota.App, env: Harness, minutely: str) -> None:
    env.advance(3 * MINUTE)
    pause_for(app, env, 2)
    env.advance(2 * MINUTE)
    app.trigger(minutely)
    assert rows(env) == [  # 09:03 was just when it was paused
        ("03 09:01", "03 09:02", 2, "late"),
        ("03 09:03", "03 09:05", 3, "paused"),
        ("03 09:07", "03 09:07", 1, "late"),
    ]


def test_another_version_begins_a_row(app: rota.App, env: Harness, minutely: str, clean: rota.Job0[None, None]) -> None:
    pause_for(app, env, 5)
    app.schedule(clean, "* * * * *", id=minutely, grace=HOUR)
    pause_for(app, env, 5)
    assert rows(env) == [("03 09:01", "03 09:05", 5, "paused"), ("03 09:06", "03 09:10", 5, "paused")]
    assert [miss.version for miss in env.misses(minutely)] == [1, 2]


def test_a_fire_between_two_gaps_keeps_them_apart(app: rota.App, env: Harness, minutely: str) -> None:
    pause_for(app, env, 2)
    env.advance(MINUTE)
    env.turn()
    pause_for(app, env, 3)
    assert rows(env) == [("03 09:01", "03 09:02", 2, "paused"), ("03 09:04", "03 09:06", 3, "paused")]


def test_a_fire_in_the_middle_splits_a_gap(app: rota.App, env: Harness, minutely: str) -> None:
    env.advance(4 * MINUTE)
    app.pause(minutely)
    assert app.trigger(minutely).scheduled_for == env.clock.now() - 3 * MINUTE
    early = app.trigger(minutely)
    assert early.scheduled_for == env.clock.now() + MINUTE
    env.advance(3 * MINUTE)
    app.resume(minutely)
    assert rows(env) == [
        ("03 09:02", "03 09:03", 2, "late"),
        ("03 09:04", "03 09:04", 1, "paused"),
        ("03 09:06", "03 09:07", 2, "paused"),
    ]


def test_the_fire_of_a_former_cadence_does_not_split_a_gap(
    app: rota.App, env: Harness, minutely: str, clean: rota.Job0[None, None]
) -> None:
    app.schedule(clean, "*/5 * * * *", id=minutely)
    assert app.trigger(minutely).scheduled_for == env.clock.now() + 5 * MINUTE
    app.schedule(clean, "@every 90s", id=minutely)  # 09:01:30, 09:03, 09:04:30, 09:06
    env.advance(7 * MINUTE)
    env.turn()
    assert rows(env) == [("03 09:03", "03 09:06", 3, "late")]


def test_paused_and_then_retired(app: rota.App, env: Harness, minutely: str, clean: rota.Job0[None, None]) -> None:
    """Slots from paused_at on are "paused", those from retired_at on "retired", whoever writes them."""
    env.advance(2 * MINUTE + SECOND)
    app.pause(minutely)
    env.advance(2 * MINUTE)
    retire(env)
    env.advance(2 * MINUTE)
    app.schedule(clean, "* * * * *", id=minutely)
    assert rows(env) == [
        ("03 09:01", "03 09:02", 2, "late"),
        ("03 09:03", "03 09:04", 2, "paused"),
        ("03 09:05", "03 09:06", 2, "retired"),
    ]


def retire(env: Harness) -> None:
    with env.store.begin() as connection:
        now = env.clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        connection.exec_driver_sql(f"update rota_schedules set retired = true, retired_at = '{now}'")


@pytest.mark.parametrize(("minutes", "slots"), [(999, 999), (1000, 1000), (1001, None), (3000, None)])
def test_counts_are_exact_up_to_a_thousand(
    app: rota.App, env: Harness, minutely: str, minutes: int, slots: int | None
) -> None:
    pause_for(app, env, minutes)
    assert [row.slots for row in env.misses(minutely)] == [slots]


def test_rows_that_join_beyond_a_thousand_are_no_longer_counted(app: rota.App, env: Harness, minutely: str) -> None:
    pause_for(app, env, 600)
    pause_for(app, env, 400)
    assert rows(env) == [("03 09:01", "04 01:40", 1000, "paused")]
    pause_for(app, env, 1)
    assert rows(env) == [("03 09:01", "04 01:41", None, "paused")]
    pause_for(app, env, 1)
    assert rows(env) == [("03 09:01", "04 01:42", None, "paused")]
