"""The lease: a worker that is taken for dead starts anew, and what dead workers held is given back, free of charge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from threading import Event, Semaphore

import pytest
from sqlalchemy.exc import DBAPIError

import rota
from rota.claim import LOST_LIMIT
from rota.engine import janitor
from rota.engine.lease import BEAT, LEASE
from rota.engine.options import WorkerOptions
from rota.engine.worker import Worker
from rota.events import ClaimLost, RunSettled, RunsRescued, WorkerRenewed, WorkerTroubled
from rota.store import claims, workers
from rota.store.workers import WorkerRow
from rota.testing import Harness
from tests.engine.conftest import LIMIT, SECOND, Hear, Held, Sql

NO_WAIT = WorkerOptions(shutdown_timeout=timedelta(0))


def leases(env: Harness) -> dict[str, timedelta]:
    """How long each worker's lease still holds."""
    with env.store.read() as connection:
        return {row.id: row.lease_until - env.clock.now() for row in workers.listing(connection)}


def later(env: Harness, by: timedelta) -> None:
    env.advance(by)
    env.turn()


# ---- its own row ---------------------------------------------------------------------------------------------------


def test_a_beat_renews_the_lease(env: Harness) -> None:
    env.turn()
    assert leases(env) == {env.worker.id: LEASE}
    later(env, BEAT - SECOND)
    assert leases(env) == {env.worker.id: LEASE - BEAT + SECOND}
    later(env, SECOND)
    assert leases(env) == {env.worker.id: LEASE}


def test_a_row_says_whose_it_is(env: Harness, sql: Sql, report: object) -> None:
    env.turn()
    ((worker, queues, jobs, pid),) = sql("select id, queues, jobs, pid from rota_workers")
    assert (worker, queues, jobs) == (env.worker.id, '["default"]', '["report"]')
    assert pid > 0


def test_one_whose_row_is_gone_starts_anew(app: rota.App, env: Harness, held: Held, hear: Hear, sql: Sql) -> None:
    """Someone took it for dead. Its run goes on elsewhere; what the first attempt brings is dropped."""
    renewed, lost = hear(WorkerRenewed), hear(ClaimLost)
    app.enqueue(held.job, 7)
    env.turn()
    held.wait_started()
    former = env.worker.id
    sql("delete from rota_workers")
    later(env, BEAT)
    assert [(event.worker, event.successor) for event in renewed.all()] == [(former, env.worker.id)]
    assert leases(env) == {env.worker.id: LEASE}
    assert env.worker.id != former
    held.wait_started()  # again
    held.let_go.set()
    env.run_until_idle()
    (run,) = env.runs()
    assert (run.state, run.attempt, run.lost, run.failures) == ("succeeded", 2, 1, 0)
    assert [(event.run_id, event.attempt) for event in lost.all()] == [(run.id, 1)]


def test_a_new_start_that_fails_is_made_again(app: rota.App, env: Harness, held: Held, hear: Hear, sql: Sql) -> None:
    """And nothing of what it held under its former id is forgotten over it."""
    renewed = hear(WorkerRenewed)
    app.enqueue(held.job, 7)
    env.turn()
    held.wait_started()
    former = env.worker.id
    sql("delete from rota_workers")
    sql("create trigger no_start before insert on rota_workers begin select raise(abort, 'not now'); end")
    with pytest.raises(DBAPIError, match="not now"):
        later(env, BEAT)
    sql("drop trigger no_start")
    later(env, BEAT)
    assert [(event.worker, event.successor) for event in renewed.all()] == [(former, env.worker.id)]
    held.wait_started()
    held.let_go.set()
    env.run_until_idle()
    assert [(run.state, run.attempt, run.lost) for run in env.runs()] == [("succeeded", 2, 1)]
    assert list(leases(env)) == [env.worker.id]


