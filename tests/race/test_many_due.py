"""Field case RW-m1: many schedules are due at one instant, and their worker is killed half-way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from signal import SIGKILL
from threading import Event

import pytest

from rota.engine.scanner import BATCH
from rota.store.types import text_of
from tests.race import ticks
from tests.race.real_time import real_mark, wait_for
from tests.race.timed import LEASE_AND_BEAT, TimedSite
from tests.race.workers import LIMIT, Process, Site, check_account
from tests.time.helpers import at

MIDNIGHT, DAY = at("2026-08-04T00:00Z"), timedelta(days=1)
MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)
COUNT = 5000

FIRES = "select count(*) from rota_schedule_fires"
SLOTS = "select scheduled_for, count(*) from rota_schedule_fires where schedule_id like 'nightly-%' group by 1"
PROBED = "select scheduled_for, run_id <= ? from rota_schedule_fires where schedule_id = 'probe' order by 1"
NEXT = "select next_run_at, count(*) from rota_schedules group by 1 order by 1"


MANY = 100_000
RATES = """
    select (count(*) - 1) / ((julianday(max(fired_at)) - julianday(min(fired_at))) * 86400)
    from rota_schedule_fires where schedule_id like 'nightly-%' group by worker
"""
LATE = """
    select count(*), max(julianday(fired_at) - julianday(scheduled_for)) * 86400
    from rota_schedule_fires where schedule_id = 'probe'
"""


def register(site: Site, count: int) -> None:
    with site.app() as app, app.transaction() as tx:
        for number in range(count):
            tx.schedule(ticks.tick, "0 0 * * *", id=f"nightly-{number}")
        tx.schedule(ticks.tick, "* * * * *", id="probe")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[TimedSite]:
    """It has 5,000 schedules of every night, and one of every minute, whose slot of 23:59 is the oldest."""
    with TimedSite(tmp_path, MIDNIGHT - 90 * SECOND) as site:
        register(site, COUNT)
        yield site


def test_rw_m1_killed_half_way_each_is_fired_once(site: TimedSite) -> None:
    site.advance_to(MIDNIGHT + 3 * SECOND)
    site.kill_at("before COMMIT rota_schedules", nth=6)
    assert site.worker().process.wait(LIMIT) == -SIGKILL
    assert site.sql(FIRES) == [(5 * BATCH,)]  # whole batches, and not the one in which it died
    assert site.sql(PROBED, BATCH) == [(text_of(MIDNIGHT - MINUTE), True)]  # in the first one: it was the oldest

    site.advance_to(MIDNIGHT + MINUTE)
    worker = site.worker()
    site.until(FIRES, (COUNT + 2,))
    site.live(LEASE_AND_BEAT, workers=1)
    site.until("select state, count(*) from rota_runs group by 1", ("succeeded", COUNT + 2))
    assert worker.end() == 0
    assert site.sql(SLOTS) == [(text_of(MIDNIGHT), COUNT)]
    assert [slot for slot, _ in site.sql(PROBED, 0)] == [text_of(MIDNIGHT - MINUTE), text_of(MIDNIGHT + MINUTE)]
    assert site.sql(NEXT) == [(text_of(MIDNIGHT + 2 * MINUTE), 1), (text_of(MIDNIGHT + DAY), COUNT)]
    assert check_account(site) == {"fires": COUNT + 2, "misses": 1}


@pytest.mark.soak
def test_rw_m1_a_hundred_thousand(tmp_path: Path) -> None:
    """The figures of a drain with one worker, which is killed half-way, and another one started."""
    with Site(tmp_path) as site:
        register(site, MANY)
        with site.app() as app:
            app.schedule(ticks.tick, "@yearly", id="idle")
        mark = real_mark()
        midnight = mark.replace(hour=0, minute=0)
        site.sql("update rota_schedules set next_run_at = ?, enabled = 0 where id like 'nightly-%'", text_of(midnight))
        answering = site.process("-m", "tests.race.answering")
        first = started(site)
        wait_for(mark - 2 * SECOND)  # so that the probe comes due in the middle of it
        site.sql("update rota_schedules set enabled = 1")
        memory = [drain(site, first, MANY // 2)]
        assert first.end(SIGKILL) == -SIGKILL
        memory.append(drain(site, second := started(site), MANY))
        wait_for(mark + 70 * SECOND)
        assert second.end() == 0
        check_drained(site, midnight)
        check_figures(site, memory, answered(answering))
        assert not [line for line in first.lines + second.lines if "lost its lease" in line or "locked" in line]


def started(site: Site) -> Process:
    worker = site.worker()
    worker.until("queues")
    return worker


def drain(site: Site, worker: Process, count: int) -> float:
    """Wait until so many are fired; returns the most memory that the worker had, in MB."""
    pause, status = Event(), Path(f"/proc/{worker.process.pid}/status")
    while site.sql("select count(*) from rota_schedule_fires where schedule_id like 'nightly-%'") < [(count,)]:
        assert worker.process.poll() is None
        pause.wait(0.05)
    (peak,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    return int(peak.split()[1]) / 1024


def check_drained(site: Site, midnight: datetime) -> None:
    assert site.sql(SLOTS) == [(text_of(midnight), MANY)]
    assert site.sql("select count(distinct run_id) from rota_schedule_fires") == site.sql(FIRES)
    assert site.sql("select next_run_at, count(*) from rota_schedules where id like 'nightly-%' group by 1") == [
        (text_of(midnight + DAY), MANY)
    ]
    assert site.sql("select count(*) from rota_schedule_misses where schedule_id = 'probe'") == [(0,)]


def answered(answering: Process) -> dict[str, float]:
    """The longest that each verb took meanwhile, in seconds."""
    assert answering.process.stdin is not None
    answering.process.stdin.close()
    assert answering.process.wait(LIMIT) == 0
    found: dict[str, float] = json.loads(answering.lines[-1])
    return found


def check_figures(site: Site, memory: list[float], answered: dict[str, float]) -> None:
    rates = [rate for (rate,) in site.sql(RATES)]
    ((probes, late),) = site.sql(LATE)
    longest = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in answered.items())
    print(  # noqa: T201
        f"100,000 due at once, killed half-way: {min(rates):,.0f} and {max(rates):,.0f} fires/s, "
        f"{max(memory):.0f} MB; the probe's {probes} slots {late:.2f} s late at the most; answers within {longest}"
    )
    assert min(rates) > 500
    assert max(memory) < 300
    assert late < 10
    assert max(answered.values()) < 1
