"""Janitor: gives back what dead workers held."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from rota import events
from rota.claim import Lost, settled
from rota.clock import Clock
from rota.store import Store, claims, workers


def rescue(store: Store, clock: Clock, emit: Callable[[object], None]) -> int:
    """Give back the runs of each worker whose lease has run out, or that has no row; returns how many workers.

    Raises:
        StoreError: the database is out of reach or busy. Nothing is half rescued.
    """
    with store.read() as connection:
        now = clock.now()
        gone = [row.id for row in workers.listing(connection) if row.lease_until < now]
        orphans = claims.orphans(connection)
    if not gone and not orphans:
        return 0
    with store.begin() as connection:
        rescued = _rescue_expired(connection, clock)
    for event in rescued:
        emit(event)
    return len(rescued)


def give_back(connection: Connection, worker: str, clock: Clock, reason: str) -> int:
    """Queue again what this worker holds, free of charge, and delete its row; returns how many runs.

    What was asked to end is cancelled instead.
    """
    now, lost = clock.now(), Lost(reason)
    held = claims.held_by(connection, worker)
    if held:
        unwanted = {claim.id for claim in held if claim.cancel_requested_at is not None}
        ended = [settled(claim, lost, now, cancelled=claim.id in unwanted) for claim in held]
        claims.settle(connection, worker, ended, now)
    workers.remove(connection, worker)
    return len(held)


def _rescue_expired(connection: Connection, clock: Clock) -> list[object]:
    reason = "the lease of its worker ran out"
    gone = [row.id for row in workers.expired(connection, clock.now())]
    return [
        events.RunsRescued(worker, give_back(connection, worker, clock, reason))
        for worker in [*gone, *claims.orphans(connection)]
    ]
