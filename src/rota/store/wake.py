"""Waking: who commits work for others says so. PostgreSQL carries it; on SQLite every process sees that one wrote."""

from __future__ import annotations

from sqlalchemy import Connection, cast, func, literal, select
from sqlalchemy.dialects.postgresql import OID

CHANNEL = "rota."
"""Followed by the number of the table of schedules: whoever sees the same tables is on the same channel."""

_channel = literal(CHANNEL).op("||")(cast(func.to_regclass("rota_schedules"), OID))
_notify = select(func.pg_notify(_channel, ""))


def wake(connection: Connection) -> None:
    """Have idle workers look once this transaction is committed; said twice in one, it is heard once.

    It is a fast path and nothing more: what is to be done stands in the tables.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(_notify)
