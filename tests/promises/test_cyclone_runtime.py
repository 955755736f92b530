"""Cyclone's promises about fires, missed slots, inspection and testing: C54 to C59, C78 to C83."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest

import rota
from rota.testing import Harness
from tests.conftest import Sql
from tests.time.helpers import at

HOUR = timedelta(hours=1)
NOON = at("2026-08-03T12:00Z")

Clean = rota.Job0[None, None]


def test_c54_the_job_s_options_are_those_of_each_run(app: rota.App, env: Harness, sql: Sql) -> None:
    @app.step(queue="bulk", timeout=timedelta(minutes=10), max_attempts=3)
    def report() -> int:
        return 1

    app.schedule(report, "@hourly", id="report")
    for _ in range(2):
        env.advance(HOUR)
        env.run_until_idle()

    assert sql("select queue, timeout, max_attempts, state from rota_runs") == [("bulk", 600, 3, "succeeded")] * 2


# ---- missed slots: hourly, the last one at 13:00, down from 14:00 to 16:30 ------------------------------------------


@pytest.fixture
def outage(app: rota.App, clean: Clean) -> Iterator[Harness]:
    with Harness(app, now=NOON) as env:
        app.schedule(clean, "@hourly", id="hourly")
        env.advance(HOUR)
        env.run_until_idle()
        env.stop()
        env.advance(timedelta(hours=3, minutes=30))
        env.run_until_idle()
        yield env


def test_c55_an_outage_makes_one_fire(outage: Harness, sql: Sql) -> None:
    assert sql("select count(*) from rota_schedule_fires where scheduled_for > '2026-08-03T13:30'") == [(1,)]
    assert [run.state for run in outage.runs("hourly")] == ["succeeded"] * 2


def test_c56_it_is_for_the_oldest_missed_slot(outage: Harness) -> None:
    assert [fire.scheduled_for for fire in outage.fires("hourly")] == [NOON + HOUR, NOON + 2 * HOUR]


def test_c57_then_comes_the_next_future_slot(app: rota.App, outage: Harness, sql: Sql) -> None:
    assert sql("select next_run_at from rota_schedules") == [("2026-08-03T17:00:00.000000Z",)]

    outage.advance(timedelta(minutes=30))
    outage.run_until_idle()

    assert outage.fires("hourly")[-1].scheduled_for == NOON + 5 * HOUR


def test_c58_no_run_for_the_others_ever(app: rota.App, outage: Harness) -> None:
    for _ in range(24):
        outage.advance(HOUR)
        outage.run_until_idle()

    slots = {fire.scheduled_for for fire in outage.fires("hourly")}
    assert not slots & {NOON + 3 * HOUR, NOON + 4 * HOUR}
    (miss,) = outage.misses("hourly")
    assert (miss.first_slot, miss.last_slot) == (NOON + 3 * HOUR, NOON + 4 * HOUR)
    assert (miss.slots, miss.reason) == (2, "late")


def test_c59_a_run_finds_its_slot(outage: Harness, sql: Sql) -> None:
    found = sql(
        "select fire.scheduled_for from rota_runs run join rota_schedule_fires fire on fire.run_id = run.id "
        "order by run.id"
    )

    assert found == [("2026-08-03T13:00:00.000000Z",), ("2026-08-03T14:00:00.000000Z",)]


def test_c59_a_handler_finds_its_slot(app: rota.App, env: Harness) -> None:
    @app.step()
    def report() -> list[str]:
        run = rota.current_run()
        return [str(run.slot), str(run.lateness), str(run.schedule_id), str(run.attempt)]

    app.schedule(report, "@hourly", id="report")
    env.advance(timedelta(hours=3, minutes=5))
    env.run_until_idle()

    (run,) = env.runs("report")
    assert run.output == '["2026-08-03 10:00:00+00:00","2:05:00","report","1"]'


# ---- inspection -----------------------------------------------------------------------------------------------------


def test_c78_the_columns_by_their_names(app: rota.App, env: Harness, clean: Clean, sql: Sql) -> None:
    app.schedule(clean, "@daily", id="later", tz="America/New_York")
    app.schedule(clean, "@hourly", id="sooner")

    found = sql(
        "select id, kind, cron_spec, location, next_run_at, last_run_id, consecutive_failures, last_error, enabled, "
        "def_version from rota_schedules order by next_run_at"
    )

    assert found == [
        ("sooner", "action", "@hourly", "UTC", "2026-08-03T10:00:00.000000Z", None, 0, None, 1, None),
        ("later", "action", "@daily", "America/New_York", "2026-08-04T04:00:00.000000Z", None, 0, None, 1, None),
    ]


def test_c79_last_run_id_is_the_run_of_the_latest_fire(app: rota.App, env: Harness, clean: Clean, sql: Sql) -> None:
    app.schedule(clean, "@hourly", id="hourly")

    for number in range(1, 4):
        env.advance(HOUR)
        env.run_until_idle()
        fires = env.fires("hourly")
        assert len(fires) == number
        assert sql("select last_run_id from rota_schedules") == [(fires[-1].run_id,)]


def test_c80_fires_and_runs_join(app: rota.App, env: Harness, clean: Clean, sql: Sql) -> None:
    app.schedule(clean, "@hourly", id="hourly")
    run = app.trigger("hourly")
    env.run_until_idle()

    found = sql(
        "select run.id, run.state, fire.scheduled_for, run.scheduled_for from rota_schedule_fires fire "
        "join rota_runs run on run.id = fire.run_id where fire.schedule_id = 'hourly'"
    )

    assert found == [(run.id, "succeeded", "2026-08-03T10:00:00.000000Z", "2026-08-03T10:00:00.000000Z")]


# ---- testing --------------------------------------------------------------------------------------------------------


@dataclass
class ReportInput:
    """What the example's step takes."""

    pages: int = 1


