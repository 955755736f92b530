"""Every verb in an async caller's own transaction: C16 and C17, for each kind of async connection people hold."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiosqlite
import asyncpg
import psycopg
import pytest
from psycopg.rows import dict_row
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine

import rota
from rota.errors import ConnectionUnusable
from rota.events import RunSettled
from tests.conftest import Sql, fresh_postgres

Report = rota.Job[str, int, int]
LIMIT = 20.0  # seconds to wait for what should take one


@dataclass
class Theirs:
    """A caller's connection of some kind: what to hand over, how to write with it, how to end the transaction."""

    held: Any
    execute: Callable[[str], Coroutine[Any, Any, Any]]
    commit: Callable[[], Coroutine[Any, Any, Any]]
    rollback: Callable[[], Coroutine[Any, Any, Any]]


Kind = Callable[[str], AbstractAsyncContextManager[Theirs]]


# ---- the drivers' own ----------------------------------------------------------------------------------------------


@asynccontextmanager
async def psycopg_default(url: str) -> AsyncIterator[Theirs]:
    async with await psycopg.AsyncConnection.connect(url) as c:
        yield Theirs(c, c.execute, c.commit, c.rollback)  # type: ignore[arg-type]
        await c.rollback()


@asynccontextmanager
async def psycopg_in_a_block(url: str) -> AsyncIterator[Theirs]:
    """In autocommit mode, and inside a transaction that was begun by hand all the same."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as c:
        await c.execute("begin")
        yield Theirs(c, c.execute, lambda: c.execute("commit; begin"), lambda: c.execute("rollback; begin"))  # type: ignore[arg-type]


@asynccontextmanager
async def psycopg_with_dicts(url: str) -> AsyncIterator[Theirs]:
    async with await psycopg.AsyncConnection.connect(url, row_factory=dict_row) as c:
        yield Theirs(c, c.execute, c.commit, c.rollback)  # type: ignore[arg-type]
        assert await (await c.execute("select 1 as one")).fetchall() == [{"one": 1}]
        await c.rollback()


@asynccontextmanager
async def asyncpg_in_a_block(url: str) -> AsyncIterator[Theirs]:
    c = await asyncpg.connect(url)
    await c.execute("begin")
    yield Theirs(c, c.execute, lambda: c.execute("commit; begin"), lambda: c.execute("rollback; begin"))
    await c.close()


@asynccontextmanager
async def asyncpg_of_a_pool(url: str) -> AsyncIterator[Theirs]:
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool, pool.acquire() as c:
        await c.execute("begin")
        yield Theirs(c, c.execute, lambda: c.execute("commit; begin"), lambda: c.execute("rollback; begin"))
        await c.execute("rollback")


@asynccontextmanager
async def aiosqlite_default(url: str) -> AsyncIterator[Theirs]:
    async with aiosqlite.connect(url.removeprefix("sqlite:///")) as c:
        yield Theirs(c, c.execute, c.commit, c.rollback)  # type: ignore[arg-type]


@asynccontextmanager
async def aiosqlite_with_rows(url: str) -> AsyncIterator[Theirs]:
    async with aiosqlite.connect(url.removeprefix("sqlite:///")) as c:
        c.row_factory = aiosqlite.Row
        yield Theirs(c, c.execute, c.commit, c.rollback)  # type: ignore[arg-type]


# ---- SQLAlchemy's --------------------------------------------------------------------------------------------------


@asynccontextmanager
async def engine(url: str, driver: str, **options: Any) -> AsyncIterator[AsyncEngine]:
    made = create_async_engine(url.replace("://", f"+{driver}://", 1), **options)
    yield made
    await made.dispose()


def alchemy_connection(driver: str) -> Kind:
    @asynccontextmanager
    async def kind(url: str) -> AsyncIterator[Theirs]:
        async with engine(url, driver) as made, made.connect() as c:
            yield Theirs(c, lambda sql: c.execute(text(sql)), c.commit, c.rollback)

    return kind


def alchemy_session(driver: str) -> Kind:
    @asynccontextmanager
    async def kind(url: str) -> AsyncIterator[Theirs]:
        async with engine(url, driver) as made, AsyncSession(made) as s:
            yield Theirs(s, lambda sql: s.execute(text(sql)), s.commit, s.rollback)

    return kind


KINDS: dict[str, Kind] = {
    "psycopg": psycopg_default,
    "psycopg-in-a-block": psycopg_in_a_block,
    "psycopg-with-dicts": psycopg_with_dicts,
    "asyncpg-in-a-block": asyncpg_in_a_block,
    "asyncpg-of-a-pool": asyncpg_of_a_pool,
    "aiosqlite": aiosqlite_default,
    "aiosqlite-with-rows": aiosqlite_with_rows,
    **{f"connection-{driver}": alchemy_connection(driver) for driver in ("psycopg", "asyncpg", "aiosqlite")},
    **{f"session-{driver}": alchemy_session(driver) for driver in ("psycopg", "asyncpg", "aiosqlite")},
}
ON_POSTGRES = [driver for driver in KINDS if "sqlite" not in driver]


@pytest.fixture(params=KINDS)
def driver(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def store_url(driver: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    if "sqlite" in driver:
        yield f"sqlite:///{tmp_path / 'rota.db'}"
    else:
        with fresh_postgres(request) as url:
            yield url


@pytest.fixture
def kind(driver: str, sql: Sql) -> Kind:
    sql("create table config (key text)")
    return KINDS[driver]


def test_c16_a_rollback_takes_both(app: rota.App, report: Report, kind: Kind, sql: Sql) -> None:
    async def work() -> None:
        async with kind(app.url) as theirs:
            await theirs.execute("insert into config values ('report_schedule')")
            await app.aio.within(theirs.held).schedule(report, "@daily", "day", id="daily-report")
            assert sql("select id from rota_schedules") == []  # not to be seen before it is committed
            await theirs.rollback()

    asyncio.run(work())
    assert sql("select id from rota_schedules") == []
    assert sql("select key from config") == []


def test_c16_a_commit_makes_both(app: rota.App, report: Report, kind: Kind, sql: Sql) -> None:
    async def work() -> None:
        async with kind(app.url) as theirs:
            await theirs.execute("insert into config values ('report_schedule')")
            within = app.aio.within(theirs.held)
            assert await within.schedule(report, "@daily", "day", id="daily-report") == "daily-report"
            await theirs.commit()

    asyncio.run(work())
    assert sql("select id, kind from rota_schedules") == [("daily-report", "step")]
    assert sql("select key from config") == [("report_schedule",)]


def test_c17_an_action_too(app: rota.App, clean: rota.Job0[None, None], kind: Kind, sql: Sql) -> None:
    """And it joins also where the caller has done nothing yet."""

    async def work() -> None:
        async with kind(app.url) as theirs:
            await app.aio.within(theirs.held).schedule(clean, "@daily", id="taken-back")
            await theirs.rollback()
            await app.aio.within(theirs.held).schedule(clean, "@daily", id="daily-clean")
            await theirs.commit()

    asyncio.run(work())
    assert sql("select id, kind from rota_schedules") == [("daily-clean", "action")]


def test_every_verb_works_inside(app: rota.App, report: Report, kind: Kind, sql: Sql) -> None:
    async def work() -> None:
        async with kind(app.url) as theirs:
            within = app.aio.within(theirs.held)
            await within.schedule(report, "@daily", "day", id="daily-report", label="Every day")
            await within.pause("daily-report")
            await within.resume("daily-report")
            fired = await within.trigger("daily-report")
            assert (await within.trigger("daily-report", slot=fired.scheduled_for)).id == fired.id
            run = await within.enqueue(report, "now", idempotency_key="once")
            assert (await within.enqueue(report, "now", idempotency_key="once")).id == run.id
            assert len(await within.enqueue_many(report, ["a", "b"])) == 2
            assert (await within.enqueue_text("report", '"typed"')).job == "report"
            assert (await within.cancel(run.id)).state == "cancelled"
            with pytest.raises(rota.errors.RunNotFailed):
                await within.retry(run.id, idempotency_key="again")
            assert (await within.get("daily-report")).last_run_id == fired.id
            assert [schedule.label for schedule in await within.list()] == ["Every day"]
            assert (await within.stats()).schedules == 1
            assert sql("select count(*) from rota_runs") == [(0,)]
            await theirs.commit()

    asyncio.run(work())
    assert sql("select count(*) from rota_runs") == [(5,)]


def test_an_error_ends_nothing_of_theirs(app: rota.App, report: Report, kind: Kind, sql: Sql) -> None:
    async def work() -> None:
        async with kind(app.url) as theirs:
            await theirs.execute("insert into config values ('kept')")
            with pytest.raises(rota.errors.ScheduleNotFound):
                await app.aio.within(theirs.held).pause("nobody")
            await app.aio.within(theirs.held).schedule(report, "@daily", "day", id="daily-report")
            await theirs.commit()
            await theirs.execute("insert into config values ('gone')")
            await theirs.rollback()

    asyncio.run(work())
    assert sql("select key from config") == [("kept",)]
    assert sql("select id from rota_schedules") == [("daily-report",)]


def test_many_at_once(app: rota.App, report: Report, kind: Kind, sql: Sql) -> None:
    """They wait for one another's commits, and the event loop for none of them."""

    async def enqueue() -> int:
        async with kind(app.url) as theirs:
            run = await app.aio.within(theirs.held).enqueue(report, "now", idempotency_key="once")
            await theirs.commit()
        return run.id

    async def work() -> set[int]:
        async with asyncio.timeout(LIMIT):
            return set(await asyncio.gather(*(enqueue() for _ in range(5))))

    assert asyncio.run(work()) == set(sql("select id from rota_runs")[0])


