"""The statements of `rota_jobs`: what any process may know of a job without having its code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Text, bindparam, cast, exists, select

from rota.job import AnyJob
from rota.payload import readable
from rota.store import queues
from rota.store.batch import Batch, batch, insert, rows
from rota.store.tables import jobs
from rota.store.types import Json
from rota.terms import Terms


@dataclass(frozen=True, slots=True)
class JobRow:
    """One row of `rota_jobs`."""

    name: str
    kind: str
    app: str | None
    label: str | None
    description: str | None
    queue: str
    timeout: timedelta | None
    max_attempts: int
    retry: str
    enabled: bool
    retired: bool

    @property
    def terms(self) -> Terms:
        return Terms(self.name, self.kind, self.queue, self.max_attempts, self.retry, self.timeout)


_OPERATORS = {"enabled", "retired"}  # never refreshed from code


def _text(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """PostgreSQL compares no two JSON values; it does compare their texts."""
    return cast(column, Text()) if isinstance(column.type, Json) else column


_names = tuple(field.name for field in fields(JobRow))
_declared = [name for name in _names if name not in _OPERATORS and name != "name"]
_mine = Batch(jobs, *_names)
_unchanged = exists().where(
    jobs.c.name == _mine.c.name,
    *(_text(jobs.c[name]).is_not_distinct_from(_text(_mine.c[name])) for name in _declared),
)
_put = insert(jobs).from_select(_names, _mine.select().where(~_unchanged))  # whose rows are not even locked
_refresh = _put.on_conflict_do_update(
    index_elements=[jobs.c.name], set_={name: _put.excluded[name] for name in _declared}
)
_all = select(*(jobs.c[name] for name in _names)).order_by(jobs.c.name)
_get = select(*(jobs.c[name] for name in _names)).where(jobs.c.name == bindparam("name"))


def refresh(connection: Connection, known: Iterable[AnyJob]) -> None:
    """Insert or bring up to date the rows of these jobs, and the queues that they name.

    Whether they are enabled, and what a queue allows, is left to the operators.
    """
    present = sorted(known, key=lambda job: job.name)  # all take their locks in one order
    if present:
        connection.execute(_refresh, _mine.rows(map(_row_of, present)))
        queues.ensure(connection, {job.queue for job in present})


def listing(connection: Connection) -> list[JobRow]:
    return [JobRow(*row) for row in connection.execute(_all)]


def get(connection: Connection, name: str) -> JobRow | None:
    if not isinstance(name, str) or readable(name) != name:
        return None
    row = connection.execute(_get, {"name": name}).one_or_none()
    return None if row is None else JobRow(*row)


Barred = Literal["disabled", "retired"]
"""What an operator has made of a job."""

_name = batch(("name", Text()))
_terms = (jobs.c.name, jobs.c.kind, jobs.c.queue, jobs.c.max_attempts, jobs.c.retry, jobs.c.timeout)
_terms_of = select(jobs.c.enabled, jobs.c.retired, *_terms).where(jobs.c.name.in_(select(_name.c.name)))


def by_name(connection: Connection, names: Iterable[str]) -> dict[str, tuple[Terms, Barred | None]]:
    """What the rows of these jobs say of a run to make, and whether an operator is against it."""
    found = connection.execute(_terms_of, rows((name,) for name in names))
    return {row.name: (Terms(*row[2:]), _barred(row.enabled, row.retired)) for row in found}


def _barred(enabled: bool, retired: bool) -> Barred | None:
    if retired:
        return "retired"
    return None if enabled else "disabled"


def _row_of(job: AnyJob) -> JobRow:
    return JobRow(
        name=job.name,
        kind=job.kind,
        app=job.app,
        label=job.label,
        description=job.description,
        queue=job.queue,
        timeout=job.timeout,
        max_attempts=job.retry.attempts,
        retry=job.retry.text,
        enabled=True,
        retired=False,
    )
