"""The clock falls back: noticed beyond a minute, and then the slots that lay too far ahead are drawn back."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

import rota
from rota.engine import fallback
from rota.engine.fallback import TOLERANCE
from rota.events import ClockFellBack
from rota.store import clock
from rota.testing import Harness
from tests.conftest import Sql
from tests.time.helpers import at

NINE = at("2026-08-03T09:00Z")
HOUR, MINUTE, INSTANT = timedelta(hours=1), timedelta(minutes=1), timedelta.resolution

Clean = rota.Job0[None, None]


def note(env: Harness, now: datetime) -> list[object]:
    """As a beat does it."""
    with env.store.begin() as connection:
        told = fallback.heed(connection, now)
        clock.keep(connection, now)
        return told


def seen(env: Harness) -> datetime | None:
    with env.store.read() as connection:
        return clock.newest(connection)


def ahead_and_back(env: Harness, by: timedelta) -> list[object]:
    """A worker passes under a clock that is ahead; then the clock is set right, and the worker passes again."""
    env.clock.step(by)
    env.run_until_idle()
    env.clock.step(-by)
    return note(env, env.clock.now())


# ---- noticing ------------------------------------------------------------------------------------------------------


def test_the_newest_instant_is_kept(env: Harness) -> None:
    for moment in (NINE, NINE + HOUR, NINE + HOUR - TOLERANCE):
        assert note(env, moment) == []
    assert seen(env) == NINE + HOUR


@pytest.mark.parametrize(("back", "noticed"), [(timedelta(0), False), (TOLERANCE, False), (TOLERANCE + INSTANT, True)])
def test_more_than_a_minute_is_a_fall(env: Harness, back: timedelta, noticed: bool) -> None:
    note(env, NINE)
    told = note(env, NINE - back)
    assert told == ([ClockFellBack(NINE, NINE - back, 0)] if noticed else [])
    assert seen(env) == (NINE - back if noticed else NINE)


def test_a_fall_is_told_once(env: Harness) -> None:
    note(env, NINE)
    assert len(note(env, NINE - HOUR)) == 1
    assert note(env, NINE - HOUR) == []


def test_heeding_alone_keeps_nothing(env: Harness) -> None:
    with env.store.begin() as connection:
        assert fallback.heed(connection, NINE + HOUR) == []
    assert seen(env) is None


# ---- drawing back --------------------------------------------------------------------------------------------------


def test_a_slot_too_far_ahead_is_drawn_back_to_the_first_one_after_now(
    app: rota.App, env: Harness, clean: Clean
) -> None:
    app.schedule(clean, "*/10 * * * *", id="often")
    told = ahead_and_back(env, 2 * HOUR)
    assert told == [ClockFellBack(NINE + 2 * HOUR, NINE, 1)]
    assert app.get("often").next_run_at == NINE + 10 * MINUTE


def test_one_that_did_not_go_ahead_is_left_where_it_is(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "@daily", id="daily")
    before = app.get("daily")
    assert ahead_and_back(env, 2 * HOUR) == [ClockFellBack(NINE + 2 * HOUR, NINE, 0)]
    assert app.get("daily") == before


def test_a_try_that_was_put_off_is_free_again(app: rota.App, env: Harness, clean: Clean, sql: Sql) -> None:
    app.schedule(clean, "* * * * *", id="sick")
    sql("""update rota_schedules set options = '{"grace": "long"}'""")
    ahead_and_back(env, 2 * HOUR)
    sick = app.get("sick")
    assert (sick.next_run_at, sick.not_before) == (NINE + MINUTE, None)
    assert sick.consecutive_failures == 1


def test_an_unreadable_cadence_keeps_its_slot(app: rota.App, env: Harness, clean: Clean, sql: Sql) -> None:
    app.schedule(clean, "0 10 * * *", id="sick")
    sql("update rota_schedules set cron_spec = 'at ten'")
    ahead_and_back(env, 2 * HOUR)
    assert (app.get("sick").next_run_at, app.get("sick").not_before) == (NINE + HOUR, None)


def test_what_is_finished_stays_so(app: rota.App, env: Harness, clean: Clean, sql: Sql) -> None:
    app.schedule(clean, "@daily", id="over")
    sql("update rota_schedules set next_run_at = null")
    ahead_and_back(env, 2 * HOUR)
    assert app.get("over").next_run_at is None


def test_a_miss_that_lies_after_now_is_forgotten(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "*/10 * * * *", id="often")
    ahead_and_back(env, 2 * HOUR)
    assert list(env.misses("often")) == []


def test_what_was_fired_is_not_fired_again(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "*/10 * * * *", id="often")
    ahead_and_back(env, 2 * HOUR)
    for _ in range(4):
        env.advance(5 * MINUTE)
        env.run_until_idle()
    slots = [fire.scheduled_for for fire in env.fires("often")]
    assert slots == [NINE + 10 * MINUTE, NINE + 20 * MINUTE]
    assert len(env.runs("often")) == 2


def test_many_are_drawn_back_batch_by_batch(
    app: rota.App, env: Harness, clean: Clean, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fallback, "BATCH", 7)
    with app.transaction() as tx:
        for number in range(30):
            tx.schedule(clean, "* * * * *", id=f"often-{number:02}")
    assert ahead_and_back(env, 2 * HOUR) == [ClockFellBack(NINE + 2 * HOUR, NINE, 30)]
    assert {schedule.next_run_at for schedule in app.list()} == {NINE + MINUTE}
