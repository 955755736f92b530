"""Cancel and retry: ending a run that is not wanted, and starting a failed one anew."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from rota.author import Author
from rota.errors import OptionInvalid, RunFinished, RunNotFailed, RunNotFound
from rota.run import NewRun, Run
from rota.store import audit, runs
from rota.verbs.enqueue import checked_key


def cancel(connection: Connection, run_id: int, author: Author, now: datetime) -> Run:
    """End a run that waits, at once; ask one that runs to end. Asking twice is as asking once.

    Raises:
        RunNotFound: no run has that id.
        RunFinished: it has ended already.
    """
    run = _locked(connection, run_id)
    if run.finished:
        raise RunFinished(run.id, run.state)
    if run.state == "running" and run.cancel_requested_at is not None:
        return run
    asked = replace(run, cancel_requested_at=now)
    if run.state != "running":
        asked = replace(asked, state="cancelled", error="cancelled before it started", finished_at=now)
    runs.cancel(connection, asked)
    audit.record_run(connection, author, "cancel", run.id, now)
    return asked


def retry(connection: Connection, run_id: int, key: str, author: Author, now: datetime) -> Run:
    """A new run with the job, input and terms of a failed one, under another idempotency key; the failed one stays.

    Raises:
        RunNotFound: no run has that id.
        RunNotFailed: it did not fail.
        OptionInvalid: the key is none, or another run of the job has it.
    """
    run = _locked(connection, run_id)
    if run.state != "failed":
        raise RunNotFailed(run.id, run.state)
    if runs.by_key(connection, run.job, checked_key(key)) is not None:
        raise OptionInvalid("idempotency_key", key, f"another run of {run.job} has it; give a new one")
    again = NewRun.of(run.terms, run.input, now, priority=run.priority, idempotency_key=key, actor=author.actor)
    (new_id,) = runs.add(connection, [again])
    audit.record_run(connection, author, "retry", run.id, now)
    return _locked(connection, new_id)


def _locked(connection: Connection, run_id: int) -> Run:
    run = runs.locked(connection, run_id)
    if run is None:
        raise RunNotFound(run_id)
    return run
