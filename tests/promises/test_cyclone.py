"""Cyclone's promises about registration: C1 to C15, C35 and C38. Time is with test_cyclone_time."""

from __future__ import annotations

from datetime import timedelta
from queue import Queue

import pytest

import rota
from rota.errors import CadenceInvalid, ScheduleNotFound
from rota.events import RunSettled
from rota.testing import Harness
from tests.conftest import Sql
from tests.time.helpers import at, python

Report = rota.Job[str, int, int]
Clean = rota.Job0[None, None]


def test_c1_the_worker_that_an_app_starts_fires(app: rota.App, env: Harness, clean: Clean) -> None:
    settled: Queue[RunSettled] = Queue()
    app.on(RunSettled, settled.put)
    app.schedule(clean, "@daily", id="clean")
    env.force_due("clean")

    with app.running():
        assert settled.get(timeout=10).state == "succeeded"

    assert [fire.origin for fire in env.fires("clean")] == ["scan"]


def test_c2_schedule_returns_the_id(app: rota.App, env: Harness, report: Report) -> None:
    assert app.schedule(report, "@hourly", "hour", id="hourly-report") == "hourly-report"


def test_c2_a_bad_spec_is_an_error_and_no_row(app: rota.App, env: Harness, report: Report, sql: Sql) -> None:
    with pytest.raises(CadenceInvalid):
        app.schedule(report, "60 * * * *", "hour", id="hourly-report")

    assert sql("select * from rota_schedules") == []


def test_c4_any_typed_step(app: rota.App, env: Harness) -> None:
    @app.step()
    def double(given: dict[str, list[int]]) -> list[int]:
        return [number * 2 for number in given["numbers"]]

    app.schedule(double, "@hourly", {"numbers": [1, 2]}, id="double")
    env.force_due("double")
    env.run_until_idle()

    (run,) = env.runs("double")
    assert (run.job, run.kind, run.state, run.output) == ("double", "step", "succeeded", "[2,4]")


def test_c5_every_fire_has_the_registered_input(app: rota.App, env: Harness, report: Report, sql: Sql) -> None:
    app.schedule(report, "@hourly", "hour", id="hourly-report")

    for _ in range(2):
        env.advance(timedelta(hours=1))
        env.run_until_idle()

    assert sql("select input, output from rota_runs") == [('"hour"', "4"), ('"hour"', "4")]


def test_c6_registering_again_is_idempotent(app: rota.App, env: Harness, report: Report, sql: Sql) -> None:
    app.schedule(report, "@hourly", "hour", id="hourly-report")
    before = sql("select * from rota_schedules")
    env.advance(timedelta(minutes=1))

    app.schedule(report, "@hourly", "hour", id="hourly-report")

    assert sql("select * from rota_schedules") == before
    assert len(before) == 1


def test_c7_an_action(app: rota.App, env: Harness, sql: Sql) -> None:
    cleaned = []

    @app.action()
    def clean() -> None:
        cleaned.append(1)

    app.schedule(clean, "@daily", id="daily-cleanup")
    env.force_due("daily-cleanup")
    env.run_until_idle()

    assert sql("select kind from rota_schedules") == [("action",)]
    assert sql("select kind, state, output from rota_runs") == [("action", "succeeded", None)]
    assert cleaned == [1]


def test_c11_registering_at_every_start_is_safe(app: rota.App, env: Harness, report: Report, clean: Clean) -> None:
    @app.on_start
    def register() -> None:
        app.schedule(report, "0 * * * *", "hour", id="hourly-report")
        app.schedule(clean, "@every 90m")
        app.schedule(clean, "@daily", tz="America/New_York")

    seen = []
    for _ in range(3):
        env.turn()
        seen.append([schedule.id for schedule in app.list()])
        env.stop()
        env.advance(timedelta(minutes=1))

    assert len(seen[0]) == 3
    assert seen[0] == seen[1] == seen[2]


