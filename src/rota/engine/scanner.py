"""Scanner: reads what is due, asks firing, and writes the batch."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from rota.clock import Clock
from rota.engine import fallback, firing
from rota.store import Store, schedules, workers
from rota.store.refusal import reason_of
from rota.store.schedules import Due

BATCH = 500  # schedules a transaction
FAIR = 50  # of them, those that came due last, where there are more: a backlog starves nobody


def scan(store: Store, clock: Clock, emit: Callable[[object], None], worker: str) -> int | None:
    """One pass over what is due; returns how many schedules it decided on, BATCH at the most.

    None: others have taken this worker for dead, and it has written nothing.

    Runs, fires, misses and watermarks of the batch are one transaction: neither a lost nor a doubled slot can exist.
    If that transaction fails through a row of its own, each schedule is written alone, so that a bad one stops only
    itself.

    Raises:
        StoreError: the database is out of reach or busy. Nothing is written, and no schedule is blamed.
    """
    try:
        with store.begin() as connection:
            if not workers.hold(connection, worker):
                return None
            now = clock.now()
            told = fallback.note(connection, now)  # what a wrong clock fires is undone once it is seen to fall back
            decided = [firing.decide(item, now) for item in _due(connection, now)]
            told += firing.write(connection, decided, now, origin="scan", worker=worker) if decided else []
    except DBAPIError:
        return _scan_alone(store, clock, emit, worker)
    _tell(emit, told)
    return len(decided)


def _due(connection: Connection, now: datetime) -> Collection[Due]:
    """The longest due, and where there are more than a batch takes, some of those that just came due."""
    found = schedules.due(connection, now, BATCH - FAIR)
    if len(found) < BATCH - FAIR:
        return found
    newest = schedules.due(connection, now, FAIR, newest=True)
    return {item.schedule.id: item for item in (*found, *newest)}.values()


def _scan_alone(store: Store, clock: Clock, emit: Callable[[object], None], worker: str) -> int:
    """Each in a transaction of its own. One that cannot even be written a failure holds up nobody behind it."""
    with store.read() as connection:
        ids = list(schedules.due_slots(connection, clock.now(), BATCH))
    refused: DBAPIError | None = None
    for schedule_id in ids:
        try:
            _tell(emit, _decide_alone(store, clock, worker, schedule_id))
        except DBAPIError as error:
            refused = error
    if refused is not None:
        raise refused
    return len(ids)


def _decide_alone(store: Store, clock: Clock, worker: str, schedule_id: str, error: str | None = None) -> list[object]:
    """One schedule; what the database refuses to write counts as its failure."""
    try:
        with store.begin() as connection:
            now = clock.now()
            told = fallback.note(connection, now)
            due = schedules.locked(connection, schedule_id)
            if due is None or not due.schedule.may_fire(now):
                return told
            decision = firing.decide(due, now) if error is None else firing.failure(due.schedule, error, now)
            return told + firing.write(connection, [decision], now, origin="scan", worker=worker)
    except DBAPIError as refusal:
        if error is not None:
            raise
        return _decide_alone(
            store, clock, worker, schedule_id, error=f"the database refused its run: {reason_of(refusal)}"
        )


def _tell(emit: Callable[[object], None], told: list[object]) -> None:
    for event in told:
        emit(event)
