"""Claim: a queued run taken by a worker, and what its outcome makes of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from rota.retry import Retry
from rota.run import State

LOST_LIMIT = 5  # how often a run is given back free of charge before it fails
SUSPECT = 3  # lost so often, it may itself be what ends its workers


@dataclass(frozen=True, slots=True)
class Claim:
    """A run as its worker holds it. The token is (worker, attempt): who no longer has it settles nothing."""

    id: int
    job: str
    queue: str
    input: str | None
    attempt: int
    failures: int
    lost: int
    max_attempts: int
    retry: str
    timeout: timedelta | None
    schedule_id: str | None
    scheduled_for: datetime | None
    started_at: datetime
    cancel_requested_at: datetime | None

    @property
    def token(self) -> tuple[int, int]:
        """What tells this attempt of the run from every other."""
        return self.id, self.attempt

    def delay(self) -> timedelta:
        """How long the next attempt waits after the failure that just came."""
        return Retry.read(self.retry, self.max_attempts).delay(self.failures + 1)


def lost_at_most(held: Iterable[Claim]) -> int:
    """How often a run may have been lost to be taken beside these.

    A handler that ends its process takes the runs beside it along. So a worker has one suspect at a time, and beside
    it only runs that were never lost: innocent ones do not come to their limit.
    """
    worst = max((claim.lost for claim in held), default=0)
    if worst == 0:
        return LOST_LIMIT
    return SUSPECT - 1 if worst < SUSPECT else 0


@dataclass(frozen=True, slots=True)
class Succeeded:
    output: str | None


@dataclass(frozen=True, slots=True)
class Failed:
    """The handler raised, ran out of time (`timeout`), or its run can never work (`final`)."""

    error: str
    timeout: bool = False
    final: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """The attempt came to nothing through no fault of the handler; it is given back free of charge."""

    reason: str


Outcome = Succeeded | Failed | Lost


@dataclass(frozen=True, slots=True)
class Settlement:
    """What is written of a claim that ended."""

    claim: Claim
    state: State
    output: str | None
    error: str | None
    failures: int
    lost: int
    run_after: datetime | None
    """When the next attempt may start; None keeps what the row has."""
    finished_at: datetime | None
    kept_as: str | None
    """The outcome under which this attempt gets a row of its own: failed, timeout or lost."""


def settled(claim: Claim, outcome: Outcome, now: datetime, *, cancelled: bool = False) -> Settlement:
    """What `outcome` makes of the run: finished, or queued for another attempt.

    Failures count against max_attempts, lost attempts only against LOST_LIMIT. A success that comes after a cancel
    request is recorded as cancelled.
    """
    match outcome:
        case _ if cancelled:
            return _ended(claim, "cancelled", now, error="cancelled while it was running")
        case Succeeded(output):
            return _ended(claim, "succeeded", now, output=output)
        case Lost(reason) if claim.lost + 1 > LOST_LIMIT:
            error = f"given up after {claim.lost + 1} attempts that never ended: {reason}"
            return _ended(claim, "failed", now, error=error, lost=1, kept_as="lost")
        case Lost(reason):
            return _again(claim, "queued", now, reason, lost=1, kept_as="lost")
        case Failed(error, timeout, final):
            kept_as = "timeout" if timeout else "failed"
            if final or claim.failures + 1 >= claim.max_attempts:
                return _ended(claim, "failed", now, error=error, failures=1, kept_as=kept_as)
            return _again(claim, "waiting", now + claim.delay(), error, failures=1, kept_as=kept_as)


def _ended(
    claim: Claim,
    state: State,
    now: datetime,
    *,
    output: str | None = None,
    error: str | None = None,
    failures: int = 0,
    lost: int = 0,
    kept_as: str | None = None,
) -> Settlement:
    return Settlement(claim, state, output, error, claim.failures + failures, claim.lost + lost, None, now, kept_as)


def _again(
    claim: Claim, state: State, when: datetime, error: str, *, failures: int = 0, lost: int = 0, kept_as: str
) -> Settlement:
    return Settlement(claim, state, None, error, claim.failures + failures, claim.lost + lost, when, None, kept_as)
