"""PostgreSQL: engine set-up, transactions, and what its errors mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from threading import get_ident
from typing import Any, NoReturn

import psycopg
from sqlalchemy import Connection, Engine, QueuePool, create_engine, event, func, select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from rota.clock import Clock, DistantClock
from rota.errors import (
    DatabaseBusy,
    DatabaseReadOnly,
    DatabaseUnreachable,
    DatabaseUnusable,
    SchemaOutdated,
    StoreError,
    TransactionOpen,
)
from rota.store import migrate
from rota.store.foreign_postgres import Place, borrowed, place_of
from rota.store.listen import Listener

OLDEST = 13  # the major version
POOL = 8  # connections that are kept; more are made while there is much to do
DRIVER = "postgresql+psycopg"
_PATIENT = {"connect_timeout": "10", "application_name": "rota", "client_encoding": "utf8"}
_ALIVE = {"keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3", "tcp_user_timeout": "15000"}
_TO_WRITE = {"isolation_level": "READ COMMITTED"}  # whatever the database's default is
_IMPATIENT = (
    "set local lock_timeout = '5s'; set local statement_timeout = '30s'; "
    "set local idle_in_transaction_session_timeout = '10s'"  # a process that is stopped holds nobody up for longer
)
_MIGRATING = func.pg_advisory_xact_lock(0x726F7461)  # "rota": whoever migrates is alone


class PostgresStore:
    """A rota in one schema of a PostgreSQL database. Now is the database's own time, as it was last measured."""

    def __init__(self, url: str, now: datetime, *, migrating: bool, listen_url: str | None) -> None:
        self.url = url
        address, self._schema = _address_of(url)
        self._arguments = _arguments(address, self._schema)
        self._listening = (
            self._arguments if listen_url is None else _arguments(_address_of(listen_url)[0], self._schema)
        )
        self._engine = _engine(self._arguments)
        self._calls: list[Callable[[], None]] = []
        self._inside: set[int] = set()
        self._clock: DistantClock | None = None
        self._place: Place | None = None
        try:
            self._check(now, migrating=migrating)
        except BaseException:
            self._engine.dispose()
            raise

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        if get_ident() in self._inside:
            raise TransactionOpen(self.url)
        self._inside.add(get_ident())
        try:
            with self._transaction(_TO_WRITE) as connection:
                connection.exec_driver_sql(_IMPATIENT)
                yield connection
        finally:
            self._inside.discard(get_ident())
        for call in tuple(self._calls):
            call()

    def read(self) -> AbstractContextManager[Connection]:
        return self._transaction({"isolation_level": "REPEATABLE READ", "postgresql_readonly": True})

    @contextmanager
    def borrow(self, theirs: object, *, write: bool) -> Iterator[Connection]:
        try:
            with borrowed(theirs, self._is_ours, write=write) as connection:
                yield connection
        except DBAPIError as error:
            raise_translated(self.url, error)

    def watch(self, wake: Callable[[], None]) -> Listener:
        return Listener(self._connect, wake)

    def on_commit(self, call: Callable[[], None]) -> Callable[[], None]:
        self._calls.append(call)
        return lambda: self._calls.remove(call)

    def clock(self, base: Clock) -> Clock:
        self._clock = DistantClock(base)
        self.measure()
        return self._clock

    def measure(self) -> timedelta:
        """The instant is taken before the answer travels: the clock is never ahead of the database's."""
        if self._clock is None:
            return timedelta(0)
        with self._transaction({"isolation_level": "AUTOCOMMIT"}) as connection:
            return self._clock.set(connection.execute(select(func.clock_timestamp())).scalar_one())

    def close(self) -> None:
        self._engine.dispose()

    def _check(self, now: datetime, *, migrating: bool) -> None:
        """Tables are made and changed only where that is asked for: old processes may be at work on them."""
        with self.read() as connection:
            major = connection.connection.dbapi_connection.info.server_version // 10_000  # type: ignore[union-attr]
            if major < OLDEST:
                raise DatabaseUnusable(self.url, f"it is PostgreSQL {major}, and {OLDEST} is the oldest that works")
            found = migrate.version(connection, self.url)
            self._place = place_of(connection)
        if found < migrate.VERSION and not migrating:
            raise SchemaOutdated(self.url, found, migrate.VERSION)
        if migrating:
            migrate.migrate(self._migrating, self.read, self.url, now)

    def _is_ours(self, place: Place) -> bool:
        """Whether it is where this store's tables are. A server that was started again is another place: ask anew."""
        if place != self._place:
            with self.read() as connection:
                self._place = place_of(connection)
        return place == self._place

    def _connect(self) -> psycopg.Connection[Any]:
        """A connection of its own, beside the pool."""
        return psycopg.connect(**self._listening, autocommit=True)

    @contextmanager
    def _migrating(self) -> Iterator[Connection]:
        with self._transaction(_TO_WRITE) as connection:
            connection.execute(select(_MIGRATING))
            if self._schema is not None:
                quoted = connection.dialect.identifier_preparer.quote(self._schema)
                connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {quoted}"))
            yield connection

    @contextmanager
    def _transaction(self, options: Mapping[str, Any]) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection:
                connection.execution_options(**options)
                with connection.begin():
                    yield connection
        except DBAPIError as error:
            raise_translated(self.url, error)


