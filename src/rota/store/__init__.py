"""The store: one database, written in transactions and looked at without queueing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from sqlalchemy import Connection

from rota.errors import DatabaseUnusable


class Watch(Protocol):
    """Whether anyone, in this process or another, has written since one last looked."""

    def changed(self) -> bool: ...

    def close(self) -> None: ...


class Store(Protocol):
    """A database that holds a rota."""

    url: str

    def begin(self) -> AbstractContextManager[Connection]:
        """A transaction to write in: committed at the end, rolled back where something is raised.

        Raises:
            StoreError: the database cannot be reached, is busy for too long, or does not let itself be written.
        """
        ...

    def read(self) -> AbstractContextManager[Connection]:
        """A consistent look that never queues behind writers."""
        ...

    def borrow(self, theirs: object, *, write: bool) -> AbstractContextManager[Connection]:
        """The caller's own connection as one of ours; to write, inside a transaction that is theirs to end.

        Raises:
            ConnectionUnusable, TransactionStale: it cannot be used, or not any more.
        """
        ...

    def watch(self) -> Watch: ...

    def on_commit(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` after each commit of this process; returns what takes it off again."""
        ...

    def close(self) -> None: ...


def open_store(url: str, now: datetime) -> Store:
    """The store at `url`, migrated where it is a SQLite file.

    Args:
        url: `sqlite:///file.db` (three slashes: relative to the working directory; four: absolute).
        now: the present instant, noted with the migrations it applies.

    Raises:
        DatabaseUnusable: the URL is none, or what is there is not a database.
        DatabaseReadOnly, DatabaseBusy, SchemaNewer: it cannot be opened for this build.
    """
    scheme = url.partition(":")[0].partition("+")[0] if isinstance(url, str) else ""
    if scheme == "sqlite":
        from rota.store.sqlite import SqliteStore

        return SqliteStore(url, now)
    if scheme in ("postgresql", "postgres"):
        raise DatabaseUnusable(url, "this version keeps its rota in a SQLite file; PostgreSQL is for a later one")
    raise DatabaseUnusable(repr(url), "give a URL such as 'sqlite:///rota.db'")


def is_there(url: str) -> bool:
    """Whether a rota is at `url` already, so that opening it makes nothing new. Where that cannot be seen, it is so.

    Raises:
        DatabaseUnusable: the URL is none.
    """
    if not url.startswith("sqlite"):
        return True
    from rota.store import file

    return file.is_there(url)
