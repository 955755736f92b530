"""A worker on its own threads: what wakes it, how it stops, and how it lives through trouble."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from threading import Event

import pytest

import rota
from rota.current import current_run
from rota.engine.lease import BEAT
from rota.engine.options import WorkerOptions
from rota.events import RunSettled, ScheduleFired, WorkerTroubled
from rota.store.file import FileWatch
from rota.testing import Harness
from tests.conftest import Sql
from tests.engine.conftest import SECOND, Hear, Heard
from tests.engine.sleeping import SleepClock, clock, env, taken_away

__all__ = ["clock", "env"]

MINUTE = timedelta(minutes=1)
NO_WAIT = WorkerOptions(shutdown_timeout=timedelta(0))
QUIET = replace(NO_WAIT, poll_interval=timedelta(hours=1), poll_only=True)  # nothing but its reasons wakes it

Clean = rota.Job0[None, None]
Report = rota.Job[str, int, int]


def states(env: Harness) -> list[str]:
    return [run.state for run in env.runs()]


# ---- what wakes it -------------------------------------------------------------------------------------------------


def test_it_sleeps_until_the_next_slot(
    app: rota.App, env: Harness, clean: Clean, clock: SleepClock, hear: Hear
) -> None:
    fired = hear(ScheduleFired)
    app.schedule(clean, "5 * * * *", id="five-past")
    with app.running(QUIET):
        clock.asleep(300.0)
        env.advance(5 * MINUTE)
        slot = fired.next().slot
    (fire,) = env.fires("five-past")
    assert fire.scheduled_for == fire.fired_at == slot == clock.now()


def test_it_sleeps_until_a_run_may_start(
    app: rota.App, env: Harness, report: Report, clock: SleepClock, hear: Hear
) -> None:
    settled = hear(RunSettled)
    app.enqueue(report, "x", run_after=clock.now() + 7 * MINUTE)
    with app.running(QUIET):
        clock.asleep(420.0)
        env.advance(7 * MINUTE)
        assert settled.next().state == "succeeded"
    assert env.runs()[0].started_at == clock.now()


def test_it_sleeps_until_the_next_attempt(app: rota.App, env: Harness, clock: SleepClock, hear: Hear) -> None:
    settled = hear(RunSettled)

    @app.step(retry=rota.Retry(2, initial_delay=30 * SECOND))
    def second_time() -> int:
        return 1 // (current_run().attempt - 1)

    app.enqueue(second_time)
    with app.running(QUIET):
        assert settled.next().state == "waiting"
        clock.asleep(30.0)
        env.advance(30 * SECOND)
        assert settled.next().state == "succeeded"


def test_it_sleeps_until_a_handler_s_time_is_up(app: rota.App, env: Harness, clock: SleepClock, hear: Hear) -> None:
    settled = hear(RunSettled)

    @app.action(timeout=20 * SECOND)
    def patient() -> None:
        while not current_run().cancelled:
            Event().wait(0.001)
        env.advance(timedelta.resolution)

    app.enqueue(patient)
    with app.running(QUIET):
        clock.asleep(20.0)
        env.advance(20 * SECOND)
        assert settled.next().error == "timeout: it took longer than 0:00:20"


def test_a_write_of_this_process_wakes_it(
    app: rota.App, env: Harness, report: Report, clock: SleepClock, hear: Hear
) -> None:
    settled = hear(RunSettled)
    with app.running(QUIET):
        clock.asleep(3600.0)
        app.enqueue(report, "x")
        assert settled.next().state == "succeeded"
    assert clock.elapsed() == 0.0


def queue_now(env: Harness, sql: Sql) -> None:
    """Another program queues a run, on a connection of its own; on PostgreSQL it says so."""
    sql("update rota_runs set state = 'queued', run_after = created_at")
    if env.store.url.startswith("postgresql"):
        sql("select pg_notify('rota.' || to_regclass('rota_schedules')::oid, 'default')")


def test_another_process_s_write_is_noticed(
    app: rota.App, env: Harness, report: Report, clock: SleepClock, sql: Sql, hear: Hear
) -> None:
    settled = hear(RunSettled)
    app.enqueue(report, "x", run_after=clock.now() + timedelta(days=1))
    with app.running(replace(NO_WAIT, poll_interval=timedelta(hours=1))):
        clock.asleep(FileWatch.interval if app.url.startswith("sqlite") else 3600.0)
        queue_now(env, sql)
        env.advance(timedelta(seconds=2 * FileWatch.interval))
        assert settled.next_while(clock.tick).state == "succeeded"
    assert clock.elapsed() < 60.0


def test_poll_only_leaves_it_to_the_poll(
    app: rota.App, env: Harness, report: Report, clock: SleepClock, sql: Sql, hear: Hear
) -> None:
    settled = hear(RunSettled)
    run = app.enqueue(report, "x", run_after=clock.now() + timedelta(days=1))
    with app.running(replace(QUIET, poll_interval=5 * SECOND)):
        clock.asleep(5.0)
        queue_now(env, sql)
        env.advance(4 * SECOND)
        env.advance(SECOND)
        assert settled.next().state == "succeeded"
    assert env.runs()[0].started_at == run.created_at + 5 * SECOND


# ---- trouble -------------------------------------------------------------------------------------------------------


def test_it_backs_off_longer_each_time_and_goes_on_by_itself(
    app: rota.App, env: Harness, report: Report, clock: SleepClock, hear: Hear
) -> None:
    troubled, settled = hear(WorkerTroubled), hear(RunSettled)
    with app.running(replace(QUIET, poll_interval=SECOND)):
        clock.asleep(1.0)
        for _ in range(2):  # the second time as the first: what went well in between is remembered
            with taken_away(env):
                for seconds in (0.25, 0.5, 1, 2, 4, 8, 15, 15):
                    event = pass_trouble(env, troubled)
                    assert 0.8 * seconds <= event.seconds <= 1.2 * seconds
                    assert "cannot be reached" in event.error
            app.enqueue(report, "x")
            assert settled.next_while(lambda: env.advance(SECOND)).state == "succeeded"
            troubled.all()
    assert states(env) == ["succeeded"] * 2


def pass_trouble(env: Harness, troubled: Heard) -> WorkerTroubled:
    """The next trouble of a pass; the beats, which come every ten seconds, have theirs."""
    while True:
        event: WorkerTroubled = troubled.next_while(lambda: env.advance(SECOND))
        if event.seconds != BEAT.total_seconds():
            return event


def test_a_pass_that_fails_for_another_reason_is_no_end_either(
    app: rota.App, env: Harness, report: Report, sql: Sql, hear: Hear, caplog: pytest.LogCaptureFixture
) -> None:
    troubled, settled = hear(WorkerTroubled), hear(RunSettled)
    sql("create trigger no before update on rota_runs when new.state = 'running' begin select raise(abort, 'no'); end")
    app.enqueue(report, "x")
    with app.running(NO_WAIT):
        assert "no" in troubled.next().error
        sql("drop trigger no")
        assert settled.next_while(lambda: env.advance(SECOND)).state == "succeeded"
    assert any("a pass failed" in record.getMessage() for record in caplog.records)
