"""Errands: runs that only write down when they were sent and when they began; at rota and at Huey, in SQLite files.

Both flush at each commit. Huey deletes a run before it starts it; rota keeps it, and writes how it ended.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from huey import SqliteHuey
from huey.api import TaskWrapper

import rota
from bench.process import Process

Errand = rota.Job[float, None, None]

_BEGINNINGS = "beginnings"
_times = struct.Struct("dd")


def errand(sent: float) -> None:
    os.write(_beginnings(), _times.pack(sent, time.time()))


@cache
def _beginnings() -> int:
    return os.open(_BEGINNINGS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def begun(folder: Path) -> int:
    """How many of a folder's errands have begun."""
    file = folder / _BEGINNINGS
    return file.stat().st_size // _times.size if file.exists() else 0


def beginnings(folder: Path) -> list[tuple[float, float]]:
    """When each was sent and when it began, in the order in which they began."""
    return list(_times.iter_unpack((folder / _BEGINNINGS).read_bytes()))


# ---- rota ----------------------------------------------------------------------------------------------------------

app = rota.App()  # a worker's
app.action()(errand)


@contextmanager
def rota_at(folder: Path) -> Iterator[tuple[rota.App, Errand]]:
    """An app with its database there, open, and the job."""
    there = rota.App(f"sqlite:///{folder / 'rota.db'}")
    there.home()  # opens it
    yield there, there.action()(errand)
    there.close()


def rota_worker(folder: Path, concurrency: int = 4) -> Process:
    """`rota worker`; 4 at a time is its default."""
    where = ("--app", "bench.errands:app", "--database", "sqlite:///rota.db")
    return Process(folder, "-m", "rota", *where, "worker", "--concurrency", str(concurrency))


# ---- Huey ----------------------------------------------------------------------------------------------------------


@contextmanager
def huey_at(folder: Path) -> Iterator[TaskWrapper]:
    """The job of a Huey with its database there; calling it enqueues a run."""
    there = SqliteHuey("errands", filename=str(folder / "huey.db"), fsync=True)
    yield there.task()(errand)
    there.storage.close()


def huey_worker(folder: Path) -> Process:
    return Process(folder, "-c", "from bench import errands; errands.work_for_huey()")


def work_for_huey() -> None:
    """On one thread, with which it drains fastest; idle, it looks every 10 to 100 ms, not every 0.1 to 10 s."""
    with huey_at(Path()) as job:
        job.huey.create_consumer(workers=1, periodic=False, initial_delay=0.01, max_delay=0.1).run()
