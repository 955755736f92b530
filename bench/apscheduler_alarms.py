"""The alarms at APScheduler 3: a job a day each, in a SQLite file. rota is not imported here: memory is measured.

Its store flushes at each commit, as SQLite does by default, and has no call for many jobs.
"""

from __future__ import annotations

import pickle
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from threading import Event

from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger

from bench.cron_corpus import daily

DATABASE = "apscheduler.db"

rung: SimpleQueue[float] = SimpleQueue()
"""When alarms rang in this process."""


def ring() -> None:
    rung.put(time.perf_counter())


@contextmanager
def opened(folder: Path) -> Iterator[BackgroundScheduler]:
    """A scheduler with its database there, started and paused."""
    scheduler = BackgroundScheduler(timezone=UTC)
    scheduler.add_jobstore("sqlalchemy", url=f"sqlite:///{folder / DATABASE}")
    scheduler.start(paused=True)
    yield scheduler
    scheduler.shutdown()


def register(scheduler: BackgroundScheduler, count: int) -> None:
    """Register that many, or bring them up to date."""
    for number in range(count):
        scheduler.add_job(ring, _trigger(number), id=f"alarm-{number}", misfire_grace_time=None, replace_existing=True)


def fill(folder: Path, count: int, at: datetime) -> None:
    """Have that many, whose next time is this instant; written past APScheduler, in one commit."""
    with opened(folder) as scheduler:
        register(scheduler, 1)
        like = scheduler.get_job("alarm-0").__getstate__()
    jobs = ({**like, "id": f"alarm-{n}", "trigger": _trigger(n), "next_run_time": at} for n in range(count))
    with closing(sqlite3.connect(folder / DATABASE)) as connection, connection:
        connection.executemany(
            "insert or replace into apscheduler_jobs values (?, ?, ?)",
            ((job["id"], at.timestamp(), pickle.dumps(job, pickle.HIGHEST_PROTOCOL)) for job in jobs),
        )


def wait() -> None:
    """In a process of its own: what an application does that leaves it running."""
    with opened(Path()) as scheduler:
        scheduler.resume()
        Event().wait()


def _trigger(number: int) -> CronTrigger:
    return CronTrigger.from_crontab(daily(number), timezone=UTC)
