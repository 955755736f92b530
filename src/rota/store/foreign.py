"""The caller's connection, whatever it is, as one of ours. Nothing here commits, rolls back or closes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import iscoroutinefunction, unwrap
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, StaticPool
from sqlalchemy.engine import Dialect, make_url

from rota.errors import ConnectionUnusable

Raw = TypeVar("Raw")


@contextmanager
def as_ours(theirs: Any, raw: type[Raw], over: Callable[[Raw], Engine], name: str) -> Iterator[Connection]:
    """What they hold, as a SQLAlchemy Connection.

    Args:
        theirs: a connection of the driver, a SQLAlchemy Connection or Session, or a Django connection.
        raw: what a connection of the driver is.
        over: makes an engine whose one connection that is.
        name: what people call it.

    Raises:
        ConnectionUnusable: it is none of these.
    """
    if isinstance(theirs, Connection):
        yield theirs
    elif _is_async(theirs):
        raise ConnectionUnusable(theirs, "it is an async one: await app.aio.within(it).…")
    elif hasattr(theirs, "get_bind") and callable(getattr(theirs, "connection", None)):  # a Session
        yield theirs.connection()
    elif isinstance(found := _dbapi_of(theirs), raw):
        with over(found).connect() as connection:
            yield connection
    else:
        raise ConnectionUnusable(theirs, f"give {name}, a SQLAlchemy Connection or Session, or a Django connection")


def _is_async(theirs: Any) -> bool:
    return iscoroutinefunction(unwrap(getattr(theirs, "close", len)))


def _dbapi_of(theirs: Any) -> object:
    """A raw connection is itself; Django keeps one inside its own, and opens it late."""
    if hasattr(theirs, "ensure_connection"):
        theirs.ensure_connection()
        return getattr(theirs, "connection", None)
    return theirs


class LeftAlone:
    """What a dialect does to a connection of its own, and to one of theirs not."""

    supports_statement_cache = True

    def _nothing(self, *_: Any, **__: Any) -> None:
        """Not ours to do."""

    initialize = do_begin = do_commit = do_rollback = do_close = do_terminate = _nothing

    def on_connect(self) -> Any:
        """No set-up of ours on a connection of theirs."""


def engine_over(given: Callable[[], object], dialect: Dialect) -> Engine:
    """An engine whose one connection is the given one."""
    pool = StaticPool(given, reset_on_return=None, dialect=dialect)  # type: ignore[arg-type]
    return Engine(pool, dialect, make_url(f"{dialect.name}://"))
