"""More of what handlers do: errors that they raise themselves, inputs that break, and what they know of their run."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Semaphore, Thread
from typing import Any

import pytest

import rota
from rota.current import CurrentRun, current_run
from rota.errors import NoCurrentRun, PayloadNotJson
from rota.events import HandlerStuck
from rota.run import Run
from rota.testing import Harness
from tests.engine.conftest import LIMIT, SECOND, Hear, Sql

mine: ContextVar[str] = ContextVar("mine_too", default="untouched")


def only(env: Harness) -> Run:
    (run,) = env.runs()
    return run


# ---- errors --------------------------------------------------------------------------------------------------------


def test_sys_exit_ends_its_run_and_not_the_worker(app: rota.App, env: Harness, report: Any) -> None:
    app.enqueue(app.action(name="leave")(lambda: sys.exit("I am off")))
    app.enqueue(report, "day")

    env.run_until_idle()

    left, after = env.runs()
    assert left.state == "failed"
    assert left.error is not None
    assert left.error.endswith("SystemExit: I am off")
    assert after.state == "succeeded"


@pytest.mark.parametrize("is_async", [False, True])
def test_a_payload_error_of_the_handler_s_own_is_tried_again(app: rota.App, env: Harness, is_async: bool) -> None:
    """It may have asked another rota for something; its own input and result are not meant."""

    def plain() -> int:
        if current_run().attempt == 1:
            raise PayloadNotJson("input", "that of another job")
        return 2

    async def coroutine() -> int:
        return plain()

    app.enqueue(app.step(name="forward", max_attempts=2)(coroutine if is_async else plain))
    env.run_until_idle()
    assert (only(env).state, only(env).failures) == ("waiting", 1)
    env.advance(10 * SECOND)
    env.run_until_idle()
    assert (only(env).state, only(env).output) == ("succeeded", "2")


@pytest.mark.parametrize("is_async", [False, True])
def test_a_result_that_is_not_json_names_the_place(app: rota.App, env: Harness, is_async: bool) -> None:
    def plain() -> dict[str, list[Any]]:
        return {"rows": [1, object()]}

    async def coroutine() -> dict[str, list[Any]]:
        return plain()

    app.enqueue(app.step(name="tabulate", max_attempts=5)(coroutine if is_async else plain))
    env.run_until_idle()
    run = only(env)
    assert (run.state, run.attempt) == ("failed", 1)
    assert run.error is not None
    assert "result.rows[1]" in run.error or 'result["rows"][1]' in run.error


@dataclass
class Fussy:
    """Takes an even number only, and says so with an error that is no validator's."""

    number: int

    def __post_init__(self) -> None:
        if self.number % 2:
            raise RuntimeError(f"{self.number} is odd")


@pytest.mark.parametrize("is_async", [False, True])
def test_an_input_that_breaks_while_it_is_read_fails_its_run(
    app: rota.App, env: Harness, is_async: bool, sql: Sql
) -> None:
    async def coroutine(given: Fussy) -> int:
        return given.number

    def plain(given: Fussy) -> int:
        return given.number

    job = app.step(name="halve", max_attempts=2)(coroutine if is_async else plain)
    app.enqueue(job, Fussy(2))
    sql("""update rota_runs set input = '{"number":3}'""")
    app.enqueue(job, Fussy(4))

    env.run_until_idle()

    odd, even = env.runs()
    assert odd.error is not None
    assert "RuntimeError: 3 is odd" in odd.error
    assert odd.state in ("waiting", "failed")
    assert even.state == "succeeded"


def test_a_timeout_leaves_attempts_to_be_tried(app: rota.App, env: Harness, sql: Sql) -> None:
    async def handler() -> str:
        if current_run().attempt == 1:
            await asyncio.Event().wait()
        return "quick this time"

    app.enqueue(app.step(name="slow", timeout=timedelta(milliseconds=50), max_attempts=2)(handler))
    env.run_until_idle()
    assert (only(env).state, only(env).failures) == ("waiting", 1)
    assert sql("select attempt, outcome from rota_run_attempts") == [(1, "timeout")]
    env.advance(10 * SECOND)
    env.run_until_idle()
    assert (only(env).state, only(env).attempt) == ("succeeded", 2)


def test_an_error_after_its_time_is_a_timeout(app: rota.App, env: Harness, sql: Sql) -> None:
    def handler() -> None:
        env.advance(11 * SECOND)
        raise ValueError("too late to matter")

    app.enqueue(app.action(name="slow", timeout=10 * SECOND)(handler))
    env.run_until_idle()
    assert only(env).error == "timeout: it took longer than 0:00:10"
    assert sql("select outcome from rota_run_attempts") == [("timeout",)]


