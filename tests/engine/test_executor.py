"""The executor: what the database refuses fails alone, what it cannot take now is kept, and capacity holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from threading import Barrier, Event, Lock, Semaphore

import pytest

import rota
from rota.engine.executor import Capacity, Executor
from rota.engine.options import WorkerOptions
from rota.errors import DatabaseBusy
from rota.events import ClaimLost, RunSettled
from rota.run import Run
from rota.store import sqlite
from rota.testing import Harness
from tests.engine.conftest import LIMIT, SECOND, Hear, Held, Sql
from tests.store.rows import alive

NO_POISON = """create trigger no_poison before update of state on rota_runs
when cast(new.output as text) like '%poison%'
begin select raise(abort, 'no poison here'); end"""


NO_CLAIM = """create trigger no_claim before update of state on rota_runs when new.state = 'running'
begin select raise(abort, 'no claim here'); end"""


class Bell(Event):
    """An executor's wake, which counts how often it was rung: once for each handler that came back."""

    def __init__(self) -> None:
        super().__init__()
        self._rung = Semaphore(0)

    def set(self) -> None:
        super().set()
        self._rung.release()

    def wait_rung(self, many: int) -> None:
        for _ in range(many):
            assert self._rung.acquire(timeout=LIMIT)


class Bench:
    """An executor that runs what one enqueues, eight at a time, when it is told to."""

    def __init__(self, app: rota.App, env: Harness) -> None:
        self.app, self.env, self.bell = app, env, Bell()
        with env.store.begin() as connection:
            alive(connection, "w")
        self.executor = Executor(env.store, env.clock, app, self.bell, Capacity({"default": 8}, None))
        self.job = app.step(name="say")(self._say)

    def _say(self, words: str) -> str:
        return words

    def run(self, *words: str) -> list[int]:
        """Claim and call them all; their outcomes wait to be settled."""
        ids = list(self.app.enqueue_many(self.job, words))
        assert self.round() == len(words)
        self.bell.wait_rung(len(words))
        return ids

    def round(self) -> int:
        return self.executor.round("w", ["default"])

    def ended(self) -> list[tuple[str, str | None]]:
        return [(run.state, run.output) for run in self.env.runs()]


@pytest.fixture
def bench(app: rota.App, env: Harness) -> Iterator[Bench]:
    bench = Bench(app, env)
    yield bench
    bench.executor.close()


# ---- outcomes that are refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 3, 7])
def test_a_refused_outcome_fails_its_own_run_only(bench: Bench, sql: Sql, hear: Hear, place: int) -> None:
    settled = hear(RunSettled)
    sql(NO_POISON)
    words = [f"{n}" for n in range(8)]
    words[place] = "poison"
    ids = bench.run(*words)
    assert bench.round() == 8
    expected = [("succeeded", f'"{n}"') for n in range(8)]
    expected[place] = ("failed", None)
    assert bench.ended() == expected
    assert bench.env.runs()[place].error == "the database refused its outcome: no poison here"
    assert bench.executor.holding == 0
    assert sorted(event.run_id for event in settled.all()) == ids


def test_all_of_them_refused(bench: Bench, sql: Sql) -> None:
    sql(NO_POISON)
    bench.run("poison one", "poison two")
    bench.round()
    assert bench.ended() == [("failed", None)] * 2
    assert [row for (row,) in sql("select outcome from rota_run_attempts")] == ["failed"] * 2


def test_settling_goes_on_where_claiming_is_refused(bench: Bench, sql: Sql) -> None:
    ids = bench.run("one", "two")
    sql(NO_CLAIM)
    bench.app.enqueue(bench.job, "three")
    bench.round()
    states = {run.id: run.state for run in bench.env.runs()}
    assert [states.pop(run_id) for run_id in ids] == ["succeeded"] * 2
    assert list(states.values()) == ["queued"]


def test_outcomes_are_kept_while_the_database_is_busy(
    app: rota.App, monkeypatch: pytest.MonkeyPatch, hear: Hear
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.1)
    with Harness(app) as env:
        bench = Bench(app, env)
        bench.run("one", "two")
        with closing(writer(env)):
            for _ in range(2):
                with pytest.raises(DatabaseBusy):
                    bench.round()
        assert [run.state for run in env.runs()] == ["running"] * 2
        assert bench.round() == 2
        assert bench.ended() == [("succeeded", '"one"'), ("succeeded", '"two"')]
        bench.executor.close()


