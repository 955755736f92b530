"""Queues: paused, and limited over all workers, exactly, however many claim at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest

import rota
from rota.engine.options import WorkerOptions
from rota.engine.worker import Worker
from rota.errors import OptionInvalid, QueueUnknown
from rota.testing import Harness
from tests.conftest import Sql
from tests.engine.conftest import Held

WORKERS = 4


@pytest.fixture
def workers(app: rota.App, env: Harness, held: Held) -> Iterator[list[Worker]]:
    """Several of them on one queue; their turns are taken by the test."""
    app.enqueue(held.job, 0)
    app.cancel(env.runs()[0].id)
    found = [app.worker(WorkerOptions(concurrency=8, shutdown_timeout=timedelta(0))) for _ in range(WORKERS)]
    yield found
    held.let_go.set()
    for worker in found:
        worker.stop()


def all_at_once(workers: list[Worker], times: int) -> None:
    """Each takes its turns, all of them at the same moment."""
    start = Barrier(len(workers))

    def take_turns(worker: Worker) -> None:
        for _ in range(times):
            start.wait(10)
            worker.turn()

    with ThreadPoolExecutor(len(workers)) as pool:
        list(pool.map(take_turns, workers))


def running(env: Harness) -> int:
    return [run.state for run in env.runs()].count("running")


def test_a_limit_over_all_workers_is_exact(app: rota.App, env: Harness, workers: list[Worker], held: Held) -> None:
    app.limit_queue("default", max_running=3)
    app.enqueue_many(held.job, list(range(40)))
    all_at_once(workers, times=5)
    assert running(env) == 3
    app.limit_queue("default", max_running=5)
    all_at_once(workers, times=5)
    assert running(env) == 5
    app.limit_queue("default", max_running=2)  # what runs goes on
    all_at_once(workers, times=3)
    assert running(env) == 5
    app.limit_queue("default", max_running=0)
    all_at_once(workers, times=3)
    assert running(env) == 8 * WORKERS


def test_where_one_ends_another_begins(app: rota.App, env: Harness, clean: rota.Job0[None, None]) -> None:
    app.enqueue(clean)
    app.limit_queue("default", max_running=1)
    for _ in range(5):
        app.enqueue(clean)
    env.run_until_idle()
    assert [run.state for run in env.runs()] == ["succeeded"] * 6


def test_a_paused_queue_waits(app: rota.App, env: Harness, clean: rota.Job0[None, None]) -> None:
    app.schedule(clean, "@hourly", id="hourly")
    assert app.pause_queue("default").paused
    env.advance(timedelta(hours=1))
    assert env.turn() > 0.0
    assert [run.state for run in env.runs()] == ["queued"]  # it was fired all the same
    app.resume_queue("default")
    env.run_until_idle()
    assert [run.state for run in env.runs()] == ["succeeded"]


def test_who_changed_a_queue_is_kept_and_what_changes_nothing_is_not(
    app: rota.App, env: Harness, clean: rota.Job0[None, None], sql: Sql
) -> None:
    app.enqueue(clean)
    assert app.limit_queue("default", concurrency=7) == rota.Queue("default", 7)
    app.limit_queue("default", concurrency=7)
    app.pause_queue("default")
    app.pause_queue("default")
    assert list(app.queues()) == [rota.Queue("default", 7, None, paused=True)]
    assert sql("select verb, subject from rota_audit order by id") == [
        ("limit", "queue default"),
        ("pause", "queue default"),
    ]


def test_what_cannot_be_meant(app: rota.App, env: Harness, clean: rota.Job0[None, None]) -> None:
    app.enqueue(clean)
    with pytest.raises(QueueUnknown, match="no queue has the name 'mial'; there are: default"):
        app.pause_queue("mial")
    for number in (0, -1, True, 10**9):
        with pytest.raises(OptionInvalid, match="concurrency="):
            app.limit_queue("default", concurrency=number)
    with pytest.raises(OptionInvalid, match="max_running=-1: give a whole number from 0"):
        app.limit_queue("default", max_running=-1)