def test_a_worker_hears_of_it(app: rota.App, report: Report, kind: Kind) -> None:
    """It would poll after a minute."""

    async def work() -> None:
        settled: asyncio.Queue[RunSettled] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        app.on(RunSettled, lambda event: loop.call_soon_threadsafe(settled.put_nowait, event))
        async with app.aio.running(), kind(app.url) as theirs, asyncio.timeout(LIMIT):
            run = await app.aio.within(theirs.held).enqueue(report, "now")
            await theirs.commit()
            assert (await settled.get()).run_id == run.id

    asyncio.run(work())


@pytest.mark.parametrize("driver", ["psycopg", "asyncpg-in-a-block"])
def test_a_verb_that_is_cancelled_leaves_the_connection_theirs(
    app: rota.App, report: Report, kind: Kind, sql: Sql
) -> None:
    app.schedule(report, "@daily", "day", id="daily")

    async def somebody_waits() -> None:
        while await asyncio.to_thread(sql, "select count(*) from pg_locks where not granted") != [(1,)]:
            pass

    async def work() -> None:
        async with kind(app.url) as theirs, asyncio.timeout(LIMIT):
            with psycopg.connect(app.url) as other:
                other.execute("select 1 from rota_schedules for update")
                pausing = asyncio.ensure_future(app.aio.within(theirs.held).pause("daily"))
                await somebody_waits()
                pausing.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await pausing
            await theirs.rollback()
            await app.aio.within(theirs.held).pause("daily")
            await theirs.commit()

    asyncio.run(work())
    assert not app.get("daily").enabled


