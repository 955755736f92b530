"""Waking: who commits work for others says so. PostgreSQL carries it; on SQLite every process sees that one wrote."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, String, bindparam, cast, func, literal, select
from sqlalchemy.dialects.postgresql import OID

CHANNEL = "rota."
"""Followed by the number of the table of schedules: whoever sees the same tables is on the same channel."""

_channel = literal(CHANNEL).op("||")(cast(func.to_regclass("rota_schedules"), OID))
_notify = select(func.pg_notify(_channel, bindparam("what", type_=String())))


def wake(connection: Connection, what: Iterable[str]) -> None:
    """Have idle workers look once this transaction is committed, for each of these words once.

    It is a fast path and nothing more: what is to be done stands in the tables.
    """
    if connection.dialect.name == "postgresql":
        for word in sorted(set(what)):
            connection.execute(_notify, {"what": word[:1000]})
