"""Field case RW-l1: a job of 20 seconds, and five seconds into it someone ends its worker, in one way or another."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM, Signals
from threading import Event

import pytest

from tests.race import lines
from tests.race.timed import LEASE_AND_BEAT, TimedSite
from tests.race.workers import LIMIT, Process, Site
from tests.time.helpers import at

NINE, SECOND = at("2026-08-03T09:00Z"), timedelta(seconds=1)

RUNS = "select state, attempt, lost, failures, output from rota_runs order by id"
LOST = "select run_id, attempt, outcome from rota_run_attempts"
FIRES = "select count(*) from rota_schedule_fires"

both_signals = pytest.mark.parametrize("number", [SIGTERM, SIGINT])


@pytest.fixture
def site(tmp_path: Path) -> Iterator[TimedSite]:
    """It has one schedule, whose slot is due in a second."""
    with TimedSite(tmp_path, NINE - SECOND, app="tests.race.lines:app") as site:
        with site.app() as app:
            app.schedule(lines.lines, "0 9 * * *", id="daily")
        yield site


def up(site: Site, *options: str) -> Process:
    worker = site.worker(*options)
    worker.until("queues")
    return worker


def five_seconds_in(site: TimedSite, *options: str) -> Process:
    """A worker whose run of the slot has written five lines."""
    worker = up(site, *options)
    site.advance_to(NINE)
    worker.until("run 1 attempt 1 begins")
    site.advance(5 * SECOND)
    worker.until("run 1 attempt 1 line 5")
    return worker


def stopping(worker: Process, number: Signals = SIGTERM) -> None:
    worker.send(number)
    worker.until(f"stopping ({number.name}); 1 still running")


def code(worker: Process) -> int:
    """Its exit code, as soon as it has ended."""
    return worker.process.wait(LIMIT)


def written(worker: Process, attempt: int = 1) -> int:
    """How many lines that attempt wrote there, one after the other."""
    said = [line.split()[-1] for line in worker.lines if f"run 1 attempt {attempt} line" in line]
    assert said == [str(number) for number in range(1, len(said) + 1)]
    return len(said)


def check_end(site: TimedSite, *runs: tuple[object, ...], lost: int = 0, workers: int = 0) -> None:
    """What became of the runs; the slot has its one fire, and nobody is the owner of anything who is not there."""
    assert site.sql(RUNS) == list(runs)
    assert site.sql(LOST) == [(1, number, "lost") for number in range(1, lost + 1)]
    assert site.sql(FIRES) == [(1,)]
    assert site.sql("select count(*) from rota_workers") == [(workers,)]
    assert site.sql("select count(*) from rota_runs where locked_by is not null") == [(0,)]


# ---- A: there is time enough ---------------------------------------------------------------------------------------


@both_signals
def test_rw_l1_a_it_lets_the_job_end_and_claims_no_more(site: TimedSite, number: Signals) -> None:
    worker = five_seconds_in(site, "--shutdown-timeout", "60s")
    stopping(worker, number)
    with site.app() as app:
        app.enqueue(lines.lines)
    site.live(10 * SECOND, workers=1)
    site.advance(5 * SECOND)
    assert code(worker) == 0
    assert written(worker) == 20
    check_end(site, ("succeeded", 1, 0, 0, "20"), ("queued", 0, 0, 0, None))


def test_rw_l1_a_nobody_takes_over_what_it_lets_end(site: TimedSite) -> None:
    """It goes on for longer than a lease, and another worker is there all the time."""
    site.environ["LONG"] = "55"
    worker = five_seconds_in(site, "--shutdown-timeout", "10m")
    other = up(site)
    stopping(worker)
    site.live(40 * SECOND, workers=2)
    site.advance(10 * SECOND)
    assert code(worker) == 0
    assert written(worker) == 55
    assert other.end() == 0
    assert written(other) == 0
    check_end(site, ("succeeded", 1, 0, 0, "55"))


def test_rw_l1_a_meanwhile_it_can_be_cancelled(site: TimedSite) -> None:
    worker = five_seconds_in(site, "--shutdown-timeout", "60s")
    stopping(worker)
    assert site.rota("job", "execution", "cancel", "1").process.wait(LIMIT) == 0
    assert code(worker) == 0
    assert written(worker) == 5
    check_end(site, ("cancelled", 1, 0, 0, None))


# ---- B: there is not -----------------------------------------------------------------------------------------------


def test_rw_l1_b_after_its_time_it_gives_the_run_back_and_another_has_it_at_once(site: TimedSite) -> None:
    worker = five_seconds_in(site, "--shutdown-timeout", "3s")
    other = up(site)
    stopping(worker)
    site.advance(3 * SECOND)
    worker.until("stopped, 1 given back")
    assert code(worker) == 0
    other.until("run 1 attempt 2 begins")  # no time goes by for that
    check_that_it_ends(site, other)


# ---- C: it is killed -----------------------------------------------------------------------------------------------


def test_rw_l1_c_killed_and_another_finds_its_run_within_a_lease_and_a_beat(site: TimedSite) -> None:
    worker = five_seconds_in(site)
    other = up(site)
    assert worker.end(SIGKILL) == -SIGKILL
    site.live(20 * SECOND, workers=1)
    assert site.sql(RUNS) == [("running", 1, 0, 0, None)]  # its lease is good until 09:00:29 at least
    site.live(LEASE_AND_BEAT - 20 * SECOND, workers=1)
    other.until("run 1 attempt 2 begins")
    check_that_it_ends(site, other)


def check_that_it_ends(site: TimedSite, other: Process) -> None:
    """The second attempt, at another worker, writes all its lines."""
    site.live(20 * SECOND, workers=1)
    other.until("run 1 attempt 2 line 20")
    assert other.end() == 0
    assert written(other, attempt=2) == 20
    check_end(site, ("succeeded", 2, 1, 0, "20"), lost=1)


# ---- D: other ends -------------------------------------------------------------------------------------------------


@both_signals
def test_rw_l1_d_the_second_signal_ends_it_at_once(site: TimedSite, number: Signals) -> None:
    """What ran is found as that of a killed worker is."""
    worker = five_seconds_in(site, "--shutdown-timeout", "60s")
    other = up(site)
    stopping(worker, number)
    worker.send(number)
    worker.until("ended at once")
    assert code(worker) == 1
    site.live(LEASE_AND_BEAT, workers=1)
    other.until("run 1 attempt 2 begins")
    check_that_it_ends(site, other)


def test_rw_l1_d_the_second_signal_leaves_the_run_marked(site: TimedSite) -> None:
    """Nobody has to wait for the lease of a worker that ended because it was told to."""
    worker = five_seconds_in(site, "--shutdown-timeout", "60s")
    stopping(worker)
    worker.send(SIGTERM)
    assert code(worker) == 1
    check_end(site, ("queued", 1, 1, 0, None), lost=1)


@both_signals
def test_rw_l1_d_idle_it_ends_at_once(site: TimedSite, number: Signals) -> None:
    worker = up(site, "--poll-interval", "1h", "--shutdown-timeout", "1h")
    worker.send(number)
    worker.until("stopped, 0 given back")
    assert code(worker) == 0
    assert site.sql("select count(*) from rota_workers") == [(0,)]


# ---- in real time --------------------------------------------------------------------------------------------------


@pytest.mark.soak
def test_rw_l1_in_real_time(tmp_path: Path) -> None:
    """The same four, each with its 20 seconds; how long the waits are is printed."""
    for name, end in {"A": let_end, "B": give_back, "C": kill, "D": end_idle}.items():
        (tmp_path / name).mkdir()
        with Site(tmp_path / name) as site:
            site.environ["ROTA_APP"] = "tests.race.lines:app"
            seconds = end(site)
            print(f"RW-l1 {name}: {seconds:.2f} s")  # noqa: T201


def let_end(site: Site) -> float:
    worker = really_five_seconds_in(site, "--shutdown-timeout", "60s")
    stopping(worker)
    began = time.monotonic()
    assert code(worker) == 0
    assert written(worker) == 20
    assert site.sql(RUNS) == [("succeeded", 1, 0, 0, "20")]
    return time.monotonic() - began


def give_back(site: Site) -> float:
    worker = really_five_seconds_in(site, "--shutdown-timeout", "3s")
    other = up(site)
    stopping(worker)
    return seconds_to_second_attempt(site, worker, other, ends_with=0, at_most=3 + 2)


def kill(site: Site) -> float:
    worker = really_five_seconds_in(site)
    other = up(site)
    worker.send(SIGKILL)
    return seconds_to_second_attempt(site, worker, other, ends_with=-SIGKILL, at_most=30 + 10 + 2)


def end_idle(site: Site) -> float:
    worker = up(site)
    Event().wait(2)  # till it idles
    began = time.monotonic()
    assert worker.end() == 0
    seconds = time.monotonic() - began
    assert seconds < 1
    return seconds


def really_five_seconds_in(site: Site, *options: str) -> Process:
    worker = up(site, *options)
    with site.app() as app:
        app.enqueue(lines.lines)
    worker.until("run 1 attempt 1 line 5")
    return worker


def seconds_to_second_attempt(site: Site, worker: Process, other: Process, *, ends_with: int, at_most: float) -> float:
    began = time.monotonic()
    other.until("run 1 attempt 2 begins")
    seconds = time.monotonic() - began
    assert seconds < at_most
    assert code(worker) == ends_with
    other.until("run 1 attempt 2 line 20")
    assert other.end() == 0
    assert written(other, attempt=2) == 20
    assert site.sql(RUNS) == [("succeeded", 2, 1, 0, "20")]
    assert site.sql(LOST) == [(1, 1, "lost")]
    return seconds
