"""Cancelling runs, waiting or running, and retrying failed ones."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from threading import Event, Semaphore

import pytest

import rota
from rota.errors import OptionInvalid, RunFinished, RunNotFailed, RunNotFound

LIMIT = 10.0  # seconds to wait for a named event


def test_a_waiting_one_ends_at_once(env, app, report):
    later = app.enqueue(report, "x", run_after=env.clock.now() + timedelta(hours=1))
    queued = app.enqueue(report, "y")
    for run in (later, queued):
        assert app.cancel(run.id).state == "cancelled"
    env.advance(timedelta(hours=2))
    env.run_until_idle()
    assert [run.state for run in env.runs()] == ["cancelled", "cancelled"]
    assert [run.attempt for run in env.runs()] == [0, 0]


def test_a_thread_is_told_and_a_late_success_is_cancelled(env, app):
    started = Event()

    @app.step()
    def patient() -> str:
        started.set()
        current = rota.current_run()
        while not current.cancelled:
            Event().wait(0.001)
        return "done all the same"

    run = app.enqueue(patient)
    env.turn()
    assert started.wait(LIMIT)
    asked = app.cancel(run.id)
    assert asked.state == "running"
    assert asked.cancel_requested_at == env.clock.now()
    env.run_until_idle()
    (ended,) = env.runs()
    assert (ended.state, ended.output) == ("cancelled", None)


def test_a_coroutine_is_cancelled_where_it_stands(env, app):
    started, cleaned = Semaphore(0), Event()

    @app.action()
    async def sleeper() -> None:
        started.release()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    run = app.enqueue(sleeper)
    env.turn()
    assert started.acquire(timeout=LIMIT)
    app.cancel(run.id)
    env.run_until_idle()
    assert cleaned.is_set()
    assert env.runs()[0].state == "cancelled"


def test_asking_twice_is_as_asking_once(env, app):
    started, go = Event(), Event()

    @app.action()
    def busy() -> None:
        started.set()
        go.wait(LIMIT)

    run = app.enqueue(busy)
    env.turn()
    assert started.wait(LIMIT)
    first = app.cancel(run.id)
    env.clock.advance(timedelta(seconds=3))
    assert app.cancel(run.id).cancel_requested_at == first.cancel_requested_at
    go.set()
    env.run_until_idle()


def test_a_cancelled_run_is_not_tried_again(env, app):
    started = Event()

    @app.action(max_attempts=5)
    def failing() -> None:
        started.set()
        while not rota.current_run().cancelled:
            Event().wait(0.001)
        raise ValueError("stopped halfway")

    run = app.enqueue(failing)
    env.turn()
    assert started.wait(LIMIT)
    app.cancel(run.id)
    env.run_until_idle()
    assert (env.runs()[0].state, env.runs()[0].attempt) == ("cancelled", 1)


def test_one_that_ended_or_never_was(env, app, report):
    run = app.enqueue(report, "x")
    env.run_until_idle()
    with pytest.raises(RunFinished, match="it is succeeded"):
        app.cancel(run.id)
    with pytest.raises(RunNotFound, match="no run has the id 99"):
        app.cancel(99)


def test_who_cancelled_is_written_down(env, app, report, sql):
    run = app.enqueue(report, "x")
    app.cancel(run.id)
    assert sql("select verb, subject, via from rota_audit where verb = 'cancel'") == [
        ("cancel", f"run {run.id}", "code")
    ]


@pytest.fixture
def failed(env, app) -> rota.Run:
    @app.step(queue="bulk", max_attempts=1)
    def fragile(period: str) -> int:
        raise ValueError(period)

    run = app.enqueue(fragile, "day", priority=7)
    env.run_until_idle()
    return run


def test_a_retry_is_a_new_run_with_the_same_input(env, app, failed):
    again = app.retry(failed.id, idempotency_key="second-try")
    assert again.id != failed.id
    assert (again.job, again.input, again.queue, again.priority) == ("fragile", '"day"', "bulk", 7)
    assert (again.state, again.attempt, again.failures) == ("queued", 0, 0)
    env.run_until_idle()
    assert [run.state for run in env.runs()] == ["failed", "failed"]


def test_a_retry_needs_a_new_key(app, failed):
    app.retry(failed.id, idempotency_key="second-try")
    with pytest.raises(OptionInvalid, match="another run of fragile has it"):
        app.retry(failed.id, idempotency_key="second-try")
    with pytest.raises(OptionInvalid, match="kept for the fires of schedules"):
        app.retry(failed.id, idempotency_key="schedule:x:2026-01-01T00:00:00Z")


def test_only_a_failed_one_is_retried(env, app, report):
    run = app.enqueue(report, "x")
    with pytest.raises(RunNotFailed, match="is queued"):
        app.retry(run.id, idempotency_key="k")
    with pytest.raises(RunNotFound):
        app.retry(99, idempotency_key="k")
