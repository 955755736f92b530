"""What an outcome makes of a claim: the table of settled()."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from rota.claim import LOST_LIMIT, SUSPECT, Claim, Failed, Lost, Outcome, Succeeded, lost_at_most, settled
from rota.retry import Retry

NOW = datetime(2026, 8, 3, 9, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
RETRY = Retry(9, initial_delay=10 * SECOND, max_delay=60 * SECOND)

CLAIM = Claim(
    id=7,
    job="tick",
    queue="default",
    input=None,
    attempt=1,
    failures=0,
    lost=0,
    max_attempts=1,
    retry=RETRY.text,
    timeout=None,
    schedule_id=None,
    scheduled_for=None,
    started_at=NOW - SECOND,
    cancel_requested_at=None,
)
PATIENT = replace(CLAIM, max_attempts=9)


def test_a_success_ends_it_with_its_output() -> None:
    made = settled(replace(CLAIM, failures=2, lost=3), Succeeded("42"), NOW)
    assert (made.state, made.output, made.error, made.finished_at) == ("succeeded", "42", None, NOW)
    assert (made.failures, made.lost, made.kept_as) == (2, 3, None)


@pytest.mark.parametrize(
    ("failures", "delay"), [(0, 10), (1, 20), (2, 40), (3, 60), (4, 60), (7, 60)], ids=lambda value: str(value)
)
def test_a_failure_with_attempts_left_waits_twice_as_long_each_time(failures: int, delay: int) -> None:
    made = settled(replace(PATIENT, failures=failures), Failed("boom"), NOW)
    assert (made.state, made.run_after, made.finished_at) == ("waiting", NOW + delay * SECOND, None)
    assert (made.failures, made.error, made.kept_as) == (failures + 1, "boom", "failed")


def test_the_delay_stays_at_its_limit_after_thousands_of_failures() -> None:
    made = settled(replace(CLAIM, failures=9998, max_attempts=10_000), Failed("boom"), NOW)
    assert made.run_after == NOW + RETRY.max_delay


def test_a_delay_of_zero_stays_zero() -> None:
    eager = replace(PATIENT, failures=5, retry=Retry(9, initial_delay=timedelta(0)).text)
    assert settled(eager, Failed("boom"), NOW).run_after == NOW


@pytest.mark.parametrize("failures", [8, 9, 20])  # more, where max_attempts was lowered in between
def test_the_last_failure_ends_it(failures: int) -> None:
    made = settled(replace(PATIENT, failures=failures), Failed("boom"), NOW)
    assert (made.state, made.error, made.finished_at, made.run_after) == ("failed", "boom", NOW, None)
    assert (made.failures, made.kept_as) == (failures + 1, "failed")


@pytest.mark.parametrize(("claim", "state"), [(PATIENT, "waiting"), (CLAIM, "failed")])
def test_a_timeout_counts_as_a_failure_and_is_kept_as_one(claim: Claim, state: str) -> None:
    made = settled(claim, Failed("it took too long", timeout=True), NOW)
    assert (made.state, made.failures, made.kept_as) == (state, 1, "timeout")


def test_a_final_failure_ends_it_with_attempts_left() -> None:
    made = settled(PATIENT, Failed("unusable", final=True), NOW)
    assert (made.state, made.error, made.failures, made.kept_as) == ("failed", "unusable", 1, "failed")


def test_lost_attempts_are_free_five_times_and_then_it_fails() -> None:
    claim, states = CLAIM, []
    for attempt in range(1, LOST_LIMIT + 2):
        made = settled(replace(claim, attempt=attempt), Lost("its worker died"), NOW)
        states.append(made.state)
        assert (made.lost, made.failures, made.kept_as) == (attempt, 0, "lost")
        claim = replace(claim, lost=made.lost)

    assert states == ["queued"] * 5 + ["failed"]
    assert (made.error, made.finished_at) == ("given up after 6 attempts that never ended: its worker died", NOW)


def test_a_lost_attempt_may_start_again_at_once() -> None:
    made = settled(CLAIM, Lost("its worker died"), NOW)
    assert (made.state, made.run_after, made.finished_at, made.error) == ("queued", NOW, None, "its worker died")


@pytest.mark.parametrize("claim", [CLAIM, PATIENT, replace(CLAIM, lost=LOST_LIMIT)])
@pytest.mark.parametrize(
    "outcome", [Succeeded("42"), Failed("boom"), Failed("late", timeout=True), Failed("bad", final=True), Lost("gone")]
)
def test_a_cancel_request_wins_over_every_outcome(claim: Claim, outcome: Outcome) -> None:
    made = settled(claim, outcome, NOW, cancelled=True)
    assert (made.state, made.output, made.finished_at, made.run_after) == ("cancelled", None, NOW, None)
    assert (made.failures, made.lost, made.kept_as) == (claim.failures, claim.lost, None)
    assert made.error == "cancelled while it was running"


def test_the_delays_of_a_row_are_those_that_were_declared() -> None:
    retry = Retry(3, initial_delay=timedelta(milliseconds=1500), max_delay=timedelta(hours=1))
    assert Retry.read(retry.text, 3) == retry
    assert Retry.read("{}", 3) == Retry(3)


# ---- company -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ([], LOST_LIMIT),
        ([0, 0], LOST_LIMIT),
        ([0, 1], SUSPECT - 1),
        ([SUSPECT - 1], SUSPECT - 1),
        ([0, SUSPECT], 0),
        ([1, LOST_LIMIT], 0),
    ],
)
def test_beside_a_suspect_only_what_was_never_lost(held: list[int], expected: int) -> None:
    assert lost_at_most(replace(PATIENT, lost=lost) for lost in held) == expected
