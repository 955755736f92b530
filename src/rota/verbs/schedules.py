"""The verbs of schedules: register, pause, resume, trigger, and looking."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar, overload

from rota.cadence import Cadence
from rota.errors import ScheduleInvalid, ScheduleNotFound, naming
from rota.instant import checked_instant
from rota.job import AnyJob, Job, Job0
from rota.payload import readable
from rota.run import Run
from rota.schedule import Registration, Schedule, automatic_id, checked_id, options_text
from rota.store import schedules
from rota.verbs import register, steer
from rota.verbs.opening import Opening

I = TypeVar("I")  # noqa: E741


class ScheduleVerbs(Opening):
    """What one does to schedules."""

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
        """Register a schedule, or bring the one of that id up to date. Safe at every start. Returns its id.

        Args:
            job: a step or an action of this app.
            cadence: five cron fields, a descriptor such as `@daily`, `@every 1h30m`, or a `Cadence`.
            input: the input of every run that it starts.
            id: 1 to 255 printable characters; without one, a hash of kind, job, cadence, zone and input.
            tz: an IANA name or a fixed offset in which the cadence is meant; UTC if left out.
            grace: how late a slot may still be fired, one second or more; None: however late.
            label, description: words for people.

        Raises:
            CadenceInvalid, CadenceNeverComes, ZoneUnknown: the cadence cannot be meant.
            JobNotRegistered, PayloadError: the job is not this app's, or the input is not the job's.
            ScheduleIdInvalid, ScheduleInvalid, ScheduleOwned: an id or an option that makes no sense, or another's id.
        """
        resolved = self.jobs.resolve(job)
        with naming(
            f"schedule {id!r} of job {resolved.name}" if id is not None else f"a schedule of job {resolved.name}"
        ):
            asked, encoded = _cadence(cadence, tz), resolved.encode(input)
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
        """Keep a schedule from firing until it is resumed; twice is as once. What runs goes on.

        Raises:
            ScheduleNotFound: no schedule has that id.
        """
        with self._writing() as connection:
            steer.pause(connection, schedule_id, self.author, self._now())

    def resume(self, schedule_id: str) -> None:
        """Let it fire again, from its next future slot on: no backlog.

        The slots in between are misses. One that is not paused is left alone.

        Raises:
            ScheduleNotFound: no schedule has that id.
        """
        with self._writing() as connection:
            told = steer.resume(connection, schedule_id, self.author, self._now())
        self._tell(told)

    def trigger(self, schedule_id: str, *, slot: datetime | None = None) -> Run:
        """Fire the pending slot now, paused or not; the scanner will not fire it again.

        An early trigger uses up the coming tick. For an extra run beside it, use `enqueue`.

        Args:
            slot: the pending slot as you saw it; None: as it is now.

        Raises:
            ScheduleNotFound, ScheduleRetired, ScheduleFinished, JobDisabled: there is nothing to fire.
        """
        slot = self._seen_slot(schedule_id) if slot is None else checked_instant("slot", slot)
        with self._writing() as connection:
            run, told = steer.trigger(connection, schedule_id, slot, self.author, self._now())
        self._tell(told)
        return run

    def unschedule(self, schedule_id: str) -> None:
        """Deprecated: the same as `pause`."""
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

    def _register(self, asked: Registration, job: AnyJob) -> None:
        news = self._news(job)
        with self._writing() as connection:
            told = register.register(connection, [asked], news, self.author, self._now())
        self._learned(news)
        self._tell(told)


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
