"""A worker inside the process, on the machine's own clock: promise C1."""

from __future__ import annotations

import threading
from datetime import datetime
from queue import Queue

import rota
from rota.events import RunSettled
from tests.conftest import Sql

LIMIT = 20.0  # seconds to wait for what should take one


def test_c1_a_due_schedule_fires_within_a_started_app(app: rota.App, sql: Sql) -> None:
    settled: Queue[RunSettled] = Queue()
    app.on(RunSettled, settled.put)
    threads: list[str] = []

    @app.step()
    def where() -> str:
        threads.append(threading.current_thread().name)
        return "here"

    @app.on_start
    def register() -> None:
        app.schedule(where, "@every 1s", id="every-second")

    with app.running():
        first, second = settled.get(timeout=LIMIT), settled.get(timeout=LIMIT)

    assert (first.state, second.state) == ("succeeded", "succeeded")
    assert len(threads) >= 2
    fired = sql("select scheduled_for, fired_at, origin from rota_schedule_fires order by scheduled_for")
    slots = [datetime.fromisoformat(slot) for slot, _, _ in fired]
    assert [slot.microsecond for slot in slots] == [0] * len(slots)
    assert all(datetime.fromisoformat(at) >= slot for slot, (_, at, _) in zip(slots, fired, strict=True))
    assert {origin for _, _, origin in fired} == {"scan"}


def test_what_is_enqueued_wakes_the_worker(app: rota.App) -> None:
    settled: Queue[RunSettled] = Queue()
    app.on(RunSettled, settled.put)

    @app.step()
    async def double(number: int) -> int:
        return number * 2

    with app.running():  # it would poll after a minute
        run = app.enqueue(double, 21)
        assert settled.get(timeout=LIMIT).run_id == run.id


def test_stop_ends_the_worker_and_its_row(app: rota.App, sql: Sql) -> None:
    with app.running() as worker:
        assert sql("select id from rota_workers") == [(worker.id,)]

    assert sql("select id from rota_workers") == []
    assert [thread for thread in threading.enumerate() if thread.name in ("rota-worker", "rota-lease")] == []
