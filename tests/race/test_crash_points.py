"""Field case RW-e2: killed at each point of firing a slot, the slot has one run, and the next one comes too."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from signal import SIGKILL
from threading import Event

import pytest

from rota.store.types import text_of
from tests.race import ticks
from tests.race.timed import LEASE_AND_BEAT, TimedSite, killed
from tests.race.workers import GLANCE, LIMIT, Process, check_account
from tests.time.helpers import at

SLOT, NEXT_SLOT, THIRD_SLOT = at("2026-08-03T04:00Z"), at("2026-08-10T04:00Z"), at("2026-08-17T04:00Z")
AT_ONCE = timedelta(seconds=5)

ALL_RUNS = "select scheduled_for, state from rota_runs order by id"
FIRES = "select scheduled_for, run_id from rota_schedule_fires order by 1"

points = pytest.mark.parametrize(
    "point",
    [
        pytest.param("before INSERT rota_runs", id="before the run"),
        pytest.param("after INSERT rota_runs", id="before the fire"),
        pytest.param("before UPDATE rota_schedules", id="before the next slot"),
        pytest.param("before COMMIT rota_schedules", id="before the commit"),
        pytest.param("after COMMIT rota_schedules", id="before it knows of the commit"),
        pytest.param("after COMMIT rota_runs", id="before the handler is called"),
    ],
)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[TimedSite]:
    with weekly(tmp_path) as site:
        yield site


def weekly(folder: Path) -> TimedSite:
    """It has one schedule, Mondays at six, and the slot of 3 August is due in a minute."""
    site = TimedSite(folder, SLOT - timedelta(minutes=1))
    with site.app() as app:
        app.schedule(ticks.tick, "0 6 * * 1", id="weekly", tz="Europe/Prague")
    return site


@points
def test_rw_e2_killed_and_started_again(site: TimedSite, point: str) -> None:
    check_weekly(site, killed_and_started_again(site, point))


@points
def test_rw_e2_killed_beside_another(site: TimedSite, point: str) -> None:
    site.sql("update rota_schedules set enabled = 0")  # until both are up
    site.advance_to(SLOT)
    pair = [site.worker(), site.worker()]
    for process in pair:
        process.until("queues")
    site.kill_at(point)
    site.sql("update rota_schedules set enabled = 1")
    pair.remove(killed(pair))
    check_weekly(site, *pair)


@pytest.mark.soak
def test_rw_e2_killed_after_each_statement_and_commit(tmp_path: Path) -> None:
    """From the first one of its start to the one with which its run is settled."""
    for nth in count(1):
        (folder := tmp_path / str(nth)).mkdir()
        with weekly(folder) as site:
            site.advance_to(SLOT)
            site.kill_at("after", nth)
            if not dies(site, site.worker()):
                break
            check_weekly(site, started_again(site))
    print(f"killed at {nth - 1} moments")  # noqa: T201
    assert nth > 10


def dies(site: TimedSite, worker: Process) -> bool:
    """Whether it is killed before its run has ended, or while it stops after that."""
    pause = Event()
    while worker.process.poll() is None:
        if site.sql(ALL_RUNS) == [(text_of(SLOT), "succeeded")]:
            return worker.end() == -SIGKILL
        pause.wait(GLANCE)
    return True


def killed_and_started_again(site: TimedSite, point: str) -> Process:
    """The worker that came after the one that was killed there."""
    site.advance_to(SLOT)
    site.kill_at(point)
    assert site.worker().process.wait(LIMIT) == -SIGKILL
    assert site.sql("select count(*) from rota_schedule_fires") == [(point.startswith("after COMMIT"),)]
    return started_again(site)


def started_again(site: TimedSite) -> Process:
    site.advance(AT_ONCE)
    worker = site.worker()
    worker.until("queues")
    return worker


def check_weekly(site: TimedSite, worker: Process) -> None:
    """With this worker alone the slot ends with its one run, and a week later the next one."""
    site.live(LEASE_AND_BEAT, workers=1)
    site.until(ALL_RUNS, (text_of(SLOT), "succeeded"))
    ((run,),) = site.sql("select id from rota_runs")
    assert site.sql(FIRES) == [(text_of(SLOT), run)]
    assert site.sql("select next_run_at, last_run_id from rota_schedules") == [(text_of(NEXT_SLOT), run)]

    site.advance_to(NEXT_SLOT)
    site.until(ALL_RUNS, (text_of(SLOT), "succeeded"), (text_of(NEXT_SLOT), "succeeded"))
    assert worker.end() == 0
    assert [slot for slot, _ in site.sql(FIRES)] == [text_of(SLOT), text_of(NEXT_SLOT)]
    assert site.sql("select next_run_at from rota_schedules") == [(text_of(THIRD_SLOT),)]
    assert check_account(site) == {"fires": 2, "misses": 0}
