"""A clock that was wrong and is set right: gaps are cut where it is now, each by the cadence it was missed under."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import rota
from rota.engine.lease import BEAT
from rota.miss import Miss
from rota.testing import Harness
from tests.conftest import Sql

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
Clean = rota.Job0[None, None]


def beat(env: Harness) -> None:
    env.advance(BEAT)
    env.turn()


def wrong_for_a_while(env: Harness, by: timedelta) -> None:
    """The clock is set ahead, everything runs by it, and it is set right again."""
    env.clock.step(by)
    env.run_until_idle()
    beat(env)
    env.clock.step(-by)


def hour_of(env: Harness) -> datetime:
    return env.clock.now().replace(minute=0, second=0, microsecond=0)


def slots(rows: Sequence[Miss]) -> list[tuple[str, str, int | None]]:
    return [(f"{row.first_slot:%H:%M}", f"{row.last_slot:%H:%M}", row.slots) for row in rows]


def fired(env: Harness) -> list[str]:
    return [f"{fire.scheduled_for:%H:%M}" for fire in env.fires("clean")]


def test_a_gap_is_cut_where_it_is_now(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "*/10 * * * *", id="clean")
    env.advance(35 * MINUTE)  # 09:10 to 09:30 are late by the true clock, and the rest by the wrong one
    wrong_for_a_while(env, 5 * HOUR)
    assert slots(env.misses("clean")) == [("09:20", "14:30", 32)]
    beat(env)
    assert slots(env.misses("clean")) == [("09:20", "09:30", 2)]
    assert f"{app.get('clean').next_run_at:%H:%M}" == "09:40"


def test_a_gap_of_a_former_cadence_is_cut_by_that_one(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "*/10 * * * *", id="clean")
    env.advance(35 * MINUTE)
    env.clock.step(2 * HOUR)
    env.run_until_idle()
    app.schedule(clean, "*/7 * * * *", id="clean")
    beat(env)
    env.clock.step(-2 * HOUR)
    beat(env)
    assert slots(env.misses("clean")) == [("09:20", "09:30", 2)]
    assert f"{app.get('clean').next_run_at:%H:%M}" == "09:42"


def test_of_a_gap_whose_cadence_no_one_kept_the_first_slot_stays(
    app: rota.App, env: Harness, clean: Clean, sql: Sql
) -> None:
    """A row that was written by hand must not keep the others from their true time."""
    for name in ("by hand", "clean"):
        app.schedule(clean, "*/10 * * * *", id=name)
    env.advance(35 * MINUTE)
    wrong_for_a_while(env, 2 * HOUR)
    sql("delete from rota_schedule_versions where schedule_id = 'by hand'")
    beat(env)
    assert slots(env.misses("by hand")) == [("09:20", "09:20", 1)]
    assert slots(env.misses("clean")) == [("09:20", "09:30", 2)]
    assert {f"{schedule.next_run_at:%H:%M}" for schedule in app.list()} == {"09:40"}


def test_an_edit_within_a_small_step_back_leaves_no_slot_two_outcomes(
    app: rota.App, env: Harness, clean: Clean
) -> None:
    """45 s back are no fallback; but the edit takes the first slot after now, which was missed by the wrong clock."""
    app.schedule(clean, "@every 10s", id="clean")
    env.advance(60 * timedelta(seconds=1))
    env.run_until_idle()
    assert slots(env.misses("clean")) == [("09:00", "09:01", 5)]
    env.clock.step(timedelta(seconds=-45))
    app.schedule(clean, "*/1 * * * *", id="clean")
    assert [row.last_slot - hour_of(env) for row in env.misses("clean")] == []
    env.advance(60 * timedelta(seconds=1))
    env.run_until_idle()
    assert fired(env) == ["09:00", "09:01"]


def test_what_is_paused_stays_so_and_is_drawn_back(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "*/10 * * * *", id="clean")
    env.clock.step(2 * HOUR)
    env.run_until_idle()
    app.pause("clean")
    before = app.get("clean")
    env.clock.step(-2 * HOUR)
    beat(env)
    assert app.get("clean") == replace(before, next_run_at=hour_of(env) + 10 * MINUTE)
    assert env.misses("clean") == []
    app.resume("clean")
    env.advance(25 * MINUTE)
    env.run_until_idle()
    assert fired(env) == ["09:10", "09:20"]
    assert len(env.runs()) == 2  # 09:10 was run by the wrong clock, and not again
