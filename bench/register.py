"""`python -m bench register [SIZE [REPEATS]]`: schedules a second that are registered, and registered again unchanged.

rota registers them all in one transaction. APScheduler 3 takes them one by one, so it is given a tenth of them.
"""

from __future__ import annotations

import time
from pathlib import Path

from bench import apscheduler_alarms, rota_alarms
from bench.contest import contest


def main(arguments: list[str]) -> None:
    heads = {"registered/s": 0, "again, unchanged/s": 0}
    contenders = {"rota": _rota, "APScheduler": _apscheduler}
    contest("register: {:,} schedules", heads, contenders, arguments, size=10_000, repeats=3)


def _rota(folder: Path, size: int) -> tuple[float, float]:
    with rota_alarms.opened(folder) as (app, ring):
        times = [time.perf_counter()]
        for _ in range(2):
            rota_alarms.register(app, ring, size)
            times.append(time.perf_counter())
    return _rates(size, times)


def _apscheduler(folder: Path, size: int) -> tuple[float, float]:
    with apscheduler_alarms.opened(folder) as scheduler:
        times = [time.perf_counter()]
        for _ in range(2):
            apscheduler_alarms.register(scheduler, size // 10)
            times.append(time.perf_counter())
    return _rates(size // 10, times)


def _rates(count: int, times: list[float]) -> tuple[float, float]:
    began, first, again = times
    return count / (first - began), count / (again - first)
