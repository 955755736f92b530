"""Field case RW-n1, what it says of intervals: they keep their grid, and nothing spins or overflows."""

from __future__ import annotations

from datetime import timedelta

import pytest

import rota
from rota.errors import CadenceInvalid
from rota.testing import Harness
from tests.conftest import Sql
from tests.field.living import live
from tests.time.helpers import at

MINUTE = timedelta(minutes=1)
NOON = at("2026-07-01T12:00Z")

Clean = rota.Job0[None, None]


@pytest.mark.parametrize("text", ["1 month", "1mo", "1y", "6 months", "1 year"])
def test_rw_n1_a_to_d_calendar_months_are_not_thirty_days(
    app: rota.App, env: Harness, clean: Clean, sql: Sql, text: str
) -> None:
    with pytest.raises(CadenceInvalid, match="for calendar days and months five cron fields"):
        app.schedule(clean, f"@every {text}", id="monthly")

    assert sql("select * from rota_schedules") == []


def test_rw_n1_e_an_interval_keeps_its_grid(app: rota.App) -> None:
    with Harness(app, now=NOON) as env:

        @app.action()
        def slow() -> None:
            env.advance(timedelta(seconds=65))  # that long it takes

        app.schedule(slow, "@every 7m", id="grid")
        live(env, NOON + 13 * MINUTE)
        env.clock.advance_to(NOON + timedelta(minutes=14, seconds=50))  # nobody was there at 12:14
        live(env, NOON + 20 * MINUTE)
        assert app.get("grid").next_run_at == NOON + 21 * MINUTE
        live(env, NOON + 36 * MINUTE)

        fires = env.fires("grid")
        assert [fire.scheduled_for for fire in fires] == [NOON + k * 7 * MINUTE for k in range(1, 6)]
        late = [fire.fired_at - fire.scheduled_for for fire in fires]
        assert late == [timedelta(0), timedelta(seconds=50), timedelta(0), timedelta(0), timedelta(0)]
        assert env.misses("grid") == []


@pytest.mark.parametrize(
    "text",
    ["0s", "0 s", "-5s", "-0s", "NaN", "nans", "infinity", "1e12d", "99999999999999h", "ten minutes", "true", ""],
)
def test_rw_n1_f_what_is_no_interval(app: rota.App, env: Harness, clean: Clean, sql: Sql, text: str) -> None:
    with pytest.raises(CadenceInvalid):
        app.schedule(clean, f"@every {text}", id="often")

    assert sql("select * from rota_schedules") == []


def test_rw_n1_g_thirty_days_are_not_early(app: rota.App, clean: Clean) -> None:
    with Harness(app, now=NOON) as env:
        app.schedule(clean, "@every 720h", id="monthly")
        app.enqueue(clean, run_after=NOON + timedelta(days=60))

        for _ in range(30):
            assert env.turn() == 60.0  # it sleeps in pieces of a minute
            assert env.fires("monthly") == []
            env.advance(timedelta(days=1))
        env.run_until_idle()
        assert [fire.scheduled_for for fire in env.fires("monthly")] == [NOON + timedelta(days=30)]
        assert len(env.runs()) == 2

        env.advance(timedelta(days=30) - MINUTE / 2)
        assert env.turn() == 30.0
        env.advance(MINUTE / 2)
        env.run_until_idle()
        assert [run.state for run in env.runs()] == ["succeeded"] * 3