def test_c12_another_spec_input_or_zone_updates_the_row(app: rota.App, env: Harness, report: Report, sql: Sql) -> None:
    app.schedule(report, "@hourly", "hour", id="report")
    app.schedule(report, "@daily", "hour", id="report")
    assert sql("select id, cron_spec, version from rota_schedules") == [("report", "@daily", 2)]
    assert app.get("report").next_run_at == at("2026-08-04T00:00Z")

    app.schedule(report, "@daily", "day", id="report", tz="Asia/Tokyo")
    assert sql("select cron_spec, input, location, version from rota_schedules") == [
        ("@daily", '"day"', "Asia/Tokyo", 3)
    ]
    assert app.get("report").next_run_at == at("2026-08-03T15:00Z")


def test_c13_an_automatic_id_is_a_hash_of_kind_spec_zone_and_input(app: rota.App, env: Harness, report: Report) -> None:
    other = rota.App("sqlite:///not-opened.db")

    @other.action(name="report")
    def action(period: str) -> None:
        return None

    def schedule(spec: str = "@hourly", period: str = "hour", tz: str = "UTC") -> str:
        return app.schedule(report, spec, period, tz=tz)

    ids = [schedule(), schedule(spec="@daily"), schedule(period="day"), schedule(tz="Asia/Tokyo")]
    with other.housed(app.home()):
        ids.append(other.schedule(action, "@hourly", "hour"))

    assert schedule() == ids[0]
    assert len(set(ids)) == 5
    assert {schedule.id for schedule in app.list()} == set(ids)


def test_c14_an_automatic_id_shows_nothing(app: rota.App, env: Harness, report: Report) -> None:
    chosen = app.schedule(report, "17 3 * * 1-5", "a secret period", tz="America/New_York")

    for part in ("17 3 * * 1-5", "* *", "secret", "period", "America", "New_York", "report", "step"):
        assert part not in chosen
    assert len(chosen) == len(app.schedule(report, "@daily", "x"))  # nor does its length say anything


def test_c15_the_id_finds_the_one_row_and_steers_it(app: rota.App, env: Harness, report: Report, sql: Sql) -> None:
    app.schedule(report, "@hourly", "hour", id="hourly-report")
    app.schedule(report, "@daily", "day", id="daily-report")

    app.pause("hourly-report")
    app.trigger("hourly-report")
    app.resume("hourly-report")

    assert sql("select count(*) from rota_schedules where id = 'hourly-report'") == [(1,)]
    assert len(env.fires("hourly-report")) == 1
    with pytest.raises(ScheduleNotFound):
        app.get("HOURLY-REPORT")


def test_c35_the_zone_s_iana_name_is_stored(app: rota.App, env: Harness, report: Report, sql: Sql) -> None:
    app.schedule(report, "0 9 * * 1-5", "day", id="brief", tz="America/New_York")
    app.schedule(report, "0 9 * * 1-5", "day", id="brief-utc")

    assert sql("select id, location from rota_schedules order by id") == [
        ("brief", "America/New_York"),
        ("brief-utc", "UTC"),
    ]
    assert app.get("brief").next_run_at == at("2026-08-03T13:00Z")


def test_c38_the_server_s_zone_plays_no_part() -> None:
    code = """
import sqlite3, time
import rota
from rota.testing import Harness
time.tzset()
app = rota.App("sqlite:///none.db")
@app.action()
def clean() -> None: ...
with Harness(app) as env:
    for tz in ("America/New_York", "UTC", "+02:00"):
        app.schedule(clean, "0 9 * * 1-5", id=tz, tz=tz)
        app.schedule(clean, "@every 5h", id=tz + " every", tz=tz)
    connection = sqlite3.connect(app.home().store.url.removeprefix("sqlite:///"))
    print(time.tzname[0])
    print(connection.execute("select id, next_run_at from rota_schedules order by id").fetchall())
    connection.close()
"""
    utc, tokyo = python(code, TZ="UTC").splitlines(), python(code, TZ="Asia/Tokyo").splitlines()

    assert (utc[0], tokyo[0]) == ("UTC", "JST")
    assert utc[1] == tokyo[1]
    assert "('America/New_York', '2026-08-03T13:00:00.000000Z')" in utc[1]
