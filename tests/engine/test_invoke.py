"""One handler: called once with its input, on a thread or on the event loop, and whatever it does is an outcome."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

import pytest

import rota
from rota.current import CurrentRun, current_run
from rota.engine.invoke import ERROR_LIMIT
from rota.engine.options import WorkerOptions
from rota.errors import NoCurrentRun
from rota.payload import LIMIT
from rota.run import Run
from rota.store.types import text_of
from rota.testing import Harness
from tests.engine.conftest import SECOND, Held, Sql

mine: ContextVar[str] = ContextVar("mine", default="untouched")


class Outrage(BaseException):
    pass


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("it will not say")


def outcome(app: rota.App, env: Harness, handler: Callable[..., Any], **options: Any) -> Run:
    """What becomes of one run of this handler."""
    job = app.step(name="under test", **options)(handler)
    run = app.enqueue(job)
    env.run_until_idle()
    (found,) = [other for other in env.runs() if other.id == run.id]
    return found


# ---- what it returns -----------------------------------------------------------------------------------------------


def test_a_plain_one_is_called_on_a_thread_of_its_own(app: rota.App, env: Harness) -> None:
    run = outcome(app, env, lambda: threading.current_thread().name)
    assert (run.state, run.error) == ("succeeded", None)
    assert run.output is not None
    assert run.output.startswith('"rota-handler-')


def test_an_async_one_is_called_on_the_loop(app: rota.App, env: Harness) -> None:
    async def handler() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    assert outcome(app, env, handler).output == '"rota-coroutines"'


def test_what_an_action_returns_is_dropped(app: rota.App, env: Harness) -> None:
    app.enqueue(app.action(name="act")(lambda: object()))
    env.run_until_idle()
    assert [(run.state, run.output) for run in env.runs()] == [("succeeded", None)]


def returns_too_much() -> str:
    return "x" * (LIMIT + 1)


def returns_another_type() -> int:
    return "seven"  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("handler", "says"),
    [
        (lambda: object(), "result"),
        (lambda: float("nan"), "result"),
        (lambda: "\ud800", "result"),
        (lambda: "nul \0", "result"),
        (lambda: {1: "one"}, "result"),
        (returns_too_much, "result"),
        (returns_another_type, "result"),
    ],
)
def test_a_result_that_cannot_be_kept_fails_its_run_for_good(
    app: rota.App, env: Harness, handler: Callable[[], Any], says: str
) -> None:
    run = outcome(app, env, handler, max_attempts=3)
    assert (run.state, run.attempt, run.output) == ("failed", 1, None)
    assert run.error is not None
    assert says in run.error


def test_an_input_that_is_no_longer_the_job_s_fails_it_for_good(app: rota.App, env: Harness, sql: Sql) -> None:
    called: list[int] = []

    @app.step(max_attempts=3)
    def count(number: int) -> None:
        called.append(number)

    app.enqueue(count, 1)
    sql("""update rota_runs set input = '"one"'""")
    env.run_until_idle()
    assert [(run.state, run.attempt) for run in env.runs()] == [("failed", 1)]
    assert not called


# ---- what it raises ------------------------------------------------------------------------------------------------


def raising(error: Callable[[], BaseException]) -> Callable[[], None]:
    def handler() -> None:
        raise error()

    return handler


def raising_async(error: Callable[[], BaseException]) -> Callable[[], Any]:
    async def handler() -> None:
        raise error()

    return handler


ERRORS = [
    (lambda: ValueError("no such report"), "ValueError: no such report"),
    (lambda: SystemExit(3), "SystemExit: 3"),
    (KeyboardInterrupt, "KeyboardInterrupt"),
    (lambda: Outrage("all of it"), "Outrage: all of it"),
    (asyncio.CancelledError, "CancelledError"),
    (GeneratorExit, "GeneratorExit"),
    (lambda: ExceptionGroup("both", [ValueError("one"), TypeError("two")]), "TypeError: two"),
    (Mute, "Mute: <exception str() failed>"),
    (lambda: ValueError("NUL \0 and \ud800"), "ValueError: NUL "),
]


@pytest.mark.parametrize("kind", [raising, raising_async])
@pytest.mark.parametrize(("error", "says"), ERRORS)
def test_whatever_it_raises_is_its_run_s_failure(
    app: rota.App, env: Harness, kind: Callable[..., Any], error: Callable[[], BaseException], says: str
) -> None:
    run = outcome(app, env, kind(error), max_attempts=2)
    assert (run.state, run.failures, run.attempt) == ("waiting", 1, 1)
    assert run.error is not None
    assert says in run.error
    assert run.error.startswith(("Traceback", "  + Exception Group Traceback"))
    assert "handler" in run.error
    assert "rota/engine" not in run.error
    env.advance(10 * SECOND)
    env.run_until_idle()  # the worker lives, and tries it again
    assert [run.state for run in env.runs()] == ["failed"]


def test_of_a_long_traceback_the_end_is_kept(app: rota.App, env: Harness) -> None:
    run = outcome(app, env, raising(lambda: ValueError("x" * 100_000 + " the end")))
    assert run.error is not None
    assert len(run.error) <= ERROR_LIMIT
    assert run.error.endswith("the end")


# ---- its time ------------------------------------------------------------------------------------------------------


def test_a_coroutine_is_cancelled_when_its_time_is_up(app: rota.App, env: Harness) -> None:
    cleaned: list[str] = []

    async def handler() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("cleaned up")

    run = outcome(app, env, handler, timeout=timedelta(milliseconds=50))
    assert (run.state, run.error, cleaned) == ("failed", "timeout: it took longer than 0:00:00.050000", ["cleaned up"])


def test_a_coroutine_that_swallows_its_cancellation_has_timed_out_all_the_same(app: rota.App, env: Harness) -> None:
    async def handler() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "as if nothing had been"
        return "never"

    run = outcome(app, env, handler, timeout=timedelta(milliseconds=50))
    assert (run.state, run.output) == ("failed", None)


def test_a_thread_is_told_and_has_timed_out_whatever_it_returns(app: rota.App, env: Harness) -> None:
    seen: list[bool] = []
    started, noticed = threading.Event(), threading.Event()

    @app.step(timeout=10 * SECOND)
    def slow() -> str:
        run = current_run()
        seen.append(run.cancelled)
        started.set()
        while not run.cancelled:
            noticed.wait(0.001)
        seen.append(run.cancelled)
        return "a late result"

    app.enqueue(slow)
    env.turn()
    assert started.wait(20)
    env.advance(10 * SECOND - timedelta.resolution)
    env.turn()
    assert seen == [False]
    env.advance(SECOND)
    env.run_until_idle()
    (run,) = env.runs()
    assert (run.state, run.output, run.error) == ("failed", None, "timeout: it took longer than 0:00:10")
    assert seen == [False, True]


def test_one_that_comes_back_in_time_has_not(app: rota.App, env: Harness) -> None:
    run = outcome(app, env, lambda: env.advance(10 * SECOND), timeout=10 * SECOND)
    assert run.state == "succeeded"


# ---- what it may know ----------------------------------------------------------------------------------------------


def test_the_current_run_is_that_of_the_schedule_s_slot(app: rota.App, env: Harness) -> None:
    seen: list[CurrentRun] = []
    job = app.step(name="look", max_attempts=2)(lambda: seen.append(current_run()) or 1 / (len(seen) - 1))
    app.schedule(job, "* * * * *", id="minutely")
    slot = env.clock.now() + 60 * SECOND
    env.advance(75 * SECOND)
    env.run_until_idle()
    env.advance(10 * SECOND)
    env.run_until_idle()
    (run,) = env.runs("minutely")
    first, second = seen
    assert (first.id, first.job, first.attempt, first.schedule_id, first.slot) == (run.id, "look", 1, "minutely", slot)
    assert (first.started_at, first.lateness) == (slot + 15 * SECOND, 15 * SECOND)
    assert (second.id, second.attempt, second.lateness) == (run.id, 2, 25 * SECOND)
    assert (first.cancelled, first.stopping) == (False, False)


def test_one_that_was_enqueued_has_no_slot(app: rota.App, env: Harness) -> None:
    seen: list[CurrentRun] = []
    outcome(app, env, lambda: seen.append(current_run()))
    assert (seen[0].slot, seen[0].schedule_id, seen[0].lateness) == (None, None, timedelta(0))


def test_outside_a_handler_there_is_none(app: rota.App, env: Harness) -> None:
    outcome(app, env, lambda: current_run().id)
    with pytest.raises(NoCurrentRun):
        current_run()


def test_a_handler_that_is_stopped_is_told(app: rota.App, env: Harness, held: Held) -> None:
    seen: list[CurrentRun] = []
    waits = threading.Event()
    job = app.step(name="look")(lambda: (seen.append(current_run()), waits.set(), held.let_go.wait(20), None)[-1])
    app.enqueue(job)
    env.turn()
    assert waits.wait(20)
    env.stop()
    assert seen[0].stopping


@pytest.mark.parametrize("is_async", [False, True])
def test_what_one_handler_sets_in_its_context_no_other_sees(app: rota.App, is_async: bool) -> None:
    def plain() -> str:
        former = mine.get()
        mine.set("touched")
        return former

    async def coroutine() -> str:
        return plain()

    job = app.step(name="touch")(coroutine if is_async else plain)
    with Harness(app, options=WorkerOptions(concurrency=1)) as env:
        for _ in range(3):
            app.enqueue(job)
        env.run_until_idle()
        assert [run.output for run in env.runs()] == ['"untouched"'] * 3
    assert mine.get() == "untouched"


def test_a_failed_attempt_is_kept_with_its_times(app: rota.App, env: Harness, sql: Sql) -> None:
    now = text_of(env.clock.now())
    outcome(app, env, raising(lambda: ValueError("boom")))
    assert sql("select attempt, outcome, started_at, finished_at from rota_run_attempts") == [(1, "failed", now, now)]