def test_c81_the_example(app: rota.App, sql: Sql) -> None:
    with Harness(app) as env:

        @app.step()
        def report_step(given: ReportInput) -> int:
            return given.pages

        schedule_id = app.schedule(report_step, "@daily", ReportInput(), id="test-daily-report")
        env.force_due(schedule_id)
        env.run_until_idle()

        assert [run.state for run in env.runs(schedule_id)] == ["succeeded"]
        assert sql("select schedule_id from rota_schedule_fires") == [("test-daily-report",)]


def test_c82_force_due_fires_within_one_tick(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "@daily", id="daily")
    env.turn()
    assert env.fires("daily") == []

    env.force_due("daily")
    assert app.get("daily").next_run_at == env.clock.now()
    env.turn()

    assert [fire.scheduled_for for fire in env.fires("daily")] == [env.clock.now()]
    assert app.get("daily").next_run_at == at("2026-08-04T00:00Z")


def test_c82_force_due_keeps_an_interval_s_grid(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "@every 10m", id="often")
    env.advance(timedelta(minutes=3))

    env.force_due("often")
    env.run_until_idle()

    assert app.get("often").next_run_at == at("2026-08-03T09:10Z")


def test_c83_run_until_idle_leaves_nothing_pending(app: rota.App, env: Harness, clean: Clean) -> None:
    for number in range(30):
        app.schedule(clean, "@daily", id=f"daily-{number}")
        env.force_due(f"daily-{number}")

    env.run_until_idle()

    assert {run.state for run in env.runs()} == {"succeeded"}
    assert [len(env.fires(f"daily-{number}")) for number in range(30)] == [1] * 30


def test_c83_it_does_not_move_the_clock(app: rota.App, env: Harness, clean: Clean) -> None:
    now = env.clock.now()
    app.enqueue(clean, run_after=now + HOUR)

    env.run_until_idle()
    assert env.clock.now() == now
    assert [run.state for run in env.runs()] == ["waiting"]

    env.advance(HOUR)
    env.run_until_idle()
    assert [run.state for run in env.runs()] == ["succeeded"]
