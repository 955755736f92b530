"""The run that the calling handler is: which attempt, which slot, how late, and whether it should stop."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Event

from rota.errors import NoCurrentRun


@dataclass(frozen=True, slots=True)
class CurrentRun:
    """What a handler may know of its own run. Instants are aware, in UTC."""

    id: int
    job: str
    attempt: int
    """1 for the first attempt."""
    schedule_id: str | None
    slot: datetime | None
    """The instant for which its schedule was due; None where it was enqueued by hand."""
    started_at: datetime
    _cancel: Event = field(default_factory=Event, repr=False)
    _stop: Event = field(default_factory=Event, repr=False)

    @property
    def lateness(self) -> timedelta:
        """From its slot to its start; zero where it has no slot, or was triggered early."""
        if self.slot is None:
            return timedelta(0)
        return max(timedelta(0), self.started_at - self.slot)

    @property
    def cancelled(self) -> bool:
        """True once someone asked to cancel it, or its time is up: a long plain function looks here and returns.

        A coroutine is cancelled where it stands.
        """
        return self._cancel.is_set()

    @property
    def stopping(self) -> bool:
        """True once its worker was told to stop: a long handler may save what it has and return."""
        return self._stop.is_set()


_logbook: ContextVar[object] = ContextVar("rota_logbook", default=None)
_current: ContextVar[CurrentRun] = ContextVar("rota_current_run")


def current_run() -> CurrentRun:
    """The run that the calling handler is.

    Raises:
        NoCurrentRun: no worker is calling; a job called as a plain function has no run.
    """
    try:
        return _current.get()
    except LookupError:
        raise NoCurrentRun from None


def logbook() -> object:
    """Where the current run's log lines go; None outside a handler."""
    return _logbook.get()


def enter(run: CurrentRun, logbook: object) -> None:
    """Make `run` the current one of this thread or task, and `logbook` the one that keeps its lines."""
    _current.set(run)
    _logbook.set(logbook)
