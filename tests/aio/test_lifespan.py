"""`app.aio.lifespan`: a worker for as long as an ASGI application is up; here one speaks to it as a server does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.applications import Starlette

import rota
from tests.aio.test_running import LIMIT, no_worker_is_left
from tests.conftest import Sql


@asynccontextmanager
async def served(asgi: Any, state: dict[str, Any] | None = None) -> AsyncIterator[str]:
    """What it answers when the server starts; at the end the server is shut down."""
    to, answers = asyncio.Queue[dict[str, str]](), asyncio.Queue[dict[str, str]]()
    scope = {"type": "lifespan", "state": {} if state is None else state}
    serving = asyncio.ensure_future(asgi(scope, to.get, answers.put))
    async with asyncio.timeout(LIMIT):
        await to.put({"type": "lifespan.startup"})
        answer = (await answers.get())["type"]
        yield answer
        if answer == "lifespan.startup.complete":
            await to.put({"type": "lifespan.shutdown"})
            assert (await answers.get())["type"] == "lifespan.shutdown.complete"
        await asyncio.wait([serving])
        serving.exception()


def test_it_is_up_as_long_as_the_application(app: rota.App, report: Any, sql: Sql) -> None:
    async def serve(asgi: Any) -> None:
        async with served(asgi) as answer:
            assert answer == "lifespan.startup.complete"
            assert sql("select count(*) from rota_workers") == [(1,)]
        assert no_worker_is_left(sql)

    asyncio.run(serve(Starlette(lifespan=app.aio.lifespan)))
    asyncio.run(serve(FastAPI(lifespan=app.aio.lifespan)))


def test_inside_a_lifespan_of_ones_own(app: rota.App, report: Any, sql: Sql) -> None:
    @asynccontextmanager
    async def lifespan(asgi: Starlette) -> AsyncIterator[dict[str, Any]]:
        async with app.aio.running(rota.WorkerOptions(concurrency=1)) as worker:
            yield {"worker": worker.id}

    async def serve() -> None:
        state: dict[str, Any] = {}
        async with served(Starlette(lifespan=lifespan), state):
            assert sql("select id from rota_workers") == [(state["worker"],)]

    asyncio.run(serve())
    assert no_worker_is_left(sql)


def test_a_worker_that_cannot_start_keeps_the_application_from_it(app: rota.App, report: Any, sql: Sql) -> None:
    @app.on_start
    def fail() -> None:
        raise RuntimeError("theirs")

    async def serve() -> None:
        async with served(Starlette(lifespan=app.aio.lifespan)) as answer:
            assert answer == "lifespan.startup.failed"

    asyncio.run(serve())
    assert no_worker_is_left(sql)
