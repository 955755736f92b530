"""Field cases RW-j1 and RW-j2: the machine sleeps, and the clock is set."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from queue import Queue

import pytest

import rota
from rota.events import ClockFellBack, ScheduleFired, WorkerRenewed
from rota.testing import FakeClock, Harness
from tests.field.living import BEAT, awaited, live
from tests.time.helpers import at

MINUTE = timedelta(minutes=1)
NAP = timedelta(hours=2, minutes=13)

Clean = rota.Job0[None, None]
Jump = Callable[[FakeClock, timedelta], None]

jumps = pytest.mark.parametrize(
    "jump", [FakeClock.step, FakeClock.advance], ids=["the other clock stands still", "the other clock jumps too"]
)


@jumps
def test_rw_j1_the_machine_sleeps(app: rota.App, clean: Clean, jump: Jump) -> None:
    with Harness(app, now=at("2026-08-03T13:40Z")) as env:
        app.schedule(clean, "5 * * * *", id="five-past")
        seconds = env.turn()
        jump(env.clock, NAP)
        env.advance(timedelta(seconds=seconds))  # it sleeps on for as long as it had meant to
        assert env.clock.now() <= at("2026-08-03T15:54Z")
        live(env, at("2026-08-03T16:06Z"))

        late, regular = env.fires("five-past")
        assert late.scheduled_for == at("2026-08-03T14:05Z")
        assert late.fired_at <= at("2026-08-03T15:54Z")
        assert regular.scheduled_for == regular.fired_at == at("2026-08-03T16:05Z")
        assert [run.state for run in env.runs()] == ["succeeded"] * 2
        assert [(m.first_slot, m.slots, m.reason) for m in env.misses("five-past")] == [
            (at("2026-08-03T15:05Z"), 1, "late")
        ]


@jumps
def test_rw_j1_a_worker_on_its_own_lives_through_it(app: rota.App, clean: Clean, jump: Jump) -> None:
    fired: Queue[ScheduleFired] = Queue()
    app.on(ScheduleFired, fired.put)
    with Harness(app, now=at("2026-08-03T13:40Z")) as env:
        app.schedule(clean, "5 * * * *", id="five-past")
        with app.running():
            jump(env.clock, NAP)
            env.advance(MINUTE)
            assert awaited(env, fired).slot == at("2026-08-03T14:05Z")
            env.clock.advance_to(at("2026-08-03T16:05Z"))
            assert awaited(env, fired).slot == at("2026-08-03T16:05Z")

        assert len(env.fires("five-past")) == len(env.runs()) == 2


def test_rw_j2_two_hours_ahead_and_back(app: rota.App, clean: Clean) -> None:
    with Harness(app, now=at("2026-08-03T14:58:30Z")) as env:
        app.schedule(clean, "* * * * *", id="minutely")
        app.schedule(clean, "0 17 * * *", id="daily")
        live(env, at("2026-08-03T15:00:10Z"))

        env.clock.step(timedelta(hours=2))
        env.run_until_idle()
        ahead = [fire.scheduled_for for fire in env.fires("minutely")]
        assert ahead == [at("2026-08-03T14:59Z"), at("2026-08-03T15:00Z"), at("2026-08-03T15:01Z")]
        assert [fire.scheduled_for for fire in env.fires("daily")] == [at("2026-08-03T17:00Z")]
        live(env, at("2026-08-03T17:01:10Z"))
        env.clock.step(-timedelta(hours=2))
        live(env, at("2026-08-03T17:05:00Z"))

        fires = env.fires("minutely")
        assert [fire.scheduled_for for fire in fires] == [at("2026-08-03T14:59Z") + k * MINUTE for k in range(127)]
        behind = [fire for fire in fires if fire.scheduled_for > at("2026-08-03T15:01Z")]
        assert all(fire.fired_at == fire.scheduled_for for fire in behind)  # that of 17:01 by the wrong clock
        assert env.misses("minutely") == []
        assert [fire.scheduled_for for fire in env.fires("daily")] == [at("2026-08-03T17:00Z")]
        assert app.get("daily").next_run_at == at("2026-08-04T17:00Z")
        assert len(env.runs()) == 127 + 1
        assert len({(run.schedule_id, run.scheduled_for) for run in env.runs()}) == 128


def test_rw_j2_a_worker_on_its_own_goes_back_to_the_true_time(app: rota.App, clean: Clean) -> None:
    fired: Queue[ScheduleFired] = Queue()
    beaten: Queue[WorkerRenewed] = Queue()
    fell_back: Queue[ClockFellBack] = Queue()
    app.on(ScheduleFired, fired.put)
    app.on(WorkerRenewed, beaten.put)
    app.on(ClockFellBack, fell_back.put)
    with Harness(app, now=at("2026-08-03T15:00:10Z")) as env:
        app.schedule(clean, "* * * * *", id="minutely")
        with app.running():
            env.clock.step(timedelta(hours=2))
            env.advance(MINUTE)  # more than its lease
            assert awaited(env, fired).slot == at("2026-08-03T15:01Z")
            assert awaited(env, beaten)
            env.clock.step(-timedelta(hours=2))
            env.advance(BEAT)
            assert awaited(env, fell_back, BEAT).schedules == 1
            env.clock.advance_to(at("2026-08-03T15:02Z"))
            assert awaited(env, fired).slot == at("2026-08-03T15:02Z")


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)  # that of PostgreSQL is looked at with each beat
def test_a_clock_that_was_wrong_for_less_than_a_beat(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "* * * * *", id="minutely")
    live(env, at("2026-08-03T09:01:10Z"))
    env.clock.step(timedelta(hours=2))
    env.run_until_idle()
    env.clock.step(-timedelta(hours=2))
    live(env, at("2026-08-03T09:05:00Z"))

    assert [fire.scheduled_for for fire in env.fires("minutely")] == [
        at("2026-08-03T09:00Z") + k * MINUTE for k in range(1, 6)
    ]
    assert env.misses("minutely") == []


def test_a_clock_that_is_set_back_by_seconds_changes_nothing(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "* * * * *", id="minutely")
    live(env, at("2026-08-03T09:05:20Z"))

    env.clock.step(-timedelta(seconds=50))
    live(env, at("2026-08-03T09:07:00Z"))

    assert [fire.scheduled_for for fire in env.fires("minutely")] == [
        at("2026-08-03T09:00Z") + k * MINUTE for k in range(1, 8)
    ]
    assert len(env.runs()) == 7
    assert env.misses("minutely") == []
