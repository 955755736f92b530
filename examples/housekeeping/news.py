"""News: what happens, gathered from the worker's thread and worded as one line each."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from datetime import UTC, datetime
from queue import Empty, SimpleQueue

import rota
from examples.housekeeping.ledger import Ledger
from rota import events


@dataclass(frozen=True)
class Line:
    """One thing that happened, in words."""

    at: datetime
    what: str
    who: str
    detail: str
    style: str


@dataclass(frozen=True)
class Ended:
    """Someone asked for the end."""


KINDS = (
    events.ScheduleFired,
    events.ScheduleFailing,
    events.SlotPoisoned,
    events.RunSettled,
    events.RunsRescued,
    events.WorkerRenewed,
    events.WorkerTroubled,
    events.ClockFellBack,
)


class News:
    """Takes events on whatever thread they happen; gives them out, worded, on the thread that shows them."""

    def __init__(self, app: rota.App) -> None:
        self._queue: SimpleQueue[tuple[datetime, object]] = SimpleQueue()
        for kind in KINDS:
            app.on(kind, self._put)

    def end_on_signals(self) -> None:
        """Make Ctrl-C and SIGTERM a piece of news. A second one acts as it always does."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._end)

    def next(self, seconds: float, ledger: Ledger) -> Line | Ended | None:
        """The next piece of news; None where none comes within that time."""
        try:
            at, event = self._queue.get(timeout=max(0.0, seconds))
        except Empty:
            return None
        return event if isinstance(event, Ended) else _worded(at, event, ledger)

    def _put(self, event: object) -> None:
        self._queue.put((datetime.now(UTC), event))

    def _end(self, *_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._put(Ended())  # a SimpleQueue may be written by a signal handler


def _worded(at: datetime, event: object, ledger: Ledger) -> Line:
    match event:
        case events.ScheduleFired(schedule_id, slot, run_id):
            late = (at - slot).total_seconds()
            style, by = ("yellow", f", {late:.0f} s late") if late >= 1 else ("cyan", "")
            return Line(at, "fired", schedule_id, f"slot {slot:%H:%M:%S} as run {run_id}{by}", style)
        case events.RunSettled():
            return _settled(at, event, ledger)
        case events.ScheduleFailing(schedule_id, _, failures, error):
            return Line(at, "failing", schedule_id, f"could not be fired, failure {failures} in a row: {error}", "red")
        case events.SlotPoisoned(schedule_id, slot):
            return Line(at, "dropped", schedule_id, f"slot {slot} failed too often", "red")
        case events.RunsRescued(worker, runs):
            return Line(at, "rescued", worker, f"its lease ran out; {counted(runs, 'run')} given back", "magenta")
        case events.WorkerTroubled(worker, error):
            return Line(at, "trouble", worker, error, "red")
        case _:
            return Line(at, "note", "worker", str(event), "yellow")


def _settled(at: datetime, event: events.RunSettled, ledger: Ledger) -> Line:
    schedule_id, output, failures, attempts = ledger.run(event.run_id)
    if event.error is None:
        again = f", attempt {failures + 1}/{attempts}" if failures else ""
        value = f", result {output}" if output else ""
        return Line(at, event.state, schedule_id, f"run {event.run_id}{again}{value}", "green")
    if event.state == "queued":
        return Line(at, "returned", schedule_id, f"run {event.run_id} is queued again: {event.error}", "magenta")
    why = f"run {event.run_id}, attempt {failures}/{attempts}: {_last_line(event.error)}"
    if event.state == "waiting":
        return Line(at, "retries", schedule_id, why, "yellow")
    return Line(at, event.state, schedule_id, why, "red")


def _last_line(error: str) -> str:
    """What a traceback ends with: the error, here without the path of its module."""
    name, colon, text = error.splitlines()[-1].partition(": ")
    return f"{name.rpartition('.')[2]}{colon}{text}"


def counted(number: int, noun: str) -> str:
    """`1 slot`, `2 slots`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
