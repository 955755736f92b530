"""`python -m bench enqueue [SIZE [REPEATS]]`: runs a second that are enqueued, one by one, and a thousand a call.

Each call is one commit. Huey has no call for many, so both its figures are one by one.
"""

from __future__ import annotations

import time
from pathlib import Path

from bench import errands
from bench.contest import contest

A_CALL = 1000


def main(arguments: list[str]) -> None:
    heads = {"one by one/s": 0, "in bulk/s": 0}
    contest("enqueue: {:,} runs", heads, {"rota": _rota, "Huey": _huey}, arguments, size=5000, repeats=3)


def _rota(folder: Path, size: int) -> tuple[float, float]:
    with errands.rota_at(folder) as (app, errand):
        began = time.perf_counter()
        for _ in range(size):
            app.enqueue(errand, time.time())
        single = time.perf_counter()
        for start in range(0, size, A_CALL):
            app.enqueue_many(errand, [time.time()] * min(A_CALL, size - start))
        bulk = time.perf_counter()
    return size / (single - began), size / (bulk - single)


def _huey(folder: Path, size: int) -> tuple[float, float]:
    with errands.huey_at(folder) as errand:
        began = time.perf_counter()
        for _ in range(size):
            errand(time.time())
        rate = size / (time.perf_counter() - began)
    return rate, rate
