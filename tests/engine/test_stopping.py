"""The start and the end of a worker: what it lets end, what it gives back, and `once`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from threading import Event, Semaphore, Thread

import pytest

import rota
from rota.current import current_run
from rota.engine.lease import BEAT
from rota.engine.options import WorkerOptions
from rota.engine.worker import Worker
from rota.errors import QueueUnknown
from rota.events import RunSettled, WorkerStarted, WorkerStopped, WorkerTroubled
from rota.testing import Harness
from tests.conftest import Sql
from tests.engine.conftest import LIMIT, SECOND, Hear, Heard, Held
from tests.engine.sleeping import taken_away

MINUTE = timedelta(minutes=1)
NO_WAIT = WorkerOptions(shutdown_timeout=timedelta(0))

Report = rota.Job[str, int, int]


def states(env: Harness) -> list[str]:
    return [run.state for run in env.runs()]


# ---- the start and the end -----------------------------------------------------------------------------------------


def stopped(worker: Worker, going_on: Callable[[], None]) -> int:
    """Stop it, while time is made to go on."""
    given_back: Heard = Heard()
    Thread(target=lambda: given_back.events.put(worker.stop()), daemon=True).start()
    count: int = given_back.next_while(going_on)
    return count


def test_an_unknown_queue_is_refused_before_anything_is_written(
    app: rota.App, env: Harness, report: Report, sql: Sql
) -> None:
    with pytest.raises(QueueUnknown, match=r"no queue has the name 'bulk'; there are: default"):
        app.worker(WorkerOptions(queues=("default", "bulk")))
    assert sql("select count(*) from rota_workers") == [(0,)]


def test_it_says_that_it_starts_and_stops(app: rota.App, env: Harness, report: Report, hear: Hear, sql: Sql) -> None:
    started, stopped = hear(WorkerStarted), hear(WorkerStopped)
    with app.running() as worker:
        assert sql("select id from rota_workers") == [(worker.id,)]
    assert [(event.worker, event.queues) for event in started.all()] == [(worker.id, ("default",))]
    assert [(event.worker, event.given_back) for event in stopped.all()] == [(worker.id, 0)]
    assert sql("select id from rota_workers") == []


def test_a_stop_claims_no_more_and_lets_what_runs_end(app: rota.App, env: Harness, hear: Hear, sql: Sql) -> None:
    started = Semaphore(0)

    @app.step()
    def tidy(number: int) -> str:
        started.release()
        while not current_run().stopping:
            Event().wait(0.001)
        return "tidied up"

    worker = app.worker(WorkerOptions(concurrency=2))
    worker.start()
    app.enqueue_many(tidy, range(5))
    assert all(started.acquire(timeout=LIMIT) for _ in range(2))
    assert worker.stop() == 0
    assert [(run.state, run.attempt) for run in env.runs()] == [("succeeded", 1)] * 2 + [("queued", 0)] * 3
    assert sql("select id from rota_workers") == []


def test_what_does_not_end_in_time_is_given_back(app: rota.App, env: Harness, held: Held, sql: Sql) -> None:
    worker = app.worker(WorkerOptions(shutdown_timeout=10 * SECOND))
    worker.start()
    app.enqueue(held.job, 1)
    held.wait_started()
    assert stopped(worker, lambda: env.advance(SECOND)) == 1
    assert env.clock.elapsed() >= 10.0
    (run,) = env.runs()
    assert (run.state, run.attempt, run.lost, run.failures, run.locked_by) == ("queued", 1, 1, 0, None)
    assert run.error == "its worker was shut down before it ended"
    held.let_go.set()
    assert states(env) == ["queued"]


def test_what_had_not_started_is_given_back(app: rota.App, env: Harness, hear: Hear) -> None:
    """Quick handlers get runs ahead of time; behind one that is slow they wait, claimed."""
    settled, started = hear(RunSettled), Event()

    @app.action()
    def slow() -> None:
        started.set()
        while not current_run().stopping:
            Event().wait(0.001)

    quick = app.step(name="quick")(lambda: env.advance(timedelta(milliseconds=1)))
    worker = app.worker(WorkerOptions(concurrency=1))
    app.enqueue(quick)
    worker.start()
    assert settled.next().state == "succeeded"
    with app.transaction() as tx:
        tx.enqueue(slow, priority=1)
        for _ in range(3):
            tx.enqueue(quick)
    assert started.wait(LIMIT)
    assert worker.stop() == 3
    _, ended, *others = env.runs()
    assert ended.state == "succeeded"
    assert [(run.state, run.attempt, run.lost, run.failures) for run in others] == [("queued", 1, 1, 0)] * 3


def test_it_can_be_started_again(app: rota.App, env: Harness, report: Report, hear: Hear) -> None:
    settled = hear(RunSettled)
    for _ in range(2):
        with app.running(NO_WAIT):
            app.enqueue(report, "x")
            settled.next()
    assert states(env) == ["succeeded"] * 2


def test_a_stop_that_cannot_settle_lets_go_of_the_lease(
    app: rota.App, env: Harness, held: Held, hear: Hear, sql: Sql
) -> None:
    """Or its run would wait for ever, held by a worker that beats and works no more."""
    troubled = hear(WorkerTroubled)
    worker = app.worker(NO_WAIT)
    worker.start()
    app.enqueue(held.job, 1)
    held.wait_started()
    with taken_away(env):
        held.let_go.set()
        assert worker.stop() == 0
        assert "cannot be reached" in troubled.next().error
    for _ in range(5):
        env.advance(BEAT)
        env.turn()
    env.run_until_idle()
    assert [(run.state, run.lost) for run in env.runs()] == [("succeeded", 1)]
    assert sql("select id from rota_workers") == [(env.worker.id,)]


# ---- once ----------------------------------------------------------------------------------------------------------


def test_once_fires_what_is_due_and_runs_one_batch(app: rota.App, env: Harness, report: Report, sql: Sql) -> None:
    app.schedule(report, "* * * * *", "x", id="minutely")
    app.enqueue_many(report, ["a", "b"])
    env.advance(MINUTE)
    worker = app.worker(WorkerOptions(concurrency=2))
    assert worker.once() == 2
    assert worker.stop() == 0
    assert len(env.fires("minutely")) == 1
    assert sorted(states(env)) == ["queued", "succeeded", "succeeded"]
    assert sql("select id from rota_workers") == []


def test_once_with_nothing_to_do(app: rota.App, env: Harness, report: Report) -> None:
    worker = app.worker(WorkerOptions())
    assert worker.once() == 0
    worker.stop()


def test_once_can_be_stopped(app: rota.App, env: Harness, held: Held) -> None:
    worker = app.worker(WorkerOptions(concurrency=2, shutdown_timeout=timedelta(0)))
    app.enqueue_many(held.job, [1, 2, 3])
    ended: list[int] = []
    thread = Thread(target=lambda: ended.append(worker.once()))
    thread.start()
    held.wait_started(2)
    assert worker.stop() == 2
    thread.join(LIMIT)
    assert ended == [0]
    assert [(run.state, run.lost) for run in env.runs()] == [("queued", 1)] * 2 + [("queued", 0)]
