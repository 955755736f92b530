"""The file of a SQLite rota: where it is, whether it is still the same one, and whether someone else has written."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Event

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from rota.errors import DatabaseUnreachable, DatabaseUnusable

OLDEST = (3, 35, 0)
BUSY_SECONDS = 30.0
SWITCH_PAUSE = 0.005  # seconds


class DatabaseFile:
    """One file, by its path. A file that is put in its place later is another one."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.path = _path_of(url)
        self._identity: tuple[int, int] | None = None

    def make(self) -> None:
        """Make it where it is not there yet; later connections never do, or a lost file would come back empty."""
        if not self.path.exists():
            with closing(sqlite3.connect(self.path)) as connection:
                write_ahead(connection)

    def adopt(self) -> None:
        """The file that is there now is the one."""
        self._identity = self._present()

    def watch(self) -> FileWatch:
        return FileWatch(self.path)

    def is_replaced(self) -> bool:
        """Whether another file has taken its place.

        Raises:
            DatabaseUnreachable: it is gone. What was committed is in the file that was moved away.
        """
        return self._present() != self._identity

    def _present(self) -> tuple[int, int]:
        try:
            found = self.path.stat()
        except FileNotFoundError as error:
            raise DatabaseUnreachable(self.url, "its file is gone; put it back") from error
        except OSError as error:
            raise DatabaseUnreachable(self.url, f"{error.strerror}; look at the folder and its rights") from error
        return found.st_dev, found.st_ino


class FileWatch:
    """`PRAGMA data_version` on one idle connection: it changes with every commit of another connection."""

    interval = 0.05

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._seen: tuple[int, int] | None = None

    def changed(self) -> bool:
        """Never raises: where it cannot look it says no, and what is wrong is found by the next pass."""
        before = self._seen
        try:
            self._seen = self._version()
        except (sqlite3.Error, OSError):
            self.close()
            return False
        return self._seen != before

    def close(self) -> None:
        connection, self._connection, self._seen = self._connection, None, None
        if connection is not None:
            connection.close()

    def _version(self) -> tuple[int, int]:
        """Of the file that is there now: another one may have been put in its place."""
        place = self._path.stat().st_ino
        if self._seen is not None and self._seen[0] != place:
            self.close()
        if self._connection is None:
            address = f"{self._path.as_uri()}?mode=ro"
            self._connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
        return place, self._connection.execute("PRAGMA data_version").fetchone()[0]


def write_ahead(connection: sqlite3.Connection) -> None:
    """Set write-ahead logging, once in a file's life; it needs the file to be writable.

    Where several do so at once they would wait for each other, so SQLite gives up on one of them whatever its timeout.
    """
    pause, tries = Event(), int(BUSY_SECONDS / SWITCH_PAUSE)
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or not tries:
                raise
            tries -= 1
            pause.wait(SWITCH_PAUSE)


def is_there(url: str) -> bool:
    """Whether the file holds a rota. One that cannot be read is said to: what is wrong with it, opening it tells."""
    path = _path_of(url)
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            asked = "select 1 from sqlite_master where name = 'rota_migrations'"
            return connection.execute(asked).fetchone() is not None
    except sqlite3.Error:
        return True


def _path_of(url: str) -> Path:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise DatabaseUnusable(url, "give a URL such as 'sqlite:///rota.db'") from error
    if not parsed.database or parsed.database == ":memory:" or parsed.database.startswith("file:"):
        raise DatabaseUnusable(url, "a rota outlives its process, so it needs a file: 'sqlite:///rota.db'")
    if sqlite3.sqlite_version_info < OLDEST:
        raise DatabaseUnusable(url, f"SQLite {sqlite3.sqlite_version} is too old, 3.35 is the oldest that works")
    path = Path(parsed.database).absolute()
    if path.is_dir():
        raise DatabaseUnusable(url, f"{path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise DatabaseUnusable(url, f"there is no folder {path.parent}; make it first")
    return path
