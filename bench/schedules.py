"""Registering schedules and firing them, on a SQLite file that is flushed at each commit, beside APScheduler 3.

Counted from the instant at which all are due: for rota until each has its fire, its run and its next slot in the
database, and again until each run has ended; for APScheduler, which keeps no row of a fire, until each handler has
started. APScheduler flushes at each commit, too: that is SQLite's default.
"""

from __future__ import annotations

import logging
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import rota
from bench.tables import spread, table, version
from rota.engine.scanner import scan
from rota.events import RunSettled

COUNT, REPEATS = 1000, 3
HEAD = ("scheduler", "version", "registered/s", "fired/s", "fired and run/s")
DUE = "2026-01-01T00:00:00.000000Z"


def main(_: list[str]) -> None:
    """Print the table."""
    logging.disable(logging.WARNING)
    figures: dict[str, list[tuple[float, ...]]] = {"rota": [], "APScheduler": []}
    for _ in range(REPEATS):
        for name, measure in (("rota", _rota), ("APScheduler", _apscheduler)):
            with tempfile.TemporaryDirectory() as folder:
                figures[name].append(measure(Path(folder)))
    rows = [
        (name, version(name), *(spread(column, 0) for column in zip(*repeats, strict=True)))
        for name, repeats in figures.items()
    ]
    print(table(f"schedules: {COUNT} due at one instant, SQLite, {REPEATS} repeats, median (least-most)", HEAD, rows))


def _rota(folder: Path) -> tuple[float, float, float]:
    app = rota.App(f"sqlite:///{folder / 'rota.db'}")

    @app.action()
    def nothing() -> None: ...

    began = time.perf_counter()
    with app.transaction() as tx:
        for number in range(COUNT):
            tx.schedule(nothing, f"{number % 60} 3 * * *", id=f"s{number}")
    registered = COUNT / (time.perf_counter() - began)
    home = app.home()
    _make_due(app)
    began = time.perf_counter()
    while scan(home.store, home.clock, app.emit, "bench"):
        pass
    fired = COUNT / (time.perf_counter() - began)
    ran = COUNT / (COUNT / fired + _seconds_to_run(app))
    app.close()
    return registered, fired, ran


def _make_due(app: rota.App) -> None:
    with app.home().store.begin() as connection:
        connection.exec_driver_sql(f"update rota_schedules set next_run_at = '{DUE}'")


def _seconds_to_run(app: rota.App) -> float:
    ended, all_ended = [0], Event()

    def count(_: RunSettled) -> None:
        ended[0] += 1
        if ended[0] == COUNT:
            all_ended.set()

    app.on(RunSettled, count)
    began = time.perf_counter()
    with app.running():
        all_ended.wait(120)
        return time.perf_counter() - began


_started: list[float] = []
_all_started = Event()


def hit() -> None:
    """What APScheduler calls."""
    _started.append(time.perf_counter())
    if len(_started) == COUNT:
        _all_started.set()


def _apscheduler(folder: Path) -> tuple[float, float, float]:
    from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
    from apscheduler.schedulers.background import BackgroundScheduler

    store = SQLAlchemyJobStore(url=f"sqlite:///{folder / 'aps.db'}")
    scheduler = BackgroundScheduler(jobstores={"default": store}, timezone=UTC)
    scheduler.start(paused=True)
    now = datetime.now(UTC)
    began = time.perf_counter()
    for number in range(COUNT):
        scheduler.add_job(
            "bench.schedules:hit",
            "interval",
            hours=24,
            start_date=now,
            next_run_time=now,
            id=f"s{number}",
            misfire_grace_time=None,
        )
    registered = COUNT / (time.perf_counter() - began)
    _started.clear()
    _all_started.clear()
    began = time.perf_counter()
    scheduler.resume()
    _all_started.wait(120)
    fired = COUNT / (_started[-1] - began)
    scheduler.shutdown()
    return registered, fired, fired
