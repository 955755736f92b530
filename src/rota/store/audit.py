"""The statements of `rota_audit` and `rota_schedule_versions`: who changed what, and what was in force when."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select

from rota.author import Author, Via
from rota.cadence import Cadence
from rota.schedule import Schedule
from rota.store.batch import Batch, rows
from rota.store.tables import audit, schedule_versions
from rota.store.types import instant_of, text_of

_entry = Batch(audit, "at", "actor", "via", "verb", "subject", "version")
_record = insert(audit).from_select(_entry.names, _entry.select())
_spec = Batch(schedule_versions)
_keep = insert(schedule_versions).from_select(_spec.names, _spec.select())


def record(connection: Connection, author: Author, verb: str, changed: Iterable[Schedule], now: datetime) -> None:
    """Write that `author` did `verb` to these schedules."""
    connection.execute(_record, rows((now, author.actor, author.via, verb, s.id, s.version) for s in changed))


def record_run(connection: Connection, author: Author, verb: str, run_id: int, now: datetime) -> None:
    """Write that `author` did `verb` to this run."""
    connection.execute(_record, rows([(now, author.actor, author.via, verb, f"run {run_id}", None)]))


def record_queue(connection: Connection, author: Author, verb: str, name: str, now: datetime) -> None:
    """Write that `author` did `verb` to this queue."""
    connection.execute(_record, rows([(now, author.actor, author.via, verb, f"queue {name}", None)]))


_of = select(audit).where(audit.c.subject == bindparam("subject")).order_by(audit.c.id.desc()).limit(bindparam("limit"))


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of `rota_audit`."""

    id: int
    at: datetime
    actor: str | None
    via: Via
    verb: str
    subject: str
    version: int | None
    before: str | None
    after: str | None


def latest(connection: Connection, subject: str, limit: int) -> list[Entry]:
    """What was done to `subject`, the newest first."""
    return [Entry(**row._mapping) for row in connection.execute(_of, {"subject": subject, "limit": limit})]


def keep_versions(connection: Connection, author: Author, specs: Sequence[Schedule], now: datetime) -> None:
    """Keep the spec that is in force for these schedules from `now` on."""
    connection.execute(_keep, rows((s.id, s.version, _spec_text(s), now, author.actor) for s in specs))


_spec_of = select(schedule_versions.c.spec).where(
    schedule_versions.c.schedule_id == bindparam("id"), schedule_versions.c.version == bindparam("version")
)


def cadence_of(connection: Connection, schedule_id: str, version: int) -> Cadence | None:
    """The cadence that was in force with this version of a schedule; None where no one kept it."""
    text = connection.execute(_spec_of, {"id": schedule_id, "version": version}).scalar_one_or_none()
    if text is None:
        return None
    spec = json.loads(text)
    anchor = None if spec["anchor"] is None else instant_of(spec["anchor"])
    return Cadence.parse(spec["cron_spec"], spec["location"], anchor)


def _spec_text(schedule: Schedule) -> str:
    anchor = None if schedule.anchor is None else text_of(schedule.anchor)
    spec = {
        "kind": schedule.kind,
        "job": schedule.job,
        "cron_spec": schedule.cron_spec,
        "location": schedule.location,
        "anchor": anchor,
        "input": schedule.input,
        "options": schedule.options,
    }
    return json.dumps(spec, ensure_ascii=False)
