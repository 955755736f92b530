"""dygo's promises, as far as they hold without files and PostgreSQL: the shape, the runtime, the records."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Queue
from typing import get_args

import psycopg
import pytest
from sqlalchemy import inspect

import rota
from rota.events import RunSettled
from rota.fire import idempotency_key
from rota.schedule import Source
from rota.testing import Harness
from tests.conftest import Sql
from tests.time.helpers import at, python

HOUR = timedelta(hours=1)

Clean = rota.Job0[None, None]

JOBS = """
import sys, rota
app = rota.App({url!r})

@app.step(name="sales/double")
def double(number: int) -> int:
    return number * 2
"""

ONE_RUN = """
from threading import Event
from rota.events import RunSettled
settled = Event()
app.on(RunSettled, lambda event: settled.set())
with app.running():
    assert settled.wait(20)
"""


def test_d1_a_schedule_never_runs_work_itself(app: rota.App) -> None:
    called = []

    @app.action(name="sales/report", queue="bulk")
    def report() -> None:
        called.append(1)

    @app.action(name="sales/other", queue="default")
    def other() -> None:
        return None

    with Harness(app, options=rota.WorkerOptions(queues=("default",))) as scans_only:
        app.schedule(report, "@hourly", id="report")
        scans_only.advance(HOUR)
        scans_only.run_until_idle()

        assert [run.state for run in scans_only.runs("report")] == ["queued"]
        assert called == []

        settled: Queue[RunSettled] = Queue()
        app.on(RunSettled, settled.put)
        with app.running(rota.WorkerOptions(queues=("bulk",))):
            assert settled.get(timeout=10).state == "succeeded"
        assert called == [1]


def test_d2_a_run_survives_its_process(app: rota.App, store_url: str, sql: Sql) -> None:
    writes = JOBS.format(url=store_url) + 'app.enqueue(double, 21)\nprint("written", flush=True)\nsys.stdin.read()\n'
    with subprocess.Popen([sys.executable, "-c", writes], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        process.kill()

    assert sql("select job, state, input from rota_runs") == [("sales/double", "queued", "21")]

    python((JOBS + ONE_RUN).format(url=store_url))
    assert sql("select state, output, attempt from rota_runs") == [("succeeded", "42", 1)]


def test_d27_the_sources(app: rota.App, env: Harness, clean: Clean, sql: Sql) -> None:
    app.schedule(clean, "@hourly", id="hourly")
    assert sql("select source from rota_schedules") == [("code",)]

    for source in get_args(Source):
        sql("update rota_schedules set source = ?", source)
    assert set(get_args(Source)) == {"code", "file", "studio", "system"}
    with pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError), match="source_known"):
        sql("update rota_schedules set source = 'elsewhere'")


def test_d28_runs_are_never_made_up_front(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "@hourly", id="hourly")
    env.run_until_idle()
    assert env.runs() == []

    for number in range(1, 4):
        env.advance(HOUR)
        env.run_until_idle()
        assert len(env.runs()) == number


def test_d30_one_run_for_one_due_slot(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "@hourly", id="hourly")
    env.advance(HOUR)

    for _ in range(3):
        env.run_until_idle()

    assert [run.scheduled_for for run in env.runs()] == [at("2026-08-03T10:00Z")]


def test_d31_the_idempotency_key_comes_from_the_slot() -> None:
    slot = datetime.fromisoformat("2026-06-01T04:00:00+05:00")

    key = idempotency_key("sales.weekly-report", "sales", "weekly-report", slot)

    assert key == "schedule:sales/weekly-report:2026-05-31T23:00:00Z"


def test_d31_a_run_carries_it(app: rota.App, env: Harness, clean: Clean, sql: Sql) -> None:
    app.schedule(clean, "@hourly", id="hourly")
    sql("update rota_schedules set app = 'sales', key = 'weekly-report'")
    app.schedule(clean, "@hourly", id="plain")
    env.advance(HOUR + timedelta(minutes=7))
    env.run_until_idle()

    assert sql("select idempotency_key from rota_runs order by 1") == [
        ("schedule:plain:2026-08-03T10:00:00Z",),
        ("schedule:sales/weekly-report:2026-08-03T10:00:00Z",),
    ]


def test_d32_last_and_next_run_at(app: rota.App, env: Harness, clean: Clean, sql: Sql) -> None:
    app.schedule(clean, "@hourly", id="hourly")
    sql("update rota_schedules set last_error = 'of yesterday'")
    env.advance(HOUR + timedelta(minutes=7))
    env.run_until_idle()

    assert sql("select last_run_at, next_run_at, last_error from rota_schedules") == [
        ("2026-08-03T10:00:00.000000Z", "2026-08-03T11:00:00.000000Z", None)
    ]


def test_d33_several_missed_slots_make_one_late_run(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "@hourly", id="hourly")
    env.advance(5 * HOUR + timedelta(minutes=30))
    env.run_until_idle()

    assert [run.scheduled_for for run in env.runs()] == [at("2026-08-03T10:00Z")]
    assert [run.run_after for run in env.runs()] == [at("2026-08-03T10:00Z")]  # the longest due is claimed first
    assert app.get("hourly").next_run_at == at("2026-08-03T15:00Z")
    assert [miss.slots for miss in env.misses("hourly")] == [4]


def test_d24_d34_a_disabled_job_passes_its_slots_over(app: rota.App, env: Harness, sql: Sql) -> None:
    @app.action(name="sales/report")
    def report() -> None:
        return None

    app.schedule(report, "@hourly", id="report")
    sql("update rota_jobs set enabled = false where name = 'sales/report'")
    env.advance(HOUR)
    env.run_until_idle()

    assert env.runs() == []
    assert sql("select last_error, next_run_at, consecutive_failures, enabled from rota_schedules") == [
        ("job sales/report is disabled", "2026-08-03T11:00:00.000000Z", 0, 1)
    ]
    assert [(miss.slots, miss.reason) for miss in env.misses("report")] == [(1, "blocked")]

    sql("update rota_jobs set enabled = true")
    env.advance(HOUR)
    env.run_until_idle()
    assert [run.state for run in env.runs()] == ["succeeded"]
    assert app.get("report").last_error is None


def test_d35_the_fallback_poll_is_a_minute(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "@yearly", id="yearly")

    assert env.turn() == 60.0


def test_d35_the_worker_sleeps_until_the_next_slot_or_run(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "@every 45s", id="often")
    assert env.turn() == 45.0

    app.enqueue(clean, run_after=env.clock.now() + timedelta(seconds=20))
    assert env.turn() == 20.0


def test_d37_a_worker_alone_fires_schedules(app: rota.App, store_url: str, tmp_path: Path, sql: Sql) -> None:
    @app.step(name="sales/double")
    def double(number: int) -> int:
        return 0  # this process only registers; it has no worker

    app.schedule(double, "@yearly", 21, id="double")
    yesterday = (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
    sql("update rota_schedules set next_run_at = ?", yesterday)

    python((JOBS + ONE_RUN).format(url=store_url))

    assert sql("select state, output, scheduled_for from rota_runs") == [("succeeded", "42", yesterday)]


def test_d38_the_fields_of_a_schedule(env: Harness) -> None:
    wanted = (
        "id app key source label description cron_spec location job job_app job_name enabled retired next_run_at "
        "last_run_at last_error actor"
    )

    with env.store.read() as connection:
        columns = inspect(connection).get_columns("rota_schedules")

    assert set(wanted.split()) <= {column["name"] for column in columns}


def test_d38_job_app_and_job_name_come_from_the_job_s_name(app: rota.App, env: Harness, clean: Clean, sql: Sql) -> None:
    @app.action(name="sales/report")
    def report() -> None:
        return None

    app.schedule(report, "@hourly", id="a", label="Report", description="of sales")
    app.schedule(clean, "@hourly", id="b")

    assert sql("select job, job_app, job_name, label, description from rota_schedules order by id") == [
        ("sales/report", "sales", "report", "Report", "of sales"),
        ("clean", None, "clean", None, None),
    ]


def test_d39_app_and_key_are_unique_together(app: rota.App, env: Harness, clean: Clean, sql: Sql) -> None:
    for name in ("a", "b", "c"):
        app.schedule(clean, "@hourly", id=name)
    sql("update rota_schedules set app = 'sales', key = 'report' where id = 'a'")
    sql("update rota_schedules set app = 'stock', key = 'report' where id = 'b'")

    with pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError), match=r"UNIQUE|unique"):
        sql("update rota_schedules set app = 'sales', key = 'report' where id = 'c'")


def test_d40_the_indexes(env: Harness) -> None:
    with env.store.read() as connection:
        found = {tuple(index["column_names"]) for index in inspect(connection).get_indexes("rota_schedules")}

    assert {("enabled", "retired", "next_run_at", "id"), ("job",), ("source",)} <= found
