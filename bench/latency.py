"""`python -m bench latency [SIZE [REPEATS]]`: from enqueueing a run to its beginning in a worker process that is idle.

One run each 25 to 75 ms, at random: a worker that looks at fixed times must not fall into step with them.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

from bench import errands
from bench.contest import contest
from bench.process import Process

PAUSES = (0.025, 0.075)  # seconds


def main(arguments: list[str]) -> None:
    heads = {"p50, ms": 1, "p99, ms": 1}
    contest("latency: {:,} runs", heads, {"rota": _rota, "Huey": _huey}, arguments, size=100, repeats=3)


def _rota(folder: Path, size: int) -> tuple[float, float]:
    with errands.rota_at(folder) as (app, errand):
        return _latencies(folder, size, errands.rota_worker(folder), lambda: app.enqueue(errand, time.time()))


def _huey(folder: Path, size: int) -> tuple[float, float]:
    with errands.huey_at(folder) as errand:
        return _latencies(folder, size, errands.huey_worker(folder), lambda: errand(time.time()))


def _latencies(folder: Path, size: int, worker: Process, send: Callable[[], object]) -> tuple[float, float]:
    with worker:
        send()
        worker.until(lambda: errands.begun(folder) == 1)  # it is there
        for _ in range(size):
            time.sleep(random.uniform(*PAUSES))
            send()
        worker.until(lambda: errands.begun(folder) > size)
    took = sorted((began - sent) * 1000 for sent, began in errands.beginnings(folder)[1:])
    return took[size // 2], took[size * 99 // 100]