def test_one_without_a_row_claims_nothing(
    app: rota.App, env: Harness, report: rota.Job[str, int, int], sql: Sql
) -> None:
    """Between two beats it may not know yet that it was taken for dead; what it took then would be no one's."""
    env.turn()
    sql("delete from rota_workers")
    app.enqueue(report, "day")
    env.worker.turn()
    assert [(run.state, run.locked_by) for run in env.runs()] == [("queued", None)]
    later(env, BEAT)
    env.run_until_idle()
    assert [(run.state, run.attempt) for run in env.runs()] == [("succeeded", 1)]


def test_a_coroutine_is_cancelled_where_its_worker_lost_the_lease(
    app: rota.App, env: Harness, hear: Hear, sql: Sql
) -> None:
    """Its run may have begun elsewhere: the less the two overlap, the better."""
    lost, started, ended = hear(ClaimLost), Semaphore(0), Semaphore(0)

    @app.step()
    async def patient() -> int:
        started.release()
        try:
            if rota.current_run().attempt == 1:
                await asyncio.Event().wait()
        finally:
            ended.release()
        return rota.current_run().attempt

    app.enqueue(patient)
    env.turn()
    assert started.acquire(timeout=LIMIT)
    sql("delete from rota_workers")
    later(env, BEAT)
    assert ended.acquire(timeout=LIMIT)
    env.run_until_idle()
    assert [(run.state, run.output) for run in env.runs()] == [("succeeded", "2")]
    assert [event.attempt for event in lost.all()] == [1]


def test_one_that_slept_through_its_lease_starts_anew(
    app: rota.App, env: Harness, hear: Hear, held: Held, ticking: Callable[[], None]
) -> None:
    """The machine slept: the row may be there still, but another may be about to take it."""
    renewed, settled = hear(WorkerRenewed), hear(RunSettled)
    with app.running(NO_WAIT) as worker:
        former = worker.id
        app.enqueue(held.job, 7)
        held.wait_started()
        env.advance(LEASE + SECOND)
        event = renewed.next_while(ticking)
        assert (event.worker, event.successor) == (former, worker.id)
        held.wait_started()  # its run was given back, and is claimed under the new id
        held.let_go.set()
        assert settled.next_while(ticking).attempt == 2
        assert list(leases(env)) == [worker.id]


def test_one_that_was_late_by_less_keeps_its_id(app: rota.App, env: Harness, hear: Hear, sql: Sql) -> None:
    with app.running(NO_WAIT) as worker:
        former = worker.id
        env.advance(LEASE)
        wait_until(env, lambda: leases(env)[former] > LEASE - BEAT)
        assert worker.id == former


def wait_until(env: Harness, seen: Callable[[], bool]) -> None:
    """Each commit of this process is a moment at which it may have come true."""
    committed = Event()
    off = env.store.on_commit(committed.set)
    while not seen():
        assert committed.wait(LIMIT)
        committed.clear()
    off()


def test_beating_goes_on_after_trouble(
    app: rota.App, env: Harness, hear: Hear, sql: Sql, ticking: Callable[[], None]
) -> None:
    """Whatever a beat stumbles over: a worker whose lease runs out while it works is taken for dead."""
    troubled = hear(WorkerTroubled)
    with app.running(NO_WAIT) as worker:
        sql("create trigger no_beat before update on rota_workers begin select raise(abort, 'no beat'); end")
        env.advance(BEAT)
        assert "no beat" in troubled.next_while(ticking).error
        sql("drop trigger no_beat")
        env.advance(BEAT)
        wait_until(env, lambda: leases(env)[worker.id] > LEASE - BEAT)


# ---- the others' rows ----------------------------------------------------------------------------------------------


def dead_worker(env: Harness, name: str) -> None:
    """One that claimed everything and died, just now."""
    now = env.clock.now()
    with env.store.begin() as connection:
        workers.add(connection, WorkerRow(name, "host", 1, "[]", "[]", "0", now, now, now + LEASE))
        claims.claim(connection, name, "default", ["report"], 100, now)


