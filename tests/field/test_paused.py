"""Field case RW-g1: what a pause leaves behind."""

from __future__ import annotations

from datetime import timedelta
from threading import Event

import rota
from rota.testing import Harness
from tests.field.living import live
from tests.time.helpers import at

Clean = rota.Job0[None, None]


def test_rw_g1_a_resumed_after_the_slot(app: rota.App, clean: Clean) -> None:
    with Harness(app, now=at("2026-08-14T21:50Z")) as env:
        app.schedule(clean, "0 2 * * *", id="nightly", tz="Europe/Bucharest")
        live(env, at("2026-08-14T22:00Z"))
        app.pause("nightly")
        env.clock.advance_to(at("2026-08-15T04:49Z"))
        env.run_until_idle()

        app.resume("nightly")
        env.run_until_idle()

        assert env.runs() == []
        assert app.get("nightly").next_run_at == at("2026-08-15T23:00Z")
        assert [(m.first_slot, m.slots, m.reason) for m in env.misses("nightly")] == [
            (at("2026-08-14T23:00Z"), 1, "paused")
        ]


def test_rw_g1_b_resumed_after_4320_slots(app: rota.App, clean: Clean) -> None:
    with Harness(app, now=at("2026-08-01T12:00:10Z")) as env:
        app.schedule(clean, "*/5 * * * *", id="often")
        env.clock.advance_to(at("2026-08-01T12:00:30Z"))
        app.pause("often")
        env.clock.advance_to(at("2026-08-16T12:02:30Z"))

        app.resume("often")
        env.run_until_idle()
        resumed = app.get("often")
        app.resume("often")
        env.stop()
        app.schedule(clean, "*/5 * * * *", id="often")
        env.run_until_idle()

        assert env.runs() == []
        assert app.get("often") == resumed
        assert resumed.next_run_at == at("2026-08-16T12:05Z")
        (miss,) = env.misses("often")
        assert (miss.first_slot, miss.last_slot) == (at("2026-08-01T12:05Z"), at("2026-08-16T12:00Z"))
        assert (miss.slots, miss.reason) == (None, "paused")  # there are more than 1,000

        live(env, at("2026-08-16T12:05Z"))
        assert len(env.runs()) == 1


def test_rw_g1_c_paused_while_it_runs(app: rota.App, env: Harness) -> None:
    began, go_on = Event(), Event()

    @app.action()
    def slow() -> None:
        began.set()
        assert go_on.wait(10)

    app.schedule(slow, "* * * * *", id="slow")
    env.advance(timedelta(minutes=1))
    env.turn()
    assert began.wait(10)

    app.pause("slow")
    env.advance(timedelta(minutes=3))
    env.turn()
    assert [run.state for run in env.runs()] == ["running"]
    go_on.set()
    env.run_until_idle()

    assert [run.state for run in env.runs()] == ["succeeded"]
    assert len(env.fires("slow")) == 1


def test_a_slot_that_was_due_before_the_pause_is_late(app: rota.App, env: Harness, clean: Clean) -> None:
    app.schedule(clean, "* * * * *", id="minutely")
    env.advance(timedelta(minutes=2, seconds=30))
    app.pause("minutely")
    env.advance(timedelta(minutes=2))

    app.resume("minutely")

    assert [(m.first_slot, m.last_slot, m.reason) for m in env.misses("minutely")] == [
        (at("2026-08-03T09:01Z"), at("2026-08-03T09:02Z"), "late"),
        (at("2026-08-03T09:03Z"), at("2026-08-03T09:04Z"), "paused"),
    ]
