"""Old history is forgotten, and no slot can fire again over it."""

from __future__ import annotations

from datetime import timedelta
from queue import Queue

import pytest

from rota.engine.pruner import NAME, prune
from rota.errors import JobNameInvalid, ScheduleIdInvalid
from rota.events import RunSettled

WEEK, YEAR = timedelta(days=7), timedelta(days=400)


def hours(env, count: int) -> None:
    for _ in range(count):
        env.advance(timedelta(hours=1))
        env.run_until_idle()


def test_runs_go_first_and_fires_stay(env, app, report):
    app.schedule(report, "@hourly", "x", id="hourly")
    hours(env, 3)
    env.advance(WEEK)
    assert prune(env.store, env.clock, WEEK, YEAR) == 2  # what ended exactly a week ago is not older than that
    assert len(env.runs()) == 1
    assert len(env.fires("hourly")) == 3


def test_a_run_that_has_not_ended_stays(env, app, report):
    app.enqueue(report, "x", run_after=env.clock.now() + timedelta(days=1000))
    env.advance(timedelta(days=900))
    assert prune(env.store, env.clock, WEEK, YEAR) == 0
    assert [run.state for run in env.runs()] == ["waiting"]


def test_its_attempts_and_lines_go_with_it(env, app, sql):
    @app.action()
    def failing() -> None:
        raise ValueError

    app.enqueue(failing)
    env.run_until_idle()
    assert sql("select count(*) from rota_run_attempts") == [(1,)]
    env.advance(2 * WEEK)
    prune(env.store, env.clock, WEEK, YEAR)
    assert sql("select count(*) from rota_run_attempts") == [(0,)]


def test_old_fires_and_misses_go_behind_the_watermark_only(env, app, report):
    app.schedule(report, "@hourly", "x", id="hourly")
    env.advance(timedelta(hours=3))
    env.run_until_idle()
    assert (len(env.fires("hourly")), len(env.misses("hourly"))) == (1, 1)
    app.pause("hourly")
    app.trigger("hourly")  # a fire that lies at the watermark: its key is still needed
    env.run_until_idle()
    env.advance(2 * YEAR)
    prune(env.store, env.clock, WEEK, YEAR)
    (kept,) = env.fires("hourly")
    assert kept.scheduled_for == app.get("hourly").next_run_at
    assert env.misses("hourly") == []


def test_an_id_is_never_used_twice(env, app, report):
    first = app.enqueue(report, "x")
    env.run_until_idle()
    env.advance(2 * WEEK)
    prune(env.store, env.clock, WEEK, YEAR)
    assert env.runs() == []
    assert app.enqueue(report, "x").id == first.id + 1


def test_more_than_a_batch(env, app, report, sql):
    app.enqueue_many(report, ["x"] * 2500)
    sql("update rota_runs set state = 'succeeded', finished_at = run_after")
    env.advance(2 * WEEK)
    assert prune(env.store, env.clock, WEEK, YEAR) == 2500


def test_a_worker_keeps_the_schedule(app, report, sql):
    with app.running():
        (row,) = sql("select source, job, kind, app, key, enabled from rota_schedules where id = ?", NAME)
    assert row == ("system", NAME, "action", None, None, 1)


def test_code_cannot_edit_it_and_operators_can_pause_it(app, report):
    with app.running():
        pass
    with pytest.raises(ScheduleIdInvalid, match="for rota's own schedules"):
        app.schedule(report, "@daily", "x", id=NAME)
    with pytest.raises(JobNameInvalid, match="for rota's own jobs"):
        app.step(name="rota/mine")(lambda: 1)
    app.pause(NAME)
    with app.running():
        assert not app.get(NAME).enabled


def test_its_run_prunes(app, report, sql):
    """On the real clock: triggered, it forgets."""
    settled: Queue[int] = Queue()
    app.on(RunSettled, lambda event: settled.put(event.run_id))
    with app.running():
        old = app.enqueue(report, "x")
        assert settled.get(timeout=10) == old.id
        sql("update rota_runs set finished_at = '2020-01-01T00:00:00.000000Z' where id = ?", old.id)
        pruning = app.trigger(NAME)
        assert settled.get(timeout=10) == pruning.id
    assert sql("select count(*) from rota_runs where id = ?", old.id) == [(0,)]