# ---- plain `within` in `run_sync` ----------------------------------------------------------------------------------


@pytest.mark.parametrize("driver", [name for name in ON_POSTGRES if name.startswith(("connection", "session"))])
def test_plain_within_in_run_sync(app: rota.App, report: Report, kind: Kind, sql: Sql) -> None:
    async def work() -> None:
        async with kind(app.url) as theirs:
            await theirs.execute("insert into config values ('taken-back')")
            await theirs.held.run_sync(lambda c: app.within(c).schedule(report, "@daily", "day", id="taken-back"))
            await theirs.rollback()
            await theirs.execute("insert into config values ('kept')")
            await theirs.held.run_sync(lambda c: app.within(c).schedule(report, "@daily", "day", id="kept"))
            await theirs.commit()

    asyncio.run(work())
    assert sql("select id from rota_schedules") == sql("select key from config") == [("kept",)]


@pytest.mark.parametrize("driver", ["connection-aiosqlite", "session-aiosqlite"])
def test_on_a_file_it_says_how_it_is_done(app: rota.App, kind: Kind) -> None:
    async def work() -> None:
        async with kind(app.url) as theirs:
            with pytest.raises(ConnectionUnusable, match=r"app\.aio\.within"):
                await theirs.held.run_sync(lambda c: app.within(c).list())

    asyncio.run(work())


