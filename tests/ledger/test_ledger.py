"""The watermark against its referee: random events to both, and after each of them every slot has the same outcome."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    invariant,
    rule,
)

import rota
from rota.testing import Harness
from tests.conftest import Sql
from tests.ledger.soaking import QUICK, Counted, soak
from tests.ledger.specs import HOUR, INSTANT, MINUTE, SECOND, TEXTS
from tests.ledger.world import JOBS, World

STARTS = [
    datetime(2026, 8, 3, 9, 0, tzinfo=UTC),
    datetime(2026, 3, 28, 22, 59, 59, 999_999, tzinfo=UTC),  # the night in which Berlin loses an hour
    datetime(2026, 10, 24, 23, 30, 0, 1, tzinfo=UTC),  # and the one in which it has one twice
    datetime(9998, 12, 31, 18, 0, 30, tzinfo=UTC),  # where every cadence ends
]
IDS = ("a", "b", "c")
GRACES = st.sampled_from([None, None, timedelta(seconds=1), MINUTE, timedelta(minutes=20), 3 * HOUR])
OFFS = st.sampled_from([-INSTANT, timedelta(0), INSTANT])
WAITS = [timedelta(0), timedelta(milliseconds=250), SECOND, 59 * SECOND, MINUTE, 7 * MINUTE, HOUR, 3 * HOUR]


class LedgerMachine(Counted):
    def __init__(self) -> None:
        super().__init__()
        self.world: World

    @initialize(start=st.sampled_from(STARTS), many=st.integers(1, len(IDS)), data=st.data())
    def open(self, start: datetime, many: int, data: st.DataObject) -> None:
        self.world = World(start)
        for schedule_id in IDS[:many]:
            text, job = data.draw(st.sampled_from(TEXTS)), data.draw(st.sampled_from(JOBS))
            self.world.add(schedule_id, text, job, data.draw(GRACES))
        self.ids = list(self.world.seats)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            try:
                self.check_the_promise()
            finally:
                self.world.close()

    def check_the_promise(self) -> None:
        """No slot is left without its outcome, none has two, and none has one before its time."""
        for seat in self.world.seats.values():
            seat.referee.check()
            self.counts.update(schedules=1, fires=len(seat.referee.fires), misses=len(seat.referee.misses))
            self.counts.update(seat.referee.misses.values())

    # ---- time ------------------------------------------------------------------------------------------------------

    @rule(by=st.sampled_from(WAITS))
    def time_goes_by(self, by: timedelta) -> None:
        self.world.advance(by)

    @rule(which=st.integers(0, 2), off=OFFS)
    def it_is_just_a_slot(self, which: int, off: timedelta) -> None:
        slot = self.world.seats[self.id_of(which)].referee.next_run_at
        if slot is not None and self.world.now < slot + off < self.world.now + 12 * HOUR:
            self.world.advance(slot + off - self.world.now)

    @rule()
    def scan(self) -> None:
        self.world.scan()

    @rule(slots=st.integers(1, 4), late=st.sampled_from([timedelta(0), SECOND, 2 * MINUTE]))
    def it_works_for_a_while(self, slots: int, late: timedelta) -> None:
        """As on most days: pass after pass, each at the next slot of some schedule, or a little after it."""
        for _ in range(slots):
            pending = [slot for schedule in self.world.app.list() if (slot := schedule.next_run_at) is not None]
            until = min((slot for slot in pending if slot > self.world.now), default=self.world.now + MINUTE)
            self.world.advance(min(until - self.world.now, 3 * HOUR) + late)
            self.world.scan()

    @rule()
    def turn(self) -> None:
        self.world.turn()

    # ---- operators -------------------------------------------------------------------------------------------------

    @rule(which=st.integers(0, 2), off=st.none() | OFFS)
    def pause(self, which: int, off: timedelta | None) -> None:
        """At any moment; or just at a slot, which is then the first one that is missed for it."""
        if off is not None:
            self.it_is_just_a_slot(which, off)
        self.world.pause(self.id_of(which))

    @rule(which=st.integers(0, 2))
    def resume(self, which: int) -> None:
        self.world.resume(self.id_of(which))

    @rule(which=st.integers(0, 2))
    def trigger(self, which: int) -> None:
        self.world.trigger(self.id_of(which), None)

    @rule(which=st.integers(0, 2), data=st.data())
    def trigger_what_was_seen(self, which: int, data: st.DataObject) -> None:
        schedule_id = self.id_of(which)
        if slots := [slot for slot in self.seen(schedule_id) if slot.year <= 9998]:  # as far as slots go
            self.world.trigger(schedule_id, data.draw(st.sampled_from(slots)))

    @rule(job=st.sampled_from(JOBS), on=st.booleans())
    def switch(self, job: str, on: bool) -> None:
        self.world.switch(job, on)

    # ---- deploys ---------------------------------------------------------------------------------------------------

    @rule(which=st.integers(0, 2), text=st.sampled_from(TEXTS))
    def edit(self, which: int, text: Any) -> None:
        self.world.register(self.id_of(which), text=text)

    @rule(which=st.integers(0, 2), label=st.sampled_from([None, "one", "two"]))
    def register_again(self, which: int, label: str | None) -> None:
        self.world.register(self.id_of(which), label=label)

    @rule(which=st.integers(0, 2), grace=GRACES, job=st.sampled_from(JOBS))
    def edit_policies(self, which: int, grace: timedelta | None, job: str) -> None:
        self.world.register(self.id_of(which), grace=grace, job=job)

    @rule()
    def deploy(self) -> None:
        self.world.deploy()

    @rule(which=st.integers(0, 2), off=st.none() | OFFS)
    def retire(self, which: int, off: timedelta | None) -> None:
        if off is not None:
            self.it_is_just_a_slot(which, off)
        self.world.retire(self.id_of(which))

    # ---- the comparison --------------------------------------------------------------------------------------------

    @invariant()
    def the_referee_agrees(self) -> None:
        if hasattr(self, "world"):
            self.world.compare()
            self.counts.update(steps=1)

    def id_of(self, which: int) -> str:
        return self.ids[which % len(self.ids)]

    def seen(self, schedule_id: str) -> list[datetime]:
        return self.world.seats[schedule_id].seen or [self.world.now.replace(microsecond=0)]


TestLedger = LedgerMachine.TestCase
TestLedger.settings = settings(QUICK, max_examples=100, stateful_step_count=30)


def test_registering_again_fills_a_slot_that_was_emptied(
    app: rota.App, env: Harness, clean: rota.Job0[None, None], sql: Sql
) -> None:
    """As one does whose calendar has come to have a slot again."""
    app.schedule(clean, "@hourly", id="a")
    sql("update rota_schedules set next_run_at = null")
    env.advance(90 * MINUTE)
    app.schedule(clean, "@hourly", id="a")
    assert app.get("a").next_run_at == env.clock.now() + 30 * MINUTE
    assert (env.fires("a"), env.misses("a"), app.get("a").version) == ([], [], 1)


@pytest.mark.soak
def test_soak_the_referee_agrees() -> None:
    soak(LedgerMachine)
