"""What is counted: how the rota stands now. History is never counted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Health:
    """What an operator would want to be told of."""

    failing_schedules: int
    """Schedules with consecutive failures: their next failures may cost them a slot."""
    refused_schedules: int
    """Schedules whose slot is refused by the processes that saw it: last_error without failures."""
    overdue_seconds: float
    """How long the schedule that has been due longest has been waiting."""


@dataclass(frozen=True, slots=True)
class QueueStats:
    """The unfinished runs of one queue."""

    name: str
    waiting: int
    queued: int
    running: int


@dataclass(frozen=True, slots=True)
class Stats:
    """One look at the rota. Instants are aware, in UTC."""

    at: datetime
    schedules: int
    enabled: int
    due: int
    workers: int
    queues: tuple[QueueStats, ...]
    health: Health
