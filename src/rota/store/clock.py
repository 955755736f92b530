"""The statements of `rota_clock`: the newest instant that anyone has seen."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, select, update

from rota.store.batch import insert
from rota.store.tables import clock
from rota.store.types import Instant

_now = bindparam("now", type_=Instant())
_newest = select(clock.c.seen_at).where(clock.c.id == 1)
_put = insert(clock).values(id=1, seen_at=_now)
_keep = _put.on_conflict_do_update(
    index_elements=[clock.c.id], set_={"seen_at": _put.excluded.seen_at}, where=clock.c.seen_at < _put.excluded.seen_at
)
_set_back = update(clock).values(seen_at=_now)


def newest(connection: Connection) -> datetime | None:
    """The newest instant that anyone has seen."""
    return connection.execute(_newest).scalar_one_or_none()


def keep(connection: Connection, now: datetime) -> None:
    """Keep `now`, where it is the newest."""
    connection.execute(_keep, {"now": now})


def set_back(connection: Connection, now: datetime) -> None:
    """Keep `now`, though later instants were seen: the clock that showed them was wrong."""
    connection.execute(_set_back, {"now": now})
