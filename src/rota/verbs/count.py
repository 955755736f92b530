"""Count: how the rota stands now."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from rota.stats import Health, QueueStats, Stats
from rota.store import queues, runs, schedules, workers


def stats(connection: Connection, now: datetime) -> Stats:
    """One look, without counting history."""
    counts = schedules.counts(connection, now)
    unfinished = runs.unfinished_counts(connection)
    names = sorted({row.name for row in queues.listing(connection)} | {queue for queue, _ in unfinished})
    alive = [row for row in workers.listing(connection) if row.lease_until >= now]
    overdue = 0.0 if counts.longest_due is None else max(0.0, (now - counts.longest_due).total_seconds())
    return Stats(
        at=now,
        schedules=counts.all,
        enabled=counts.enabled,
        due=counts.due,
        workers=len(alive),
        queues=tuple(_queue(name, unfinished) for name in names),
        health=Health(counts.failing, counts.refused, overdue),
    )


def _queue(name: str, unfinished: dict[tuple[str, str], int]) -> QueueStats:
    waiting, queued, running = (unfinished.get((name, state), 0) for state in ("waiting", "queued", "running"))
    return QueueStats(name, waiting, queued, running)
