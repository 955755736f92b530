"""The statements of `rota_runs`: making, claiming and settling them, in batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Text,
    and_,
    bindparam,
    func,
    literal_column,
    select,
    update,
)

from rota.run import NewRun, Run, State
from rota.store.batch import Batch, batch, insert, rows
from rota.store.tables import run_attempts, runs
from rota.store.types import Instant, RunId
from rota.store.wake import wake

_now = bindparam("now", type_=Instant())


def is_in(state: str) -> Any:
    """The state spelled out, as the partial indexes have it."""
    return runs.c.state == literal_column(f"'{state}'")


# ---- looking -------------------------------------------------------------------------------------------------------

_columns = list(runs.c)
_get = select(*_columns).where(runs.c.id == bindparam("id"))
_locked = _get.with_for_update()
_latest = select(*_columns).order_by(runs.c.id.desc()).limit(bindparam("limit"))
_of_schedule = select(*_columns).where(runs.c.schedule_id == bindparam("id")).order_by(runs.c.id)
_pending = select(*_columns).where(is_in("queued") | is_in("running")).order_by(runs.c.id)
_next_waiting = select(func.min(runs.c.run_after, type_=Instant())).where(
    is_in("waiting"), runs.c.waiting_on == literal_column("0")
)


def _can_be(run_id: object) -> bool:
    """Whether a run can have such an id."""
    return isinstance(run_id, int) and not isinstance(run_id, bool) and 0 < run_id < 2**63


def get(connection: Connection, run_id: int) -> Run | None:
    if not _can_be(run_id):
        return None
    row = connection.execute(_get, {"id": run_id}).one_or_none()
    return None if row is None else Run(**row._mapping)


def locked(connection: Connection, run_id: int) -> Run | None:
    """One run to change, its row locked."""
    if not _can_be(run_id):
        return None
    row = connection.execute(_locked, {"id": run_id}).one_or_none()
    return None if row is None else Run(**row._mapping)


def latest(
    connection: Connection, limit: int, *, state: State | None = None, schedule_id: str | None = None
) -> list[Run]:
    """The newest ones, newest first; of one state, or of one schedule, where that is asked for."""
    asked = _latest if state is None else _latest.where(runs.c.state == state)
    asked = asked if schedule_id is None else asked.where(runs.c.schedule_id == schedule_id)
    return [Run(**row._mapping) for row in connection.execute(asked, {"limit": limit})]


def of_schedule(connection: Connection, schedule_id: str) -> list[Run]:
    return [Run(**row._mapping) for row in connection.execute(_of_schedule, {"id": schedule_id})]


def pending(connection: Connection) -> list[Run]:
    """Those that are queued or running."""
    return [Run(**row._mapping) for row in connection.execute(_pending)]


def next_waiting(connection: Connection) -> datetime | None:
    """When the next waiting run may be queued."""
    when: datetime | None = connection.execute(_next_waiting).scalar_one()
    return when


# ---- making --------------------------------------------------------------------------------------------------------

_new = Batch(
    runs,
    *("job", "kind", "queue", "priority", "state", "input", "max_attempts", "retry", "timeout", "run_after"),
    *("created_at", "idempotency_key", "schedule_id", "scheduled_for", "actor"),
)
_put = insert(runs).from_select(_new.names, _new.select())
_add = _put.on_conflict_do_nothing(
    index_elements=[runs.c.job, runs.c.idempotency_key], index_where=runs.c.idempotency_key.is_not(None)
).returning(runs.c.id, runs.c.job, runs.c.idempotency_key)
_key = batch(("job", Text()), ("key", Text()), name="wanted")
_keyed = select(runs.c.id, runs.c.job, runs.c.idempotency_key).join(
    _key, and_(runs.c.job == _key.c.job, runs.c.idempotency_key == _key.c.key)
)


def add(connection: Connection, new: Sequence[NewRun]) -> list[int]:
    """Make these runs; returns their ids in the same order. One whose key is taken is the run that has it."""
    made = connection.execute(_add, _new.rows(new)).all()
    wake(connection)
    unkeyed = iter(sorted(row.id for row in made if row.idempotency_key is None))  # ids count up as the rows came in
    ids = {(row.job, row.idempotency_key): row.id for row in made if row.idempotency_key is not None}
    taken = [(r.job, r.idempotency_key) for r in new if r.idempotency_key and (r.job, r.idempotency_key) not in ids]
    if taken:
        ids |= {(row.job, row.idempotency_key): row.id for row in connection.execute(_keyed, rows(taken))}
        if gone := [run for run in new if run.idempotency_key and (run.job, run.idempotency_key) not in ids]:
            again = add(connection, gone)  # who had the key was pruned meanwhile
            ids |= {(run.job, run.idempotency_key): run_id for run, run_id in zip(gone, again, strict=True)}
    return [next(unkeyed) if r.idempotency_key is None else ids[r.job, r.idempotency_key] for r in new]


def by_key(connection: Connection, job: str, key: str) -> int | None:
    """The run of this job that has this idempotency key."""
    row = connection.execute(_keyed, rows([(job, key)])).one_or_none()
    return None if row is None else row.id


# ---- counting ------------------------------------------------------------------------------------------------------

_by_state = (
    select(runs.c.queue, runs.c.state, func.count())
    .where(is_in("waiting") | is_in("queued") | is_in("running"))
    .group_by(runs.c.queue, runs.c.state)
)


def unfinished_counts(connection: Connection) -> dict[tuple[str, str], int]:
    """How many runs are waiting, queued and running, by queue. History is never counted."""
    return {(queue, state): count for queue, state, count in connection.execute(_by_state)}


_asked = batch(("id", RunId), name="asked")
_states = select(runs.c.id, runs.c.state).join(_asked, runs.c.id == _asked.c.id)


def states(connection: Connection, ids: Iterable[int]) -> dict[int, State]:
    """The states of these runs; those that were pruned are not in it."""
    return {row.id: row.state for row in connection.execute(_states, rows((run_id,) for run_id in ids))}


_oldest = (
    select(runs.c.queue, func.min(runs.c.run_after, type_=Instant())).where(is_in("queued")).group_by(runs.c.queue)
)


def oldest_queued(connection: Connection) -> dict[str, datetime]:
    """Since when the longest waiting queued run of each queue has been ready."""
    return {row[0]: row[1] for row in connection.execute(_oldest)}


def attempts_of(connection: Connection, run_id: int) -> list[dict[str, Any]]:
    """The attempts of a run that failed or were lost, oldest first."""
    found = select(run_attempts).where(run_attempts.c.run_id == run_id).order_by(run_attempts.c.attempt)
    return [dict(row._mapping) for row in connection.execute(found)]


# ---- cancelling ----------------------------------------------------------------------------------------------------

_ended = Batch(runs, "id", "state", "error", "finished_at", "cancel_requested_at")
_end = (
    update(runs)
    .where(runs.c.id == _ended.c.id)
    .values({runs.c[name]: _ended.c[name] for name in _ended.names if name != "id"})
)


def cancel(connection: Connection, run: Run) -> None:
    """Write that this run was cancelled, or asked to be."""
    connection.execute(_end, _ended.rows([run]))
