"""The caller's connection to a PostgreSQL database, as one of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow, tuple_row
from sqlalchemy import Connection, Engine, cast, func, select
from sqlalchemy.dialects.postgresql import OID
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.exc import ResourceClosedError

from rota.errors import ConnectionUnusable
from rota.store.foreign import LeftAlone, as_ours, engine_over

Place = tuple[object, ...]


@contextmanager
def borrowed(theirs: Any, is_ours: Callable[[Place], bool], *, write: bool) -> Iterator[Connection]:
    """A Connection of ours over `theirs`; to write, inside a transaction that is theirs to end.

    Args:
        theirs: a psycopg connection, a SQLAlchemy Connection or Session, or a Django connection.
        is_ours: whether a place is that of the app's own tables; others will not do.

    Raises:
        ConnectionUnusable: it is none of these, is closed, commits each statement by itself, or is another database's.
    """
    try:
        with as_ours(theirs, psycopg.Connection, _engine_over, "a psycopg connection") as connection:
            if connection.dialect.name != "postgresql":
                raise ConnectionUnusable(theirs, "it is none to PostgreSQL, where this app's rota is")
            if _commits_by_itself(connection, theirs) and write:
                raise ConnectionUnusable(theirs, "it commits each statement by itself: begin a transaction first")
            if not is_ours(place_of(connection)):
                raise ConnectionUnusable(theirs, "the rota that it sees is not the app's: another database or schema")
            yield connection
    except (psycopg.InterfaceError, ResourceClosedError, AttributeError) as error:
        raise ConnectionUnusable(theirs, f"it cannot be used ({error}); give an open one") from error


_place = select(func.pg_postmaster_start_time(), func.current_database(), cast(func.to_regclass("rota_schedules"), OID))


def place_of(connection: Connection) -> Place:
    """Which server, which database, which schema's tables."""
    return tuple(connection.execute(_place).one())


def _commits_by_itself(connection: Connection, theirs: Any) -> bool:
    if hasattr(theirs, "in_atomic_block"):  # Django, whose connection is in autocommit mode outside of one
        return not theirs.in_atomic_block
    plain: Any = connection.connection.dbapi_connection
    driven: Any = connection.connection.driver_connection  # where it is an async one, what the plain one is made of
    if _is_closed(driven):
        raise ConnectionUnusable(theirs, "it is closed; give an open one")
    if not hasattr(driven, "is_in_transaction") and driven.info.transaction_status == TransactionStatus.INERROR:
        raise ConnectionUnusable(theirs, "its transaction has failed: roll it back first")
    return bool(plain.autocommit) and not _is_inside(driven)


def _is_closed(driven: Any) -> bool:
    if not hasattr(driven, "is_closed"):
        return bool(driven.closed)
    try:
        return bool(driven.is_closed())
    except Exception:  # noqa: BLE001 - how asyncpg says that its pool has it back
        return True


def _is_inside(driven: Any) -> bool:
    """In autocommit mode one can begin a transaction by hand, all the same."""
    if hasattr(driven, "is_in_transaction"):  # asyncpg
        return bool(driven.is_in_transaction())
    return bool(driven.info.transaction_status != TransactionStatus.IDLE)


class PlainCursors:
    """A psycopg connection of theirs whose cursors are as ours, whatever rows and parameters look like in theirs."""

    def __init__(self, raw: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
        self._raw = raw

    def cursor(self) -> psycopg.Cursor[TupleRow] | psycopg.AsyncCursor[TupleRow]:
        if isinstance(self._raw, psycopg.AsyncConnection):
            return psycopg.AsyncCursor(self._raw, row_factory=tuple_row)
        return psycopg.Cursor(self._raw, row_factory=tuple_row)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)


class _Borrowed(LeftAlone, PGDialect_psycopg):
    supports_statement_cache = True


@lru_cache(maxsize=1)
def _dialect() -> _Borrowed:
    """One, so that its cache of compiled statements stays warm."""
    return _Borrowed(dbapi=psycopg)  # type: ignore[no-untyped-call]


def _engine_over(raw: psycopg.Connection[Any]) -> Engine:
    return engine_over(lambda: PlainCursors(raw), _dialect())
