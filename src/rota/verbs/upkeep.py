"""Upkeep: the schedules that rota keeps for itself. Files, studio and code cannot edit them; operators can pause."""

from __future__ import annotations

from rota.cadence import Cadence
from rota.clock import Clock
from rota.engine import pruner
from rota.job import Jobs
from rota.schedule import Registration
from rota.settings import Settings
from rota.store import Store
from rota.store.audit import Author
from rota.verbs.register import register


def schedule_pruning(store: Store, clock: Clock, jobs: Jobs) -> None:
    """Register the system schedule that forgets old history, and have its job among `jobs`."""

    def forget_old_history() -> None:
        settings = Settings.load()
        pruner.prune(store, clock, settings.keep_runs, settings.keep_fires)

    job = jobs.get(pruner.NAME) or jobs.add(forget_old_history, "action", pruner.NAME)
    asked = Registration(
        id=pruner.NAME,
        kind=job.kind,
        job=job.name,
        cadence=Cadence.parse(pruner.CADENCE),
        input=None,
        source="system",
        label="forget old history",
    )
    with store.begin() as connection:
        register(connection, [asked], [job], Author(), clock.now())
