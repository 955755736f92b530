"""Upkeep: the schedules that rota keeps for itself. Files, studio and code cannot edit them; operators can pause."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection

from rota.author import Author
from rota.cadence import Cadence
from rota.engine import pruner
from rota.job import Jobs
from rota.schedule import Registration
from rota.verbs.register import register


def schedule_pruning(connection: Connection, jobs: Jobs, prune: Callable[[], None], now: datetime) -> list[object]:
    """Register the system schedule that forgets old history, with `prune` as its job; returns the events to tell."""
    job = jobs.get(pruner.NAME) or jobs.add(prune, "action", pruner.NAME, system=True)
    asked = Registration(
        id=pruner.NAME,
        kind=job.kind,
        job=job.name,
        cadence=Cadence.parse(pruner.CADENCE),
        input=None,
        source="system",
        label="forget old history",
    )
    return register(connection, [asked], [job], Author(), now)
