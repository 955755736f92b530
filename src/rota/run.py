"""Run: one durable execution, waiting → queued → running → succeeded, failed or cancelled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

State = Literal["waiting", "queued", "running", "succeeded", "failed", "cancelled"]

UNFINISHED: tuple[State, ...] = ("waiting", "queued", "running")


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
    output: str | None
    error: str | None
    attempt: int
    """How often it was claimed; with the worker it is the token of a claim."""
    failures: int
    """Handler errors and timeouts: what max_attempts limits."""
    lost: int
    """Attempts given back free of charge: a worker died, or was shut down."""
    max_attempts: int
    retry: str
    timeout: timedelta | None
    run_after: datetime
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    locked_by: str | None
    cancel_requested_at: datetime | None
    idempotency_key: str | None
    schedule_id: str | None
    scheduled_for: datetime | None
    """The slot it was fired for; None where it was enqueued by hand."""
    workflow_id: int | None
    node: str | None
    waiting_on: int
    actor: str | None

    @property
    def finished(self) -> bool:
        return self.state not in UNFINISHED


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

    @property
    def state(self) -> State:
        return "waiting" if self.run_after > self.created_at else "queued"
