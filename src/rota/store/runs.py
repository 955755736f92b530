"""The statements of `rota_runs`: making, claiming and settling them, in batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Integer, Select, Text, and_, bindparam, func, literal_column, select, update

from rota.claim import Claim, Settlement
from rota.run import NewRun, Run, State
from rota.store.batch import Batch, batch, insert, rows
from rota.store.tables import run_attempts, runs
from rota.store.types import Instant, Json, RunId

_now = bindparam("now", type_=Instant())


def _is(state: str) -> Any:
    """The state spelled out, as the partial indexes have it."""
    return runs.c.state == literal_column(f"'{state}'")


# ---- looking -------------------------------------------------------------------------------------------------------

_columns = list(runs.c)
_get = select(*_columns).where(runs.c.id == bindparam("id"))
_locked = _get.with_for_update()
_latest = select(*_columns).order_by(runs.c.id.desc()).limit(bindparam("limit"))
_of_schedule = select(*_columns).where(runs.c.schedule_id == bindparam("id")).order_by(runs.c.id)
_pending = select(*_columns).where(_is("queued") | _is("running")).order_by(runs.c.id)
_next_waiting = select(func.min(runs.c.run_after, type_=Instant())).where(
    _is("waiting"), runs.c.waiting_on == literal_column("0")
)


def get(connection: Connection, run_id: int) -> Run | None:
    row = connection.execute(_get, {"id": run_id}).one_or_none()
    return None if row is None else Run(**row._mapping)


def locked(connection: Connection, run_id: int) -> Run | None:
    """One run to change, its row locked."""
    row = connection.execute(_locked, {"id": run_id}).one_or_none()
    return None if row is None else Run(**row._mapping)


def latest(connection: Connection, limit: int) -> list[Run]:
    """The newest ones, newest first."""
    return [Run(**row._mapping) for row in connection.execute(_latest, {"limit": limit})]


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
    unkeyed = iter(sorted(row.id for row in made if row.idempotency_key is None))  # ids count up as the rows came in
    ids = {(row.job, row.idempotency_key): row.id for row in made if row.idempotency_key is not None}
    taken = [(r.job, r.idempotency_key) for r in new if r.idempotency_key and (r.job, r.idempotency_key) not in ids]
    if taken:
        ids |= {(row.job, row.idempotency_key): row.id for row in connection.execute(_keyed, rows(taken))}
    return [next(unkeyed) if r.idempotency_key is None else ids[r.job, r.idempotency_key] for r in new]


def by_key(connection: Connection, job: str, key: str) -> int | None:
    """The run of this job that has this idempotency key."""
    row = connection.execute(_keyed, rows([(job, key)])).one_or_none()
    return None if row is None else row.id


# ---- claiming ------------------------------------------------------------------------------------------------------

_promote = (
    update(runs)
    .where(_is("waiting"), runs.c.waiting_on == literal_column("0"), runs.c.run_after <= _now)
    .values(state="queued")
)
_name = batch(("name", Text()), name="mine")
_ready = (
    select(runs.c.id)
    .where(_is("queued"), runs.c.queue == bindparam("line"), runs.c.job.in_(select(_name.c.name)))
    .order_by(runs.c.priority.desc(), runs.c.run_after, runs.c.id)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_CLAIM = [
    *("id", "job", "queue", "input", "attempt", "failures", "lost", "max_attempts", "retry", "timeout"),
    *("schedule_id", "scheduled_for", "started_at", "cancel_requested_at"),
]
_claim = (
    update(runs)
    .where(runs.c.id.in_(_ready))
    .values(state="running", attempt=runs.c.attempt + 1, locked_by=bindparam("worker"), started_at=_now)
    .returning(runs.c.priority, runs.c.run_after, *(runs.c[name] for name in _CLAIM))
)


_ready_of: Select[Any] = (
    select(literal_column("1"))
    .where(_is("queued"), runs.c.queue == bindparam("line"), runs.c.job.in_(select(_name.c.name)))
    .limit(1)
)


def ready(connection: Connection, queues: Iterable[str], jobs: Iterable[str]) -> tuple[str, ...]:
    """Which of these queues have a run of these jobs to claim."""
    names = rows((name,) for name in jobs)
    return tuple(q for q in queues if connection.execute(_ready_of, {"line": q, **names}).first() is not None)


def promote(connection: Connection, now: datetime) -> int:
    """Queue the waiting runs whose time has come; returns how many."""
    return connection.execute(_promote, {"now": now}).rowcount


def claim(
    connection: Connection, worker: str, queue: str, jobs: Iterable[str], limit: int, now: datetime
) -> list[Claim]:
    """Take up to `limit` queued runs of these jobs: the highest priority first, then the oldest."""
    asked = {"worker": worker, "line": queue, "limit": limit, "now": now, **rows((name,) for name in jobs)}
    taken = sorted(connection.execute(_claim, asked), key=lambda row: (-row.priority, row.run_after, row.id))
    return [Claim(*row[2:]) for row in taken]


# ---- settling ------------------------------------------------------------------------------------------------------

_outcome = batch(
    ("id", RunId),
    ("attempt", Integer()),
    ("state", Text()),
    ("output", Json()),
    ("error", Text()),
    ("failures", Integer()),
    ("lost", Integer()),
    ("run_after", Instant()),
    ("finished_at", Instant()),
)
_settle = (
    update(runs)
    .where(
        runs.c.id == _outcome.c.id,
        runs.c.attempt == _outcome.c.attempt,
        func.coalesce(runs.c.locked_by, "") == bindparam("worker"),  # the row is found by its id, not by its worker
    )
    .values(
        {runs.c[name]: _outcome.c[name] for name in ("state", "output", "error", "failures", "lost", "finished_at")}
        | {runs.c.run_after: func.coalesce(_outcome.c.run_after, runs.c.run_after), runs.c.locked_by: None}
    )
    .returning(runs.c.id, runs.c.attempt)
)
_attempt = batch(
    ("run_id", RunId),
    ("attempt", Integer()),
    ("worker", Text()),
    ("started_at", Instant()),
    ("finished_at", Instant()),
    ("outcome", Text()),
    ("error", Text()),
)
_keep_attempt = insert(run_attempts).from_select(list(_attempt.c.keys()), select(_attempt))


def settle(
    connection: Connection, worker: str, settlements: Sequence[Settlement], now: datetime
) -> set[tuple[int, int]]:
    """Write what became of these claims; returns the (id, attempt) of those that were still this worker's.

    A run that was given back and claimed again may be in it twice: an old attempt, and the one that counts.
    """
    written = rows(
        (s.claim.id, s.claim.attempt, s.state, s.output, s.error, s.failures, s.lost, s.run_after, s.finished_at)
        for s in settlements
    )
    mine = {(row.id, row.attempt) for row in connection.execute(_settle, {"worker": worker, **written})}
    if kept := [s for s in settlements if s.kept_as is not None and s.claim.token in mine]:
        connection.execute(
            _keep_attempt,
            rows((s.claim.id, s.claim.attempt, worker, s.claim.started_at, now, s.kept_as, s.error) for s in kept),
        )
    return mine


_held = select(*(runs.c[name] for name in _CLAIM)).where(_is("running"), runs.c.locked_by == bindparam("worker"))


def held_by(connection: Connection, worker: str) -> list[Claim]:
    """The claims that this worker has."""
    return [Claim(*row) for row in connection.execute(_held, {"worker": worker})]


_by_state = (
    select(runs.c.queue, runs.c.state, func.count())
    .where(_is("waiting") | _is("queued") | _is("running"))
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


_oldest = select(runs.c.queue, func.min(runs.c.run_after, type_=Instant())).where(_is("queued")).group_by(runs.c.queue)


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
_asked_to_stop = select(runs.c.id).where(
    _is("running"), runs.c.locked_by == bindparam("worker"), runs.c.cancel_requested_at.is_not(None)
)


def cancel(connection: Connection, run: Run) -> None:
    """Write that this run was cancelled, or asked to be."""
    connection.execute(_end, _ended.rows([run]))


def cancel_requested(connection: Connection, worker: str) -> set[int]:
    """Which of the runs that this worker has were asked to be cancelled."""
    return set(connection.execute(_asked_to_stop, {"worker": worker}).scalars())
