"""Enqueue: runs outside any schedule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from rota.claim import retry_text
from rota.errors import InstantNaive, JobUnknown, OptionInvalid
from rota.job import AnyJob
from rota.payload import Codec
from rota.run import NewRun
from rota.store import jobs, runs

PRIORITIES = range(-32768, 32768)
RESERVED = "schedule:"


def new_run(
    job: AnyJob,
    given: tuple[object, ...],
    now: datetime,
    *,
    run_after: datetime | None = None,
    priority: int = 0,
    idempotency_key: str | None = None,
    actor: str | None = None,
) -> NewRun:
    """A run of `job`, checked.

    Raises:
        PayloadError: the input does not fit, or cannot be kept.
        OptionInvalid, InstantNaive: an option that makes no sense.
    """
    return NewRun(
        job=job.name,
        kind=job.kind,
        queue=job.queue,
        input=job.encode(given),
        max_attempts=job.retry.attempts,
        retry=retry_text(job.retry),
        timeout=job.timeout,
        run_after=now if run_after is None else checked_instant("run_after", run_after),
        created_at=now,
        priority=_checked_priority(priority),
        idempotency_key=None if idempotency_key is None else checked_key(idempotency_key),
        actor=actor,
    )


def new_run_by_name(
    connection: Connection,
    name: str,
    job: AnyJob | None,
    text: str | None,
    key: str | None,
    actor: str | None,
    now: datetime,
) -> NewRun:
    """A run of the job that has a row of this name, `job` where this process has its code; checked as far as it can be.

    Raises:
        JobUnknown: no worker has ever had it.
        PayloadError, HandlerInvalid, OptionInvalid: the input, or the key, cannot be meant.
    """
    row = jobs.get(connection, name)
    if row is None:
        raise JobUnknown(name)
    return NewRun(
        job=row.name,
        kind=row.kind,
        queue=row.queue,
        input=_parsed(job, text),
        max_attempts=row.max_attempts,
        retry=row.retry,
        timeout=row.timeout,
        run_after=now,
        created_at=now,
        idempotency_key=None if key is None else checked_key(key),
        actor=actor,
    )


def _parsed(job: AnyJob | None, text: str | None) -> str | None:
    if job is not None:
        return job.parse(text)
    return None if text is None else Codec[Any](Any).parse(text)


def enqueue(connection: Connection, new: Sequence[NewRun], known: Iterable[AnyJob]) -> list[int]:
    """Make these runs; returns their ids in order. One whose idempotency key is taken is the run that has it.

    Args:
        known: the jobs whose rows and queues are to be brought up to date.
    """
    jobs.refresh(connection, known)
    return runs.add(connection, new)


def checked_instant(name: str, instant: datetime) -> datetime:
    """`instant` in UTC, where it is an aware datetime that every zone can show; else an error that names it."""
    if not isinstance(instant, datetime):
        raise OptionInvalid(name, instant, "give an aware datetime")
    if instant.utcoffset() is None:
        raise InstantNaive(instant, name)
    if not 2 <= instant.year <= 9998:
        raise OptionInvalid(name, instant, "give one of the years 2 to 9998")
    return instant.astimezone(UTC)


def _checked_priority(priority: int) -> int:
    if isinstance(priority, bool) or not isinstance(priority, int) or priority not in PRIORITIES:
        raise OptionInvalid("priority", priority, "give a whole number from -32768 to 32767; higher ones go first")
    return priority


def checked_key(key: str) -> str:
    """`key`, where it can be an idempotency key; else OptionInvalid."""
    if not isinstance(key, str) or not key.strip() or not key.isprintable() or len(key) > 512:
        raise OptionInvalid("idempotency_key", key, "give 1 to 512 printable characters")
    if key.startswith(RESERVED):
        raise OptionInvalid(
            "idempotency_key", key, f"keys that begin with {RESERVED!r} are kept for the fires of schedules"
        )
    return key
