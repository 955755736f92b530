"""Run: one durable execution, waiting → queued → running → succeeded, failed or cancelled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Self

from rota.terms import Terms

State = Literal["waiting", "queued", "running", "succeeded", "failed", "cancelled"]

UNFINISHED: tuple[State, ...] = ("waiting", "queued", "running")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run to be made. `run_after` in the future makes it wait; else it is queued at once."""

    job: str
    kind: str
    queue: str
    input: str | None
    max_attempts: int
    retry: str
    timeout: timedelta | None
    run_after: datetime
    created_at: datetime
    priority: int = 0
    idempotency_key: str | None = None
    schedule_id: str | None = None
    scheduled_for: datetime | None = None
    actor: str | None = None

    @classmethod
    def of(
        cls,
        terms: Terms,
        input: str | None,  # noqa: A002
        now: datetime,
        *,
        run_after: datetime | None = None,
        priority: int = 0,
        idempotency_key: str | None = None,
        schedule_id: str | None = None,
        scheduled_for: datetime | None = None,
        actor: str | None = None,
    ) -> Self:
        """A run of a job that has these terms, made `now`; queued at once where no `run_after` is given."""
        return cls(
            job=terms.job,
            kind=terms.kind,
            queue=terms.queue,
            input=input,
            max_attempts=terms.max_attempts,
            retry=terms.retry,
            timeout=terms.timeout,
            run_after=now if run_after is None else run_after,
            created_at=now,
            priority=priority,
            idempotency_key=idempotency_key,
            schedule_id=schedule_id,
            scheduled_for=scheduled_for,
            actor=actor,
        )

    @property
    def state(self) -> State:
        return "waiting" if self.run_after > self.created_at else "queued"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One row of `rota_runs`. Instants are aware, in UTC; `input` and `output` are JSON text."""

    id: int
    job: str
    kind: str
    queue: str
    priority: int
    state: State
    input: str | None
    output: str | None = None
    error: str | None = None
    attempt: int = 0
    """How often it was claimed; with the worker it is the token of a claim."""
    failures: int = 0
    """Handler errors and timeouts: what max_attempts limits."""
    lost: int = 0
    """Attempts given back free of charge: a worker died, or was shut down."""
    max_attempts: int
    retry: str
    timeout: timedelta | None
    run_after: datetime
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    locked_by: str | None = None
    cancel_requested_at: datetime | None = None
    idempotency_key: str | None
    schedule_id: str | None
    scheduled_for: datetime | None
    """The slot it was fired for; None where it was enqueued by hand."""
    workflow_id: int | None = None
    node: str | None = None
    waiting_on: int = 0
    actor: str | None

    @classmethod
    def made(cls, run_id: int, new: NewRun) -> Self:
        """`new`, now that it has its row."""
        return cls(id=run_id, state=new.state, **{name: getattr(new, name) for name in NewRun.__dataclass_fields__})

    @property
    def finished(self) -> bool:
        return self.state not in UNFINISHED

    @property
    def terms(self) -> Terms:
        """What it was made with."""
        return Terms(self.job, self.kind, self.queue, self.max_attempts, self.retry, self.timeout)
