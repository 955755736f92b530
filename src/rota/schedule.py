"""Schedule: the durable rule (job, cadence, input, policies), its automatic id, and the moves it makes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal, Self

from rota.cadence import Cadence
from rota.errors import ScheduleIdInvalid, ScheduleInvalid
from rota.miss import Reason

Source = Literal["code", "file", "studio", "system"]

RESERVED = "rota/"
LONGEST_GRACE = timedelta(days=36_500)
POISONED_AFTER = 10  # consecutive failures, after which a slot is skipped
RETRY_AFTER = timedelta(seconds=5)  # from one counted failure to the next try, whichever worker makes it
UNREADABLE_AFTER = timedelta(minutes=10)  # the same, once poisoned without a next slot to move to


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """One row of `rota_schedules`. Instants are aware, in UTC; `input` and `options` are JSON text."""

    id: str
    app: str | None
    key: str | None
    source: Source
    plan: str | None
    kind: str
    job: str
    job_app: str | None
    job_name: str
    cron_spec: str
    location: str
    """The time zone: an IANA name or a fixed offset."""
    anchor: datetime | None
    """Of an interval: its slots are anchor + k·d."""
    input: str | None
    def_version: str | None
    enabled: bool
    paused_at: datetime | None
    paused_by: str | None
    retired: bool
    retired_at: datetime | None
    next_run_at: datetime | None
    """The watermark: every slot before it has its fire or its miss. None: finished."""
    last_run_at: datetime | None
    """The slot last fired."""
    last_run_id: int | None
    last_error: str | None
    consecutive_failures: int
    not_before: datetime | None
    label: str | None
    description: str | None
    actor: str | None
    options: str
    version: int
    """1 at registration, +1 at each change of job, cadence, zone, input or options."""
    created_at: datetime
    updated_at: datetime

    @property
    def cadence(self) -> Cadence:
        """The cadence, read from the row.

        Raises:
            TimeError: someone wrote what is none into the row.
        """
        return Cadence.parse(self.cron_spec, self.location, self.anchor)

    def slot_after(self, instant: datetime) -> datetime | None:
        """Its first slot strictly later than `instant`; raises as `cadence` does."""
        return _slot_after(self.cadence, instant)

    @property
    def grace(self) -> timedelta | None:
        """How late a slot may still be fired; None: however late."""
        if self.options == "{}":
            return None
        seconds = json.loads(self.options).get("grace")
        return None if seconds is None else timedelta(seconds=seconds)

    def is_due(self, now: datetime) -> bool:
        return self.next_run_at is not None and self.next_run_at <= now

    def may_fire(self, now: datetime) -> bool:
        """Whether a scanner has to decide on it now."""
        held = self.not_before is not None and self.not_before > now
        return self.enabled and not self.retired and self.is_due(now) and not held

    def moved(self, to: datetime | None) -> Self:
        return replace(self, next_run_at=to)

    def fired(self, slot: datetime, run_id: int, to: datetime | None) -> Self:
        """It fired `slot`: what went wrong before is over."""
        return replace(
            self,
            next_run_at=to,
            last_run_at=slot,
            last_run_id=run_id,
            last_error=None,
            consecutive_failures=0,
            not_before=None,
        )

    def failed(self, error: str, now: datetime) -> Self:
        """One more counted failure; the same slot is tried again."""
        return replace(
            self,
            last_error=error,
            consecutive_failures=self.consecutive_failures + 1,
            not_before=now + RETRY_AFTER,
        )

    def poisoned(self, error: str, to: datetime | None) -> Self:
        """The limit is reached: the slot is skipped, and the count starts anew."""
        return replace(self, next_run_at=to, last_error=error, consecutive_failures=0, not_before=None)

    def stuck(self, error: str, now: datetime) -> Self:
        """The limit is reached, and no readable cadence says where to go: the slot is kept, for long intervals."""
        return replace(self, last_error=error, consecutive_failures=POISONED_AFTER, not_before=now + UNREADABLE_AFTER)


@lru_cache(maxsize=4096)  # a thousand schedules share a cadence, and the slots they come to
def _slot_after(cadence: Cadence, instant: datetime) -> datetime | None:
    return cadence.next_after(instant)


@dataclass(frozen=True, slots=True)
class Move:
    """A step of the watermark, from one state of a row to another.

    The slots of `before` that are passed over without a fire are misses for `reason`; those from paused_at or
    retired_at on are misses "paused" or "retired" all the same.
    """

    before: Schedule
    after: Schedule
    reason: Reason
    detail: str | None = None

    @property
    def turns(self) -> list[tuple[datetime, Reason]]:
        """From which slots on they are missed because it was paused, and from which on because it was retired."""
        paused, retired = self.before.paused_at, self.before.retired_at
        turns: list[tuple[datetime, Reason]] = []
        if paused is not None and (retired is None or paused < retired):
            turns.append((paused, "paused"))
        if retired is not None:
            turns.append((retired, "retired"))
        return turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What someone asks for when they register a schedule."""

    id: str
    kind: str
    job: str
    cadence: Cadence
    input: str | None
    options: str = "{}"
    label: str | None = None
    description: str | None = None
    source: Source = "code"
    actor: str | None = None
    app: str | None = None
    key: str | None = None
    plan: str | None = None


def automatic_id(kind: str, job: str, cadence: Cadence, input: str | None) -> str:  # noqa: A002
    """The id of a schedule that was given none: a hash that shows nothing of what it is made of (promises C13, C14).

    The same kind, job, cadence, zone and input give the same id, on every machine; another of any of them, another id.
    """
    parts = [kind, job, cadence.text, cadence.zone_name, input]
    digest = hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()
    return f"auto-{digest[:32]}"


def checked_id(schedule_id: object) -> str:
    """`schedule_id`, where it can be stored and shown on one line; else ScheduleIdInvalid."""
    if not isinstance(schedule_id, str) or not schedule_id.strip() or schedule_id != schedule_id.strip():
        raise ScheduleIdInvalid(schedule_id, "give a text, without blanks around it")
    if len(schedule_id) > 255:
        raise ScheduleIdInvalid(schedule_id, f"it has {len(schedule_id)} characters, and 255 is the limit")
    if schedule_id.startswith(RESERVED):
        raise ScheduleIdInvalid(schedule_id, f"ids that begin with {RESERVED!r} are for rota's own schedules")
    if not schedule_id.isprintable():
        raise ScheduleIdInvalid(schedule_id, "it has a character that cannot be shown on one line (a line break, say)")
    return schedule_id


def options_text(grace: timedelta | None) -> str:
    """The policies of a schedule as a row keeps them.

    Raises:
        ScheduleInvalid: a grace of less than a second.
    """
    if grace is None:
        return "{}"
    if not isinstance(grace, timedelta) or not timedelta(seconds=1) <= grace <= LONGEST_GRACE:
        raise ScheduleInvalid("grace", grace, f"give a timedelta from one second to {LONGEST_GRACE.days} days")
    return json.dumps({"grace": grace.total_seconds()})
