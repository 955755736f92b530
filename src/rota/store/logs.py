"""The statements of `rota_run_logs`: what handlers logged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select

from rota.store.batch import Batch
from rota.store.tables import run_logs


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


def of(connection: Connection, run_id: int) -> list[LogLine]:
    """What the attempts of a run logged, in order."""
    return [LogLine(*row) for row in connection.execute(_of, {"run": run_id})]
