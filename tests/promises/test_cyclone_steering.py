"""Cyclone's promises about pause, resume and trigger: C39 to C52."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, Event

import pytest

import rota
from rota.errors import ScheduleNotFound
from rota.testing import Harness
from tests.conftest import Sql
from tests.time.helpers import at

HOUR = timedelta(hours=1)
TEN = at("2026-08-03T10:00Z")  # the first slot of what is registered at nine


@pytest.fixture
def hourly(app: rota.App, env: Harness, clean: rota.Job0[None, None]) -> str:
    """The id of a schedule that is due every hour."""
    return app.schedule(clean, "@hourly", id="hourly")


def test_c39_pause_keeps_it_from_firing(app: rota.App, env: Harness, hourly: str, sql: Sql) -> None:
    env.advance(HOUR)
    app.pause(hourly)

    env.run_until_idle()

    assert sql("select enabled from rota_schedules") == [(0,)]
    assert env.fires(hourly) == []
    assert env.runs() == []


def test_c40_pause_leaves_a_run_alone(app: rota.App, env: Harness) -> None:
    began, go_on = Event(), Event()

    @app.step()
    def slow() -> str:
        began.set()
        assert go_on.wait(10)
        return "done"

    app.schedule(slow, "@hourly", id="slow")
    env.advance(HOUR)
    env.turn()
    assert began.wait(10)

    app.pause("slow")
    assert [run.state for run in env.runs("slow")] == ["running"]
    go_on.set()
    env.run_until_idle()

    assert [(run.state, run.output) for run in env.runs("slow")] == [("succeeded", '"done"')]


def test_c41_pause_keeps_the_history(app: rota.App, env: Harness, hourly: str) -> None:
    for _ in range(2):
        env.advance(HOUR)
        env.run_until_idle()
    before = env.fires(hourly)

    app.pause(hourly)
    env.advance(HOUR)
    env.run_until_idle()

    assert len(before) == 2
    assert env.fires(hourly) == before


def test_c42_unschedule_is_deprecated_and_pauses(app: rota.App, env: Harness, hourly: str, sql: Sql) -> None:
    with pytest.warns(DeprecationWarning, match="pause"):
        app.unschedule(hourly)

    assert sql("select id, enabled from rota_schedules") == [("hourly", 0)]
    app.resume(hourly)
    assert sql("select id, enabled from rota_schedules") == [("hourly", 1)]


def test_c43_resume_leaves_no_backlog(app: rota.App, env: Harness, hourly: str, sql: Sql) -> None:
    app.pause(hourly)
    env.advance(timedelta(hours=10, minutes=20))

    app.resume(hourly)
    env.run_until_idle()

    assert env.fires(hourly) == []
    assert sql("select enabled, next_run_at from rota_schedules") == [(1, "2026-08-03T20:00:00.000000Z")]
    (miss,) = env.misses(hourly)
    assert (miss.first_slot, miss.last_slot, miss.slots, miss.reason) == (TEN, TEN + 9 * HOUR, 10, "paused")


def test_c44_trigger_makes_a_run_at_once(app: rota.App, env: Harness, hourly: str, sql: Sql) -> None:
    run = app.trigger(hourly)

    assert run.run_after == env.clock.now()  # not its slot, which is an hour ahead
    assert sql("select id, state, schedule_id from rota_runs") == [(run.id, "queued", "hourly")]
    env.run_until_idle()
    assert [(run.state, run.finished_at) for run in env.runs()] == [("succeeded", env.clock.now())]


def test_c45_an_unknown_id(app: rota.App, env: Harness, hourly: str) -> None:
    for verb in (app.pause, app.resume, app.trigger):
        with pytest.raises(ScheduleNotFound, match="'no-such'"):
            verb("no-such")


def test_c46_pausing_twice_is_as_once(app: rota.App, env: Harness, hourly: str) -> None:
    app.pause(hourly)
    once = app.get(hourly)
    env.advance(HOUR)

    app.pause(hourly)

    assert app.get(hourly) == once
    assert not once.enabled


def test_c47_resuming_twice_is_as_once(app: rota.App, env: Harness, hourly: str) -> None:
    app.pause(hourly)
    env.advance(5 * HOUR)
    app.resume(hourly)
    once = app.get(hourly)
    env.advance(2 * HOUR)

    app.resume(hourly)

    assert app.get(hourly) == once
    assert once.next_run_at == at("2026-08-03T15:00Z")


def test_c48_trigger_records_one_fire_for_the_pending_slot(app: rota.App, env: Harness, hourly: str, sql: Sql) -> None:
    run = app.trigger(hourly)

    assert sql("select schedule_id, scheduled_for, run_id, origin from rota_schedule_fires") == [
        ("hourly", "2026-08-03T10:00:00.000000Z", run.id, "trigger")
    ]


def test_c48_the_scanner_passes_a_triggered_slot_over(app: rota.App, env: Harness, hourly: str) -> None:
    app.trigger(hourly)
    assert app.get(hourly).next_run_at == TEN

    env.advance(HOUR)
    env.run_until_idle()
    assert len(env.runs()) == 1
    assert app.get(hourly).next_run_at == TEN + HOUR

    env.advance(HOUR)
    env.run_until_idle()
    assert [(fire.scheduled_for, fire.origin) for fire in env.fires(hourly)] == [
        (TEN, "trigger"),
        (TEN + HOUR, "scan"),
    ]
    assert env.misses(hourly) == []


def test_c48_the_slots_after_a_triggered_one_are_caught_up_with(app: rota.App, env: Harness, hourly: str) -> None:
    app.trigger(hourly)
    env.advance(timedelta(hours=4, minutes=30))
    env.run_until_idle()

    assert [fire.scheduled_for for fire in env.fires(hourly)] == [TEN, TEN + HOUR]
    assert [(m.first_slot, m.last_slot, m.reason) for m in env.misses(hourly)] == [
        (TEN + 2 * HOUR, TEN + 3 * HOUR, "late")
    ]


def test_c49_many_triggers_and_the_scanner_make_one_fire(app: rota.App, env: Harness, hourly: str) -> None:
    together = Barrier(21)

    def trigger() -> int:
        together.wait(10)
        return app.trigger(hourly, slot=TEN).id

    env.advance(HOUR)
    with ThreadPoolExecutor(20) as pool:
        triggered = [pool.submit(trigger) for _ in range(20)]
        together.wait(10)
        env.turn()
        ids = {future.result() for future in triggered}

    assert [fire.scheduled_for for fire in env.fires(hourly)] == [TEN]
    assert [run.id for run in env.runs()] == list(ids)


def test_c49_many_triggers_of_a_coming_slot_make_one_fire(app: rota.App, env: Harness, hourly: str) -> None:
    together = Barrier(20)

    def trigger() -> int:
        together.wait(10)
        return app.trigger(hourly).id

    with ThreadPoolExecutor(20) as pool:
        ids = {future.result() for future in [pool.submit(trigger) for _ in range(20)]}

    assert [fire.run_id for fire in env.fires(hourly)] == list(ids)
    assert [run.id for run in env.runs()] == list(ids)


def test_c50_a_fired_slot_gives_the_run_it_has(app: rota.App, env: Harness, hourly: str) -> None:
    assert app.trigger(hourly) == app.trigger(hourly)
    assert len(env.runs()) == len(env.fires(hourly)) == 1


def test_c50_also_where_the_scanner_won(app: rota.App, env: Harness, hourly: str) -> None:
    env.advance(HOUR)
    env.run_until_idle()

    run = app.trigger(hourly, slot=TEN)

    assert [run.id] == [fire.run_id for fire in env.fires(hourly)]
    assert len(env.runs()) == 1


@pytest.mark.parametrize("paused", [True, False])
@pytest.mark.parametrize("hours", [0, 3], ids=["early", "late"])
def test_c51_c52_trigger_works_paused_or_not_and_leaves_it_so(
    app: rota.App, env: Harness, hourly: str, paused: bool, hours: int
) -> None:
    if paused:
        app.pause(hourly)
    env.advance(hours * HOUR)

    run = app.trigger(hourly)
    env.run_until_idle()

    assert [(run.id, TEN)] == [(fire.run_id, fire.scheduled_for) for fire in env.fires(hourly)]
    assert app.get(hourly).enabled is not paused
    assert [run.state for run in env.runs()] == ["succeeded"]


def test_c51_each_trigger_of_a_paused_schedule_in_time_fires_a_slot_of_its_own(
    app: rota.App, env: Harness, hourly: str
) -> None:
    app.pause(hourly)

    first = app.trigger(hourly)
    env.advance(2 * HOUR)
    second = app.trigger(hourly)

    assert first.id != second.id
    assert [fire.scheduled_for for fire in env.fires(hourly)] == [TEN, TEN + 2 * HOUR]
    assert [(m.first_slot, m.last_slot, m.reason) for m in env.misses(hourly)] == [(TEN + HOUR, TEN + HOUR, "paused")]
