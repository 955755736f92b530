"""The statements of `rota_schedule_fires`: whoever writes the key first has fired the slot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import Connection, Text, bindparam, insert, select

from rota.fire import Fire
from rota.store.batch import Batch, batch, rows
from rota.store.tables import schedule_fires
from rota.store.types import Instant

_columns = list(schedule_fires.c)
_new = Batch(schedule_fires)
_insert = insert(schedule_fires).from_select(_columns, _new.select())

_range = batch(("id", Text()), ("first", Instant()), ("last", Instant()), name="span")
_between = select(schedule_fires.c.schedule_id, schedule_fires.c.scheduled_for).join(
    _range,
    (schedule_fires.c.schedule_id == _range.c.id)
    & schedule_fires.c.scheduled_for.between(_range.c.first, _range.c.last),
)
_of = select(*_columns).where(schedule_fires.c.schedule_id == bindparam("id")).order_by(schedule_fires.c.scheduled_for)
_latest = (
    select(*_columns)
    .where(schedule_fires.c.schedule_id == bindparam("id"))
    .order_by(schedule_fires.c.scheduled_for.desc())
    .limit(bindparam("limit"))
)
_run_of = select(schedule_fires.c.run_id).where(
    schedule_fires.c.schedule_id == bindparam("id"),
    schedule_fires.c.scheduled_for == bindparam("slot", type_=Instant()),
)


def record(connection: Connection, new: Iterable[Fire]) -> None:
    connection.execute(_insert, _new.rows(new))


def run_of(connection: Connection, schedule_id: str, slot: datetime) -> int | None:
    """The run that the slot was given, if it was."""
    return connection.execute(_run_of, {"id": schedule_id, "slot": slot}).scalar_one_or_none()


def between(
    connection: Connection, spans: Sequence[tuple[str, datetime | None, datetime]]
) -> dict[str, list[datetime]]:
    """The slots that were fired, by schedule, each between the two given instants, both included."""
    found: dict[str, list[datetime]] = defaultdict(list)
    for schedule_id, slot in connection.execute(_between, rows(spans)):
        found[schedule_id].append(slot)
    return found


def of(connection: Connection, schedule_id: str) -> list[Fire]:
    """All of a schedule, oldest slot first."""
    return [Fire(**row._mapping) for row in connection.execute(_of, {"id": schedule_id})]


def latest(connection: Connection, schedule_id: str, limit: int) -> list[Fire]:
    """The newest of a schedule, newest slot first."""
    return [Fire(**row._mapping) for row in connection.execute(_latest, {"id": schedule_id, "limit": limit})]
