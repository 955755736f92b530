"""Register: insert or update schedules by id. Safe at every start: what is unchanged is not written (promise C11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from rota.author import Author
from rota.cadence import Cadence
from rota.engine import fallback, firing
from rota.errors import ScheduleOwned
from rota.job import AnyJob
from rota.schedule import Move, Registration, Schedule
from rota.store import audit, clock, jobs, schedules, watermark


def register(
    connection: Connection, asked: Sequence[Registration], known: Iterable[AnyJob], author: Author, now: datetime
) -> list[object]:
    """Bring the rows of these schedules, of different ids, to what is asked for.

    A new one gets its first slot after `now`. A change of cadence or zone takes the first slot after `now`, in either
    direction; any other keeps the slot, so that a deploy never erases a missed one. An operator's pause stays.

    Args:
        known: the jobs that they name; their rows and queues are brought up to date too.

    Returns:
        The events to tell once the transaction is over.

    Raises:
        ScheduleOwned: an id belongs to another source. Nothing is written.
    """
    told = fallback.heed(connection, now)
    jobs.refresh(connection, known)
    wanted = {registration.id: registration for registration in asked}
    rows = _owned(schedules.by_id(connection, wanted), wanted)
    made = _insert(connection, [r for r in asked if r.id not in rows], author, now)
    differing = [*_edits(rows, wanted, now), *(wanted.keys() - rows.keys() - made)]  # or another was quicker
    if differing:
        rows = _owned(schedules.locked_by_id(connection, differing), wanted)
        told += _change(connection, list(_edits(rows, wanted, now).values()), author, now)
    if made or differing:
        clock.keep_own(connection, now)
    return told


def _owned(rows: dict[str, Schedule], wanted: Mapping[str, Registration]) -> dict[str, Schedule]:
    for row in rows.values():
        if row.source != wanted[row.id].source:
            raise ScheduleOwned(row.id, row.source, wanted[row.id].source)
    return rows


def _edits(rows: Mapping[str, Schedule], wanted: Mapping[str, Registration], now: datetime) -> dict[str, Move]:
    """What registering again makes of the rows that differ from what is asked for."""
    return {row.id: edit for row in rows.values() if (edit := _edit(row, wanted[row.id], now)) is not None}


# ---- new ones ------------------------------------------------------------------------------------------------------


def _insert(connection: Connection, asked: Sequence[Registration], author: Author, now: datetime) -> set[str]:
    """Returns the ids of those that were made: another process may have been quicker."""
    new = [_new(registration, now) for registration in asked]
    made = schedules.add(connection, new) if new else set()
    if kept := [schedule for schedule in new if schedule.id in made]:
        audit.keep_versions(connection, author, kept, now)
        audit.record(connection, author, "register", kept, now)
    return made


def _new(asked: Registration, now: datetime) -> Schedule:
    cadence = asked.cadence.anchored(now)
    app, slash, name = asked.job.partition("/")
    return Schedule(
        id=asked.id,
        app=asked.app,
        key=asked.key,
        source=asked.source,
        plan=asked.plan,
        kind=asked.kind,
        job=asked.job,
        job_app=app if slash else None,
        job_name=name if slash else asked.job,
        cron_spec=cadence.text,
        location=cadence.zone_name,
        anchor=cadence.anchor,
        input=asked.input,
        def_version=None,
        enabled=True,
        paused_at=None,
        paused_by=None,
        retired=False,
        retired_at=None,
        next_run_at=cadence.next_after(now),
        last_run_at=None,
        last_run_id=None,
        last_error=None,
        consecutive_failures=0,
        not_before=None,
        label=asked.label,
        description=asked.description,
        actor=asked.actor,
        options=asked.options,
        version=1,
        created_at=now,
        updated_at=now,
    )


# ---- changed ones --------------------------------------------------------------------------------------------------


def _change(connection: Connection, edits: Sequence[Move], author: Author, now: datetime) -> list[object]:
    """Write these edits; the slots that an edit leaves behind are misses of the spec that was in force."""
    if not edits:
        return []
    missed = watermark.advance(connection, edits, now)
    edited = [edit.after for edit in edits]
    schedules.respecify(connection, edited)
    bumped = [edit.after for edit in edits if edit.after.version != edit.before.version]
    if bumped:
        audit.keep_versions(connection, author, bumped, now)
    audit.record(connection, author, "register", edited, now)
    return [firing.told_missed(miss) for miss in missed]


def _edit(row: Schedule, asked: Registration, now: datetime) -> Move | None:
    """What registering again makes of a row; None where it changes nothing."""
    cadence = _cadence_for(row, asked, now)
    wanted = replace(
        _new(asked, now),
        anchor=cadence.anchor,
        created_at=row.created_at,
        def_version=row.def_version,
        enabled=row.enabled,
        paused_at=row.paused_at,
        paused_by=row.paused_by,
        last_run_at=row.last_run_at,
        last_run_id=row.last_run_id,
    )
    if _differs(row, wanted, _SPEC):
        wanted = replace(wanted, version=row.version + 1)
    else:
        wanted = replace(
            wanted,
            version=row.version,
            last_error=row.last_error,
            consecutive_failures=row.consecutive_failures,
            not_before=row.not_before,
        )
    recadenced = _differs(row, wanted, _CADENCE)
    wanted = replace(wanted, next_run_at=_slot_for(row, recadenced, cadence, now))
    if not _differs(row, wanted, (*_SPEC, *_WORDS, "retired", "next_run_at")):
        return None
    return Move(row, wanted, "edited" if recadenced else "late")


_CADENCE = ("cron_spec", "location", "anchor")
_SPEC = (*_CADENCE, "kind", "job", "input", "options")
_WORDS = ("label", "description", "plan", "app", "key")


def _cadence_for(row: Schedule, asked: Registration, now: datetime) -> Cadence:
    """An interval that is only said again keeps its anchor: a deploy must not start it anew (case h1)."""
    wanted = asked.cadence
    if wanted.anchor is None and (row.cron_spec, row.location) == (wanted.text, wanted.zone_name):
        return wanted.anchored(row.anchor) if row.anchor is not None else wanted.anchored(now)
    return wanted.anchored(now)


def _slot_for(row: Schedule, recadenced: bool, cadence: Cadence, now: datetime) -> datetime | None:
    if recadenced or row.next_run_at is None or (row.retired and row.is_due(now)):
        return cadence.next_after(now)
    return row.next_run_at


def _differs(row: Schedule, wanted: Schedule, names: Iterable[str]) -> bool:
    return any(getattr(row, name) != getattr(wanted, name) for name in names)
