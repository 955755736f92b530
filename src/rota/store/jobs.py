"""The statements of `rota_jobs`: what any process may know of a job without having its code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Boolean, Connection, Integer, Text, bindparam, or_, select, true

from rota.claim import retry_text
from rota.job import AnyJob
from rota.store.batch import batch, insert, rows
from rota.store.tables import jobs
from rota.store.types import Json, Seconds

_COLUMNS = (
    ("name", Text()),
    ("kind", Text()),
    ("app", Text()),
    ("label", Text()),
    ("description", Text()),
    ("queue", Text()),
    ("timeout", Seconds()),
    ("max_attempts", Integer()),
    ("retry", Json()),
    ("enabled", Boolean()),
    ("retired", Boolean()),
)
_OPERATORS = {"enabled", "retired"}  # never refreshed from code
_mine = batch(*_COLUMNS)
_put = insert(jobs).from_select([name for name, _ in _COLUMNS], select(_mine).where(true()))
_declared = [name for name, _ in _COLUMNS if name not in _OPERATORS and name != "name"]
_refresh = _put.on_conflict_do_update(
    index_elements=[jobs.c.name],
    set_={name: _put.excluded[name] for name in _declared},
    where=or_(*(jobs.c[name].is_distinct_from(_put.excluded[name]) for name in _declared)),
)
_all = select(*(jobs.c[name] for name, _ in _COLUMNS)).order_by(jobs.c.name)
_get = select(*(jobs.c[name] for name, _ in _COLUMNS)).where(jobs.c.name == bindparam("name"))


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


def refresh(connection: Connection, known: Iterable[AnyJob]) -> None:
    """Insert or bring up to date the rows of these jobs; whether they are enabled is left to the operators."""
    connection.execute(_refresh, rows(map(_row_of, known)))


def listing(connection: Connection) -> list[JobRow]:
    return [JobRow(*row) for row in connection.execute(_all)]


def get(connection: Connection, name: str) -> JobRow | None:
    row = connection.execute(_get, {"name": name}).one_or_none()
    return None if row is None else JobRow(*row)


def _row_of(job: AnyJob) -> tuple[object, ...]:
    return (
        job.name,
        job.kind,
        job.app,
        job.label,
        job.description,
        job.queue,
        job.timeout,
        job.retry.attempts,
        retry_text(job.retry),
        True,
        False,
    )
