"""A rota under test and its referee: both are told the same events, then the rows are read slot by slot."""

from __future__ import annotations

from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import text

import rota
from rota.errors import JobDisabled, ScheduleFinished, ScheduleRetired
from rota.miss import COUNTED, Miss
from rota.store.types import text_of
from rota.testing import Harness
from tests.cases.ledger_model import Ledger
from tests.ledger.specs import Spec, Text, slots_from

JOBS = ("tick", "tock")


@dataclass
class Referee(Ledger):
    """The referee, and what it is silent about: a job that is switched off, and a slot that a trigger names."""

    disabled: bool = False

    def copied(self) -> Referee:
        twin = copy(self)
        twin.fires, twin.misses, twin.reigns = dict(self.fires), dict(self.misses), list(self.reigns)
        return twin

    def scan(self) -> Any:
        if not self.disabled:
            return super().scan()
        while self._scanned() and self.next_run_at in self.fires:
            self.next_run_at = self.spec(self.next_run_at)
        if self._scanned():
            self._advance("blocked")
        return None

    def turn(self) -> None:
        """One decision, where `scan` makes them all."""
        if self._scanned() and self.next_run_at in self.fires:
            self.next_run_at = self.spec(self.next_run_at)
        elif self.disabled or not self._too_old():
            self.scan()
        else:
            self._miss_the_old()

    def _miss_the_old(self) -> None:
        while self._too_old():
            if self.next_run_at not in self.fires:
                self.misses[self.next_run_at] = "late"
            self.next_run_at = self.spec(self.next_run_at)

    def trigger(self, seen: Any = None) -> Any:
        """`seen`: the pending slot as the caller saw it; None: as it is."""
        if seen is None or seen == self.next_run_at or self.retired:
            return super().trigger()
        if seen in self.fires:
            return seen
        return self.next_run_at if self.next_run_at in self.fires else super().trigger()

    def _scanned(self) -> bool:
        return self.enabled and not self.retired and self._due()

    def _too_old(self) -> bool:
        return self.grace is not None and self._scanned() and self.next_run_at < self.now - self.grace


@dataclass
class Seat:
    """One schedule: its referee, and what was registered."""

    id: str
    text: Text
    job: str
    referee: Referee
    grace: timedelta | None
    label: str | None = None
    versions: list[Spec] = field(default_factory=list)
    seen: list[datetime] = field(default_factory=list)
    """Slots that were pending at some time."""

    def spec_of(self, version: int) -> Spec:
        return self.versions[version - 1]


