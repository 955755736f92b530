"""Fallback: the clock shows much less than it did. Slots that lay too far ahead are drawn back to the true time."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from rota import events
from rota.errors import RotaError
from rota.schedule import Schedule
from rota.store import claims, clock, misses, schedules, workers

LEASE = timedelta(seconds=30)  # how long a worker is taken for alive after its last beat
TOLERANCE = timedelta(seconds=60)  # clocks that are set by minutes fell back; smaller steps mend themselves
BATCH = 1000


def note(connection: Connection, now: datetime) -> list[object]:
    """Note that it is `now`, before anything is decided by it; returns the events to tell afterwards.

    Whoever moves a watermark notes the time by which it does: a clock that was wrong is found out only so.
    """
    told = heed(connection, now)
    if not told:
        clock.keep_own(connection, now)
    return told


def heed(connection: Connection, now: datetime) -> list[object]:
    """Where it was over a minute later before, draw the schedules back to the true time.

    What was fired stays fired, by its key; a wrong clock can make a fire late, never double.
    """
    seen = clock.newest(connection)
    if seen is None or seen - now <= TOLERANCE:
        return []
    drawn = _draw_back(connection, now)
    clock.set_back(connection, now)
    workers.shorten(connection, now + LEASE)
    claims.hurry_retries(connection, now)
    return [events.ClockFellBack(seen, now, drawn)]


def _draw_back(connection: Connection, now: datetime) -> int:
    drawn, last_id = 0, ""
    while ahead := schedules.ahead(connection, now, last_id, BATCH):
        back = [changed for schedule in ahead if (changed := _drawn_back(schedule, now)) is not None]
        misses.cut_back(connection, (schedule.id for schedule in ahead), now)
        schedules.progress(connection, back)
        drawn, last_id = drawn + len(back), ahead[-1].id
    return drawn


def _drawn_back(schedule: Schedule, now: datetime) -> Schedule | None:
    """The schedule at its first slot after `now`, if that is earlier, and free to be tried; None: it is already."""
    back = replace(schedule, next_run_at=_earlier_slot(schedule, now), not_before=None)
    return None if back == schedule else back


def _earlier_slot(schedule: Schedule, now: datetime) -> datetime | None:
    held = schedule.next_run_at
    try:
        first = schedule.slot_after(now)
    except RotaError:
        return held  # unreadable: the scanner says so when its slot comes
    return held if held is None or first is None else min(held, first)
