"""The statements of `rota_schedules`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Text,
    Update,
    and_,
    bindparam,
    case,
    false,
    func,
    or_,
    select,
    true,
    union_all,
    update,
)

from rota.payload import readable
from rota.schedule import Schedule
from rota.store import jobs as job_rows
from rota.store.batch import Batch, batch, insert, rows
from rota.store.jobs import Barred
from rota.store.tables import schedule_fires, schedules
from rota.store.types import Instant
from rota.store.wake import wake
from rota.terms import Terms

_columns = list(schedules.c)
_now = bindparam("now", type_=Instant())

# ---- looking -------------------------------------------------------------------------------------------------------

_get = select(*_columns).where(schedules.c.id == bindparam("id"))
_all = select(*_columns).order_by(schedules.c.next_run_at.is_(None), schedules.c.next_run_at, schedules.c.id)
_wanted = batch(("id", Text()))
_some = select(*_columns).where(schedules.c.id.in_(select(_wanted.c.id)))
_some_locked = _some.order_by(schedules.c.id).with_for_update()  # all take their locks in one order


def get(connection: Connection, schedule_id: str) -> Schedule | None:
    if not _can_be(schedule_id):
        return None
    row = connection.execute(_get, {"id": schedule_id}).one_or_none()
    return None if row is None else _schedule(row)


def _can_be(schedule_id: object) -> bool:
    """Whether a database can hold such an id; none has one that cannot be held."""
    return isinstance(schedule_id, str) and readable(schedule_id) == schedule_id


def listing(connection: Connection) -> list[Schedule]:
    """All of them, the next one due first; the finished ones last."""
    return [_schedule(row) for row in connection.execute(_all)]


def by_id(connection: Connection, ids: Iterable[str]) -> dict[str, Schedule]:
    found = connection.execute(_some, rows((schedule_id,) for schedule_id in ids))
    return {row.id: _schedule(row) for row in found}


def locked_by_id(connection: Connection, ids: Iterable[str]) -> dict[str, Schedule]:
    """The same, their rows locked."""
    found = connection.execute(_some_locked, rows((schedule_id,) for schedule_id in ids))
    return {row.id: _schedule(row) for row in found}


@dataclass(frozen=True, slots=True)
class Due:
    """A schedule to decide on: whether its slot has a fire already, and what its job's row says of the run to make."""

    schedule: Schedule
    run_id: int | None
    terms: Terms | None
    """None: its job has no row."""
    barred: Barred | None = None
    """What an operator has made of its job."""


_live = and_(schedules.c.enabled == true(), schedules.c.retired == false())
_free = or_(schedules.c.not_before.is_(None), schedules.c.not_before <= _now)
_fired_as = (
    select(schedule_fires.c.run_id)
    .where(schedule_fires.c.schedule_id == schedules.c.id, schedule_fires.c.scheduled_for == schedules.c.next_run_at)
    .scalar_subquery()  # looked up by its key, however large the history is
)
_to_decide = select(*_columns, _fired_as)
_is_due = and_(_live, schedules.c.next_run_at <= _now)
_first_due = (schedules.c.next_run_at, schedules.c.id)
_to_fire = _to_decide.where(_is_due, _free).limit(bindparam("limit")).with_for_update(skip_locked=True)
_due = _to_fire.order_by(*_first_due)
_due_last = _to_fire.order_by(schedules.c.next_run_at.desc(), schedules.c.id.desc())
_due_slots = select(schedules.c.id, schedules.c.next_run_at).where(_is_due, _free).order_by(*_first_due)
_one = _to_decide.where(schedules.c.id == bindparam("id")).with_for_update()


def due(connection: Connection, now: datetime, limit: int, *, newest: bool = False) -> list[Due]:
    """The schedules that are due, the longest due first, or the newest; their rows are locked."""
    statement = _due_last if newest else _due
    return _with_jobs(connection, connection.execute(statement, {"now": now, "limit": limit}).all())


def due_slots(connection: Connection, now: datetime, limit: int) -> dict[str, datetime]:
    """The same, only looked at: their ids, and the slots that they hold."""
    return {row.id: row.next_run_at for row in connection.execute(_due_slots.limit(limit), {"now": now})}


def locked(connection: Connection, schedule_id: str) -> Due | None:
    """One schedule to decide on, due or not, its row locked."""
    if not _can_be(schedule_id):
        return None
    found = _with_jobs(connection, connection.execute(_one, {"id": schedule_id}).all())
    return found[0] if found else None