# ---- what cannot be used -------------------------------------------------------------------------------------------


async def refused(app: rota.App, report: Report, held: Any) -> str:
    with pytest.raises(ConnectionUnusable) as caught:
        await app.aio.within(held).schedule(report, "@daily", "day", id="never")
    return str(caught.value)


AUTOCOMMIT: dict[str, Callable[[str], Any]] = {
    "psycopg": lambda url: psycopg.AsyncConnection.connect(url, autocommit=True),
    "asyncpg": asyncpg.connect,
    "aiosqlite": lambda url: aiosqlite.connect(url.removeprefix("sqlite:///"), isolation_level=None),
}


@pytest.mark.parametrize("driver", AUTOCOMMIT)
def test_one_that_commits_each_statement(app: rota.App, report: Report, driver: str) -> None:
    async def work() -> None:
        theirs = await AUTOCOMMIT[driver](app.url)
        assert "begin a transaction first" in await refused(app, report, theirs)
        assert await app.aio.within(theirs).list() == []  # looking is another matter
        await theirs.close()
        async with engine(app.url, driver, isolation_level="AUTOCOMMIT") as made, made.connect() as c:
            assert "begin a transaction first" in await refused(app, report, c)

    asyncio.run(work())
    assert app.list() == []


def test_a_closed_one(app: rota.App, report: Report, kind: Kind, driver: str) -> None:
    async def work() -> None:
        async with kind(app.url) as theirs:
            pass
        if not driver.startswith("session"):  # one that was closed begins anew
            assert "give an open one" in await refused(app, report, theirs.held)

    asyncio.run(work())


@pytest.mark.parametrize("driver", ["aiosqlite", "psycopg"])
def test_no_async_connection_at_all(app: rota.App, report: Report, driver: str) -> None:
    for other in (object(), None, app):
        assert "give a connection of psycopg" in asyncio.run(refused(app, report, other))


def test_a_plain_verb_says_how_it_is_done(app: rota.App, report: Report, kind: Kind) -> None:
    async def work() -> None:
        async with kind(app.url) as theirs:
            with pytest.raises(ConnectionUnusable, match=r"app\.aio\.within"):
                app.within(theirs.held).schedule(report, "@daily", "day", id="never")

    asyncio.run(work())


@pytest.mark.parametrize("other", ON_POSTGRES)
@pytest.mark.parametrize("driver", ["aiosqlite"])
def test_one_to_postgres_where_the_app_has_a_file(app: rota.App, report: Report, other: str, postgres_url: str) -> None:
    async def work() -> None:
        async with KINDS[other](postgres_url) as theirs:
            assert "it is not a SQLite one" in await refused(app, report, theirs.held)

    asyncio.run(work())


@pytest.mark.parametrize("driver", ON_POSTGRES)
def test_another_schema(app: rota.App, report: Report, kind: Kind) -> None:
    async def work() -> None:
        async with kind(app.url) as theirs:
            await theirs.execute("create schema other")
            await theirs.execute("set search_path to other")
            assert "another database or schema" in await refused(app, report, theirs.held)

    asyncio.run(work())


@pytest.mark.parametrize("driver", [name for name in KINDS if name not in ON_POSTGRES])
def test_another_file(app: rota.App, report: Report, kind: Kind, tmp_path: Path) -> None:
    async def work() -> None:
        async with kind(f"sqlite:///{tmp_path / 'other.db'}") as theirs:
            assert "other.db, and the app's is" in await refused(app, report, theirs.held)

    asyncio.run(work())
