"""Field case RW-e3: processes that look alike. Each start has an identity of its own, and no slot has two runs."""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from signal import SIGCONT, SIGSTOP, SIGTERM
from threading import Event

import pytest

from rota.store.types import text_of
from tests.race import ticks
from tests.race.real_time import real_mark, wait_for
from tests.race.timed import TimedSite
from tests.race.workers import Process, Site, check_account
from tests.time.helpers import at

MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)
FIRST = at("2026-08-03T09:01Z")

FIRES = "select count(*) from rota_schedule_fires"
SLOTS = "select scheduled_for from rota_schedule_fires order by 1"
RUNS = "select state, count(*) from rota_runs group by 1"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[TimedSite]:
    """Its processes are twins, and it has one schedule, of every minute."""
    with TimedSite(tmp_path, FIRST - MINUTE) as site:
        twins(site)
        yield site


def twins(site: Site) -> None:
    site.program, site.environ["TWIN"] = "tests.race.timed_rota", "yes"
    with site.app() as app:
        app.schedule(ticks.tick, "* * * * *", id="minutely")


def up(site: Site, count: int) -> list[Process]:
    processes = [site.worker() for _ in range(count)]
    for process in processes:
        process.until("queues")
    return processes


def identity(process: Process) -> str:
    """Under which name it started."""
    (name,) = re.findall(r"worker (w-\w+) started", "".join(process.lines))
    return str(name)


def check_minutes(site: Site, first: datetime, count: int, processes: Sequence[Process]) -> None:
    """So many minutes were fired, each has its run, and each of the processes had a name of its own."""
    site.until(RUNS, ("succeeded", count))
    assert [process.end() for process in processes] == [0] * len(processes)
    assert site.sql(SLOTS) == [(text_of(first + number * MINUTE),) for number in range(count)]
    assert check_account(site) == {"fires": count, "misses": 0}
    assert len({identity(process) for process in processes}) == len(processes)


def test_rw_e3_stopped_and_started_around_each_mark(site: TimedSite) -> None:
    running = up(site, 4)
    everyone = list(running)
    assert site.sql("select count(distinct id), host, pid from rota_workers group by host, pid") == [(4, "web", 1)]
    for number in range(3):
        site.live(50 * SECOND, workers=4)
        leaving, staying = running[:2], running[2:]
        for process in leaving:
            process.send(SIGTERM)
        site.advance_to(FIRST + number * MINUTE)
        running = staying + up(site, 2)
        everyone += running[2:]
        site.until(FIRES, (number + 1,))
    assert len(everyone) == 4 + 3 * 2
    check_minutes(site, FIRST, 3, everyone)


def stop_between_writes(site: TimedSite, process: Process) -> None:
    """Not in the middle of one: a stopped process that has the write lock holds up all others on its machine."""
    pause = Event()
    for _ in range(200):
        process.send(SIGSTOP)
        while Path(f"/proc/{process.process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
            pause.wait(0.001)
        if all(_is_free(site.folder / f"rota.db-{lock}") for lock in ("queue", "writer")):
            return
        process.send(SIGCONT)
        pause.wait(0.02)
    raise AssertionError("it never stopped writing")


def _is_free(lock: Path) -> bool:
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def test_rw_e3_cut_off_for_90_seconds(site: TimedSite) -> None:
    cut_off, *_ = everyone = up(site, 4)
    stop_between_writes(site, cut_off)
    site.live(90 * SECOND, workers=3)
    assert site.sql("select count(*) from rota_workers where id = ?", identity(cut_off)) == [(0,)]
    site.advance_to(FIRST + MINUTE)
    cut_off.send(SIGCONT)
    assert identity(cut_off) in cut_off.until("lost its lease, and goes on as")
    check_minutes(site, FIRST, 2, everyone)


def test_rw_e3_who_comes_back_notices_before_it_writes(site: TimedSite) -> None:
    """Nobody else is there to fire the slot: it does so under its new name, not under the one that is gone."""
    cut_off, other = up(site, 2)
    stop_between_writes(site, cut_off)
    site.live(50 * SECOND, workers=1)
    assert site.sql("select count(*) from rota_workers where id = ?", identity(cut_off)) == [(0,)]
    assert other.end() == 0
    site.advance_to(FIRST)
    cut_off.send(SIGCONT)
    successor = cut_off.until("lost its lease, and goes on as").split()[-1]
    check_minutes(site, FIRST, 1, [cut_off, other])
    assert site.sql("select worker from rota_schedule_fires") == [(successor,)]


@pytest.mark.soak
def test_rw_e3_ten_minutes_of_real_time(tmp_path: Path) -> None:
    with Site(tmp_path) as site:
        first = real_mark()
        twins(site)
        cut_off, *running = everyone = up(site, 4)
        for number in range(10):
            mark = first + number * MINUTE
            leaving, staying = running[:2], running[2:]
            wait_for(mark - SECOND)
            for process in leaving:
                process.send(SIGTERM)
            wait_for(mark)
            running = staying + up(site, 2)
            everyone += running[1:]
            if number == 3:
                wait_for(mark + 5 * SECOND)
                stop_between_writes(site, cut_off)
            if number == 4:
                wait_for(mark + 35 * SECOND)
                cut_off.send(SIGCONT)
                assert identity(cut_off) in cut_off.until("lost its lease, and goes on as")
        site.until(FIRES, (10,))
        assert len(everyone) == 4 + 10 * 2
        check_minutes(site, first, 10, everyone)
        late = site.sql("select max(julianday(fired_at) - julianday(scheduled_for)) * 86400 from rota_schedule_fires")
        print(f"24 twins, 10 marks, each fired once, {late[0][0]:.2f} s late at the most")  # noqa: T201
