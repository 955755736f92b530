"""Pruner: forgets old history, a small transaction at a time. It runs as the system schedule `rota/prune`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import Connection

from rota.clock import Clock
from rota.store import Store, history

NAME = "rota/prune"
CADENCE = "23 * * * *"
BATCH = 1000  # rows a transaction

Forget = Callable[[Connection, datetime, int], int]


def prune(store: Store, clock: Clock, keep_runs: timedelta, keep_fires: timedelta) -> int:
    """Delete what ended, or was due, longer ago than that; returns how many rows.

    Pruning can never let a slot fire again: what is not behind a schedule's watermark is kept.
    """
    now = clock.now()
    return (
        _all(store, history.forget_runs, now - keep_runs)
        + _all(store, history.forget_fires, now - keep_fires)
        + _all(store, history.forget_misses, now - keep_fires)
    )


def _all(store: Store, forget: Forget, before: datetime) -> int:
    forgotten = 0
    while True:
        with store.begin() as connection:
            rows = forget(connection, before, BATCH)
        forgotten += rows
        if rows < BATCH:
            return forgotten
