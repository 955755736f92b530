"""The statements of `rota_schedule_misses`: one row covers a whole gap, and an adjacent one extends it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, Text, bindparam, delete, func, select

from rota.errors import RotaError
from rota.miss import COUNTED, Miss
from rota.schedule import Schedule
from rota.store import audit
from rota.store.batch import Batch, batch, insert, rows
from rota.store.tables import schedule_misses
from rota.store.types import Instant

_columns = list(schedule_misses.c)
_new = Batch(schedule_misses)
_put = insert(schedule_misses).from_select(_columns, _new.select())
_upsert = _put.on_conflict_do_update(
    index_elements=[schedule_misses.c.schedule_id, schedule_misses.c.first_slot],
    set_={name: _put.excluded[name] for name in _new.names[2:]},
)

_asked = batch(("id", Text()), ("first", Instant()), name="asked")
_earlier = schedule_misses.alias("earlier")
_last_before = (
    select(func.max(_earlier.c.first_slot))
    .where(_earlier.c.schedule_id == _asked.c.id, _earlier.c.first_slot < _asked.c.first)
    .correlate(_asked)
    .scalar_subquery()
)
_previous = select(*_columns).join(
    _asked, (schedule_misses.c.schedule_id == _asked.c.id) & (schedule_misses.c.first_slot == _last_before)
)
_of = select(*_columns).where(schedule_misses.c.schedule_id == bindparam("id")).order_by(schedule_misses.c.first_slot)
_latest = (
    select(*_columns)
    .where(schedule_misses.c.schedule_id == bindparam("id"))
    .order_by(schedule_misses.c.first_slot.desc())
    .limit(bindparam("limit"))
)


@dataclass(frozen=True, slots=True)
class Missed:
    """What one schedule missed in one step of its watermark, oldest first."""

    schedule: Schedule
    misses: Sequence[Miss]


def record(connection: Connection, found: Iterable[Missed]) -> None:
    """Write these gaps. One that begins right after the last, for the same reason and version, extends it."""
    missed = [item for item in found if item.misses]
    if not missed:
        return
    asked = rows((item.schedule.id, item.misses[0].first_slot) for item in missed)
    previous = {row.schedule_id: Miss(**row._mapping) for row in connection.execute(_previous, asked)}
    _write(connection, [miss for item in missed for miss in _joined(item, previous.get(item.schedule.id))])


def of(connection: Connection, schedule_id: str) -> list[Miss]:
    """All of a schedule, oldest slot first."""
    return [Miss(**row._mapping) for row in connection.execute(_of, {"id": schedule_id})]


def latest(connection: Connection, schedule_id: str, limit: int) -> list[Miss]:
    """The newest of a schedule, newest slot first."""
    return [Miss(**row._mapping) for row in connection.execute(_latest, {"id": schedule_id, "limit": limit})]


def _write(connection: Connection, written: Sequence[Miss]) -> None:
    connection.execute(_upsert, _new.rows(written))


def _joined(item: Missed, last: Miss | None) -> Sequence[Miss]:
    first, *rest = item.misses
    if last is None or not _adjacent(item.schedule, last, first):
        return item.misses
    slots = None if last.slots is None or first.slots is None else last.slots + first.slots
    counted = slots if slots is not None and slots <= COUNTED else None
    return [replace(first, first_slot=last.first_slot, slots=counted), *rest]


def _adjacent(schedule: Schedule, last: Miss, following: Miss) -> bool:
    if (last.reason, last.version) != (following.reason, following.version):
        return False
    try:
        return schedule.slot_after(last.last_slot) == following.first_slot
    except RotaError:
        return False


# ---- the watermark went back ------------------------------------------------------------------------------------

_whose = batch(("id", Text()), name="whose")
_beyond = schedule_misses.c.last_slot > bindparam("now", type_=Instant())
_reach = select(*_columns).join(_whose, schedule_misses.c.schedule_id == _whose.c.id).where(_beyond)
_forget = delete(schedule_misses).where(schedule_misses.c.schedule_id.in_(select(_whose.c.id)), _beyond)


def cut_back(connection: Connection, ids: Iterable[str], now: datetime) -> None:
    """Forget what these schedules missed after `now`: a wrong clock said so, and those slots are still to come."""
    asked = {"now": now, **rows((schedule_id,) for schedule_id in ids)}
    reaching = [Miss(**row._mapping) for row in connection.execute(_reach, asked)]
    if reaching:
        connection.execute(_forget, asked)
        _write(connection, [_cut(connection, miss, now) for miss in reaching if miss.first_slot <= now])


def _cut(connection: Connection, miss: Miss, now: datetime) -> Miss:
    cadence = audit.cadence_of(connection, miss.schedule_id, miss.version)
    if cadence is None:  # the row was written by hand: only its first slot is known
        return replace(miss, last_slot=miss.first_slot, slots=1)
    return miss.cut_after(now, cadence)
