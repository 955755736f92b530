"""The verbs: what one does to a rota. An app has them, and so does a transaction, in which many become one commit."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any, TypeVar, overload

from sqlalchemy import Connection

from rota.cadence import Cadence
from rota.errors import RunNotFound, ScheduleInvalid, ScheduleNotFound
from rota.job import AnyJob, Job, Job0, Jobs
from rota.payload import readable
from rota.run import Run
from rota.schedule import Registration, Schedule, automatic_id, checked_id, options_text
from rota.stats import Stats
from rota.store import runs, schedules
from rota.store.audit import Author
from rota.verbs import count, enqueue, register, steer

I = TypeVar("I")  # noqa: E741


class Verbs(ABC):
    """Every verb, over whatever connection the subclass opens."""

    jobs: Jobs
    author: Author

    # ---- schedules -------------------------------------------------------------------------------------------------

    @overload
    def schedule(
        self,
        job: Job0[Any, Any],
        cadence: str | Cadence,
        /,
        *,
        id: str | None = None,
        tz: str | None = None,
        grace: timedelta | None = None,
        label: str | None = None,
        description: str | None = None,
    ) -> str: ...
    @overload
    def schedule(
        self,
        job: Job[I, Any, Any],
        cadence: str | Cadence,
        input: I,
        /,
        *,
        id: str | None = None,
        tz: str | None = None,
        grace: timedelta | None = None,
        label: str | None = None,
        description: str | None = None,
    ) -> str: ...
    def schedule(
        self,
        job: AnyJob,
        cadence: str | Cadence,
        /,
        *input: object,
        id: str | None = None,
        tz: str | None = None,
        grace: timedelta | None = None,
        label: str | None = None,
        description: str | None = None,
    ) -> str:
        """Register a schedule, or bring the one of that id up to date; safe at every start (promises C2, C6, C11, C12).

        Args:
            job: a step or an action of this app.
            cadence: five cron fields, a descriptor such as `@daily`, `@every 1h30m`, or a `Cadence`.
            input: the input of every run that it starts.
            id: 1 to 255 printable characters; without one, a hash of kind, job, cadence, zone and input.
            tz: an IANA name or a fixed offset in which the cadence is meant; UTC if left out.
            grace: how late a slot may still be fired, one second or more; None: however late.
            label, description: words for people.

        Returns:
            The schedule's id.

        Raises:
            CadenceInvalid, CadenceNeverComes, ZoneUnknown: the cadence cannot be meant.
            JobNotRegistered, PayloadError: the job is not this app's, or the input is not the job's.
            ScheduleIdInvalid, ScheduleInvalid: an id or an option that makes no sense.
            ScheduleOwned: the id belongs to a schedule of another source, such as a file.

        >>> app.schedule(report, "0 9 * * 1-5", Period("day"), id="daily-brief", tz="America/New_York")
        'daily-brief'
        """
        resolved = self.jobs.resolve(job)
        asked = _cadence(cadence, tz)
        encoded = resolved.encode(input)
        registration = Registration(
            id=automatic_id(resolved.kind, resolved.name, asked, encoded) if id is None else checked_id(id),
            kind=resolved.kind,
            job=resolved.name,
            cadence=asked,
            input=encoded,
            options=options_text(grace),
            label=_words("label", label),
            description=_words("description", description),
            actor=self.author.actor,
        )
        self._register(registration, resolved)
        return registration.id

    def pause(self, schedule_id: str) -> None:
        """Keep a schedule from firing until it is resumed; twice is as once (promises C39 to C41, C46).

        Raises:
            ScheduleNotFound: no schedule has that id.
        """
        with self._writing() as connection:
            steer.pause(connection, schedule_id, self.author, self._now())

    def resume(self, schedule_id: str) -> None:
        """Let it fire again, from its next future slot on: no backlog (promises C43, C47).

        Raises:
            ScheduleNotFound: no schedule has that id.
        """
        with self._writing() as connection:
            steer.resume(connection, schedule_id, self.author, self._now())

    def trigger(self, schedule_id: str, *, slot: datetime | None = None) -> Run:
        """Fire the pending slot now, paused or not; the scanner will not fire it again (promises C44, C48 to C52).

        An early trigger uses up the coming tick. For an extra run beside it, use `enqueue`.

        Args:
            slot: the pending slot as you saw it; None: as it is now.

        Raises:
            ScheduleNotFound, ScheduleRetired, ScheduleFinished, JobDisabled: there is nothing to fire.
        """
        with self._writing() as connection:
            run, told = steer.trigger(connection, schedule_id, slot, self.author, self._now())
        self._tell(told)
        return run

    def unschedule(self, schedule_id: str) -> None:
        """Deprecated: the same as `pause` (promise C42)."""
        warnings.warn("unschedule() is deprecated, it pauses; use pause()", DeprecationWarning, stacklevel=2)
        self.pause(schedule_id)

    def get(self, schedule_id: str) -> Schedule:
        """The schedule of that id.

        Raises:
            ScheduleNotFound: there is none.
        """
        with self._reading() as connection:
            schedule = schedules.get(connection, schedule_id)
        if schedule is None:
            raise ScheduleNotFound(schedule_id)
        return schedule

    def list(self) -> Sequence[Schedule]:
        """All schedules, the next one due first."""
        with self._reading() as connection:
            return schedules.listing(connection)

    # ---- runs ------------------------------------------------------------------------------------------------------

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
        with self._writing() as connection:
            (run_id,) = enqueue.enqueue(connection, [new], [resolved])
            run = runs.get(connection, run_id)
        if run is None:
            raise RunNotFound(run_id)
        return run

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
        with self._writing() as connection:
            return enqueue.enqueue(connection, new, [resolved])

    def stats(self) -> Stats:
        """How the rota stands now (promise C67: `stats().health.failing_schedules`)."""
        with self._reading() as connection:
            return count.stats(connection, self._now())

    # ---- what a subclass opens -------------------------------------------------------------------------------------

    @abstractmethod
    def _now(self) -> datetime: ...

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Connection]: ...

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Connection]: ...

    @abstractmethod
    def _tell(self, told: Sequence[object]) -> None: ...

    def _register(self, asked: Registration, job: AnyJob) -> None:
        with self._writing() as connection:
            register.register(connection, [asked], [job], self.author, self._now())


def _cadence(cadence: str | Cadence, tz: str | None) -> Cadence:
    if not isinstance(cadence, Cadence):
        return Cadence.parse(cadence, "UTC" if tz is None else tz)
    if tz is not None:
        raise ScheduleInvalid("tz", tz, f"the cadence has the zone {cadence.zone_name} already: give it there")
    return cadence


def _words(name: str, text: str | None) -> str | None:
    if text is not None and (not isinstance(text, str) or readable(text) != text):
        raise ScheduleInvalid(name, text, "give a text without NUL and lone surrogates")
    return text
