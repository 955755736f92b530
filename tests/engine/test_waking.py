"""What wakes a worker, and what does not; and that others' trouble with the file is nobody's failure."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta

import pytest

import rota
from rota.engine.options import WorkerOptions
from rota.events import RunSettled, ScheduleFired, WorkerTroubled
from rota.store import sqlite
from rota.testing import Harness
from tests.engine.conftest import SECOND, Hear, Sql
from tests.store.conftest import Started, python

__all__ = ["python"]

DEAF = WorkerOptions(poll_only=True, poll_interval=timedelta(days=1), shutdown_timeout=timedelta(0))
LISTENING = WorkerOptions(poll_interval=timedelta(days=1), shutdown_timeout=timedelta(0))

Clean = rota.Job0[None, None]


@pytest.fixture
def looked_around(app: rota.App, hear: Hear) -> Callable[[], None]:
    """Waits until a worker that was started has made a pass."""
    settled = hear(RunSettled)
    ping = app.action(name="ping", queue="pings")(lambda: None)

    def wait() -> None:
        app.enqueue(ping)
        settled.next()

    return wait


def test_the_slot_wakes_it_and_no_moment_before(
    app: rota.App, env: Harness, clean: Clean, hear: Hear, looked_around: Callable[[], None]
) -> None:
    """It polls once a day and does not look at the file: only the slot it knows of can wake it."""
    fired = hear(ScheduleFired)
    app.schedule(clean, "*/5 * * * *", id="clean")
    slot = env.clock.now() + 300 * SECOND
    with app.running(DEAF):
        looked_around()
        env.clock.advance_to(slot - timedelta.resolution)
        looked_around()
        assert fired.all() == []
        for n in range(3):
            env.clock.advance_to(slot + n * 300 * SECOND)
            assert fired.next().slot == slot + n * 300 * SECOND
    assert [fire.fired_at - fire.scheduled_for for fire in env.fires("clean")] == [timedelta(0)] * 3


def test_a_real_other_process_is_noticed(
    app: rota.App,
    env: Harness,
    clean: Clean,
    hear: Hear,
    looked_around: Callable[[], None],
    ticking: Callable[[], None],
    python: Started,
) -> None:
    code = f"""
import rota
app = rota.App("{env.store.url}")
clean = app.action(name="clean")(lambda: None)
input()
print(app.enqueue(clean).id)
"""
    with app.running(LISTENING):
        looked_around()
        settled = hear(RunSettled)
        printed, _ = python(code).communicate("go\n", timeout=30)
        assert settled.next_while(ticking).run_id == int(printed)


def test_the_poll_bounds_what_a_pass_says(app: rota.App, env: Harness, clean: Clean) -> None:
    assert env.turn() == 60.0
    app.schedule(clean, "@every 25s", id="clean")
    assert env.turn() == 25.0
    env.advance(24 * SECOND)
    assert env.turn() == 1.0
    app.pause("clean")
    assert env.turn() == 60.0


def test_a_locked_file_is_no_schedule_s_failure(
    app: rota.App, monkeypatch: pytest.MonkeyPatch, clean: Clean, hear: Hear
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    troubled, fired = hear(WorkerTroubled), hear(ScheduleFired)
    with Harness(app) as env:
        app.schedule(clean, "* * * * *", id="clean")
        with app.running(DEAF):
            with closing(sqlite3.connect(env.store.url.removeprefix("sqlite:///"), isolation_level=None)) as other:
                other.execute("begin immediate")
                env.advance(60 * SECOND)
                for _ in range(3):
                    assert "held its write lock" in troubled.next_while(lambda: env.advance(SECOND)).error
            assert fired.next_while(lambda: env.advance(SECOND)).slot.minute == 1
        assert (app.get("clean").consecutive_failures, app.get("clean").last_error) == (0, None)
        assert len(env.fires("clean")) == 1


def test_a_schedule_that_the_database_refuses_stops_only_itself(
    app: rota.App, env: Harness, clean: Clean, sql: Sql
) -> None:
    """The batch is rolled back and each is written alone: nine are fired, and one is counted as failing."""
    for n in range(10):
        app.schedule(clean, "* * * * *", id=f"clean {n}")
    sql(
        "create trigger not_four before insert on rota_schedule_fires when new.schedule_id = 'clean 4' "
        "begin select raise(abort, 'not four'); end"
    )
    env.advance(180 * SECOND)
    env.run_until_idle()
    four = app.get("clean 4")
    assert [len(env.fires(f"clean {n}")) for n in range(10)] == [1, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    assert (four.consecutive_failures, four.last_error) == (1, "the database refused its run: not four")
    assert four.next_run_at == env.clock.now() - 120 * SECOND
    assert env.runs("clean 4") == []
    assert env.misses("clean 4") == []
    sql("drop trigger not_four")
    env.advance(5 * SECOND)
    env.run_until_idle()
    assert [fire.scheduled_for for fire in env.fires("clean 4")] == [four.next_run_at]
    assert [row.slots for row in env.misses("clean 4")] == [2]
