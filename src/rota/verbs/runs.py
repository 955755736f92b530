"""The verbs of runs: enqueue, cancel, retry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar, overload

from sqlalchemy import Connection

from rota.errors import RunNotFound
from rota.job import AnyJob, Job, Job0
from rota.run import NewRun, Run
from rota.store import jobs, runs
from rota.verbs import cancel, enqueue
from rota.verbs.opening import Opening

I = TypeVar("I")  # noqa: E741


class RunVerbs(Opening):
    """What one does to runs."""

    @overload
    def enqueue(
        self,
        job: Job0[Any, Any],
        /,
        *,
        run_after: datetime | None = None,
        priority: int = 0,
        idempotency_key: str | None = None,
    ) -> Run: ...
    @overload
    def enqueue(
        self,
        job: Job[I, Any, Any],
        input: I,
        /,
        *,
        run_after: datetime | None = None,
        priority: int = 0,
        idempotency_key: str | None = None,
    ) -> Run: ...
    def enqueue(
        self,
        job: AnyJob,
        /,
        *input: object,
        run_after: datetime | None = None,
        priority: int = 0,
        idempotency_key: str | None = None,
    ) -> Run:
        """Make one run, now or not before `run_after` (an aware datetime).

        Args:
            priority: from -32768 to 32767; higher ones go first.
            idempotency_key: a run of this job that has it already is returned instead of another being made.

        Raises:
            JobNotRegistered, PayloadError: the job is not this app's, or the input is not the job's.
            OptionInvalid, InstantNaive: an option that makes no sense.
        """
        resolved = self.jobs.resolve(job)
        new = enqueue.new_run(
            resolved,
            input,
            self._now(),
            run_after=run_after,
            priority=priority,
            idempotency_key=idempotency_key,
            actor=self.author.actor,
        )
        news = self._news(resolved)
        with self._writing() as connection:
            jobs.refresh(connection, news)
            run = _made(connection, new)
        self._learned(news)
        return run

    def enqueue_text(self, job_name: str, text: str | None, *, idempotency_key: str | None = None) -> Run:
        """Make one run of a job by its name, its input as JSON text: what a command line has.

        The job's code need not be in this process; then the input is checked when it runs.

        Raises:
            JobUnknown: no worker has ever had such a job.
            PayloadError, HandlerInvalid: the input is no JSON, or not the job's.
            OptionInvalid: the key cannot be one.
        """
        now, job = self._now(), self.jobs.get(job_name)
        key = None if idempotency_key is None else enqueue.checked_key(idempotency_key)
        with self._writing() as connection:
            terms, given = enqueue.terms_of(connection, job_name), enqueue.parsed(job, text)
            return _made(connection, NewRun.of(terms, given, now, idempotency_key=key, actor=self.author.actor))

    def enqueue_many(
        self, job: Job[I, Any, Any], inputs: Iterable[I], /, *, run_after: datetime | None = None, priority: int = 0
    ) -> Sequence[int]:
        """Make a run for each input, all in one transaction; returns their ids in the same order.

        Raises:
            JobNotRegistered, PayloadError, OptionInvalid, InstantNaive: as `enqueue`; then none is made.
        """
        resolved, now, actor = self.jobs.resolve(job), self._now(), self.author.actor
        new = [
            enqueue.new_run(resolved, (given,), now, run_after=run_after, priority=priority, actor=actor)
            for given in inputs
        ]
        news = self._news(resolved)
        with self._writing() as connection:
            ids = enqueue.enqueue(connection, new, news)
        self._learned(news)
        return ids

    def cancel(self, run_id: int) -> Run:
        """End a run: at once where it waits; one that runs is asked to, and is cancelled when it comes back.

        A coroutine is cancelled where it stands. A plain function finds `current_run().cancelled` true; whatever it
        returns after that, its run is recorded as cancelled.

        Raises:
            RunNotFound: no run has that id.
            RunFinished: it has ended already.
        """
        with self._writing() as connection:
            return cancel.cancel(connection, run_id, self.author, self._now())

    def retry(self, run_id: int, *, idempotency_key: str) -> Run:
        """A new run with the job and the input of a failed one; the failed one stays as it is.

        Args:
            idempotency_key: a new one, which keeps a retry from being made twice.

        Raises:
            RunNotFound: no run has that id.
            RunNotFailed: it did not fail.
            OptionInvalid: the key cannot be one, or another run of the job has it.
        """
        with self._writing() as connection:
            return cancel.retry(connection, run_id, idempotency_key, self.author, self._now())


def _made(connection: Connection, new: NewRun) -> Run:
    """The run as its row has it; only where its key may have been taken does that have to be read."""
    (run_id,) = runs.add(connection, [new])
    if new.idempotency_key is None:
        return Run.made(run_id, new)
    run = runs.get(connection, run_id)
    if run is None:
        raise RunNotFound(run_id)
    return run
