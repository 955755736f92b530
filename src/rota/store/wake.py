"""Waking: who commits work for others says so. PostgreSQL carries it; on SQLite every process sees that one wrote."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, String, bindparam, func, literal, select

channel = literal("rota.").op("||")(func.left(func.current_schema(), 14))
"""Where those of one schema are called; a longer name is cut, for a channel's may have 63 bytes."""
_notify = select(func.pg_notify(channel, bindparam("what", type_=String())))


def wake(connection: Connection, what: Iterable[str]) -> None:
    """Have idle workers look once this transaction is committed, for each of these words once.

    It is a fast path and nothing more: what is to be done stands in the tables.
    """
    if connection.dialect.name == "postgresql":
        for word in sorted(set(what)):
            connection.execute(_notify, {"what": word[:1000]})
