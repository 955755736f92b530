"""The caller's connection to a SQLite file, as one of ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import OperationalError, ResourceClosedError

from rota.errors import ConnectionUnusable, TransactionStale
from rota.store.foreign import LeftAlone, as_ours, engine_over
from rota.store.gate import Gate


@contextmanager
def borrowed(theirs: Any, path: Path, gate: Gate, *, write: bool) -> Iterator[Connection]:
    """A Connection of ours over `theirs`; to write, inside a transaction that is theirs to end.

    Args:
        theirs: a sqlite3 connection, a SQLAlchemy Connection or Session, or a Django connection.
        path: the app's own database; another one will not do.
        gate: passed where a transaction is begun for them.

    Raises:
        ConnectionUnusable: it is none of these, is closed, commits each statement by itself, or is another database's.
        TransactionStale: it has read, and someone else has committed since; SQLite lets it write no more.
    """
    try:
        with as_ours(theirs, sqlite3.Connection, _engine_over, "a sqlite3 connection") as connection:
            raw = _raw(connection)
            _check_place(raw, path, theirs)
            if write and not raw.in_transaction:
                _begin(raw, connection, gate, theirs)
            yield connection
    except (sqlite3.ProgrammingError, ResourceClosedError, AttributeError) as error:
        raise ConnectionUnusable(theirs, f"it cannot be used ({error}); give an open one, on its own thread") from error
    except (sqlite3.OperationalError, OperationalError) as error:
        cause = error.orig if isinstance(error, OperationalError) else error
        if getattr(cause, "sqlite_errorname", "") == "SQLITE_BUSY_SNAPSHOT":
            raise TransactionStale from error
        raise


def _raw(connection: Connection) -> sqlite3.Connection:
    raw: object = connection.connection.dbapi_connection
    if connection.dialect.name == "sqlite" and connection.dialect.is_async:
        raise ConnectionUnusable(connection, "it is an async one: outside of run_sync, await app.aio.within(it).…")
    if not isinstance(raw, sqlite3.Connection):
        raise ConnectionUnusable(connection, "it is not a SQLite one, and this app's rota is in a SQLite file")
    return raw


def _check_place(raw: sqlite3.Connection, path: Path, theirs: object) -> None:
    """It must be the app's own database: a schedule in another file would never be seen."""
    cursor = raw.cursor()
    cursor.row_factory = None  # theirs may make of a row what it likes
    main = next((file for _, name, file in cursor.execute("PRAGMA database_list") if name in ("main", b"main")), "")
    main = main.decode() if isinstance(main, bytes) else main
    if not main or not path.exists() or not path.samefile(main):
        raise ConnectionUnusable(theirs, f"it is to {main or 'a database in memory'}, and the app's is {path}")


def _begin(raw: sqlite3.Connection, connection: Connection, gate: Gate, theirs: Any) -> None:
    """The gate is passed to begin only: whoever waited for it inside a transaction would deadlock."""
    connection.exec_driver_sql("SELECT 1")  # engines that begin by an event of their own do it now
    if raw.in_transaction:
        return
    if _commits_by_itself(raw, theirs):
        raise ConnectionUnusable(theirs, "it commits each statement by itself: begin a transaction first")
    with gate.passed():
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _commits_by_itself(raw: sqlite3.Connection, theirs: Any) -> bool:
    if hasattr(theirs, "in_atomic_block"):  # Django, which sets isolation_level to None in any case
        return not theirs.in_atomic_block
    return raw.isolation_level is None or getattr(raw, "autocommit", None) is True  # Python 3.12 has both


class _Borrowed(LeftAlone, SQLiteDialect_pysqlite):
    supports_statement_cache = True


@lru_cache(maxsize=1)
def _dialect() -> _Borrowed:
    """One, so that its cache of compiled statements stays warm."""
    return _Borrowed(dbapi=_Borrowed.import_dbapi())


def _engine_over(raw: sqlite3.Connection) -> Engine:
    return engine_over(lambda: raw, _dialect())