def test_outcomes_are_kept_where_it_gets_busy_in_the_middle_of_writing_each_alone(
    app: rota.App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One was refused, so each is written alone; after the first, another program takes the lock."""
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.1)
    taken: list[sqlite3.Connection] = []
    with Harness(app) as env:
        bench = Bench(app, env)
        with env.store.begin() as connection:
            connection.exec_driver_sql(NO_POISON)
        bench.run("one", "two", "poison", "three")
        app.on(RunSettled, lambda _: taken or taken.append(writer(env)))
        with pytest.raises(DatabaseBusy):
            bench.round()
        taken[0].close()
        bench.round()
        assert [run.state for run in env.runs()] == ["succeeded", "succeeded", "failed", "succeeded"]
        assert bench.executor.holding == 0
        bench.executor.close()


def writer(env: Harness) -> sqlite3.Connection:
    """Another program in the middle of its transaction."""
    other = sqlite3.connect(env.store.url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("begin immediate")
    return other


# ---- outcomes that come too late -----------------------------------------------------------------------------------


def test_an_outcome_for_a_run_that_is_another_s_by_now_is_dropped(bench: Bench, sql: Sql, hear: Hear) -> None:
    lost, settled = hear(ClaimLost), hear(RunSettled)
    one, two = bench.run("one", "two")
    sql("update rota_runs set locked_by = 'other', attempt = 2 where id = ?", one)
    bench.round()
    assert bench.ended() == [("running", None), ("succeeded", '"two"')]
    assert [(event.run_id, event.attempt) for event in lost.all()] == [(one, 1)]
    assert [event.run_id for event in settled.all()] == [two]
    assert bench.executor.holding == 0


# ---- how many ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("options", "most"), [(WorkerOptions(), 4), (WorkerOptions(concurrency=2), 2)])
def test_no_more_run_at_a_time_than_there_is_capacity_for(app: rota.App, options: WorkerOptions, most: int) -> None:
    now, seen, lock, full = 0, [0], Lock(), Barrier(most)

    @app.step()
    def count(number: int) -> None:
        nonlocal now
        with lock:
            now += 1
            seen.append(now)
        full.wait(LIMIT)  # each waits until as many as may are running
        with lock:
            now -= 1

    with Harness(app, options=options) as env:
        app.enqueue_many(count, range(3 * most))
        env.run_until_idle()
        assert {run.state for run in env.runs()} == {"succeeded"}
    assert max(seen) == most


def test_each_queue_has_its_own_room(app: rota.App, env: Harness, held: Held) -> None:
    """A slow queue does not keep another from working."""
    quick = app.step(name="quick", queue="quick")(lambda: None)
    app.enqueue_many(held.job, range(9))
    run = app.enqueue(quick)
    env.turn()
    held.wait_started(4)
    while state(env, run) != "succeeded":
        assert env.worker.wake.wait(LIMIT)
        env.turn()
    assert [run.state for run in env.runs() if run.job == "held"] == ["running"] * 4 + ["queued"] * 5
    held.let_go.set()
    env.run_until_idle()


def state(env: Harness, run: Run) -> str:
    return next(other.state for other in env.runs() if other.id == run.id)


def test_a_worker_of_one_queue_leaves_the_others(app: rota.App, hear: Hear) -> None:
    one, two = (app.step(name=name, queue=name)(lambda: None) for name in ("one", "two"))
    with Harness(app) as env:
        for job in (one, two):
            app.enqueue(job)
        with Harness(app) as other:  # another file: nothing of it is seen there
            other.run_until_idle()
            assert list(other.runs()) == []
        worker = app.worker(WorkerOptions(queues=("two",), shutdown_timeout=0 * SECOND))
        ended = hear(RunSettled)
        worker.turn()
        while not ended.all():
            assert worker.wake.wait(LIMIT)
            worker.wake.clear()
            worker.turn()
        assert [(run.job, run.state) for run in env.runs()] == [("one", "queued"), ("two", "succeeded")]
        worker.stop()
