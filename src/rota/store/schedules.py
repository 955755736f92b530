"""The statements of `rota_schedules`. Only `advance` moves the watermark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any

from sqlalchemy import (
    Boolean,
    Connection,
    Integer,
    Text,
    and_,
    bindparam,
    case,
    false,
    func,
    insert,
    or_,
    select,
    true,
    union_all,
    update,
)

from rota.errors import RotaError
from rota.miss import Gap, Miss, gaps
from rota.schedule import Move, Schedule
from rota.store import fires, misses
from rota.store.batch import batch, rows
from rota.store.tables import jobs, schedule_fires, schedules
from rota.store.types import Instant, RunId

_columns = list(schedules.c)

# ---- looking -------------------------------------------------------------------------------------------------------

_get = select(*_columns).where(schedules.c.id == bindparam("id"))
_all = select(*_columns).order_by(schedules.c.next_run_at.is_(None), schedules.c.next_run_at, schedules.c.id)
_wanted = batch(("id", Text()))
_some = select(*_columns).join(_wanted, schedules.c.id == _wanted.c.id)


def get(connection: Connection, schedule_id: str) -> Schedule | None:
    row = connection.execute(_get, {"id": schedule_id}).one_or_none()
    return None if row is None else _schedule(row)


def listing(connection: Connection) -> list[Schedule]:
    """All of them, the next one due first; the finished ones last."""
    return [_schedule(row) for row in connection.execute(_all)]


def by_id(connection: Connection, ids: Iterable[str]) -> dict[str, Schedule]:
    found = connection.execute(_some, rows((schedule_id,) for schedule_id in ids))
    return {row.id: _schedule(row) for row in found}


@dataclass(frozen=True, slots=True)
class Terms:
    """What `rota_jobs` says of the runs of a schedule's job: any process can fire for it."""

    queue: str
    timeout: timedelta | None
    max_attempts: int
    retry: str
    enabled: bool
    retired: bool


@dataclass(frozen=True, slots=True)
class Due:
    """A schedule to decide on: whether its slot has a fire already, and its job's terms."""

    schedule: Schedule
    run_id: int | None
    terms: Terms | None


_live = and_(schedules.c.enabled == true(), schedules.c.retired == false())
_free = or_(schedules.c.not_before.is_(None), schedules.c.not_before <= bindparam("now", type_=Instant()))
_slot_fired = and_(
    schedule_fires.c.schedule_id == schedules.c.id, schedule_fires.c.scheduled_for == schedules.c.next_run_at
)
_terms = (jobs.c.queue, jobs.c.timeout, jobs.c.max_attempts, jobs.c.retry, jobs.c.enabled, jobs.c.retired)
_to_decide = (
    select(*_columns, schedule_fires.c.run_id, jobs.c.name, *_terms)
    .join(schedule_fires, _slot_fired, isouter=True)
    .join(jobs, jobs.c.name == schedules.c.job, isouter=True)
)
_due = (
    _to_decide.where(_live, schedules.c.next_run_at <= bindparam("now", type_=Instant()), _free)
    .order_by(schedules.c.next_run_at, schedules.c.id)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True, of=schedules)
)
_one = _to_decide.where(schedules.c.id == bindparam("id")).with_for_update(of=schedules)


def due(connection: Connection, now: datetime, limit: int) -> list[Due]:
    """The schedules that are due, the longest due first; their rows are locked where the database can."""
    return [_due_of(row) for row in connection.execute(_due, {"now": now, "limit": limit})]


def locked(connection: Connection, schedule_id: str) -> Due | None:
    """One schedule to decide on, due or not, its row locked."""
    row = connection.execute(_one, {"id": schedule_id}).one_or_none()
    return None if row is None else _due_of(row)


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
    .where(_live, schedules.c.next_run_at > bindparam("now", type_=Instant()), schedules.c.id > bindparam("after"))
    .order_by(schedules.c.id)
    .limit(bindparam("limit"))
    .with_for_update()
)


def ahead(connection: Connection, now: datetime, after: str, limit: int) -> list[Schedule]:
    """Those whose slot is still to come, by id, from the one after `after` on."""
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


