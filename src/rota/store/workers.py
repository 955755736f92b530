"""The statements of `rota_workers`: the leases of those that live."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import BindParameter, Connection, bindparam, delete, insert, select, update

from rota.store.tables import workers
from rota.store.types import Instant

_id: BindParameter[str] = bindparam("worker")
_now = bindparam("now", type_=Instant())
_until = bindparam("until", type_=Instant())


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """One row of `rota_workers`: a process that scans, runs jobs and cleans up. `queues` and `jobs` are JSON text."""

    id: str
    host: str
    pid: int
    queues: str
    jobs: str
    build: str
    started_at: datetime
    beat_at: datetime
    lease_until: datetime


_add = insert(workers)
_beat = (
    update(workers)
    .where(workers.c.id == _id)
    .values(beat_at=_now, lease_until=_until, queues=bindparam("lines"), jobs=bindparam("names"))
)
_remove = delete(workers).where(workers.c.id == _id)
_expired = (
    select(*workers.c).where(workers.c.lease_until < _now).order_by(workers.c.id).with_for_update(skip_locked=True)
)
_all = select(*workers.c).order_by(workers.c.started_at, workers.c.id)


def add(connection: Connection, row: WorkerRow) -> None:
    connection.execute(_add, {name: getattr(row, name) for name in WorkerRow.__dataclass_fields__})


def beat(connection: Connection, row: WorkerRow) -> bool:
    """Renew the lease, and say what it works on now; False where someone has taken it for dead and deleted its row."""
    said = {"worker": row.id, "now": row.beat_at, "until": row.lease_until, "lines": row.queues, "names": row.jobs}
    return connection.execute(_beat, said).rowcount > 0


_hold = select(workers.c.id).where(workers.c.id == _id).with_for_update(read=True, key_share=True)


def hold(connection: Connection, worker: str) -> bool:
    """Keep others from taking this worker for dead until the transaction ends; False where they have done so.

    Its own beats, which come on another connection, are not held up.
    """
    return connection.execute(_hold, {"worker": worker}).first() is not None


_shorten = update(workers).where(workers.c.lease_until > _until).values(lease_until=_until)


def shorten(connection: Connection, until: datetime) -> None:
    """No lease goes beyond `until`: a clock that was wrong may have given some that would outlast their workers."""
    connection.execute(_shorten, {"until": until})


def remove(connection: Connection, worker: str) -> None:
    connection.execute(_remove, {"worker": worker})


def expired(connection: Connection, now: datetime) -> list[WorkerRow]:
    """The workers whose lease has run out, their rows locked."""
    return [WorkerRow(*row) for row in connection.execute(_expired, {"now": now})]


def listing(connection: Connection) -> list[WorkerRow]:
    return [WorkerRow(*row) for row in connection.execute(_all)]
