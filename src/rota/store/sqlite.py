"""SQLite: set-up of the engine, transactions, and noticing what other processes write."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from threading import RLock
from typing import NoReturn

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event
from sqlalchemy.exc import DBAPIError

from rota.clock import Clock
from rota.errors import DatabaseBusy, DatabaseReadOnly, DatabaseUnreachable, DatabaseUnusable, StoreError
from rota.store.file import BUSY_SECONDS, DatabaseFile, FileWatch, write_ahead
from rota.store.foreign_sqlite import borrowed
from rota.store.gate import WRITE_ACCESS, Gate, held_for
from rota.store.migrate import migrate


class SqliteStore:
    """A rota in one SQLite file, in WAL mode, flushed to the disk at each commit."""

    def __init__(self, url: str, now: datetime) -> None:
        self.url = url
        self._file = DatabaseFile(url)
        self._now = now
        self._lock = RLock()
        self._calls: list[Callable[[], None]] = []
        self._gate = Gate(self._file.path, url, BUSY_SECONDS)
        self._engine = _engine(self._file.path)
        try:
            with self._translated():
                self._file.make()
            self._take_in()
        except BaseException:
            self._engine.dispose()
            raise

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        self._look_at_file()
        with self._written() as connection:
            yield connection
        for call in tuple(self._calls):
            call()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        self._look_at_file()
        with self._looked_at() as connection:
            yield connection

    @contextmanager
    def borrow(self, theirs: object, *, write: bool) -> Iterator[Connection]:
        with self._translated(), borrowed(theirs, self._file.path, self._gate, write=write) as connection:
            yield connection

    def watch(self, wake: Callable[[], None]) -> FileWatch:  # noqa: ARG002 - nobody says anything; one has to look
        return self._file.watch()

    def clock(self, base: Clock) -> Clock:
        return base

    def measure(self) -> timedelta:
        """The host's clock is what it is."""
        return timedelta(0)

    def on_commit(self, call: Callable[[], None]) -> Callable[[], None]:
        self._calls.append(call)
        return lambda: self._calls.remove(call)

    def close(self) -> None:
        self._engine.dispose()

    def _take_in(self) -> None:
        """The file that is there now is brought up to date, and then it is ours."""
        migrate(self._written, self._looked_at, self.url, self._now)
        self._file.adopt()

    def _look_at_file(self) -> None:
        """A connection to a file that was moved away would write where no one reads: take in the one that is there."""
        if self._file.is_replaced():
            with self._lock:
                if self._file.is_replaced():
                    self._engine.dispose()
                    self._take_in()

    @contextmanager
    def _written(self) -> Iterator[Connection]:
        with self._gate.passed(), self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    def _looked_at(self) -> AbstractContextManager[Connection]:
        return self._transaction("BEGIN")

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


def _engine(path: Path) -> Engine:
    def connect() -> sqlite3.Connection:
        address = f"{path.as_uri()}?mode=rw"  # never makes the file
        raw = sqlite3.connect(address, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True)
        try:
            return _set_up(raw)
        except BaseException:
            raw.close()
            raise

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=8, max_overflow=-1)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up(raw: sqlite3.Connection) -> sqlite3.Connection:
    """Every new connection."""
    write_ahead(raw)
    raw.execute("PRAGMA synchronous = FULL")
    raw.execute("PRAGMA foreign_keys = ON")
    return raw


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
        return DatabaseBusy(url, held_for(BUSY_SECONDS))
    if name.startswith("SQLITE_READONLY"):
        return DatabaseReadOnly(url, WRITE_ACCESS)
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_FORMAT")):
        return DatabaseUnusable(url, f"it is not a sound SQLite database ({text}); name another file, or restore it")
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_PROTOCOL")):
        return DatabaseUnreachable(url, f"{text}; look at the disk, the folder and its rights")
    return None
