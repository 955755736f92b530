"""`python -m bench idle [SIZE [REPEATS]]`: what a process costs that has schedules, none of which is due.

Both are watched in the same 20 seconds, some seconds after their start. On Linux only.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench import apscheduler_alarms, rota_alarms
from bench.contest import asked_for, compared
from bench.process import Process

SETTLING, WATCHED = 4.0, 20.0  # seconds
STARTS = {
    "rota": ("-m", "rota", "--app", "bench.rota_alarms:app", "--database", "sqlite:///rota.db", "worker"),
    "APScheduler": ("-c", "from bench import apscheduler_alarms; apscheduler_alarms.wait()"),
}


def main(arguments: list[str]) -> None:
    size, repeats = asked_for(arguments, 10_000, 1)
    found = [_repeat(size) for _ in range(repeats)]
    figures = dict(zip(STARTS, zip(*found, strict=True), strict=True))
    print(compared(f"idle: {size:,} schedules, none due", {"CPU, %": 3, "RSS, MiB": 1}, figures))


def _repeat(size: int) -> list[tuple[float, float]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        _fill(folder, size)
        processes = [stack.enter_context(Process(folder, *start)) for start in STARTS.values()]
        time.sleep(SETTLING)
        before = [process.cost() for process in processes]
        time.sleep(WATCHED)
        after = [process.cost() for process in processes]
    return [(100 * (now - then) / WATCHED, held) for (then, _), (now, held) in zip(before, after, strict=True)]


def _fill(folder: Path, size: int) -> None:
    later = datetime.now(UTC) + timedelta(days=100)
    with rota_alarms.opened(folder) as (app, ring):
        rota_alarms.fill(app, ring, size, at=later)
    apscheduler_alarms.fill(folder, size, at=later)