_first = select(schedules.c.next_run_at).where(
    _live, schedules.c.not_before.is_(None), schedules.c.next_run_at.is_not(None)
)
_held = select(
    case((schedules.c.not_before > schedules.c.next_run_at, schedules.c.not_before), else_=schedules.c.next_run_at)
).where(_live, schedules.c.not_before.is_not(None), schedules.c.next_run_at.is_not(None))
_soonest = union_all(
    select(_first.order_by(schedules.c.next_run_at).limit(1).subquery().c[0].label("at")),
    _held,
).subquery()
_next_due = select(func.min(_soonest.c.at, type_=Instant()))


def next_due(connection: Connection) -> datetime | None:
    """When the next schedule is due, or is tried again."""
    when: datetime | None = connection.execute(_next_due).scalar_one()
    return when


_ahead = (
    select(*_columns)
    .where(or_(schedules.c.next_run_at > _now, schedules.c.not_before > _now))
    .where(schedules.c.id > bindparam("after"))
    .order_by(schedules.c.id)
    .limit(bindparam("limit"))
    .with_for_update()
)


def ahead(connection: Connection, now: datetime, after: str, limit: int) -> list[Schedule]:
    """Those whose slot, or whose next try, is still to come, by id, from the one after `after` on."""
    asked = {"now": now, "after": after, "limit": limit}
    return [_schedule(row) for row in connection.execute(_ahead, asked)]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many schedules there are, of which kind."""

    all: int
    enabled: int
    due: int
    failing: int
    refused: int
    longest_due: datetime | None


_refused = and_(schedules.c.last_error.is_not(None), schedules.c.consecutive_failures == 0, _is_due)
_count = select(
    func.count(),
    func.count().filter(_live),
    func.count().filter(_is_due),
    func.count().filter(schedules.c.consecutive_failures > 0),
    func.count().filter(_refused),
    func.min(schedules.c.next_run_at, type_=Instant()).filter(_is_due),
).select_from(schedules)


def counts(connection: Connection, now: datetime) -> Counts:
    return Counts(*connection.execute(_count, {"now": now}).one())


# ---- writing -------------------------------------------------------------------------------------------------------

_all_of = Batch(schedules)
_progress_of = Batch(
    schedules, "id", "next_run_at", "last_run_at", "last_run_id", "last_error", "consecutive_failures", "not_before"
)
_steering_of = Batch(schedules, "id", "enabled", "paused_at", "paused_by", "retired", "retired_at", "updated_at")


def _update(new: Batch) -> Update:
    values = {schedules.c[name]: new.c[name] for name in new.names if name != "id"}
    return update(schedules).where(schedules.c.id == new.c.id).values(values)


_put = insert(schedules).from_select(_columns, _all_of.select())
_add = _put.on_conflict_do_nothing(index_elements=[schedules.c.id]).returning(schedules.c.id)
_respecify, _progress, _steer = _update(_all_of), _update(_progress_of), _update(_steering_of)


def add(connection: Connection, new: Iterable[Schedule]) -> set[str]:
    """Insert these rows; returns the ids of those that were not there."""
    in_order = sorted(new, key=lambda schedule: schedule.id)
    made = set(connection.execute(_add, _all_of.rows(in_order)).scalars())
    wake(connection)
    return made


def respecify(connection: Connection, edited: Iterable[Schedule]) -> None:
    """The whole rows, with another job, cadence, input or words; the watermark has been advanced before."""
    connection.execute(_respecify, _all_of.rows(edited))
    wake(connection)


def steer(connection: Connection, steered: Iterable[Schedule]) -> None:
    """What operators change of these rows."""
    connection.execute(_steer, _steering_of.rows(steered))
    wake(connection)


def progress(connection: Connection, moved: Iterable[Schedule]) -> None:
    """What scanning changes of these rows. It writes no miss: to move the watermark, `watermark.advance` calls it."""
    connection.execute(_progress, _progress_of.rows(moved))


def _schedule(row: Any) -> Schedule:
    return Schedule(**row._mapping)


def _with_jobs(connection: Connection, found: Iterable[Any]) -> list[Due]:
    """What their jobs' rows say is read now that they are locked: before, they may have had other jobs."""
    due = [(Schedule(**dict(zip(_names, row, strict=False))), row[-1]) for row in found]
    terms = job_rows.by_name(connection, {schedule.job for schedule, _ in due}) if due else {}
    return [Due(schedule, run_id, *terms.get(schedule.job, (None,))) for schedule, run_id in due]


_names = [column.name for column in _columns]
