"""Enqueue: runs outside any schedule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from rota.errors import JobUnknown, OptionInvalid
from rota.instant import checked_instant
from rota.job import AnyJob
from rota.payload import Codec
from rota.run import NewRun
from rota.store import jobs, runs
from rota.terms import Terms

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
    return NewRun.of(
        job.terms,
        job.encode(given),
        now,
        run_after=None if run_after is None else checked_instant("run_after", run_after),
        priority=_checked_priority(priority),
        idempotency_key=None if idempotency_key is None else checked_key(idempotency_key),
        actor=actor,
    )


def terms_of(connection: Connection, name: str) -> Terms:
    """The terms of the job that has a row of this name.

    Raises:
        JobUnknown: no worker has ever had it.
    """
    row = jobs.get(connection, name)
    if row is None:
        raise JobUnknown(name)
    return row.terms


def parsed(job: AnyJob | None, text: str | None) -> str | None:
    """An input that a person typed as JSON: checked by its job where this process has that, else for being JSON.

    Raises:
        PayloadError, HandlerInvalid: it cannot be meant.
    """
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
