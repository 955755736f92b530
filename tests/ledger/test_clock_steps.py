"""A clock that is stepped forwards and back: no slot twice, none undecided, none missed that is still to come (j2)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

import rota
from rota.engine.fallback import TOLERANCE
from rota.engine.lease import BEAT
from rota.events import ClockFellBack
from rota.miss import COUNTED
from rota.schedule import Schedule
from rota.store import clock
from rota.testing import Harness
from tests.ledger.soaking import QUICK, Counted, soak
from tests.ledger.specs import HOUR, MINUTE, SECOND, Spec, Text, slots_from

START = datetime(2026, 8, 3, 15, 0, 10, tzinfo=UTC)
TEXTS = [Text("* * * * *"), Text("0 17 * * *"), Text("*/7 * * * *"), Text("@every 20s"), Text("@every 25m")]
TEXTS += [Text("*/10 14-18 * * *", "Europe/Berlin"), Text("@hourly")]
STEPS = [SECOND, 45 * SECOND, 59 * SECOND, 61 * SECOND, 10 * MINUTE, 2 * HOUR, 26 * HOUR]
IDS = ("a", "b")


@dataclass
class Watched:
    """A schedule: the specs it had, and since when the last one is in force."""

    id: str
    spec: Spec
    text: Text
    since: datetime
    versions: list[Spec] = field(default_factory=list)


class ClockMachine(Counted):
    @initialize(texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2))
    def open(self, texts: list[Text]) -> None:
        self.exit = ExitStack()
        self.app = rota.App()
        self.job = self.app.action(name="tick")(lambda: None)
        self.fell_back: list[ClockFellBack] = []
        self.app.on(ClockFellBack, self.fell_back.append)
        self.env = self.exit.enter_context(Harness(self.app, START))
        self.clock = self.env.clock
        self.beaten = self.env.worker and self.clock.elapsed()
        self.watched: dict[str, Watched] = {}
        for schedule_id, text in zip(IDS, texts, strict=False):
            self.register(schedule_id, text)

    def register(self, schedule_id: str, text: Text) -> None:
        spec, former = text.spec(self.now), self.watched.get(schedule_id)
        if former is not None and former.text == text:
            return
        versions = [spec] if former is None else [*former.versions, spec]
        self.watched[schedule_id] = Watched(schedule_id, spec, text, self.now, versions)
        with self.noticing(beats=False):
            self.app.schedule(self.job, text.text, id=schedule_id, tz=text.tz)

    def teardown(self) -> None:
        if hasattr(self, "exit"):
            try:
                self.let_time_go_by()
            finally:
                self.exit.close()

    def let_time_go_by(self) -> None:
        """In the end the clock is right, everything runs, and nothing is left undecided."""
        for row in self.app.list():
            self.app.resume(row.id)
        last = max(row.next_run_at for row in self.app.list() if row.next_run_at is not None)
        with self.noticing():
            self.clock.advance(max(last - self.now, timedelta(0)) + BEAT)
            self.env.run_until_idle()
        assert all(row.next_run_at is not None and row.next_run_at > self.now for row in self.app.list())
        self.nothing_doubled_and_nothing_undecided()

    # ---- what happens ----------------------------------------------------------------------------------------------

    @rule(by=st.sampled_from([timedelta(0), SECOND, 9 * SECOND, 40 * SECOND, 3 * MINUTE, HOUR, 5 * HOUR]))
    def time_goes_by(self, by: timedelta) -> None:
        self.clock.advance(by)

    @rule(by=st.sampled_from(STEPS))
    def step_forwards(self, by: timedelta) -> None:
        self.clock.step(by)

    @rule(by=st.sampled_from(STEPS))
    def step_back(self, by: timedelta) -> None:
        self.clock.step(-by)

    @rule(by=st.sampled_from(STEPS), passes=st.integers(0, 3))
    def a_wrong_clock_for_a_while(self, by: timedelta, passes: int) -> None:
        self.clock.step(by)
        for _ in range(passes):
            self.scan()
            self.clock.advance(7 * SECOND)
        self.clock.step(-by)
        self.beat()

    @rule()
    def beat(self) -> None:
        self.clock.advance(BEAT)
        with self.noticing():
            self.env.turn()

    @rule()
    def scan(self) -> None:
        with self.noticing():
            self.env.run_until_idle()

    @rule(which=st.integers(0, 1), verb=st.sampled_from(["pause", "resume", "resume", "trigger"]))
    def steer(self, which: int, verb: str) -> None:
        watched = self.pick(which)
        with self.noticing(beats=False):
            getattr(self.app, verb)(watched.id)

    @rule(which=st.integers(0, 1), text=st.sampled_from(TEXTS))
    def edit(self, which: int, text: Text) -> None:
        self.register(self.pick(which).id, text)

    @rule(which=st.integers(0, 1), by=st.sampled_from(STEPS[:3]), text=st.sampled_from(TEXTS))
    def edit_within_a_small_step(self, which: int, by: timedelta, text: Text) -> None:
        """What was just missed is still to come, by a clock that was set back too little to be noticed."""
        self.clock.advance(MINUTE)
        self.scan()
        self.clock.step(-by)
        self.edit(which, text)

    # ---- what must hold --------------------------------------------------------------------------------------------

    @contextmanager
    def noticing(self, *, beats: bool = True) -> Iterator[None]:
        """A pass, or a verb; with a beat in it, it must notice that the clock fell back."""
        seen, due = self.seen(), beats and self.clock.elapsed() - self.beaten >= BEAT.total_seconds()
        paused = [row for row in self.app.list() if beats and not row.enabled]
        self.fell_back.clear()
        yield
        if due:
            self.beaten = self.clock.elapsed()
            assert bool(self.fell_back) == (seen - self.now > TOLERANCE)
            assert self.now <= self.seen() <= self.now + TOLERANCE
        assert len(self.fell_back) <= (seen - self.now > TOLERANCE)
        for watched in self.watched.values() if self.fell_back else ():
            self.drawn_back(watched)
        for row in paused:
            assert self.app.get(row.id) == (self.at_its_true_time(row) if self.fell_back else row)
        self.counts.update(passes=1, fallbacks=len(self.fell_back))

    def drawn_back(self, watched: Watched) -> None:
        watched.since = min(watched.since, self.now)
        assert all(row.last_slot <= self.now for row in self.env.misses(watched.id))

    def at_its_true_time(self, row: Schedule) -> Schedule:
        """What a pass makes of a paused one after a fall: it is drawn back, and nothing else."""
        first = self.watched[row.id].spec(self.now)
        assert first is not None
        assert row.next_run_at is not None
        return replace(row, next_run_at=min(row.next_run_at, first))

    @invariant()
    def no_silence(self) -> None:
        """What runs has its slot at hand: within a minute of the clock's error, whatever the clock has shown."""
        for row in self.app.list() if hasattr(self, "exit") else ():
            watched = self.watched[row.id]
            following = watched.spec(max(self.now, self.seen()) + TOLERANCE)
            assert row.next_run_at is not None
            assert row.next_run_at <= following

    @invariant()
    def nothing_doubled_and_nothing_undecided(self) -> None:
        for row in self.app.list() if hasattr(self, "exit") else ():
            watched = self.watched[row.id]
            fired = [fire.scheduled_for for fire in self.env.fires(row.id)]
            assert sorted(run.scheduled_for for run in self.env.runs(row.id)) == fired
            missed = self.missed(watched)
            assert not missed & set(fired)
            for slot in self.slots_before(watched, row):
                assert (slot in missed) + (slot in fired) == 1, f"{slot} of {row.id}"

    def slots_before(self, watched: Watched, row: Schedule) -> Iterator[datetime]:
        """The slots of the spec in force that lie before next_run_at."""
        first = watched.spec(watched.since)
        if first is not None and row.next_run_at is not None:
            yield from slots_from(watched.spec, first, row.next_run_at - timedelta.resolution)

    def missed(self, watched: Watched) -> set[datetime]:
        found: set[datetime] = set()
        for row in self.env.misses(watched.id):
            slots = list(slots_from(watched.versions[row.version - 1], row.first_slot, row.last_slot))
            assert row.slots == (len(slots) if len(slots) <= COUNTED else None)
            assert slots[-1] == row.last_slot
            assert found.isdisjoint(slots), f"missed twice: {row}"
            found.update(slots)
        return found

    # ---- looking ---------------------------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def seen(self) -> datetime:
        with self.env.store.read() as connection:
            seen = clock.newest(connection)
        assert seen is not None
        return seen

    def pick(self, which: int) -> Watched:
        known = list(self.watched.values())
        return known[which % len(known)]


TestClockSteps = ClockMachine.TestCase
TestClockSteps.settings = settings(QUICK, max_examples=60, stateful_step_count=30)


@pytest.mark.soak
def test_soak_nothing_doubled_nothing_undecided() -> None:
    soak(ClockMachine)
