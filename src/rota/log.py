"""What is logged, with levels: one subscriber to the events. Nothing else of the engine words a log line."""

from __future__ import annotations

import logging
from datetime import datetime

from rota import events
from rota.events import Events

logger = logging.getLogger("rota")


def subscribe(bus: Events) -> None:
    """Log what happens on `bus`, to the logger `rota`."""
    bus.on(events.ScheduleFired, _fired)
    bus.on(events.SlotsMissed, _missed)
    bus.on(events.ScheduleFailing, _failing)
    bus.on(events.SlotPoisoned, _poisoned)
    bus.on(events.RunSettled, _settled)
    bus.on(events.ClaimLost, _lost)
    bus.on(events.WorkerStarted, _started)
    bus.on(events.WorkerStopped, _stopped)
    bus.on(events.WorkerRenewed, _renewed)
    bus.on(events.WorkerTroubled, _troubled)
    bus.on(events.HandlerStuck, _stuck)
    bus.on(events.ProcessEnded, _ended)
    bus.on(events.RunsRescued, _rescued)
    bus.on(events.ClockFellBack, _fell_back)
    bus.on(events.ClockStepped, _stepped)


def _fired(event: events.ScheduleFired) -> None:
    logger.debug("schedule %s: fired slot %s as run %d", event.schedule_id, event.slot.isoformat(), event.run_id)


def _missed(event: events.SlotsMissed) -> None:
    why = event.reason if event.detail is None else f"{event.reason}, {event.detail}"
    slots = "over 1,000" if event.slots is None else str(event.slots)
    text = "schedule %s: slots missed: %s, from %s to %s (%s)"
    logger.info(text, event.schedule_id, slots, _slot(event.first), _slot(event.last), why)


def _failing(event: events.ScheduleFailing) -> None:
    text = "schedule %s: slot %s could not be fired, failure %d in a row: %s"
    logger.warning(text, event.schedule_id, _slot(event.slot), event.failures, event.error)


def _poisoned(event: events.SlotPoisoned) -> None:
    text = "schedule %s: slot %s is dropped after %d failures in a row, its fire will never happen: %s"
    logger.error(text, event.schedule_id, _slot(event.slot), event.failures, event.error)


def _settled(event: events.RunSettled) -> None:
    if event.error is None:
        logger.debug("run %d (%s): %s", event.run_id, event.job, event.state)
    else:
        text = "run %d (%s): attempt %d ended, it is %s now: %s"
        logger.warning(text, event.run_id, event.job, event.attempt, event.state, _gist(event.error))


def _lost(event: events.ClaimLost) -> None:
    text = "run %d (%s): skipped the stale outcome of attempt %d, it is no longer this worker's"
    logger.warning(text, event.run_id, event.job, event.attempt)


def _started(event: events.WorkerStarted) -> None:
    logger.info("worker %s started, queues %s", event.worker, " ".join(event.queues))


def _stopped(event: events.WorkerStopped) -> None:
    logger.info("worker %s stopped, %d runs given back", event.worker, event.given_back)


def _renewed(event: events.WorkerRenewed) -> None:
    logger.warning("worker %s lost its lease, and goes on as %s", event.worker, event.successor)


def _troubled(event: events.WorkerTroubled) -> None:
    logger.warning("worker %s: %s; next try in %.1f s", event.worker, event.error, event.seconds)


def _stuck(event: events.HandlerStuck) -> None:
    text = "run %d (%s): its time was up %.0f s ago, and its handler has not returned; its place stays taken"
    logger.error(text, event.run_id, event.job, event.seconds)


def _ended(event: events.ProcessEnded) -> None:
    text = "worker process %d ended with code %d; it is started again in %.1f s"
    logger.warning(text, event.place, event.code, event.seconds)


def _rescued(event: events.RunsRescued) -> None:
    logger.warning("worker %s is gone, its lease has run out; %d runs given back", event.worker, event.runs)


def _fell_back(event: events.ClockFellBack) -> None:
    text = "the clock fell back from %s to %s; %d schedules were drawn back"
    logger.warning(text, event.seen.isoformat(), event.now.isoformat(), event.schedules)


def _stepped(event: events.ClockStepped) -> None:
    logger.warning("the database's clock was set by %.0f s; everyone goes by it", event.by.total_seconds())


def _gist(error: str) -> str:
    """A traceback's last words, the error and its message, on one line of printable characters."""
    lines = error.splitlines()
    start = max((number for number, line in enumerate(lines) if line.startswith("  ")), default=-1) + 1
    text = " ".join(lines[start:] or lines[-1:])
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)[:500]


def _slot(instant: datetime | None) -> str:
    return "-" if instant is None else instant.isoformat()
