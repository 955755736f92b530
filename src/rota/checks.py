"""Checks: what an operator would want to be told of, held against the store; each with its remedy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import Connection

from rota.cron import DESCRIPTORS
from rota.engine import fallback
from rota.errors import RotaError
from rota.schedule import Schedule
from rota.store import clock, jobs, queues, runs, schedules, workers
from rota.store.jobs import JobRow

LONG_WAIT = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong (error), or looks so (warning)."""

    level: Literal["error", "warning"]
    place: str
    text: str
    remedy: str


def check(connection: Connection, now: datetime, machine: datetime) -> list[Problem]:
    """Every problem of this rota, at one look.

    Args:
        now: what time it is, by the clock that the rota goes by.
        machine: the same by the clock of this machine.
    """
    known = {row.name: row for row in jobs.listing(connection)}
    listed = schedules.listing(connection)
    return [
        *(problem for schedule in listed for problem in _of_schedule(schedule, known, now)),
        *_of_queues(connection, now),
        *_of_workers(connection, listed, now),
        *_of_clock(connection, now, machine),
    ]


# ---- schedules -----------------------------------------------------------------------------------------------------


def _of_schedule(schedule: Schedule, known: dict[str, JobRow], now: datetime) -> Iterator[Problem]:
    place = f"schedule {schedule.id}"
    if (text := _unreadable(schedule)) is not None:
        yield Problem("error", place, text, "register it again")
        return
    if schedule.retired:
        return
    if schedule.consecutive_failures > 0:
        text = f"it has failed {schedule.consecutive_failures} times in a row: {schedule.last_error}"
        yield Problem("error", place, text, "mend what the error says; the slot is tried again until the tenth failure")
    elif schedule.last_error is not None:
        yield Problem("warning", place, f"its slot is refused: {schedule.last_error}", "mend what the error says")
    if schedule.next_run_at is None and schedule.slot_after(now) is not None:
        text = "it has no next slot, though its cadence has"
        yield Problem("error", place, text, "register it again: that fills next_run_at")
    yield from _of_its_job(schedule, place, known.get(schedule.job))
    yield from _surprises(schedule, place)


def _unreadable(schedule: Schedule) -> str | None:
    try:
        _ = schedule.cadence, schedule.grace
        json.loads(schedule.input or "null")
    except (RotaError, ValueError, TypeError, AttributeError) as error:
        return f"its row cannot be read: {error}"
    return None


def _of_its_job(schedule: Schedule, place: str, job: JobRow | None) -> Iterator[Problem]:
    if job is None:
        yield Problem("error", place, f"its job {schedule.job} is not known", "start a worker that has the job")
    elif job.retired or not job.enabled:
        state = "retired" if job.retired else "disabled"
        yield Problem("warning", place, f"its job {schedule.job} is {state}: its slots are missed", "enable the job")


def _surprises(schedule: Schedule, place: str) -> Iterator[Problem]:
    """Expressions that mean something else than many who write them think."""
    fields = DESCRIPTORS.get(schedule.cron_spec, schedule.cron_spec).split()
    if len(fields) != 5:
        return
    minute, hour, day, _, weekday = fields
    if not day.startswith(("*", "?")) and not weekday.startswith(("*", "?")):
        text = f"'{schedule.cron_spec}' comes on days that match either day field, not both"
        yield Problem("warning", place, text, "begin one of the day fields with '*' where both are to match")
    for name, field, span in (("minute", minute, 60), ("hour", hour, 24)):
        step = field.removeprefix("*/")
        if field.startswith("*/") and step.isdigit() and span % int(step):
            text = f"{name} '{field}' starts anew at each {'hour' if span == 60 else 'day'}: the last step is shorter"
            yield Problem("warning", place, text, f"write '@every {step}{name[0]}' for equal steps")


# ---- the rest ------------------------------------------------------------------------------------------------------


def _of_queues(connection: Connection, now: datetime) -> Iterator[Problem]:
    for queue, since in runs.oldest_queued(connection).items():
        if now - since > LONG_WAIT:
            text = f"its oldest run has waited since {since:%Y-%m-%dT%H:%M:%SZ}"
            yield Problem("warning", f"queue {queue}", text, "start more workers for it, or raise its concurrency")
    for row in queues.listing(connection):
        if row.paused:
            yield Problem("warning", f"queue {row.name}", "it is paused", f"rota queues --resume {row.name}")


def _of_workers(connection: Connection, listed: list[Schedule], now: datetime) -> Iterator[Problem]:
    found = workers.listing(connection)
    dead = [row for row in found if row.lease_until < now]
    for row in dead:
        text = f"its lease ran out at {row.lease_until:%Y-%m-%dT%H:%M:%SZ} (process {row.pid} on {row.host})"
        yield Problem("warning", f"worker {row.id}", text, "any other worker gives its runs back: start one")
    if len(found) == len(dead) and any(schedule.may_fire(now) for schedule in listed):
        yield Problem("error", "workers", "schedules are due, and no worker lives", "start one with `rota worker`")


def _of_clock(connection: Connection, now: datetime, machine: datetime) -> Iterator[Problem]:
    if abs(off := machine - now) > fallback.TOLERANCE:
        text = f"it is {abs(off.total_seconds()):.0f} s {'ahead of' if off > timedelta(0) else 'behind'} the database's"
        yield Problem("warning", "this machine's clock", text, "set it right; rota itself goes by the database's")
    seen = clock.newest(connection)
    if seen is not None and seen - now > fallback.TOLERANCE:
        text = f"it shows {now:%Y-%m-%dT%H:%M:%SZ}, and has shown {seen:%Y-%m-%dT%H:%M:%SZ}"
        yield Problem("warning", "clock", text, "set it right; the next pass of a worker draws the schedules back")
