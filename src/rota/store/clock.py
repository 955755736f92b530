"""The statements of `rota_clock`: the newest instant that anyone has seen."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, select, update

from rota.store.batch import chosen, insert
from rota.store.tables import clock
from rota.store.types import Instant

_now = bindparam("now", type_=Instant())
_newest = select(clock.c.seen_at).where(clock.c.id == 1)
_start = insert(clock).values(id=1, seen_at=_now).on_conflict_do_nothing(index_elements=[clock.c.id])
_earlier = select(clock.c.id).where(clock.c.seen_at < _now).limit(1).with_for_update(skip_locked=True)
_keep = update(clock).where(chosen(clock.c.id, _earlier)).values(seen_at=_now)
_set_back = update(clock).values(seen_at=_now)


def newest(connection: Connection) -> datetime | None:
    """The newest instant that anyone has seen."""
    return connection.execute(_newest).scalar_one_or_none()


def keep(connection: Connection, now: datetime) -> None:
    """Keep `now`, where it is the newest. It waits for no one: whoever is at the row keeps much the same instant."""
    if connection.execute(_keep, {"now": now}).rowcount == 0 and newest(connection) is None:
        connection.execute(_start, {"now": now})


def keep_own(connection: Connection, now: datetime) -> None:
    """The same, where each machine goes by a clock of its own, which whoever decides by it may have to answer for.

    PostgreSQL's clock is everyone's: there the beats are enough, and a row that all write would hold all up.
    """
    if connection.dialect.name == "sqlite":
        keep(connection, now)


def set_back(connection: Connection, now: datetime) -> None:
    """Keep `now`, though later instants were seen: the clock that showed them was wrong."""
    connection.execute(_set_back, {"now": now})
