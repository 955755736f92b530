"""Field case RW-i1, in one process: rows that nobody can read stop no one else."""

from __future__ import annotations

import logging
import sqlite3
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

import psycopg
import pytest

import rota
from rota.testing import Harness
from tests.conftest import Sql
from tests.field.living import live
from tests.time.helpers import at

MINUTE = timedelta(minutes=1)
Report = rota.Job[str, int, int]

NINE = at("2026-08-03T09:00Z")
SICK = ("bad-spec", "bad-zone", "bad-input", "no-slot")


def register(app: rota.App, report: Report, schedule_ids: Iterable[str]) -> None:
    with app.transaction() as tx:
        for schedule_id in schedule_ids:
            tx.schedule(report, "* * * * *", "minute", id=schedule_id)


@pytest.fixture
def rows(app: rota.App, env: Harness, report: Report, sql: Sql) -> None:
    """Five schedules, four of them spoiled by hand."""
    register(app, report, ["healthy", *SICK])
    sql("update rota_schedules set cron_spec = '99 * * * *' where id = 'bad-spec'")
    sql("update rota_schedules set location = 'Mars/Phobos' where id = 'bad-zone'")
    if app.url.startswith("sqlite"):
        sql("""update rota_schedules set input = '{"a":' where id = 'bad-input'""")
    else:  # which keeps what is no JSON out of its columns; what is JSON may be nonsense all the same
        sql("""update rota_schedules set options = '{"grace": "JSON"}' where id = 'bad-input'""")
    sql("update rota_schedules set next_run_at = null where id = 'no-slot'")


def test_rw_i1_the_healthy_ones_fire_in_every_minute(
    app: rota.App, env: Harness, rows: None, report: Report, sql: Sql
) -> None:
    register(app, report, [f"healthy-{number}" for number in range(195)])

    live(env, NINE + 15 * MINUTE)

    assert sql("select state, count(*) from rota_runs group by state") == [("succeeded", 196 * 15)]
    fires = sql("select schedule_id, scheduled_for, fired_at from rota_schedule_fires")
    assert Counter(slot for _, slot, _ in fires) == {
        f"2026-08-03T09:{minute:02}:00.000000Z": 196 for minute in range(1, 16)
    }
    assert all(slot == fired_at for _, slot, fired_at in fires)
    assert not {schedule_id for schedule_id, _, _ in fires} & set(SICK)


def test_rw_i1_the_sick_ones_say_why(app: rota.App, env: Harness, rows: None, sql: Sql) -> None:
    live(env, NINE + MINUTE)

    errors = {schedule.id: schedule.last_error for schedule in app.list() if schedule.last_error is not None}
    assert set(errors) == {"bad-spec", "bad-zone", "bad-input"}
    assert "99 * * * *" in errors["bad-spec"]
    assert "Mars/Phobos" in errors["bad-zone"]
    assert ("JSON" if app.url.startswith("sqlite") else "timedelta") in errors["bad-input"]
    assert app.stats().health.failing_schedules == 3
    assert sql("select count(*) from rota_schedules") == [(5,)]
    assert app.get("no-slot").next_run_at is None  # finished, and so without an error


def test_rw_i1_no_instant_no_row(app: rota.App, env: Harness, rows: None, sql: Sql) -> None:
    """To PostgreSQL `tomorrow` is an instant; other words are not."""
    word = "tomorrow" if app.url.startswith("sqlite") else "some day"
    with pytest.raises((sqlite3.IntegrityError, psycopg.DataError), match=r"next_run_at_instant|some day"):
        sql(f"update rota_schedules set next_run_at = '{word}' where id = 'bad-spec'")


def test_rw_i1_there_is_no_tight_loop(
    app: rota.App, env: Harness, rows: None, caplog: pytest.LogCaptureFixture
) -> None:
    live(env, NINE + 15 * MINUTE)

    lines = Counter(
        (schedule_id, record.levelno)
        for record in caplog.records
        for schedule_id in SICK
        if schedule_id in record.getMessage() and record.levelno >= logging.WARNING
    )
    # ten tries for the slot, which it keeps, having no readable next one; then one in ten minutes
    assert lines["bad-spec", logging.WARNING] == 11
    assert lines["bad-zone", logging.WARNING] == 11
    # ten tries a slot, which is then dropped: the tenth of 09:14 came at 09:14:45, the first of 09:15 now
    assert lines["bad-input", logging.WARNING] == 14 * 10 + 1
    assert lines["bad-input", logging.ERROR] == 14
    assert [miss.reason for miss in env.misses("bad-input")] == ["poisoned"]
    assert lines.total() == 11 + 11 + 141 + 14


def test_rw_i1_an_unreadable_row_that_was_poisoned_is_tried_again_after_ten_minutes(
    app: rota.App, env: Harness, rows: None, sql: Sql
) -> None:
    live(env, NINE + 2 * MINUTE)
    stuck = app.get("bad-spec")

    assert (stuck.consecutive_failures, stuck.next_run_at) == (10, NINE + MINUTE)
    assert stuck.not_before == NINE + timedelta(minutes=11, seconds=45)

    sql("update rota_schedules set cron_spec = '* * * * *' where id = 'bad-spec'")
    live(env, NINE + timedelta(minutes=11, seconds=45))
    assert [fire.scheduled_for for fire in env.fires("bad-spec")] == [NINE + MINUTE]
    assert app.get("bad-spec").consecutive_failures == 0


def test_rw_i1_registering_again_puts_them_right(app: rota.App, env: Harness, rows: None, report: Report) -> None:
    live(env, NINE + timedelta(minutes=5, seconds=50))  # bad-input waits for 09:06, its 09:05 was dropped

    register(app, report, SICK)
    live(env, NINE + 7 * MINUTE)

    for schedule_id in SICK:
        slots = [fire.scheduled_for for fire in env.fires(schedule_id)]
        assert slots == [NINE + 6 * MINUTE, NINE + 7 * MINUTE], schedule_id
        assert app.get(schedule_id).last_error is None
    assert app.stats().health.failing_schedules == 0
