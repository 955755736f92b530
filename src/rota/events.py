"""What happened, as frozen dataclasses; `Events` hands each to whoever asked for its kind."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar


@dataclass(frozen=True, slots=True)
class ScheduleFired:
    """A slot was given its run."""

    schedule_id: str
    slot: datetime
    run_id: int
    origin: str


@dataclass(frozen=True, slots=True)
class SlotsMissed:
    """Slots were passed over, from `first` to `last`, both included; `slots` is None where they are over 1,000."""

    schedule_id: str
    first: datetime
    last: datetime
    slots: int | None
    reason: str
    detail: str | None


@dataclass(frozen=True, slots=True)
class ScheduleFailing:
    """A slot could not be given its run, through the schedule's own fault; it is tried again."""

    schedule_id: str
    slot: datetime | None
    failures: int
    error: str


@dataclass(frozen=True, slots=True)
class SlotPoisoned:
    """A slot failed too often, and is dropped: its fire will never happen."""

    schedule_id: str
    slot: datetime | None
    failures: int
    error: str


@dataclass(frozen=True, slots=True)
class RunSettled:
    """An attempt of a run ended."""

    run_id: int
    job: str
    attempt: int
    state: str
    error: str | None


@dataclass(frozen=True, slots=True)
class ClaimLost:
    """An outcome came back for a run that is no longer this worker's; it was dropped."""

    run_id: int
    job: str
    attempt: int


@dataclass(frozen=True, slots=True)
class WorkerStarted:
    worker: str
    queues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkerStopped:
    worker: str
    given_back: int


@dataclass(frozen=True, slots=True)
class WorkerRenewed:
    """A worker's lease had run out, and its runs may have gone to others; it goes on under a new id."""

    worker: str
    successor: str


@dataclass(frozen=True, slots=True)
class WorkerTroubled:
    """A pass ended early, the database being out of reach or busy; the next one comes after `seconds`."""

    worker: str
    error: str
    seconds: float


@dataclass(frozen=True, slots=True)
class HandlerStuck:
    """A handler's time was up long ago, and it has not returned: its place stays taken until it does."""

    run_id: int
    job: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ProcessEnded:
    """A worker process ended by itself; it is started again after `seconds`."""

    place: int
    code: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RunsRescued:
    """The lease of a worker had run out; its runs were given back."""

    worker: str
    runs: int


@dataclass(frozen=True, slots=True)
class ClockFellBack:
    """The clock shows over a minute less than it did; slots that lay too far ahead were drawn back."""

    seen: datetime
    now: datetime
    schedules: int


@dataclass(frozen=True, slots=True)
class ClockStepped:
    """Someone set the database's clock, by over a minute; everyone goes by it."""

    by: timedelta


E = TypeVar("E")
Listener = Callable[[Any], None]


class Events:
    """Who listens to what. A listener that raises is logged and passed over."""

    def __init__(self) -> None:
        self._listeners: dict[type, list[Listener]] = {}

    def on(self, kind: type[E], listener: Callable[[E], None]) -> None:
        """Call `listener` with each event of this kind, on the thread in which it happens."""
        self._listeners.setdefault(kind, []).append(listener)

    def emit(self, event: object) -> None:
        for listener in self._listeners.get(type(event), ()):
            try:
                listener(event)
            except BaseException:
                logging.getLogger("rota").exception("a listener of %s failed", type(event).__name__)
