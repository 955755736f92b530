"""The decision on a slot, as a table of cases: what is due, what the database says, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.engine.firing import AlreadyFired, Failed, Fired, Missed, decide, failure
from rota.schedule import POISONED_AFTER, RETRY_AFTER, UNREADABLE_AFTER, Schedule
from rota.store.schedules import Due
from rota.terms import Terms
from tests.store.rows import schedule

TERMS = Terms("tick", "step", "bulk", 3, '{"initial_delay": 1}', timedelta(seconds=9))
INSTANT, MINUTE = timedelta.resolution, timedelta(minutes=1)


def at(text: str) -> datetime:
    """`14:00` of one day."""
    hour, minute, *second = map(int, text.split(":"))
    return datetime(2026, 8, 3, hour, minute, *second, tzinfo=UTC)


def hourly(slot: str = "14:00", **changes: Any) -> Schedule:
    return schedule("a", **({"cron_spec": "0 * * * *", "next_run_at": at(slot)} | changes))


def due(row: Schedule, run_id: int | None = None, terms: Terms | None = TERMS, barred: Any = None) -> Due:
    return Due(row, run_id, terms, barred)


# ---- fired ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "following"), [("14:00", "15:00"), ("14:00:01", "15:00"), ("14:59:59", "15:00"), ("16:30", "17:00")]
)
def test_the_oldest_slot_is_fired_and_the_next_one_is_after_now(now: str, following: str) -> None:
    decided = decide(due(hourly(input='"day"', actor="ann")), at(now))
    assert isinstance(decided, Fired)
    run = decided.run
    assert (run.scheduled_for, run.run_after, run.created_at) == (at("14:00"), at("14:00"), at(now))
    assert (run.queue, run.timeout, run.max_attempts, run.retry) == ("bulk", timedelta(seconds=9), 3, TERMS.retry)
    assert (run.job, run.input, run.schedule_id, run.actor) == ("tick", '"day"', "a", "ann")
    assert run.idempotency_key == "schedule:a:2026-08-03T14:00:00Z"
    assert decided.following == at(following)


def test_a_fire_forgets_what_went_wrong_before() -> None:
    row = hourly(last_error="boom", consecutive_failures=7, not_before=at("14:00:05"))
    decided = decide(due(row), at("14:01"))
    assert isinstance(decided, Fired)
    after = decided.move(42).after
    assert (after.last_run_at, after.last_run_id, after.next_run_at) == (at("14:00"), 42, at("15:00"))
    assert (after.last_error, after.consecutive_failures, after.not_before) == (None, 0, None)


def test_the_last_slot_of_all_finishes_it() -> None:
    last = datetime(9998, 12, 31, 23, 0, tzinfo=UTC)
    decided = decide(due(replace(hourly(), next_run_at=last)), last + MINUTE)
    assert isinstance(decided, Fired)
    assert decided.following is None


# ---- fired already -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("terms", "barred"), [(TERMS, None), (None, None), (TERMS, "disabled")])
def test_a_slot_that_was_triggered_is_passed_to_the_slot_after_it(terms: Terms | None, barred: str | None) -> None:
    """Not to the first one after now: those in between have no fire yet. Whatever the job may be by now."""
    decided = decide(due(hourly(), run_id=7, terms=terms, barred=barred), at("18:30"))
    assert isinstance(decided, AlreadyFired)
    assert decided.move.after == replace(decided.move.before, next_run_at=at("15:00"))


# ---- missed --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("barred", ["disabled", "retired"])
def test_what_an_operator_blocks_is_missed_and_not_counted(barred: str) -> None:
    decided, error = decide(due(hourly(), barred=barred), at("16:30")), f"job tick is {barred}"
    assert isinstance(decided, Missed)
    assert (decided.move.reason, decided.move.detail) == ("blocked", error)
    after = decided.move.after
    assert (after.next_run_at, after.last_error, after.consecutive_failures) == (at("17:00"), error, 0)


@pytest.mark.parametrize(
    ("grace", "now", "young"),
    [
        (60, "14:01:01", "15:00"),  # nothing is young enough: on to the next slot
        (60, "16:30", "17:00"),
        (3600, "16:30", "16:00"),
        (9000, "16:31", "15:00"),
        (9000, "16:30:01", "15:00"),
    ],
)
def test_what_is_older_than_its_grace_is_missed_up_to_what_is_not(grace: int, now: str, young: str) -> None:
    decided = decide(due(hourly(options=f'{{"grace": {grace}.0}}')), at(now))
    assert isinstance(decided, Missed)
    assert (decided.move.reason, decided.move.after.next_run_at) == ("late", at(young))


@pytest.mark.parametrize(("grace", "now"), [(60, "14:01"), (9000, "16:30"), (1, "14:00:01"), (1, "14:00")])
def test_what_is_just_within_its_grace_is_fired(grace: int, now: str) -> None:
    decided = decide(due(hourly(options=f'{{"grace": {grace}.0}}')), at(now))
    assert isinstance(decided, Fired)
    assert decided.slot == at("14:00")


# ---- failed --------------------------------------------------------------------------------------------------------

UNREADABLE = [
    ({"cron_spec": "every day"}, "CadenceInvalid"),
    ({"cron_spec": "0 0 30 2 *"}, "CadenceNeverComes"),
    ({"location": "Mars/Olympus"}, "ZoneUnknown"),
    ({"input": "{"}, "JSONDecodeError"),
    ({"options": "{"}, "JSONDecodeError"),
    ({"options": '{"grace": "soon"}'}, "TypeError"),
]


@pytest.mark.parametrize(("changes", "error"), UNREADABLE)
def test_an_unreadable_row_is_its_own_fault_and_is_tried_again(changes: dict[str, Any], error: str) -> None:
    decided = decide(due(hourly(**changes)), at("16:30"))
    assert isinstance(decided, Failed)
    assert not decided.dropped
    assert decided.error.startswith(error)
    after = decided.move.after
    assert after.next_run_at == at("14:00")
    assert (after.consecutive_failures, after.last_error) == (1, decided.error)
    assert after.not_before == at("16:30") + RETRY_AFTER


def test_a_job_without_a_row_is_a_failure() -> None:
    decided = decide(due(hourly(), terms=None), at("14:00"))
    assert isinstance(decided, Failed)
    assert decided.error == "job tick has no row in rota_jobs: register it again"


def test_its_text_has_no_clock_in_it() -> None:
    """The same failure has the same text, or an operator could not count them."""
    row = hourly(cron_spec="every day")
    first, second = decide(due(row), at("14:00")), decide(due(row), at("14:07:31"))
    assert isinstance(first, Failed)
    assert isinstance(second, Failed)
    assert first.error == second.error


@pytest.mark.parametrize("failures", [POISONED_AFTER - 1, POISONED_AFTER, POISONED_AFTER + 5])
def test_the_tenth_failure_drops_the_slot(failures: int) -> None:
    decided = decide(due(hourly(input="{", consecutive_failures=failures)), at("16:30"))
    assert isinstance(decided, Failed)
    assert decided.dropped
    assert decided.move.reason == "poisoned"
    after = decided.move.after
    assert (after.next_run_at, after.consecutive_failures, after.not_before) == (at("17:00"), 0, None)
    assert after.last_error == decided.error


@pytest.mark.parametrize("failures", [POISONED_AFTER - 1, POISONED_AFTER])
def test_without_a_readable_cadence_it_keeps_its_slot_for_long(failures: int) -> None:
    decided = decide(due(hourly(cron_spec="every day", consecutive_failures=failures)), at("16:30"))
    assert isinstance(decided, Failed)
    assert not decided.dropped
    after = decided.move.after
    assert (after.next_run_at, after.consecutive_failures) == (at("14:00"), POISONED_AFTER)
    assert after.not_before == at("16:30") + UNREADABLE_AFTER


def test_what_the_database_refuses_counts_the_same() -> None:
    refused = failure(hourly(consecutive_failures=3), "the database refused its run: no", at("14:00"))
    assert refused.move.after.consecutive_failures == 4
    assert failure(hourly(consecutive_failures=9), "the same", at("14:00")).dropped


words = st.text(max_size=12) | st.sampled_from(
    ["* * * * *", "@every 1s", "@every 0s", "UTC", "{}", "[]", "null", "1e999"]
)


@settings(max_examples=100, deadline=None, print_blob=True)
@given(spec=words, zone=words, text=st.none() | words, options=words, failures=st.integers(0, 12), fired=st.booleans())
def test_it_never_raises(spec: str, zone: str, text: str | None, options: str, failures: int, fired: bool) -> None:
    row = hourly(location=zone, input=text, options=options, consecutive_failures=failures)
    decided = decide(due(replace(row, cron_spec=spec), run_id=7 if fired else None), at("16:30"))
    assert isinstance(decided, Fired | AlreadyFired | Missed | Failed)
