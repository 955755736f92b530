"""Field cases RW-h1 and RW-h2: registering again, unchanged and changed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

import rota
from rota.testing import Harness
from tests.conftest import Sql
from tests.time.helpers import at

HOUR = timedelta(hours=1)

Clean = rota.Job0[None, None]


def slots(env: Harness, schedule_id: str) -> list[datetime]:
    return [fire.scheduled_for for fire in env.fires(schedule_id)]


def test_rw_h1_a_a_weekly_interval_in_a_process_that_restarts_every_hour(app: rota.App, clean: Clean) -> None:
    with Harness(app, now=at("2026-01-01T00:00Z")) as env:
        for _ in range(8 * 24):
            app.schedule(clean, "@every 168h", id="weekly")
            env.run_until_idle()
            env.stop()
            env.advance(HOUR)

        assert slots(env, "weekly") == [at("2026-01-08T00:00Z")]
        assert app.get("weekly").next_run_at == at("2026-01-15T00:00Z")
        assert env.misses("weekly") == []


@pytest.fixture
def other(app: rota.App, env: Harness) -> Iterator[tuple[rota.App, Clean]]:
    """Another process with the same code: an app of its own on the same database."""
    other = rota.App("sqlite:///not-opened.db")

    @other.action()
    def clean() -> None:
        return None

    with other.housed(app.home()):
        yield other, clean


def test_rw_h1_b_registered_around_its_slot(
    app: rota.App, env: Harness, clean: Clean, other: tuple[rota.App, Clean]
) -> None:
    def register() -> None:
        other_app, other_clean = other
        other_app.schedule(other_clean, "0 3 * * *", id="nightly")

    app.schedule(clean, "0 3 * * *", id="nightly")
    env.clock.advance_to(at("2026-08-04T02:59:59.9Z"))
    env.run_until_idle()
    register()
    env.clock.advance_to(at("2026-08-04T03:00:00.1Z"))
    register()
    env.run_until_idle()
    register()
    env.run_until_idle()

    assert slots(env, "nightly") == [at("2026-08-04T03:00Z")]
    assert len(env.runs()) == 1
    assert app.get("nightly").next_run_at == at("2026-08-05T03:00Z")


def test_rw_h1_c_registered_while_its_slot_is_due(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "@every 1h", id="hourly")
    env.advance(HOUR + timedelta(seconds=2))

    app.schedule(clean, "@every 1h", id="hourly")
    env.run_until_idle()

    assert slots(env, "hourly") == [at("2026-08-03T10:00Z")]
    assert app.get("hourly").next_run_at == at("2026-08-03T11:00Z")


def test_another_input_keeps_the_due_slot(
    app: rota.App, env: Harness, report: rota.Job[str, int, int], sql: Sql
) -> None:
    app.schedule(report, "@hourly", "hour", id="report")
    env.advance(HOUR)

    app.schedule(report, "@hourly", "a better hour", id="report")
    env.run_until_idle()

    assert slots(env, "report") == [at("2026-08-03T10:00Z")]
    assert sql("select input from rota_runs") == [('"a better hour"',)]


def test_registering_does_not_undo_a_pause(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "@hourly", id="hourly")
    app.pause("hourly")

    app.schedule(clean, "@hourly", id="hourly")
    app.schedule(clean, "@daily", id="hourly")

    assert not app.get("hourly").enabled


@pytest.mark.parametrize(
    ("was", "edited_at", "becomes", "next_slot"),
    [
        pytest.param(("0 6 10 * *", "UTC"), "2026-05-12T09:00Z", ("0 6 11 * *", "UTC"), "2026-06-11T06:00Z", id="A"),
        pytest.param(("0 0 1 12 *", "UTC"), "2026-05-12T12:20Z", ("0 * * * *", "UTC"), "2026-05-12T13:00Z", id="B"),
        pytest.param(
            ("0 9 * * *", "Europe/London"),
            "2026-05-12T09:00Z",
            ("0 9 * * *", "Asia/Tokyo"),
            "2026-05-13T00:00Z",
            id="C",
        ),
        pytest.param(("0 7 * * *", "UTC"), "2026-05-15T12:00Z", ("0 7 * * 1-5", "UTC"), "2026-05-18T07:00Z", id="D"),
    ],
)
def test_rw_h2_an_edit_takes_the_next_slot_of_the_new_spec(
    app: rota.App,
    clean: Clean,
    sql: Sql,
    was: tuple[str, str],
    edited_at: str,
    becomes: tuple[str, str],
    next_slot: str,
) -> None:
    with Harness(app, now=at("2026-05-10T05:00Z")) as env:
        app.schedule(clean, was[0], id="edited", tz=was[1])
        for hour in range(1, 200):  # it fires what comes due before the edit
            if (now := at("2026-05-10T05:00Z") + hour * HOUR) <= at(edited_at):
                env.clock.advance_to(now)
                env.run_until_idle()
        env.clock.advance_to(at(edited_at))
        before = env.fires("edited")

        app.schedule(clean, becomes[0], id="edited", tz=becomes[1])
        env.run_until_idle()

        assert env.fires("edited") == before
        assert app.get("edited").next_run_at == at(next_slot)
        assert [schedule.next_run_at for schedule in app.list()] == [at(next_slot)]
        assert sql("select next_run_at, version from rota_schedules") == [(f"{next_slot[:-1]}:00.000000Z", 2)]
        assert env.turn() == min(60.0, (at(next_slot) - at(edited_at)).total_seconds())

        env.clock.advance_to(at(next_slot))
        env.run_until_idle()
        assert [fire.scheduled_for for fire in env.fires("edited")[len(before) :]] == [at(next_slot)]
        assert env.misses("edited") == []


def test_an_edit_never_fires_what_is_older_than_itself(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "@hourly", id="edited")
    env.advance(2 * HOUR + timedelta(minutes=30))

    app.schedule(clean, "15 * * * *", id="edited")
    env.run_until_idle()
    env.clock.advance_to(at("2026-08-03T12:15Z"))
    env.run_until_idle()

    assert slots(env, "edited") == [at("2026-08-03T12:15Z")]
    assert [(m.first_slot, m.last_slot, m.slots, m.reason, m.version) for m in env.misses("edited")] == [
        (at("2026-08-03T10:00Z"), at("2026-08-03T11:00Z"), 2, "edited", 1)
    ]
