"""`app.aio`: a worker inside an async application, on the machine's own clock."""

from __future__ import annotations

import asyncio
import threading

import pytest

import rota
from rota.errors import AppRunning
from rota.events import RunSettled
from tests.conftest import Sql

LIMIT = 20.0  # seconds to wait for what should take one


def no_worker_is_left(sql: Sql) -> bool:
    names = {thread.name for thread in threading.enumerate()}
    return sql("select id from rota_workers") == [] and not names & {"rota-worker", "rota-lease"}


def test_it_runs_what_a_coroutine_enqueues_and_stops(app: rota.App, sql: Sql) -> None:
    @app.step()
    async def double(number: int) -> int:
        return number * 2

    @app.action()
    async def hand_on(number: int) -> None:
        await app.aio.enqueue(double, number)  # a handler is async code as well

    async def work() -> None:
        settled: asyncio.Queue[RunSettled] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        app.on(RunSettled, lambda event: loop.call_soon_threadsafe(settled.put_nowait, event))
        async with app.aio.running() as worker:
            assert sql("select id from rota_workers") == [(worker.id,)]
            await app.aio.enqueue(hand_on, 21)
            async with asyncio.timeout(LIMIT):
                assert {(await settled.get()).state, (await settled.get()).state} == {"succeeded"}

    asyncio.run(work())
    assert sql("select output from rota_runs where job = 'double'") == [("42",)]
    assert no_worker_is_left(sql)


def test_it_stops_where_the_block_fails(app: rota.App, sql: Sql) -> None:
    async def fail() -> None:
        async with app.aio.running():
            raise RuntimeError("theirs")

    with pytest.raises(RuntimeError, match="theirs"):
        asyncio.run(fail())
    assert no_worker_is_left(sql)


def test_start_and_stop(app: rota.App, sql: Sql) -> None:
    async def work() -> None:
        worker = await app.aio.start(rota.WorkerOptions(concurrency=1))
        assert sql("select id from rota_workers") == [(worker.id,)]
        with pytest.raises(AppRunning):
            async with app.aio.running():
                raise AssertionError("there is one already")
        assert sql("select id from rota_workers") == [(worker.id,)]  # which goes on
        await app.aio.stop()
        await app.aio.stop()  # nothing where none runs

    asyncio.run(work())
    assert no_worker_is_left(sql)


def test_starting_is_called_off(app: rota.App, sql: Sql) -> None:
    """A thread that starts a worker cannot be called back: the worker comes up, and is stopped again."""
    starting, may_start = threading.Event(), threading.Event()

    @app.on_start
    def slowly() -> None:
        starting.set()
        assert may_start.wait(LIMIT)

    async def call_off() -> None:
        async def run() -> None:
            async with app.aio.running():
                raise AssertionError("it was called off")

        task = asyncio.ensure_future(run())
        await asyncio.to_thread(starting.wait, LIMIT)
        task.cancel()
        await asyncio.sleep(0)  # the cancellation arrives
        assert not task.done()
        may_start.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(call_off())
    assert no_worker_is_left(sql)
