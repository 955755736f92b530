"""`python -m bench drain [SIZE [REPEATS]]`: runs a second that one worker process brings to an end.

All are queued before it starts. Counted from the beginning of the first until all have ended and the database says so.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from bench import errands
from bench.contest import contest
from bench.process import Process

UNSETTLED = "select 1 from rota_runs where state in ('waiting', 'queued', 'running') limit 1"


def main(arguments: list[str]) -> None:
    contenders = {
        "rota, 4 at a time": lambda folder, size: _rota(folder, size, 4),
        "rota, 16 at a time": lambda folder, size: _rota(folder, size, 16),
        "Huey": _huey,
    }
    contest("drain: {:,} runs, one process", {"ended/s": 0}, contenders, arguments, size=5000, repeats=3)


def _rota(folder: Path, size: int, concurrency: int) -> tuple[float]:
    with errands.rota_at(folder) as (app, errand):
        app.enqueue_many(errand, [0.0] * size)
    with closing(sqlite3.connect(folder / "rota.db")) as database:
        return _rate(
            folder,
            size,
            errands.rota_worker(folder, concurrency),
            lambda: database.execute(UNSETTLED).fetchone() is None,
        )


def _huey(folder: Path, size: int) -> tuple[float]:
    with errands.huey_at(folder) as errand:
        for _ in range(size):
            errand(0.0)
        return _rate(folder, size, errands.huey_worker(folder), lambda: len(errand.huey) == 0)


def _rate(folder: Path, size: int, worker: Process, settled: Callable[[], bool]) -> tuple[float]:
    with worker:
        ended = worker.until(lambda: errands.begun(folder) >= size and settled())
    (_, began), *_ = errands.beginnings(folder)
    return (size / (ended - began),)
