"""Field cases RW-d1, RW-d2 and RW-d3: slots that nobody was there for."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from queue import Queue

import rota
from rota.events import ScheduleFired
from rota.testing import Harness
from tests.field.living import awaited, live
from tests.time.helpers import at

Clean = rota.Job0[None, None]


def slots(env: Harness, schedule_id: str) -> list[datetime]:
    return [fire.scheduled_for for fire in env.fires(schedule_id)]


def test_rw_d1_a_night_off(app: rota.App, clean: Clean) -> None:
    with Harness(app, now=at("2024-05-06T21:59:30Z")) as env:
        app.schedule(clean, "* * * * *", id="minutely")
        live(env, at("2024-05-06T22:00:30Z"))
        env.stop()
        env.clock.advance_to(at("2024-05-07T06:15:20Z"))

        began = time.perf_counter()
        env.turn()
        assert time.perf_counter() - began < 1
        second = app.worker(rota.WorkerOptions())  # one more, at the same moment
        second.turn()
        second.stop()
        env.run_until_idle()

        assert slots(env, "minutely") == [at("2024-05-06T22:00Z"), at("2024-05-06T22:01Z")]
        (miss,) = env.misses("minutely")
        assert (miss.first_slot, miss.last_slot) == (at("2024-05-06T22:02Z"), at("2024-05-07T06:15Z"))
        assert (miss.slots, miss.reason) == (494, "late")
        schedule = app.get("minutely")
        assert (schedule.enabled, schedule.next_run_at) == (True, at("2024-05-07T06:16Z"))
        assert [run.state for run in env.runs()] == ["succeeded"] * 2


def test_rw_d1_what_is_older_than_its_grace_is_skipped(app: rota.App, clean: Clean) -> None:
    with Harness(app, now=at("2024-05-06T21:59:30Z")) as env:
        app.schedule(clean, "* * * * *", id="minutely", grace=timedelta(seconds=10))
        env.clock.advance_to(at("2024-05-07T06:15:20Z"))
        env.run_until_idle()

        assert slots(env, "minutely") == []
        assert app.get("minutely").next_run_at == at("2024-05-07T06:16Z")
        assert [miss.slots for miss in env.misses("minutely")] == [496]


def test_rw_d2_a_short_restart(app: rota.App, clean: Clean) -> None:
    with Harness(app, now=at("2026-08-03T09:29:30Z")) as env:
        app.schedule(clean, "*/10 * * * *", id="A")
        app.schedule(clean, "* * * * *", id="B")
        live(env, at("2026-08-03T09:39:30Z"))
        env.stop()
        env.clock.advance_to(at("2026-08-03T09:40:10Z"))
        live(env, at("2026-08-03T09:50:30Z"))

        fired = {fire.scheduled_for: fire.fired_at for fire in env.fires("A")}
        assert fired == {
            at("2026-08-03T09:30Z"): at("2026-08-03T09:30Z"),
            at("2026-08-03T09:40Z"): at("2026-08-03T09:40:10Z"),
            at("2026-08-03T09:50Z"): at("2026-08-03T09:50Z"),
        }
        assert slots(env, "B") == [at(f"2026-08-03T09:{minute}Z") for minute in range(30, 51)]
        late = {fire.scheduled_for.minute: fire.fired_at - fire.scheduled_for for fire in env.fires("B")}
        assert late.pop(40) == timedelta(seconds=10)
        assert set(late.values()) == {timedelta(0)}
        assert env.misses("A") == env.misses("B") == []


def test_rw_d3_a_stopped_process_goes_on(app: rota.App, clean: Clean) -> None:
    noon = at("2026-07-01T12:00:00Z")
    fired: Queue[ScheduleFired] = Queue()
    app.on(ScheduleFired, fired.put)
    with Harness(app, now=noon) as env:
        app.schedule(clean, "@every 10s", id="often")
        with app.running():
            env.clock.advance(timedelta(seconds=5))
            env.clock.advance(timedelta(minutes=78))  # stopped, and continued
            seen = [awaited(env, fired).slot]
            for _ in range(6):
                env.clock.advance_to(app.get("often").next_run_at or noon)
                seen.append(awaited(env, fired).slot)

        assert seen == [
            at("2026-07-01T12:00:10Z"),
            *(at("2026-07-01T13:18:00Z") + k * timedelta(seconds=10) for k in range(1, 7)),
        ]
        assert slots(env, "often") == seen
        assert len(env.runs()) == 7
        assert [miss.slots for miss in env.misses("often")] == [467]


def test_rw_d3_is_as_if_it_had_been_started_anew(app: rota.App, clean: Clean) -> None:
    with Harness(app, now=at("2026-07-01T12:00:00Z")) as env:
        app.schedule(clean, "@every 10s", id="often")
        live(env, at("2026-07-01T12:00:05Z"))
        env.stop()
        env.clock.advance_to(at("2026-07-01T13:18:05Z"))
        live(env, at("2026-07-01T13:19:05Z"))

        assert slots(env, "often") == [
            at("2026-07-01T12:00:10Z"),
            *(at("2026-07-01T13:18:00Z") + k * timedelta(seconds=10) for k in range(1, 7)),
        ]
