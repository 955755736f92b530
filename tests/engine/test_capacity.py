"""How much a worker claims: what there is room for, and ahead of time only while its handlers are quick."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

import rota
from rota.engine.executor import AHEAD, MOST_AHEAD, QUICK, Capacity, Executor
from rota.engine.lease import BEAT
from rota.engine.options import WorkerOptions
from rota.testing import Harness
from tests.conftest import Sql
from tests.engine.conftest import Held
from tests.engine.test_executor import Bell
from tests.store.rows import alive


@contextmanager
def executor(app: rota.App, env: Harness, capacity: Capacity) -> Iterator[tuple[Executor, Bell]]:
    bell = Bell()
    with env.store.begin() as connection:
        alive(connection, "w")
    made = Executor(env.store, env.clock, app, bell, capacity)
    yield made, bell
    made.close()


def running(env: Harness) -> list[str]:
    return sorted(run.job for run in env.runs() if run.state == "running")


# ---- in each queue, or in all --------------------------------------------------------------------------------------


def test_capacity_is_each_queue_s_own() -> None:
    capacity = Capacity({"mail": 2, "bulk": 5}, None)
    assert (capacity.total, capacity.of("mail"), capacity.of("bulk")) == (7, 2, 5)
    assert capacity.room("mail", running=1, held=6) == 1
    assert capacity.room("mail", running=2, held=2) == 0


def test_or_it_is_shared() -> None:
    capacity = Capacity({"mail": 2, "bulk": 5}, 3)
    assert (capacity.total, capacity.of("mail"), capacity.of("bulk")) == (3, 3, 3)
    assert capacity.room("mail", running=0, held=2) == 1
    assert capacity.room("mail", running=0, held=3) == 0


@pytest.fixture
def waiting(app: rota.App, held: Held) -> Callable[[], None]:
    """Enqueues four runs in each of two queues, whose handlers do not return."""

    def wait() -> None:
        held.job(0)

    mail = app.action(name="mail", queue="mail")(wait)
    bulk = app.action(name="bulk", queue="bulk")(wait)

    def enqueue() -> None:
        with app.transaction() as tx:
            for job in (mail, bulk):
                for _ in range(4):
                    tx.enqueue(job)

    return enqueue


def test_queues_share_what_the_worker_was_given(app: rota.App, waiting: Callable[[], None], held: Held) -> None:
    with Harness(app, options=WorkerOptions(concurrency=3)) as env:
        waiting()
        while env.turn() == 0.0:
            pass
        held.wait_started(3)
        assert len(running(env)) == 3
        held.let_go.set()
        env.run_until_idle()
        assert {run.state for run in env.runs()} == {"succeeded"}


def test_a_queue_s_capacity_is_what_its_row_says(
    app: rota.App, env: Harness, waiting: Callable[[], None], held: Held, sql: Sql
) -> None:
    waiting()
    sql("update rota_queues set concurrency = 1 where name = 'mail'")
    sql("update rota_queues set concurrency = 2 where name = 'bulk'")
    while env.turn() == 0.0:
        pass
    held.wait_started(3)
    assert running(env) == ["bulk", "bulk", "mail"]


def test_a_queue_s_capacity_may_change_while_the_worker_works(
    env: Harness, waiting: Callable[[], None], held: Held, sql: Sql
) -> None:
    waiting()
    sql("update rota_queues set concurrency = 1")
    while env.turn() == 0.0:
        pass
    held.wait_started(2)
    sql("update rota_queues set concurrency = 3 where name = 'mail'")
    while env.turn() == 0.0:
        pass
    held.wait_started(2)
    assert running(env) == ["bulk", "mail", "mail", "mail"]
    assert env.worker.queues["mail"] == 3


def test_a_job_may_come_while_the_worker_works_and_its_queue_with_it(
    app: rota.App, env: Harness, report: rota.Job[str, int, int], sql: Sql
) -> None:
    env.run_until_idle()

    @app.step(queue="brand-new")
    def late() -> str:
        return "here"

    app.enqueue(late)
    env.run_until_idle()
    assert [run.output for run in env.runs()] == ['"here"']
    env.advance(BEAT)
    env.turn()
    assert sql("select queues, jobs from rota_workers") == [('["brand-new", "default"]', f'["late", "{report.name}"]')]


def test_the_runs_of_another_s_jobs_stay_queued(
    app: rota.App, env: Harness, report: rota.Job[str, int, int], sql: Sql
) -> None:
    theirs, mine = app.enqueue(report, "x", priority=5), app.enqueue(report, "y")
    sql("update rota_runs set job = 'of another program' where id = ?", theirs.id)
    env.run_until_idle()
    assert {run.id: (run.state, run.attempt) for run in env.runs()} == {
        theirs.id: ("queued", 0),
        mine.id: ("succeeded", 1),
    }


# ---- ahead of time -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "ahead"),
    [
        ([], 0),  # no one knows yet
        ([0.001], 2 * 50),
        ([0.005], 2 * 10),
        ([0.00001], MOST_AHEAD),
        ([QUICK], 0),
        ([60.0], 0),
        ([0.001] * 5 + [1.0], 0),  # one that is slow is enough to stop it
        ([0.009, 0.011], 2 * 5),
    ],
)
def test_only_quick_handlers_get_runs_ahead_of_time(
    app: rota.App, env: Harness, seconds: list[float], ahead: int
) -> None:
    @app.action()
    def work(seconds: float) -> None:
        env.clock.advance(timedelta(seconds=seconds))

    with executor(app, env, Capacity({"default": 2}, None)) as (made, bell):
        for lasting in seconds:
            app.enqueue(work, lasting)
            made.round("w", ["default"])
            bell.wait_rung(1)
            made.round("w", ["default"])
        assert made.room("default") == 2 + ahead
    assert AHEAD == 0.05


def test_what_is_claimed_ahead_waits_its_turn(app: rota.App, env: Harness, held: Held) -> None:
    """One place, taken; the others are claimed with it, and run when it is free."""

    @app.action()
    def quick() -> None:
        env.clock.advance(timedelta(milliseconds=1))

    with executor(app, env, Capacity({"default": 1}, None)) as (made, bell):
        app.enqueue(quick)
        made.round("w", ["default"])
        bell.wait_rung(1)
        made.round("w", ["default"])
        app.enqueue(held.job, 1, priority=1)
        for _ in range(9):
            app.enqueue(quick)
        assert made.round("w", ["default"]) == 10
        held.wait_started()
        assert (made.holding, made.has_work) == (10, False)
        held.let_go.set()
        bell.wait_rung(10)
        made.round("w", [])
    assert {run.state for run in env.runs()} == {"succeeded"}
