"""Cyclone's promises about poison schedules: C60 to C67."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest

import rota
from rota.testing import Harness
from tests.conftest import Sql
from tests.time.helpers import at

HOUR = timedelta(hours=1)
TRY = timedelta(seconds=5)  # from one counted failure to the next try: design 6.5
TEN = at("2026-08-03T10:00Z")

REFUSE = (
    "create trigger refuse before insert on rota_runs when new.schedule_id = 'sick' "
    "begin select raise(abort, 'no more reports today'); end"
)


@pytest.fixture
def sick(app: rota.App, env: Harness, report: rota.Job[str, int, int], sql: Sql) -> str:
    """The id of a schedule that is due, and whose run the database refuses; a healthy one is due beside it."""
    app.schedule(report, "@hourly", "hour", id="sick")
    app.schedule(report, "@hourly", "hour", id="well")
    sql(REFUSE)
    env.advance(HOUR)
    return "sick"


def fail(env: Harness, times: int) -> None:
    """Passes until the schedule has failed that many times."""
    for _ in range(times):
        env.run_until_idle()
        env.advance(TRY)


def test_c60_a_failure_of_the_scanner_counts(
    app: rota.App, env: Harness, report: rota.Job[str, int, int], sql: Sql
) -> None:
    app.schedule(report, "@hourly", "hour", id="unreadable")
    sql("update rota_schedules set cron_spec = '99 * * * *'")
    env.advance(HOUR)

    env.run_until_idle()

    ((failures, error),) = sql("select consecutive_failures, last_error from rota_schedules")
    assert failures == 1
    assert "99 * * * *" in error


def test_c60_a_failure_of_the_enqueue_counts(app: rota.App, env: Harness, sick: str, sql: Sql) -> None:
    env.run_until_idle()

    ((failures, error),) = sql("select consecutive_failures, last_error from rota_schedules where id = 'sick'")
    assert failures == 1
    assert "no more reports today" in error


def test_c60_it_fails_for_itself_alone(app: rota.App, env: Harness, sick: str) -> None:
    env.run_until_idle()

    assert [fire.scheduled_for for fire in env.fires("well")] == [TEN]
    assert [run.state for run in env.runs()] == ["succeeded"]
    assert app.get("well").consecutive_failures == 0


def test_c61_a_failing_handler_does_not_count(app: rota.App, env: Harness) -> None:
    @app.action()
    def broken() -> None:
        raise ValueError("broken")

    app.schedule(broken, "@hourly", id="broken")
    for _ in range(12):
        env.advance(HOUR)
        env.run_until_idle()

    assert [run.state for run in env.runs("broken")] == ["failed"] * 12
    assert app.get("broken").consecutive_failures == 0
    assert app.get("broken").last_error is None


def test_c62_each_failure_is_recorded_and_warned_of(
    app: rota.App, env: Harness, sick: str, caplog: pytest.LogCaptureFixture
) -> None:
    fail(env, 3)

    texts = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(texts) == 3
    for count, text in enumerate(texts, 1):
        assert "sick" in text
        assert "2026-08-03T10:00:00" in text
        assert f"failure {count} " in text
    assert app.get(sick).consecutive_failures == 3
    assert "no more reports today" in str(app.get(sick).last_error)


def test_c62_the_tenth_is_warned_of_too(
    app: rota.App, env: Harness, sick: str, caplog: pytest.LogCaptureFixture
) -> None:
    fail(env, 10)

    assert [record.levelname for record in caplog.records].count("WARNING") == 10
    assert [record.levelname for record in caplog.records].count("ERROR") == 1


def test_c63_it_stays_enabled_and_keeps_its_slot(app: rota.App, env: Harness, sick: str, sql: Sql) -> None:
    fail(env, 3)

    assert sql("select enabled, next_run_at from rota_schedules where id = 'sick'") == [
        (1, "2026-08-03T10:00:00.000000Z")
    ]


def test_c63_the_next_try_waits_five_seconds(app: rota.App, env: Harness, sick: str) -> None:
    env.run_until_idle()
    env.advance(TRY - timedelta(microseconds=1))
    env.run_until_idle()
    assert app.get(sick).consecutive_failures == 1

    env.advance(timedelta(microseconds=1))
    env.run_until_idle()
    assert app.get(sick).consecutive_failures == 2


def test_c63_once_it_works_the_slot_is_fired_and_all_is_forgotten(
    app: rota.App, env: Harness, sick: str, sql: Sql
) -> None:
    fail(env, 9)
    sql("drop trigger refuse")

    env.run_until_idle()

    assert [fire.scheduled_for for fire in env.fires(sick)] == [TEN]
    assert (app.get(sick).consecutive_failures, app.get(sick).last_error) == (0, None)


def test_c64_the_tenth_failure_skips_the_slot(app: rota.App, env: Harness, sick: str, sql: Sql) -> None:
    fail(env, 10)

    assert sql("select consecutive_failures, next_run_at, enabled from rota_schedules where id = 'sick'") == [
        (0, "2026-08-03T11:00:00.000000Z", 1)
    ]
    assert [(m.first_slot, m.last_slot, m.slots, m.reason) for m in env.misses(sick)] == [(TEN, TEN, 1, "poisoned")]

    sql("drop trigger refuse")
    for _ in range(3):
        env.advance(HOUR)
        env.run_until_idle()
    assert [fire.scheduled_for for fire in env.fires(sick)] == [TEN + HOUR, TEN + 2 * HOUR, TEN + 3 * HOUR]


def test_c65_the_skip_is_an_error_that_names_the_slot(
    env: Harness, sick: str, caplog: pytest.LogCaptureFixture
) -> None:
    fail(env, 9)
    assert [record for record in caplog.records if record.levelno == logging.ERROR] == []

    fail(env, 1)

    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "sick" in record.getMessage()
    assert "2026-08-03T10:00:00" in record.getMessage()


def test_c66_the_query_to_watch(env: Harness, sick: str, sql: Sql) -> None:
    fail(env, 4)

    ((found_id, kind, failures, error, slot),) = sql(
        "select id, kind, consecutive_failures, last_error, next_run_at from rota_schedules "
        "where consecutive_failures > 0"
    )

    assert (found_id, kind, failures, slot) == ("sick", "step", 4, "2026-08-03T10:00:00.000000Z")
    assert "no more reports today" in error


def test_c67_the_failing_schedules_are_counted(
    app: rota.App, env: Harness, report: rota.Job[str, int, int], sql: Sql
) -> None:
    for name in ("one", "two", "three"):
        app.schedule(report, "@hourly", "hour", id=name)
    sql("update rota_schedules set cron_spec = '99 * * * *' where id <> 'three'")
    env.advance(HOUR)
    env.run_until_idle()

    assert app.stats().health.failing_schedules == 2