class World:
    """A harness around an app with two jobs, and a seat for each schedule."""

    def __init__(self, start: datetime) -> None:
        self._exit = ExitStack()
        self.app = rota.App()
        self.jobs = {name: self.app.action(name=name)(lambda: None) for name in JOBS}
        self.env = self._exit.enter_context(Harness(self.app, start))
        self.worker = self.env.worker.id  # started, so that each job has its row
        self.seats: dict[str, Seat] = {}
        self.disabled: set[str] = set()

    def close(self) -> None:
        self._exit.close()

    @property
    def now(self) -> datetime:
        return self.env.clock.now()

    # ---- events --------------------------------------------------------------------------------------------------

    def add(self, schedule_id: str, text: Text, job: str, grace: timedelta | None) -> None:
        spec = text.spec(self.now)
        referee = Referee(spec, self.now, grace, disabled=job in self.disabled)
        self.seats[schedule_id] = Seat(schedule_id, text, job, referee, grace, versions=[spec])
        self._schedule(self.app, self.seats[schedule_id])

    def register(self, schedule_id: str, **changes: Any) -> None:
        """Register again, with these changes of text, job, grace or label."""
        seat = self.seats[schedule_id]
        referee = seat.referee
        former = (seat.text, seat.job, seat.grace)
        for name, value in changes.items():
            setattr(seat, name, value)
        referee.disabled = seat.job in self.disabled
        spec = referee.spec if seat.text == former[0] else seat.text.spec(self.now)
        referee.register(spec)
        referee.return_()
        referee.grace = seat.grace
        if (seat.text, seat.job, seat.grace) != former:
            seat.versions.append(spec)
        self._schedule(self.app, seat)

    def deploy(self) -> None:
        """A new process: everything is registered again, in one transaction, by a worker that is new too."""
        self.env.stop()
        with self.app.transaction() as tx:
            for seat in self.seats.values():
                self._schedule(tx, seat)
        for seat in self.seats.values():
            seat.referee.register(seat.referee.spec)
            seat.referee.return_()

    def advance(self, by: timedelta) -> None:
        self.env.advance(by)
        for seat in self.seats.values():
            seat.referee.now = self.now

    def scan(self) -> None:
        self.env.run_until_idle()
        for seat in self.seats.values():
            seat.referee.scan()

    def turn(self) -> None:
        self.env.turn()
        for seat in self.seats.values():
            seat.referee.turn()

    def pause(self, schedule_id: str) -> None:
        self.app.pause(schedule_id)
        self.seats[schedule_id].referee.pause()

    def resume(self, schedule_id: str) -> None:
        self.app.resume(schedule_id)
        self.seats[schedule_id].referee.resume()

    def trigger(self, schedule_id: str, seen: datetime | None) -> None:
        """Both give the same slot's run, or the rota refuses, which changes nothing."""
        seat = self.seats[schedule_id]
        trial = seat.referee.copied()
        slot = trial.trigger(seen)
        if slot is None:
            self._refused(ScheduleRetired if trial.retired else ScheduleFinished, schedule_id, seen)
        elif trial.disabled and len(trial.fires) > len(seat.referee.fires):
            self._refused(JobDisabled, schedule_id, seen)
        else:
            assert self.app.trigger(schedule_id, slot=seen).scheduled_for == slot
            seat.referee = trial

    def retire(self, schedule_id: str) -> None:
        """As `db migrate` does with what is gone from its file."""
        asked = {"at": text_of(self.now), "id": schedule_id}
        self._write("update rota_schedules set retired = 1, retired_at = :at where id = :id and not retired", asked)
        self.seats[schedule_id].referee.retire()

    def switch(self, job: str, on: bool) -> None:
        self._write("update rota_jobs set enabled = :on where name = :job", {"on": on, "job": job})
        self.disabled = self.disabled - {job} if on else self.disabled | {job}
        for seat in self.seats.values():
            seat.referee.disabled = seat.job in self.disabled

    def _schedule(self, verbs: Any, seat: Seat) -> None:
        verbs.schedule(
            self.jobs[seat.job], seat.text.text, id=seat.id, tz=seat.text.tz, grace=seat.grace, label=seat.label
        )

    def _refused(self, error: type[Exception], schedule_id: str, seen: datetime | None) -> None:
        with pytest.raises(error):
            self.app.trigger(schedule_id, slot=seen)

    def _write(self, statement: str, values: dict[str, object]) -> None:
        with self.env.store.begin() as connection:
            connection.execute(text(statement), values)

    # ---- comparing -----------------------------------------------------------------------------------------------

    def compare(self) -> None:
        for seat in self.seats.values():
            self._compare(seat)

    def _compare(self, seat: Seat) -> None:
        row, referee = self.app.get(seat.id), seat.referee
        fires, misses = self.env.fires(seat.id), self.env.misses(seat.id)
        fired = {fire.scheduled_for: fire.origin for fire in fires}
        assert fired == referee.fires
        assert missed(seat, misses) == referee.misses
        assert not fired.keys() & referee.misses.keys()
        assert (row.next_run_at, row.enabled, row.retired) == (referee.next_run_at, referee.enabled, referee.retired)
        assert row.version == len(seat.versions)
        assert {(run.id, run.scheduled_for) for run in self.env.runs(seat.id)} == {
            (fire.run_id, fire.scheduled_for) for fire in fires
        }
        if row.next_run_at is not None and row.next_run_at not in seat.seen:
            seat.seen.append(row.next_run_at)


def missed(seat: Seat, rows: list[Miss]) -> dict[datetime, str]:
    """The slots of these rows, each row checked: it begins and ends at slots, and counts them."""
    found: dict[datetime, str] = {}
    for row in rows:
        slots = list(slots_from(seat.spec_of(row.version), row.first_slot, row.last_slot))
        assert slots[-1] == row.last_slot
        assert row.slots == (len(slots) if len(slots) <= COUNTED else None)
        found |= dict.fromkeys(slots, row.reason)
    for one, other in pairwise(rows):
        assert one.last_slot < other.first_slot, f"rows overlap: {one}, {other}"
        alike = (one.reason, one.version) == (other.reason, other.version)
        touching = seat.spec_of(one.version)(one.last_slot) == other.first_slot
        assert not (alike and touching), f"a gap in two rows: {one}, {other}"
    return found