def is_there(url: str) -> bool:
    """Whether the database holds a rota of any version.

    Raises:
        StoreError: it cannot be looked at.
    """
    engine = _engine(_arguments(*_address_of(url)))
    try:
        with engine.connect() as connection:
            return migrate.version(connection, url) > 0
    except DBAPIError as error:
        raise_translated(url, error)
    finally:
        engine.dispose()


# ---- connecting ----------------------------------------------------------------------------------------------------


def _address_of(url: str) -> tuple[URL, str | None]:
    """The URL as the driver takes it, and the schema that it names."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise DatabaseUnusable(url, "give a URL such as 'postgresql://user@host:5432/database'") from error
    if parsed.drivername not in ("postgres", "postgresql", DRIVER):
        raise DatabaseUnusable(url, "rota speaks to PostgreSQL by psycopg: begin the URL with 'postgresql://'")
    schema = parsed.query.get("schema")
    if schema is not None and not isinstance(schema, str):
        raise DatabaseUnusable(url, "it names more than one schema; give one")
    return parsed.set(drivername=DRIVER).difference_update_query(["schema"]), schema


def _arguments(address: URL, schema: str | None) -> dict[str, Any]:
    """What the driver is connected with."""
    found = address.translate_connect_args(username="user", database="dbname")
    found |= {**_PATIENT, **_ALIVE, **address.query}
    if "prepare_threshold" in found:
        found["prepare_threshold"] = _threshold_of(found["prepare_threshold"])
    if schema is not None:
        found["options"] = f"{found.get('options', '')} -csearch_path={_escaped(schema)}".strip()
    return found


def _threshold_of(given: object) -> int | None:
    if given == "none":
        return None
    if not isinstance(given, str) or not given.isdecimal():
        raise DatabaseUnusable("prepare_threshold", f"{given!r} is none: give a number, or `none`")
    return int(given)


def _engine(arguments: Mapping[str, Any]) -> Engine:
    engine = create_engine(
        f"{DRIVER}://",
        connect_args=arguments,
        poolclass=QueuePool,
        pool_size=POOL,
        max_overflow=-1,  # handlers may hold as many as they like: the worker's lease must not wait for one
        pool_pre_ping=True,
    )
    event.listen(engine, "connect", _set_up)
    return engine


def _set_up(raw: psycopg.Connection[Any], _: Any) -> None:
    """Instants travel as ISO text, whatever the database shows to people."""
    if not (raw.info.parameter_status("DateStyle") or "ISO").startswith("ISO"):
        raw.execute("set datestyle = 'ISO'")
        raw.commit()


def _escaped(schema: str) -> str:
    """As an identifier in a setting in a list of options: quoted for SQL, its blanks and backslashes for the list."""
    quoted = '"' + schema.replace('"', '""') + '"'
    return "".join(f"\\{c}" if c in " \\" else c for c in quoted)


# ---- errors --------------------------------------------------------------------------------------------------------


def raise_translated(url: str, error: DBAPIError) -> NoReturn:
    """Raise the error of ours that it is; itself where it is the statement's own (a constraint, say)."""
    translated = _translation(url, error)
    if translated is None:
        raise error
    raise translated from error


def _translation(url: str, error: DBAPIError) -> StoreError | None:
    state: str = getattr(error.orig, "sqlstate", None) or ""
    text = " ".join(str(error.orig).split())
    if isinstance(error.orig, psycopg.ProgrammingError) and not state:
        return DatabaseUnusable(url, f"{text}; look at the URL")
    if state in ("40001", "40P01", "55P03"):
        return DatabaseBusy(url, f"{text}; try again")
    if state in ("25006", "42501"):
        return DatabaseReadOnly(url, f"{text}; name the primary server, and a user who may write rota's tables")
    if state in ("42P01", "42703"):
        return SchemaOutdated(url, 0, migrate.VERSION)
    if state.startswith(("28", "3D")) or "authentication failed" in text:
        return DatabaseUnusable(url, f"{text}; look at the URL and the server's rights")
    lost = error.connection_invalidated or (not state and isinstance(error.orig, psycopg.OperationalError))
    if lost or state.startswith(("08", "53", "57", "58")):
        return DatabaseUnreachable(url, text)
    return None
