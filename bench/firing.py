"""`python -m bench firing [SIZE [REPEATS]]`: fires a second of schedules that are all due at one instant.

Both start from rows. For rota it counts until each has its fire, its run and its next slot in the database; no worker
runs. For APScheduler 3, which keeps no row of a fire, until each handler has begun.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

from bench import apscheduler_alarms, rota_alarms
from bench.contest import contest
from bench.process import LIMIT
from rota.engine.scanner import scan


def main(arguments: list[str]) -> None:
    heads = {"fired/s": 0, "all fired, s": 2}
    contenders = {"rota": _rota, "APScheduler": _apscheduler}
    contest("firing: {:,} schedules due at one instant", heads, contenders, arguments, size=10_000, repeats=2)


def _rota(folder: Path, size: int) -> tuple[float, float]:
    with rota_alarms.opened(folder) as (app, ring):
        rota_alarms.fill(app, ring, size, at=datetime.now(UTC))
        home = app.home()
        began = time.perf_counter()
        while scan(home.store, home.clock, app.emit, "bench"):
            pass
        seconds = time.perf_counter() - began
    return size / seconds, seconds


def _apscheduler(folder: Path, size: int) -> tuple[float, float]:
    apscheduler_alarms.fill(folder, size, at=datetime.now(UTC))
    with apscheduler_alarms.opened(folder) as scheduler:
        began = time.perf_counter()
        scheduler.resume()
        seconds = max(apscheduler_alarms.rung.get(timeout=LIMIT) for _ in range(size)) - began
    return size / seconds, seconds
