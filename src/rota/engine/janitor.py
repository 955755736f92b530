"""Janitor: gives back what dead workers held."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from rota import events
from rota.claim import Lost, settled
from rota.clock import Clock
from rota.store import Store, runs, workers


def rescue(store: Store, clock: Clock, emit: Callable[[object], None]) -> int:
    """Give back the runs of each worker whose lease has run out, and delete its row; returns how many workers.

    Raises:
        StoreError: the database is out of reach or busy. Nothing is half rescued.
    """
    with store.read() as connection:
        now = clock.now()
        gone = [row.id for row in workers.listing(connection) if row.lease_until < now]
    if not gone:
        return 0
    with store.begin() as connection:
        rescued = _rescue_expired(connection, clock)
    for event in rescued:
        emit(event)
    return len(rescued)


def give_back(connection: Connection, worker: str, clock: Clock, reason: str) -> int:
    """Queue again what this worker holds, free of charge, and delete its row; returns how many runs."""
    now = clock.now()
    held = runs.held_by(connection, worker)
    if held:
        runs.settle(connection, worker, [settled(claim, Lost(reason), now) for claim in held], now)
    workers.remove(connection, worker)
    return len(held)


def _rescue_expired(connection: Connection, clock: Clock) -> list[object]:
    reason = "the lease of its worker ran out"
    return [
        events.RunsRescued(row.id, give_back(connection, row.id, clock, reason))
        for row in workers.expired(connection, clock.now())
    ]
