"""The ledger: what the tables say. They are part of rota's interface: this asks them in SQL, as an operator would."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

NEVER = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Gap:
    """Slots in a row that were given no run."""

    schedule_id: str
    first: datetime
    last: datetime
    slots: int | None
    reason: str


@dataclass(frozen=True)
class Late:
    """A fire that came long after its slot."""

    schedule_id: str
    slot: datetime
    fired_at: datetime


@dataclass(frozen=True)
class Held:
    """A run that a worker was at when this process began."""

    schedule_id: str
    run_id: int
    lease_until: datetime


@dataclass(frozen=True)
class Counts:
    """How many fires, runs by state, and missed slots a schedule has."""

    fires: int
    runs: dict[str, int]
    missed: int
    more: bool
    """Whether there are more missed slots than that: a gap of over 1,000 is not counted out."""


class Ledger:
    """Reads one database, beside the worker that writes it."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)

    def last_seen(self) -> datetime | None:
        """When a worker last did something here."""
        row = self._one(
            "select max(at) from (select max(fired_at) as at from rota_schedule_fires"
            " union all select max(finished_at) from rota_runs union all select seen_at from rota_clock)"
        )
        return _instant(row[0]) if row[0] else None

    def held(self) -> list[Held]:
        """The runs that some worker is at."""
        rows = self._all(
            "select r.schedule_id, r.id, w.lease_until from rota_runs r join rota_workers w on w.id = r.locked_by"
            " where r.state = 'running' order by r.id"
        )
        return [Held(schedule_id, run_id, _instant(until)) for schedule_id, run_id, until in rows]

    def late(self, since: datetime) -> list[Late]:
        """The fires since then whose slot had come before it."""
        rows = self._all(
            "select schedule_id, scheduled_for, fired_at from rota_schedule_fires"
            " where fired_at >= :since and scheduled_for < :since and origin = 'scan' order by scheduled_for",
            since=_text(since),
        )
        return [Late(schedule_id, _instant(slot), _instant(fired_at)) for schedule_id, slot, fired_at in rows]

    def gaps(self, since: datetime) -> list[Gap]:
        """The misses that were written down since then."""
        rows = self._all(
            "select schedule_id, first_slot, last_slot, slots, reason from rota_schedule_misses"
            " where recorded_at >= :since order by recorded_at, schedule_id, first_slot",
            since=_text(since),
        )
        return [Gap(name, _instant(first), _instant(last), slots, why) for name, first, last, slots, why in rows]

    def counts(self, since: datetime = NEVER) -> dict[str, Counts]:
        """By schedule: the fires, the runs made and the misses written down since then."""
        fires = self._all(
            "select schedule_id, count(*) from rota_schedule_fires where fired_at >= :since group by schedule_id",
            since=_text(since),
        )
        runs = self._all(
            "select schedule_id, state, count(*) from rota_runs"
            " where created_at >= :since and schedule_id is not null group by schedule_id, state",
            since=_text(since),
        )
        misses = self._all(
            "select schedule_id, sum(coalesce(slots, 1000)), max(slots is null) from rota_schedule_misses"
            " where recorded_at >= :since group by schedule_id",
            since=_text(since),
        )
        names = [name for (name,) in self._all("select id from rota_schedules order by id")]
        return _counts(names, dict(fires), runs, misses)

    def run(self, run_id: int) -> tuple[str, str | None, int, int]:
        """Of a run: its schedule, its output, and how many of how many failures it has."""
        row = self._one(
            "select coalesce(schedule_id, job), output, failures, max_attempts from rota_runs where id = :id", id=run_id
        )
        return row[0], row[1], row[2], row[3]

    def close(self) -> None:
        self._connection.close()

    def _all(self, statement: str, **given: object) -> list[Any]:
        return self._connection.execute(statement, given).fetchall()

    def _one(self, statement: str, **given: object) -> Any:
        return self._connection.execute(statement, given).fetchone()


def _counts(names: list[str], fires: dict[str, int], runs: list[Any], misses: list[Any]) -> dict[str, Counts]:
    states: dict[str, dict[str, int]] = {}
    for schedule_id, state, count in runs:
        states.setdefault(schedule_id, {})[state] = count
    missed = {schedule_id: (slots, bool(more)) for schedule_id, slots, more in misses}
    return {name: Counts(fires.get(name, 0), states.get(name, {}), *missed.get(name, (0, False))) for name in names}


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _text(instant: datetime) -> str:
    """As the tables have it: fixed width, so that it compares as time."""
    return f"{instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
