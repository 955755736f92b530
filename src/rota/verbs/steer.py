"""Steer: pause, resume and trigger, what operators do to a schedule."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from rota.author import Author
from rota.engine import fallback, firing
from rota.errors import JobDisabled, JobNotRegistered, ScheduleFinished, ScheduleNotFound, ScheduleRetired, SlotFired
from rota.run import Run
from rota.schedule import Move, Schedule
from rota.store import audit, fires, runs, schedules, watermark
from rota.store.schedules import Due


def pause(connection: Connection, schedule_id: str, author: Author, now: datetime) -> None:
    """Keep a schedule from firing. What runs goes on, and its history stays; pausing twice changes nothing.

    Raises:
        ScheduleNotFound: no schedule has that id.
    """
    schedule = _locked(connection, schedule_id).schedule
    if not schedule.enabled:
        return
    paused = replace(schedule, enabled=False, paused_at=now, paused_by=author.actor, updated_at=now)
    schedules.steer(connection, [paused])
    audit.record(connection, author, "pause", [paused], now)


def resume(connection: Connection, schedule_id: str, author: Author, now: datetime) -> list[object]:
    """Let a paused schedule fire again, from its first slot after `now`: no backlog. Returns the events to tell.

    The slots that came due meanwhile are misses: late until it was paused, paused after that. One that is not paused
    is left alone, so that a due slot is not lost.

    Raises:
        ScheduleNotFound: no schedule has that id.
    """
    told = fallback.note(connection, now)
    schedule = _locked(connection, schedule_id).schedule
    if schedule.enabled:
        return told
    slot = schedule.slot_after(now) if schedule.is_due(now) else schedule.next_run_at
    resumed = replace(schedule, enabled=True, paused_at=None, paused_by=None, next_run_at=slot, updated_at=now)
    missed = watermark.advance(connection, [Move(schedule, resumed, "late")], now)
    schedules.steer(connection, [resumed])
    audit.record(connection, author, "resume", [resumed], now)
    return [*told, *map(firing.told_missed, missed)]


def trigger(
    connection: Connection, schedule_id: str, slot: datetime | None, author: Author, now: datetime
) -> tuple[Run, list[object]]:
    """Fire the pending slot now; returns its run, and the events to tell once the transaction is over.

    Args:
        slot: the pending slot as the caller saw it. A slot that has been fired since gives the run it was given, so
            that of many who trigger at once all get one run (promises C48 to C50). None: the one the row holds.

    Raises:
        ScheduleNotFound, ScheduleRetired, ScheduleFinished: there is nothing to fire.
        JobDisabled: an operator has switched its job off.
    """
    told = fallback.note(connection, now)
    due = _locked(connection, schedule_id)
    if due.schedule.retired:
        raise ScheduleRetired(schedule_id)
    seen = slot if slot is not None else due.schedule.next_run_at
    if due.run_id is not None and due.schedule.next_run_at == seen and _stands_still(due.schedule, now):
        due = _past_fired(connection, due.schedule, now)
        seen = due.schedule.next_run_at
    for wanted in (seen, due.schedule.next_run_at):
        if wanted is None:
            continue
        if (run_id := fires.run_of(connection, schedule_id, wanted)) is not None:
            return _run(connection, run_id, schedule_id, wanted), told
        if due.schedule.next_run_at == wanted:
            run, fired = _fire(connection, due, wanted, author, now)
            return run, [*told, *fired]
    raise ScheduleFinished(schedule_id)


def _locked(connection: Connection, schedule_id: str) -> Due:
    due = schedules.locked(connection, schedule_id)
    if due is None:
        raise ScheduleNotFound(schedule_id)
    return due


def _stands_still(schedule: Schedule, now: datetime) -> bool:
    """Paused on a slot that has come: no scanner will move it on."""
    return not schedule.enabled and schedule.is_due(now)


def _past_fired(connection: Connection, schedule: Schedule, now: datetime) -> Due:
    watermark.advance(connection, [Move(schedule, schedule.moved(schedule.slot_after(now)), "late")], now)
    return _locked(connection, schedule.id)


def _fire(connection: Connection, due: Due, slot: datetime, author: Author, now: datetime) -> tuple[Run, list[object]]:
    schedule, terms = due.schedule, due.terms
    if terms is None:
        raise JobNotRegistered(schedule.job)
    if due.barred is not None:
        raise JobDisabled(schedule.job)
    decision = firing.fire(schedule, terms, slot, now, run_after=now)
    told = firing.write(connection, [decision], now, origin="trigger", worker=None)
    audit.record(connection, author, "trigger", [schedule], now)
    run_id = fires.run_of(connection, schedule.id, slot)
    if run_id is None:
        raise AssertionError(f"{schedule.id} was fired without a fire")
    return _run(connection, run_id, schedule.id, slot), told


def _run(connection: Connection, run_id: int, schedule_id: str, slot: datetime) -> Run:
    run = runs.get(connection, run_id)
    if run is None:
        raise SlotFired(schedule_id, slot, run_id)
    return run
