"""Migrations: numbered steps, each applied once, however many processes start at the same moment.

A new database gets the tables as they stand; an older one the steps it lacks. Steps only ever add.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import Connection, create_mock_engine, func, insert, inspect, select
from sqlalchemy.schema import CreateIndex, CreateTable

from rota.errors import SchemaNewer
from rota.queue import Queue
from rota.store import tables
from rota.store.types import text_of

STEPS: dict[int, Callable[[Connection], None]] = {}  # version → what takes a database from the one before to it
VERSION = 1 + len(STEPS)

_highest = select(func.max(tables.migrations.c.version))
_applied = select(*tables.migrations.c).order_by(tables.migrations.c.version)

_first_queue = insert(tables.queues).values(asdict(Queue("default")))

Begin = Callable[[], AbstractContextManager[Connection]]


def migrate(begin: Begin, read: Begin, url: str, now: datetime) -> list[int]:
    """Bring the database to this build's version; returns the versions that were applied.

    Raises:
        SchemaNewer: the database is ahead of this build. Nothing is changed.
    """
    with read() as connection:
        if version(connection, url) == VERSION:
            return []
    with begin() as connection:
        return _apply(connection, version(connection, url), now)


def applied(connection: Connection) -> list[tuple[int, datetime]]:
    """The versions that were applied, and when."""
    return [(row.version, row.applied_at) for row in connection.execute(_applied)]


def ddl(dialect: str, now: datetime) -> str:
    """The whole schema as SQL text, for people who run their own migrations."""
    known = create_mock_engine(f"{dialect}://", lambda *_: None).dialect
    statements: list[str] = []
    for table in tables.metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=known)).strip())
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        statements += [str(CreateIndex(index).compile(dialect=known)) for index in indexes]
    first = _first_queue.compile(dialect=known, compile_kwargs={"literal_binds": True})
    statements.append(str(first))
    values = ", ".join(f"({number}, '{text_of(now)}')" for number in range(1, VERSION + 1))
    statements.append(f"INSERT INTO {tables.migrations.name} (version, applied_at) VALUES {values}")  # noqa: S608
    return ";\n\n".join(statement.replace("\t", "    ") for statement in statements) + ";\n"


def version(connection: Connection, url: str) -> int:
    """The version that the database has; 0 where it holds no rota.

    Raises:
        SchemaNewer: it is ahead of this build.
    """
    if not inspect(connection).has_table(tables.migrations.name):
        return 0
    found = connection.execute(_highest).scalar_one_or_none() or 0
    if found > VERSION:
        raise SchemaNewer(url, found, VERSION)
    return found


def _apply(connection: Connection, found: int, now: datetime) -> list[int]:
    if found == 0:
        tables.metadata.create_all(connection, checkfirst=False)
        connection.execute(_first_queue)
    else:
        for step in range(found + 1, VERSION + 1):
            STEPS[step](connection)
    applied = list(range(found + 1, VERSION + 1))
    if applied:
        rows = [{"version": number, "applied_at": now} for number in applied]
        connection.execute(insert(tables.migrations), rows)
    return applied
