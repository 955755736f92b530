"""SQLite: set-up of the engine, transactions, and noticing what other processes write."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from rota.errors import DatabaseBusy, DatabaseReadOnly, DatabaseUnreachable, DatabaseUnusable, StoreError
from rota.store.foreign import borrowed
from rota.store.gate import Gate
from rota.store.migrate import migrate

OLDEST = (3, 35, 0)
BUSY_SECONDS = 30.0


class SqliteStore:
    """A rota in one SQLite file, in WAL mode, flushed to the disk at each commit."""

    def __init__(self, url: str, now: datetime) -> None:
        self.url = url
        self.path = _path_of(url)
        self._calls: list[Callable[[], None]] = []
        self.gate = Gate(self.path, url, BUSY_SECONDS)
        self._engine = _engine(self.path)
        try:
            with self._translated():
                migrate(self.begin, self.read, url, now)
        except BaseException:
            self._engine.dispose()
            raise

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        with self.gate.passed(), self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection
        for call in tuple(self._calls):
            call()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def borrow(self, theirs: object, *, write: bool) -> Iterator[Connection]:
        with self._translated(), borrowed(theirs, self.path, self.gate, write=write) as connection:
            yield connection

    def watch(self) -> SqliteWatch:
        with self._translated():
            return SqliteWatch(self.path)

    def on_commit(self, call: Callable[[], None]) -> Callable[[], None]:
        self._calls.append(call)
        return lambda: self._calls.remove(call)

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection]:
        with self._translated(), self._engine.connect() as connection:
            connection.execution_options(rota_begin=begin)
            with connection.begin():
                yield connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            _raise_translated(self.url, error.orig, error)
        except sqlite3.Error as error:
            _raise_translated(self.url, error, error)


def is_there(url: str) -> bool:
    """Whether the file holds a rota. One that cannot be read is said to: what is wrong with it, opening it tells."""
    path = _path_of(url)
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(path)) as connection:
            asked = "select 1 from sqlite_master where name = 'rota_migrations'"
            return connection.execute(asked).fetchone() is not None
    except sqlite3.Error:
        return True


class SqliteWatch:
    """`PRAGMA data_version` on one idle connection: it changes with every commit of another connection."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._seen = self._version()

    def changed(self) -> bool:
        before, self._seen = self._seen, self._version()
        return self._seen != before

    def close(self) -> None:
        self._connection.close()

    def _version(self) -> int:
        version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        return version


def _path_of(url: str) -> Path:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise DatabaseUnusable(url, "give a URL such as 'sqlite:///rota.db'") from error
    if not parsed.database or parsed.database == ":memory:" or parsed.database.startswith("file:"):
        raise DatabaseUnusable(url, "a rota outlives its process, so it needs a file: 'sqlite:///rota.db'")
    if sqlite3.sqlite_version_info < OLDEST:
        raise DatabaseUnusable(url, f"SQLite {sqlite3.sqlite_version} is too old, 3.35 is the oldest that works")
    path = Path(parsed.database)
    if path.is_dir():
        raise DatabaseUnusable(url, f"{path} is a folder; name a file in it")
    if not path.absolute().parent.is_dir():
        raise DatabaseUnusable(url, f"there is no folder {path.absolute().parent}; make it first")
    return path.absolute()


def _engine(path: Path) -> Engine:
    connect_args = {"isolation_level": None, "timeout": BUSY_SECONDS, "check_same_thread": False}
    engine = create_engine(f"sqlite:///{path}", connect_args=connect_args, pool_size=8, max_overflow=16)
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up(raw: sqlite3.Connection, _: Any) -> None:
    """Every new connection. Write-ahead logging is set once in a file's life, and needs the file to be writable."""
    if raw.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        raw.execute("PRAGMA journal_mode = WAL")
    raw.execute("PRAGMA synchronous = FULL")
    raw.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options()["rota_begin"])


def _raise_translated(url: str, cause: BaseException | None, error: Exception) -> NoReturn:
    translated = _translation(url, cause)
    if translated is None:
        raise error
    raise translated from error


def _translation(url: str, cause: BaseException | None) -> StoreError | None:
    """Which of our errors SQLite's error is; None where it is the statement's own (a constraint, say)."""
    text = str(cause)
    name = getattr(cause, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return DatabaseBusy(url, BUSY_SECONDS)
    if name.startswith("SQLITE_READONLY"):
        return DatabaseReadOnly(url)
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_FORMAT")):
        return DatabaseUnusable(url, f"it is not a sound SQLite database ({text}); name another file, or restore it")
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_PROTOCOL")):
        return DatabaseUnreachable(url, f"{text}; look at the disk, the folder and its rights")
    return None