def test_a_thread_that_does_not_come_back_is_told_of_once(app: rota.App, env: Harness, hear: Hear) -> None:
    stuck, started, go = hear(HandlerStuck), Event(), Event()

    @app.action(timeout=10 * SECOND)
    def deaf() -> None:
        started.set()
        go.wait(LIMIT)

    run = app.enqueue(deaf)
    env.turn()
    assert started.wait(LIMIT)
    for seconds in (69, 1, 1, 60):
        env.advance(seconds * SECOND)
        env.turn()
    assert [(event.run_id, event.job, event.seconds) for event in stuck.all()] == [(run.id, "deaf", 60.0)]
    assert only(env).state == "running"  # its place stays taken
    go.set()
    env.run_until_idle()
    assert only(env).error == "timeout: it took longer than 0:00:10"


# ---- the current run -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_async", [False, True])
def test_the_fields_of_the_current_run(app: rota.App, env: Harness, is_async: bool) -> None:
    seen: list[CurrentRun] = []

    def plain() -> None:
        seen.append(current_run())

    async def coroutine() -> None:
        await asyncio.sleep(0)
        plain()

    job = app.action(name="look")(coroutine if is_async else plain)
    app.schedule(job, "* * * * *", id="minutely")
    slot = env.clock.now() + 60 * SECOND
    env.advance(67 * SECOND)
    env.run_until_idle()

    (run,) = seen
    assert (run.id, run.job, run.attempt) == (only(env).id, "look", 1)
    assert (run.schedule_id, run.slot, run.started_at) == ("minutely", slot, slot + 7 * SECOND)
    assert run.lateness == 7 * SECOND
    assert (run.cancelled, run.stopping) == (False, False)


def test_one_that_was_triggered_early_is_not_late(app: rota.App, env: Harness) -> None:
    seen: list[timedelta] = []
    job = app.action(name="look")(lambda: seen.append(current_run().lateness))
    app.schedule(job, "@hourly", id="hourly")
    app.trigger("hourly")
    env.run_until_idle()
    assert seen == [timedelta(0)]


def test_coroutines_that_take_turns_each_have_their_own(app: rota.App, env: Harness) -> None:
    gate = asyncio.Event()
    here = Semaphore(0)

    @app.step()
    async def meet(number: int) -> list[int]:
        before = current_run().id
        here.release()
        await (gate.wait() if number else asyncio.sleep(0))
        gate.set()
        return [before, current_run().id]

    ids = app.enqueue_many(meet, [1, 1, 0])
    env.run_until_idle()
    assert [run.output for run in env.runs()] == [f"[{run_id},{run_id}]" for run_id in ids]


def test_a_thread_of_the_handler_s_own_has_none(app: rota.App, env: Harness) -> None:
    raised: list[BaseException] = []

    def ask() -> None:
        try:
            current_run()
        except NoCurrentRun as error:
            raised.append(error)

    def handler() -> None:
        thread = Thread(target=ask)
        thread.start()
        thread.join(LIMIT)

    app.enqueue(app.action(name="look")(handler))
    env.run_until_idle()
    assert "for handlers that a worker calls" in str(raised[0])


@pytest.mark.parametrize("is_async", [False, True])
def test_a_job_called_as_a_function_has_none(app: rota.App, is_async: bool) -> None:
    async def coroutine() -> int:
        return current_run().id

    job: Callable[[], Any] = app.step(name="look")(coroutine if is_async else lambda: current_run().id)
    with pytest.raises(NoCurrentRun):
        asyncio.run(job()) if is_async else job()


@pytest.mark.parametrize("is_async", [False, True])
def test_what_the_worker_s_caller_has_in_its_context_no_handler_sees(
    app: rota.App, env: Harness, is_async: bool
) -> None:
    async def coroutine() -> str:
        return mine.get()

    job = app.step(name="look")(coroutine if is_async else lambda: mine.get())
    app.enqueue(job)
    token = mine.set("the caller's")
    try:
        env.run_until_idle()
    finally:
        mine.reset(token)
    assert only(env).output == '"untouched"'


def test_a_coroutine_is_told_that_its_worker_stops(app: rota.App, env: Harness) -> None:
    seen: list[bool] = []
    started, over = Event(), Event()

    @app.action()
    async def wait() -> None:
        run = current_run()
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            seen.append(run.stopping)
            over.set()

    app.enqueue(wait)
    env.turn()
    assert started.wait(LIMIT)
    env.stop()
    assert over.wait(LIMIT)
    assert seen == [True]
    assert (only(env).state, only(env).lost) == ("queued", 1)