def rescue(app: rota.App, env: Harness) -> int:
    return janitor.rescue(env.store, env.clock, app.emit)


def test_the_runs_of_a_dead_worker_come_back_free(
    app: rota.App, env: Harness, report: rota.Job[str, int, int], hear: Hear
) -> None:
    rescued = hear(RunsRescued)
    app.enqueue_many(report, ["day", "week", "month"])
    dead_worker(env, "dead")
    env.advance(LEASE)
    assert rescue(app, env) == 0  # it may live yet
    env.advance(timedelta.resolution)
    assert rescue(app, env) == 1
    assert [(run.state, run.lost, run.failures, run.locked_by) for run in env.runs()] == [("queued", 1, 0, None)] * 3
    assert leases(env) == {}
    assert [(event.worker, event.runs) for event in rescued.all()] == [("dead", 3)]
    assert rescue(app, env) == 0
    env.run_until_idle()
    assert [(run.state, run.attempt) for run in env.runs()] == [("succeeded", 2)] * 3


def test_a_run_that_kills_every_worker_fails_in_the_end(
    app: rota.App, env: Harness, report: rota.Job[str, int, int]
) -> None:
    app.enqueue(report, "day")
    for n in range(LOST_LIMIT + 1):
        assert [run.state for run in env.runs()] == ["queued"]
        dead_worker(env, f"dead {n}")
        env.advance(LEASE + SECOND)
        assert rescue(app, env) == 1
    (run,) = env.runs()
    assert (run.state, run.lost, run.failures) == ("failed", LOST_LIMIT + 1, 0)
    assert run.error == "given up after 6 attempts that never ended: the lease of its worker ran out"


def test_what_was_to_be_cancelled_does_not_run_again(
    app: rota.App, env: Harness, report: rota.Job[str, int, int]
) -> None:
    unwanted, wanted = app.enqueue_many(report, ["day", "week"])
    dead_worker(env, "dead")
    app.cancel(unwanted)
    env.advance(LEASE + SECOND)
    rescue(app, env)
    assert {run.id: (run.state, run.lost) for run in env.runs()} == {unwanted: ("cancelled", 0), wanted: ("queued", 1)}


def test_only_the_dead_are_rescued(app: rota.App, env: Harness, report: rota.Job[str, int, int]) -> None:
    first, second = app.enqueue_many(report, ["day", "week"])
    dead_worker(env, "dead")
    env.advance(LEASE - SECOND)
    with env.store.begin() as connection:
        connection.exec_driver_sql(f"update rota_runs set locked_by = 'alive' where id = {second}")
    dead_worker(env, "alive")
    env.advance(2 * SECOND)
    assert rescue(app, env) == 1
    assert {run.id: (run.state, run.locked_by) for run in env.runs()} == {
        first: ("queued", None),
        second: ("running", "alive"),
    }


def test_a_worker_rescues_what_another_held_at_its_next_beat(
    app: rota.App, env: Harness, report: rota.Job[str, int, int]
) -> None:
    env.turn()
    app.enqueue(report, "day")
    dead_worker(env, "dead")
    for _ in range(4):
        later(env, BEAT)
    env.run_until_idle()
    assert [run.state for run in env.runs()] == ["succeeded"]
    assert list(leases(env)) == [env.worker.id]


@pytest.mark.parametrize("runs_held", [0, 3])
def test_stopping_gives_back_and_takes_the_row_away(app: rota.App, env: Harness, held: Held, runs_held: int) -> None:
    app.enqueue_many(held.job, range(runs_held))
    worker: Worker = app.worker(NO_WAIT)
    worker.turn()
    held.wait_started(runs_held)
    assert worker.stop() == runs_held
    assert leases(env) == {}
    assert [(run.state, run.lost, run.failures) for run in env.runs()] == [("queued", 1, 0)] * runs_held
