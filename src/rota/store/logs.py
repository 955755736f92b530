"""The statements of `rota_run_logs`: what handlers logged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, insert, or_, select, tuple_

from rota.store.batch import Batch, batch, rows
from rota.store.tables import run_logs
from rota.store.types import RunId

LINES, SIZE = 1000, 256 * 1024  # lines of a run, and their characters


@dataclass(frozen=True, slots=True)
class LogLine:
    """One row of `rota_run_logs`."""

    run_id: int
    attempt: int
    seq: int
    at: datetime
    level: str
    logger: str
    message: str


_new = Batch(run_logs)
_keep = insert(run_logs).from_select(_new.names, _new.select())
_of = select(*run_logs.c).where(run_logs.c.run_id == bindparam("run")).order_by(run_logs.c.attempt, run_logs.c.seq)


def keep(connection: Connection, lines: Iterable[LogLine]) -> None:
    connection.execute(_keep, _new.rows(lines))


_run = batch(("id", RunId))
_sizes = (
    select(
        run_logs.c.run_id,
        run_logs.c.attempt,
        func.count().label("lines"),
        func.sum(func.length(run_logs.c.message)).label("size"),
    )
    .where(run_logs.c.run_id.in_(select(_run.c.id)))
    .group_by(run_logs.c.run_id, run_logs.c.attempt)
    .subquery()
)


def _since(figure: ColumnElement[Any]) -> ColumnElement[Any]:
    """Added up, from the newest attempt of the run back to this one."""
    return func.sum(figure).over(partition_by=_sizes.c.run_id, order_by=_sizes.c.attempt.desc())


_newest = func.max(_sizes.c.attempt).over(partition_by=_sizes.c.run_id)
_beyond = select(
    *(_sizes.c.run_id, _sizes.c.attempt, _newest.label("newest")),
    *(_since(_sizes.c.lines).label("l"), _since(_sizes.c.size).label("s")),
).subquery()
_forget = delete(run_logs).where(
    tuple_(run_logs.c.run_id, run_logs.c.attempt).in_(
        select(_beyond.c.run_id, _beyond.c.attempt).where(
            _beyond.c.attempt < _beyond.c.newest, or_(_beyond.c.l > LINES, _beyond.c.s > SIZE)
        )
    )
)


def bound(connection: Connection, run_ids: Iterable[int]) -> None:
    """Forget the lines of these runs' oldest attempts, as far as they are beyond what a run may keep."""
    connection.execute(_forget, rows((run_id,) for run_id in run_ids))


def of(connection: Connection, run_id: int) -> list[LogLine]:
    """What the attempts of a run logged, in order."""
    return [LogLine(*row) for row in connection.execute(_of, {"run": run_id})]
