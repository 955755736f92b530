"""The statements of claims: which runs a worker takes, and what becomes of them, in batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Text,
    and_,
    bindparam,
    exists,
    func,
    literal_column,
    select,
    true,
    update,
)

from rota.claim import LOST_LIMIT, SUSPECT, Claim, Settlement
from rota.store.batch import Batch, batch, chosen, insert, rows
from rota.store.runs import is_in
from rota.store.tables import queues, run_attempts, runs, workers
from rota.store.types import Instant, RunId
from rota.store.wake import wake

PROMOTED = 2000  # waiting runs that are queued at a time

_now = bindparam("now", type_=Instant())

# ---- claiming ------------------------------------------------------------------------------------------------------

_over = (
    select(runs.c.id)
    .where(is_in("waiting"), runs.c.waiting_on == literal_column("0"), runs.c.run_after <= _now)
    .order_by(runs.c.run_after)
    .limit(PROMOTED)
    .with_for_update(skip_locked=True)
)
_promote = update(runs).where(chosen(runs.c.id, _over)).values(state="queued")
_name = batch(("name", Text()), name="mine")
_open_line = ~exists().where(queues.c.name == bindparam("line"), queues.c.paused == true())
_mine = and_(is_in("queued"), runs.c.queue == bindparam("line"), chosen(runs.c.job, select(_name.c.name)), _open_line)
_first = (runs.c.priority.desc(), runs.c.run_after, runs.c.id)
_suspect = runs.c.lost >= literal_column(str(SUSPECT))  # spelled out, as the index has it
_TAKEN = ("id", "job", "queue", "input", "attempt", "failures", "lost", "max_attempts", "retry", "timeout")
_CLAIM = (*_TAKEN, "schedule_id", "scheduled_for", "started_at", "cancel_requested_at")


def _claiming(more: ColumnElement[bool]) -> Any:
    first = (
        select(runs.c.id)
        .where(_mine, more)
        .order_by(*_first)
        .limit(bindparam("limit"))
        .with_for_update(skip_locked=True)
    )
    return (
        update(runs)
        .where(chosen(runs.c.id, first))
        .values(state="running", attempt=runs.c.attempt + 1, locked_by=bindparam("worker"), started_at=_now)
        .returning(runs.c.priority, runs.c.run_after, *(runs.c[name] for name in _CLAIM))
    )


_claim = _claiming(runs.c.lost <= bindparam("at_most"))
_claim_suspect = _claiming(_suspect)
_ready_of: Select[Any] = select(literal_column("1")).where(_mine).order_by(*_first).limit(1)  # so by the index
_any_suspect: Select[Any] = (
    select(literal_column("1")).where(is_in("queued"), runs.c.queue == bindparam("line"), _suspect).limit(1)
)


def ready(connection: Connection, queues: Iterable[str], jobs: Iterable[str]) -> tuple[str, ...]:
    """Which of these queues have a run of these jobs to claim."""
    names = rows((name,) for name in jobs)
    return tuple(q for q in queues if connection.execute(_ready_of, {"line": q, **names}).first() is not None)


_retry_now = update(runs).where(is_in("waiting"), runs.c.attempt > 0, runs.c.run_after > _now).values(run_after=_now)


def hurry_retries(connection: Connection, now: datetime) -> None:
    """Let waiting retries go at once: a clock that was wrong may have put them off for years."""
    connection.execute(_retry_now, {"now": now})


def promote(connection: Connection, now: datetime) -> int:
    """Queue waiting runs whose time has come, the longest over first; returns how many."""
    return connection.execute(_promote, {"now": now}).rowcount


def claim(
    connection: Connection,
    worker: str,
    queue: str,
    jobs: Iterable[str],
    limit: int,
    now: datetime,
    *,
    lost: int = LOST_LIMIT,
) -> list[Claim]:
    """Take up to `limit` queued runs of these jobs: the highest priority first, then the oldest.

    Args:
        lost: how often they may have been lost before. Where a suspect may be among them, it goes first, and alone.
    """
    asked = {"worker": worker, "line": queue, "now": now, **rows((name,) for name in jobs)}
    if lost >= SUSPECT and connection.execute(_any_suspect, {"line": queue}).first() is not None:
        taken = _taken(connection.execute(_claim_suspect, {**asked, "limit": 1}))
        if taken:
            return taken + _taken(connection.execute(_claim, {**asked, "limit": limit - 1, "at_most": 0}))
    return _taken(connection.execute(_claim, {**asked, "limit": limit, "at_most": min(lost, SUSPECT - 1)}))


def _taken(found: Iterable[Row[Any]]) -> list[Claim]:
    return [Claim(*tuple(row)[2:]) for row in sorted(found, key=lambda row: (-row.priority, row.run_after, row.id))]


# ---- settling ------------------------------------------------------------------------------------------------------

_WRITTEN = ("state", "output", "error", "failures", "lost", "finished_at")
_outcome = Batch(runs, "id", "attempt", "run_after", *_WRITTEN)
_settle = (
    update(runs)
    .where(
        runs.c.id == _outcome.c.id,
        runs.c.attempt == _outcome.c.attempt,
        func.coalesce(runs.c.locked_by, "") == bindparam("worker"),  # the row is found by its id, not by its worker
    )
    .values(
        {runs.c[name]: _outcome.c[name] for name in _WRITTEN}
        | {runs.c.run_after: func.coalesce(_outcome.c.run_after, runs.c.run_after), runs.c.locked_by: None}
    )
    .returning(runs.c.id, runs.c.attempt)
)
_attempt = Batch(run_attempts)
_keep_attempt = insert(run_attempts).from_select(_attempt.names, _attempt.select())


def settle(
    connection: Connection, worker: str, settlements: Sequence[Settlement], now: datetime
) -> set[tuple[int, int]]:
    """Write what became of these claims; returns the (id, attempt) of those that were still this worker's.

    A run that was given back and claimed again may be in it twice: an old attempt, and the one that counts.
    """
    written = rows(
        (s.claim.id, s.claim.attempt, s.run_after, s.state, s.output, s.error, s.failures, s.lost, s.finished_at)
        for s in settlements
    )
    mine = {(row.id, row.attempt) for row in connection.execute(_settle, {"worker": worker, **written})}
    if any(s.run_after is not None or s.kept_as == "lost" for s in settlements):
        wake(connection)
    if kept := [s for s in settlements if s.kept_as is not None and s.claim.token in mine]:
        connection.execute(
            _keep_attempt,
            rows((s.claim.id, s.claim.attempt, worker, s.claim.started_at, now, s.kept_as, s.error) for s in kept),
        )
    return mine


_asked = batch(("id", RunId), name="asked")
_ending = (
    select(runs.c.id, runs.c.cancel_requested_at)
    .where(runs.c.id.in_(select(_asked.c.id)), runs.c.locked_by == bindparam("worker"))
    .order_by(runs.c.id)
    .with_for_update()
)


def unwanted(connection: Connection, worker: str, settling: Iterable[Claim]) -> set[int]:
    """Which of these runs someone has asked to end. Their rows are locked: no one asks between this and settling."""
    found = connection.execute(_ending, {"worker": worker, **rows((claim.id,) for claim in settling)})
    return {row.id for row in found if row.cancel_requested_at is not None}


_ended = select(runs.c.id, runs.c.attempt, runs.c.state, runs.c.failures, runs.c.lost).where(
    runs.c.id.in_(select(_asked.c.id)), runs.c.locked_by.is_(None)
)


def recorded(connection: Connection, settlements: Sequence[Settlement]) -> set[tuple[int, int]]:
    """Which of these were written before; returns their (id, attempt)."""
    found = connection.execute(_ended, rows((s.claim.id,) for s in settlements)).all() if settlements else []
    known = {tuple(row) for row in found}
    return {s.claim.token for s in settlements if (s.claim.id, s.claim.attempt, s.state, s.failures, s.lost) in known}


_no_worker = (
    select(runs.c.locked_by).where(is_in("running"), ~exists().where(workers.c.id == runs.c.locked_by)).distinct()
)


def orphans(connection: Connection) -> list[str]:
    """The workers that have runs, and no row."""
    return list(connection.execute(_no_worker).scalars())


_held = select(*(runs.c[name] for name in _CLAIM)).where(is_in("running"), runs.c.locked_by == bindparam("worker"))


def held_by(connection: Connection, worker: str) -> list[Claim]:
    """The claims that this worker has."""
    return [Claim(*row) for row in connection.execute(_held, {"worker": worker})]


_asked_to_stop = select(runs.c.id).where(
    is_in("running"), runs.c.locked_by == bindparam("worker"), runs.c.cancel_requested_at.is_not(None)
)


def cancel_requested(connection: Connection, worker: str) -> set[int]:
    """Which of the runs that this worker has were asked to be cancelled."""
    return set(connection.execute(_asked_to_stop, {"worker": worker}).scalars())
