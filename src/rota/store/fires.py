"""The statements of `rota_schedule_fires`: whoever writes the key first has fired the slot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from operator import attrgetter

from sqlalchemy import Connection, Integer, Text, bindparam, insert, select

from rota.fire import Fire
from rota.store.batch import batch, rows
from rota.store.tables import schedule_fires
from rota.store.types import Instant, RunId

_columns = list(schedule_fires.c)
_new = batch(
    ("schedule_id", Text()),
    ("scheduled_for", Instant()),
    ("run_id", RunId),
    ("version", Integer()),
    ("origin", Text()),
    ("fired_at", Instant()),
    ("worker", Text()),
)
_insert = insert(schedule_fires).from_select(_columns, select(_new))

_row_of = attrgetter(*(column.name for column in _columns))

_range = batch(("id", Text()), ("first", Instant()), ("last", Instant()), name="span")
_between = select(schedule_fires.c.schedule_id, schedule_fires.c.scheduled_for).join(
    _range,
    (schedule_fires.c.schedule_id == _range.c.id)
    & schedule_fires.c.scheduled_for.between(_range.c.first, _range.c.last),
)
_of = select(*_columns).where(schedule_fires.c.schedule_id == bindparam("id")).order_by(schedule_fires.c.scheduled_for)
_run_of = select(schedule_fires.c.run_id).where(
    schedule_fires.c.schedule_id == bindparam("id"),
    schedule_fires.c.scheduled_for == bindparam("slot", type_=Instant()),
)


def record(connection: Connection, new: Iterable[Fire]) -> None:
    connection.execute(_insert, rows(map(_row_of, new)))


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
