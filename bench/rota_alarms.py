"""The alarms at rota: an action a day each, in a SQLite file. APScheduler is not imported here: memory is measured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import rota
from bench.cron_corpus import daily

Ring = rota.Job0[None, None]

DATABASE = "rota.db"


def ring() -> None: ...


app = rota.App()  # a worker's
app.action()(ring)


@contextmanager
def opened(folder: Path) -> Iterator[tuple[rota.App, Ring]]:
    """An app with its database there, open, and the job."""
    there = rota.App(f"sqlite:///{folder / DATABASE}")
    there.home()  # opens it
    yield there, there.action()(ring)
    there.close()


def register(there: rota.App, job: Ring, count: int) -> None:
    """Register that many, or bring them up to date, in one transaction."""
    with there.transaction() as tx:
        for number in range(count):
            tx.schedule(job, daily(number), id=f"alarm-{number}")


def fill(there: rota.App, job: Ring, count: int, at: datetime) -> None:
    """Have that many, whose next slot is this instant."""
    register(there, job, count)
    with there.home().store.begin() as connection:
        connection.exec_driver_sql("update rota_schedules set next_run_at = ?", (f"{at:%Y-%m-%dT%H:%M:%S.%fZ}",))
