"""The caller's async connection: a plain call over what lies under it. Nothing of it is ended or closed here."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.engine import Dialect, make_url
from sqlalchemy.exc import InvalidRequestError
from sqlalchemy.util import greenlet_spawn

from rota.errors import ConnectionUnusable
from rota.store.foreign import LeftAlone, engine_over

T = TypeVar("T")

DIALECTS = {"psycopg": "postgresql+psycopg_async://", "asyncpg": "postgresql+asyncpg://"}
KINDS = "a connection of psycopg, asyncpg or aiosqlite, or an AsyncConnection or AsyncSession of SQLAlchemy"


async def lent(theirs: Any, call: Callable[[Any], T]) -> T:
    """What `call` returns, given the plain form of their connection; whatever the driver awaits is awaited here.

    Raises:
        ConnectionUnusable: it is no async connection, or is closed.
    """
    of_alchemy = hasattr(theirs, "run_sync")
    raw = await _under(theirs) if of_alchemy else theirs
    driver = _driver_of(raw)
    if driver == "aiosqlite":
        return await _on_its_thread(raw, call)
    if of_alchemy:
        result: T = await theirs.run_sync(call)
        return result
    if driver in DIALECTS:
        return await greenlet_spawn(_over, raw, driver, call)
    raise ConnectionUnusable(theirs, f"give {KINDS}")


def _driver_of(raw: object) -> str:
    """The package that the connection comes from; theirs may be a class of their own, made of the driver's."""
    packages = (kind.__module__.partition(".")[0] for kind in type(raw).__mro__)
    return next((package for package in packages if package in (*DIALECTS, "aiosqlite")), "")


# ---- SQLAlchemy's --------------------------------------------------------------------------------------------------


async def _under(theirs: Any) -> object:
    try:
        driven: object = await theirs.run_sync(_driver_connection)
    except InvalidRequestError as error:
        raise ConnectionUnusable(theirs, f"it cannot be used ({error}); give an open one") from error
    return driven


def _driver_connection(held: Any) -> object:
    connection: Connection = held if isinstance(held, Connection) else held.connection()
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("SELECT 1")  # it has to know of a transaction that it is to commit
    return connection.connection.driver_connection


# ---- a driver's own ------------------------------------------------------------------------------------------------


async def _on_its_thread(raw: Any, call: Callable[[Any], T]) -> T:
    """SQLite waits for other writers; that may hold up the thread that aiosqlite keeps for it, and no event loop."""
    try:
        connection = raw._conn  # noqa: SLF001 - there is no public way to it
    except ValueError as error:
        raise ConnectionUnusable(raw, f"it cannot be used ({error}); give an open one") from error
    result: T = await raw._execute(call, connection)  # noqa: SLF001
    return result


def _over(raw: Any, driver: str, call: Callable[[Any], T]) -> T:
    dialect = _dialect(driver)
    with engine_over(lambda: _adapted(raw, driver, dialect), dialect).connect() as connection:
        return call(connection)


def _adapted(raw: Any, driver: str, dialect: Dialect) -> object:
    async def give() -> object:
        return _plain_cursors(raw) if driver == "psycopg" else raw

    adapted: Any = dialect.loaded_dbapi.connect(async_creator_fn=give)
    if driver == "asyncpg":
        adapted.isolation_level = "autocommit"  # or it would begin a transaction of its own, inside of theirs
    return adapted


def _plain_cursors(raw: Any) -> object:
    from rota.store.foreign_postgres import PlainCursors  # which needs psycopg; here someone has it

    return PlainCursors(raw)


@lru_cache
def _dialect(driver: str) -> Dialect:
    """One each, so that its cache of compiled statements stays warm."""
    kind: Any = make_url(DIALECTS[driver]).get_dialect()
    borrowed = type("Borrowed", (LeftAlone, kind), {"supports_statement_cache": True})
    made: Dialect = borrowed(dbapi=kind.import_dbapi())
    return made