_is_due = and_(_live, schedules.c.next_run_at <= bindparam("now", type_=Instant()))
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

_STATE = (
    ("next_run_at", Instant()),
    ("last_run_at", Instant()),
    ("last_run_id", RunId),
    ("last_error", Text()),
    ("consecutive_failures", Integer()),
    ("not_before", Instant()),
    ("enabled", Boolean()),
    ("paused_at", Instant()),
    ("paused_by", Text()),
    ("retired", Boolean()),
    ("retired_at", Instant()),
    ("updated_at", Instant()),
)
_state = batch(("id", Text()), *_STATE)
_save = (
    update(schedules)
    .where(schedules.c.id == _state.c.id)
    .values({schedules.c[name]: _state.c[name] for name, _ in _STATE})
)
_state_of = attrgetter("id", *(name for name, _ in _STATE))

_SPEC = tuple((column.name, column.type) for column in _columns)
_spec = batch(*_SPEC)
_insert = insert(schedules).from_select(_columns, select(_spec))
_respecify = (
    update(schedules)
    .where(schedules.c.id == _spec.c.id)
    .values({schedules.c[name]: _spec.c[name] for name, _ in _SPEC if name != "id"})
)
_row_of = attrgetter(*(name for name, _ in _SPEC))


def add(connection: Connection, new: Sequence[Schedule]) -> None:
    connection.execute(_insert, rows(map(_row_of, new)))


def save(connection: Connection, changed: Iterable[Schedule]) -> None:
    """What scanning and steering change of these rows, but not the watermark: that is for `advance`."""
    connection.execute(_save, rows(map(_state_of, changed)))


def respecify(connection: Connection, edited: Sequence[Schedule]) -> None:
    """The whole rows, with another job, cadence, input or words; the watermark goes through `advance` first."""
    connection.execute(_respecify, rows(map(_row_of, edited)))


def advance(connection: Connection, moves: Sequence[Move], now: datetime) -> None:
    """Move the watermark, and write down what it passed over: the slots up to now that have no fire are misses."""
    passing = [move for move in moves if _passes_over(move, now)]
    if passing:
        fired = fires.between(connection, [(m.before.id, m.before.next_run_at, now) for m in passing])
        misses.record(connection, [_missed(move, fired.get(move.before.id, ()), now) for move in passing])
    save(connection, (move.after for move in moves))


def _passes_over(move: Move, now: datetime) -> bool:
    """Whether there can be slots without a fire: not where the one slot that was due has just been fired."""
    slot, to = move.before.next_run_at, move.after.next_run_at
    if slot is None or slot > now or slot == to:
        return False
    return not (move.after.last_run_at == slot and to is not None and to > now and _is_next(move.before, slot, to))


def _is_next(schedule: Schedule, slot: datetime, to: datetime) -> bool:
    return schedule.cadence.next_after(slot) == to


def _missed(move: Move, fired: Iterable[datetime], now: datetime) -> misses.Missed:
    before, to = move.before, move.after.next_run_at
    found = [
        Miss(before.id, gap.first, gap.last, gap.slots, gap.reason, move.detail, before.version, now)
        for gap in _gaps(move, fired, now if to is None or to > now else to - timedelta(microseconds=1))
    ]
    return misses.Missed(before, found)


def _gaps(move: Move, fired: Iterable[datetime], until: datetime) -> Iterator[Gap]:
    before, slot = move.before, move.before.next_run_at
    if slot is None:
        return
    try:
        cadence = before.cadence
    except RotaError:  # someone wrote what is no cadence into the row: only the slot it held is known
        yield from () if slot in fired else (Gap(slot, slot, 1, move.reason),)
        return
    turn, after_turn = move.passes
    yield from gaps(cadence, slot, until, fired, move.reason, turn=turn, after_turn=after_turn)


def _schedule(row: Any) -> Schedule:
    return Schedule(**row._mapping)


def _due_of(row: Any) -> Due:
    width = len(_columns)
    schedule = Schedule(**dict(zip(_names, row[:width], strict=True)))
    run_id, job, *terms = row[width:]
    return Due(schedule, run_id, None if job is None else Terms(*terms))


_names = [column.name for column in _columns]
