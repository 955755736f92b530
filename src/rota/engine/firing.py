"""Firing: THE decision on a slot, pure, and the writing of what was decided. Shared by scanner and trigger."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain

from sqlalchemy import Connection

from rota import events
from rota.fire import Fire, Origin, idempotency_key
from rota.miss import Miss
from rota.run import NewRun
from rota.schedule import POISONED_AFTER, Move, Schedule
from rota.store import fires, runs, watermark
from rota.store.schedules import Due
from rota.terms import Terms

_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Fired:
    """The slot gets this run, and the watermark moves on."""

    run: NewRun
    schedule: Schedule
    slot: datetime
    following: datetime | None

    def move(self, run_id: int) -> Move:
        return Move(self.schedule, self.schedule.fired(self.slot, run_id, self.following), "late")


@dataclass(frozen=True, slots=True)
class AlreadyFired:
    """The slot has its fire, made early by a trigger; the watermark moves to the slot after it."""

    move: Move


@dataclass(frozen=True, slots=True)
class Missed:
    """The slot, and what follows it up to the move's end, gets no run."""

    move: Move


@dataclass(frozen=True, slots=True)
class Failed:
    """The schedule's own fault: the slot is kept and tried again, or dropped once it failed too often."""

    move: Move
    error: str
    dropped: bool


Decision = Fired | AlreadyFired | Missed | Failed


def decide(due: Due, now: datetime) -> Decision:
    """What becomes of the slot that `due` holds. Reads no clock and no database; never raises."""
    try:
        return _decide(due, now)
    except Exception as error:  # noqa: BLE001 - an unreadable row fails for itself alone
        return failure(due.schedule, _reason_of(error), now)


def failure(schedule: Schedule, error: str, now: datetime) -> Failed:
    """One more failure of the schedule: kept for another try, or poisoned at the limit."""
    if schedule.consecutive_failures + 1 < POISONED_AFTER:
        return Failed(Move(schedule, schedule.failed(error, now), "poisoned", error), error, dropped=False)
    try:
        following = schedule.slot_after(now)
    except Exception:  # noqa: BLE001 - no readable cadence says where to go
        return Failed(Move(schedule, schedule.stuck(error, now), "poisoned", error), error, dropped=False)
    return Failed(Move(schedule, schedule.poisoned(error, following), "poisoned", error), error, dropped=True)


def fire(schedule: Schedule, terms: Terms, slot: datetime, now: datetime, *, run_after: datetime) -> Fired:
    """The run of `slot`. The watermark passes a slot that is due, and waits before one that was fired early."""
    following = schedule.slot_after(now) if slot <= now else schedule.next_run_at
    return Fired(
        NewRun.of(
            terms,
            schedule.input,
            now,
            run_after=run_after,
            idempotency_key=idempotency_key(schedule.id, schedule.app, schedule.key, slot),
            schedule_id=schedule.id,
            scheduled_for=slot,
            actor=schedule.actor,
        ),
        schedule,
        slot,
        following,
    )


def write(
    connection: Connection, decided: Sequence[Decision], now: datetime, *, origin: Origin, worker: str | None
) -> list[object]:
    """Write runs, fires, moves and misses, in the caller's transaction; returns the events to tell once it is over."""
    fired = [decision for decision in decided if isinstance(decision, Fired)]
    ids = runs.add(connection, [decision.run for decision in fired]) if fired else []
    made = [
        Fire(f.schedule.id, f.slot, run_id, f.schedule.version, origin, now, worker)
        for f, run_id in zip(fired, ids, strict=True)
    ]
    if made:
        fires.record(connection, made)
    moves = [decision.move for decision in decided if not isinstance(decision, Fired)]
    moves += [decision.move(run_id) for decision, run_id in zip(fired, ids, strict=True)]
    missed = watermark.advance(connection, moves, now)
    told = [events.ScheduleFired(f.schedule_id, f.scheduled_for, f.run_id, f.origin) for f in made]
    return [*told, *map(told_missed, missed), *chain.from_iterable(map(_told, decided))]


def _decide(due: Due, now: datetime) -> Decision:
    schedule, terms = due.schedule, due.terms
    slot = schedule.next_run_at
    if slot is None:
        raise AssertionError(f"{schedule.id} has no slot to decide on")
    if due.run_id is not None:
        return AlreadyFired(Move(schedule, schedule.moved(schedule.slot_after(slot)), "late"))
    if terms is None:
        return failure(schedule, f"job {schedule.job} has no row in rota_jobs: register it again", now)
    if due.barred is not None:
        blocked = f"job {schedule.job} is {due.barred}"
        passed = replace(schedule.moved(schedule.slot_after(now)), last_error=blocked)
        return Missed(Move(schedule, passed, "blocked", blocked))
    grace = schedule.grace
    if grace is not None and slot < now - grace:
        young = schedule.slot_after(now - grace - _INSTANT)
        return Missed(Move(schedule, schedule.moved(young), "late", f"older than its grace of {grace}"))
    if schedule.input is not None:
        json.loads(schedule.input)
    return fire(schedule, terms, slot, now, run_after=slot)


def _reason_of(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def told_missed(miss: Miss) -> events.SlotsMissed:
    """The event of a miss that was written."""
    return events.SlotsMissed(miss.schedule_id, miss.first_slot, miss.last_slot, miss.slots, miss.reason, miss.detail)


def _told(decision: Decision) -> Iterator[object]:
    if isinstance(decision, Failed):
        before = decision.move.before
        failures = before.consecutive_failures + 1
        yield events.ScheduleFailing(before.id, before.next_run_at, failures, decision.error)
        if decision.dropped:
            yield events.SlotPoisoned(before.id, before.next_run_at, failures, decision.error)
