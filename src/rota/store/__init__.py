"""The store: one database, written in transactions and looked at without queueing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any, Literal, Protocol

from sqlalchemy import Connection

from rota.clock import Clock
from rota.errors import DatabaseUnusable


class Watch(Protocol):
    """Whether anyone, in this process or another, has written since one last looked."""

    @property
    def interval(self) -> float | None:
        """After how many seconds it is to be asked again; None: it wakes its worker by itself."""
        ...

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

    def watch(self, wake: Callable[[], None]) -> Watch:
        """A watch on what others write, which calls `wake` where it can."""
        ...

    def clock(self, base: Clock) -> Clock:
        """The clock that this rota goes by: the database's where it has one, else `base`, the machine's own."""
        ...

    def measure(self) -> timedelta:
        """Compare that clock with the database's again; returns by how much someone has set the latter."""
        ...

    def on_commit(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` after each commit of this process; returns what takes it off again."""
        ...

    def close(self) -> None: ...


def open_store(url: str, now: datetime, *, migrating: bool = False, listen_url: str | None = None) -> Store:
    """The store at `url`, migrated where it is a SQLite file.

    Args:
        url: `sqlite:///file.db` (three slashes: relative to the working directory; four: absolute), or
            `postgresql://user@host/database`; with `?schema=name` where its tables are not in the public one.
        now: the present instant, noted with the migrations it applies.
        listen_url: where its workers listen, if `url` is that of a pooler, which lets no one listen.
        migrating: make the tables on PostgreSQL, too, or bring them up to date.

    Raises:
        DatabaseUnusable: the URL is none, or what is there is not a database.
        DatabaseUnreachable: it does not answer.
        DatabaseReadOnly, DatabaseBusy, SchemaNewer, SchemaOutdated: it cannot be opened for this build.
    """
    if _kind_of(url) == "sqlite":
        from rota.store.sqlite import SqliteStore

        return SqliteStore(url, now)
    store: Store = _postgres(url).PostgresStore(url, now, migrating=migrating, listen_url=listen_url)
    return store


def is_there(url: str) -> bool:
    """Whether a rota is at `url` already, so that opening it makes nothing new. Where a file cannot be read, it is so.

    Raises:
        DatabaseUnusable, DatabaseUnreachable: the URL is none, or the server does not answer.
    """
    if _kind_of(url) == "sqlite":
        from rota.store import file

        return file.is_there(url)
    there: bool = _postgres(url).is_there(url)
    return there


def _kind_of(url: object) -> Literal["sqlite", "postgresql"]:
    scheme = url.partition(":")[0].partition("+")[0] if isinstance(url, str) else ""
    if scheme == "sqlite":
        return "sqlite"
    if scheme in ("postgresql", "postgres"):
        return "postgresql"
    raise DatabaseUnusable(repr(url), "give a URL such as 'sqlite:///rota.db' or 'postgresql://user@host/database'")


def _postgres(url: str) -> Any:
    """The module of that name, where its driver is installed."""
    try:
        return import_module("rota.store.postgres")
    except ModuleNotFoundError as error:
        raise DatabaseUnusable(url, "its driver is missing: pip install 'rota[postgres]'") from error
