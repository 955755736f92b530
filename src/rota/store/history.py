"""The statements that forget: what is old enough goes, in small transactions."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BindParameter, Connection, bindparam, case, delete, select, tuple_

from rota.store.batch import chosen
from rota.store.tables import runs, schedule_fires, schedule_misses, schedules
from rota.store.types import Instant

_before = bindparam("before", type_=Instant())
_limit: BindParameter[int] = bindparam("limit")

_old_runs = (
    select(runs.c.id)
    .where(runs.c.finished_at.is_not(None), runs.c.finished_at < _before)
    .order_by(runs.c.finished_at)
    .limit(_limit)
)
_forget_runs = delete(runs).where(chosen(runs.c.id, _old_runs))


_settled_before = case((schedules.c.next_run_at < _before, schedules.c.next_run_at), else_=_before)
"""Only what lies behind the watermark goes: at or past it a key may still be needed."""

_old_fires = (
    select(schedule_fires.c.schedule_id, schedule_fires.c.scheduled_for)
    .join(schedules, schedules.c.id == schedule_fires.c.schedule_id)
    .where(schedule_fires.c.scheduled_for < _settled_before)
    .limit(_limit)
)
_forget_fires = delete(schedule_fires).where(
    tuple_(schedule_fires.c.schedule_id, schedule_fires.c.scheduled_for).in_(_old_fires)
)
_old_misses = (
    select(schedule_misses.c.schedule_id, schedule_misses.c.first_slot)
    .join(schedules, schedules.c.id == schedule_misses.c.schedule_id)
    .where(schedule_misses.c.first_slot < _settled_before, schedule_misses.c.last_slot < _settled_before)
    .limit(_limit)
)
_forget_misses = delete(schedule_misses).where(
    tuple_(schedule_misses.c.schedule_id, schedule_misses.c.first_slot).in_(_old_misses)
)


def forget_runs(connection: Connection, before: datetime, limit: int) -> int:
    """Delete runs that ended before then, with their attempts and logs; returns how many."""
    return connection.execute(_forget_runs, {"before": before, "limit": limit}).rowcount


def forget_fires(connection: Connection, before: datetime, limit: int) -> int:
    """Delete fires whose slot is older; returns how many."""
    return connection.execute(_forget_fires, {"before": before, "limit": limit}).rowcount


def forget_misses(connection: Connection, before: datetime, limit: int) -> int:
    """Delete misses whose last slot is older; returns how many."""
    return connection.execute(_forget_misses, {"before": before, "limit": limit}).rowcount
