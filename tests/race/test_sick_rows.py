"""Field case RW-i1: rows that nobody can read, and two processes. They stop no one else, and say so seldom."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from rota.store.types import text_of
from tests.race import ticks
from tests.race.real_time import real_mark, wait_for
from tests.race.timed import TimedSite
from tests.race.workers import Process, Site
from tests.time.helpers import at

MINUTE, STEP = timedelta(minutes=1), timedelta(seconds=5)
FIRST = at("2026-08-03T09:01Z")
MARKS = 15

HEALTHY = [f"healthy-{number}" for number in range(195)]
SICK = {
    "bad-spec": "cron_spec = '99 * * * *'",
    "bad-zone": "location = 'Mars/Phobos'",
    "bad-input": """input = '{"a":'""",
    "no-slot": "next_run_at = null",
}

DUE = "select count(*) from rota_schedules where next_run_at <= ? and coalesce(not_before, '') <= ?"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[TimedSite]:
    """195 schedules of every minute, and five that someone spoils by hand, or tries to."""
    with TimedSite(tmp_path, FIRST - MINUTE) as site:
        spoiled(site)
        yield site


def spoiled(site: Site) -> None:
    register(site, [*HEALTHY, *SICK, "no-instant"])
    for schedule_id, what in SICK.items():
        site.sql(f"update rota_schedules set {what} where id = ?", schedule_id)
    with pytest.raises(sqlite3.IntegrityError, match="next_run_at_instant"):
        site.sql("update rota_schedules set next_run_at = 'tomorrow' where id = 'no-instant'")


def register(site: Site, schedule_ids: Iterable[str]) -> None:
    with site.app() as app, app.transaction() as tx:
        for schedule_id in schedule_ids:
            tx.schedule(ticks.tick, "* * * * *", id=schedule_id)


def up(site: Site) -> list[Process]:
    pair = [site.worker(), site.worker()]
    for process in pair:
        process.until("queues")
    return pair


def live(site: TimedSite, by: timedelta) -> None:
    """Two workers live through it, and do at each instant all that is due."""
    for _ in range(by // STEP):
        site.live(STEP, workers=2)
        now = text_of(site.clock.now())
        site.until(DUE, (0,), given=[now, now])


def lines_of(processes: Sequence[Process]) -> Counter[tuple[str, str]]:
    """How many lines of which level each of the sick ones got."""
    return Counter(
        (schedule_id, level)
        for process in processes
        for line in process.lines
        for schedule_id in SICK
        for level in ("WARNING", "ERROR")
        if f"schedule {schedule_id}:" in line and f" {level} " in line
    )


def test_rw_i1_the_healthy_ones_fire_and_the_sick_ones_say_why(site: TimedSite) -> None:
    pair = up(site)
    live(site, MARKS * MINUTE)
    check_marks(site, FIRST)
    assert site.sql("select count(*) from rota_schedule_fires where fired_at <> scheduled_for") == [(0,)]
    check_shown(site)
    assert [process.end() for process in pair] == [0, 0]
    check_seldom(pair)


@pytest.mark.soak
def test_rw_i1_fifteen_minutes_of_real_time(tmp_path: Path) -> None:
    with Site(tmp_path) as site:
        first = real_mark()
        spoiled(site)
        pair = up(site)
        wait_for(first + (MARKS - 1) * MINUTE + STEP / 2)  # the last one has been tried once
        assert [process.end() for process in pair] == [0, 0]
        check_marks(site, first)
        check_shown(site)
        check_seldom(pair)
        late = "select max(julianday(fired_at) - julianday(scheduled_for)) * 86400 from rota_schedule_fires"
        ((seconds,),) = site.sql(late)
        print(f"2,940 fires at 15 marks beside 4 sick rows, {seconds:.2f} s late at the most")  # noqa: T201
        assert seconds < 2


def check_marks(site: Site, first: datetime) -> None:
    """Each healthy one was fired at each mark, and no sick one; each fire has its run, which succeeded."""
    fires = site.sql("select schedule_id, scheduled_for from rota_schedule_fires where schedule_id not like 'rota/%'")
    marks = [text_of(first + number * MINUTE) for number in range(MARKS)]
    assert sorted(fires) == sorted((name, mark) for name in [*HEALTHY, "no-instant"] for mark in marks)
    assert len([name for name, _ in fires if name in HEALTHY]) == 2925
    done = "select state, count(*) from rota_runs where schedule_id not like 'rota/%' group by 1"
    site.until(done, ("succeeded", 2925 + MARKS))


def check_shown(site: TimedSite) -> None:
    with site.app() as app:
        errors = {schedule.id: schedule.last_error for schedule in app.list() if schedule.last_error is not None}
        assert set(errors) == set(SICK) - {"no-slot"}
        assert "99 is outside 0-59" in errors["bad-spec"]
        assert "'Mars/Phobos' is not known" in errors["bad-zone"]
        assert "JSON" in errors["bad-input"]
        assert app.stats().health.failing_schedules == 3
        assert len([schedule for schedule in app.list() if schedule.source == "code"]) == 200
        assert app.get("no-slot").next_run_at is None  # it reads as finished


def check_seldom(pair: Sequence[Process]) -> None:
    """Both processes together: ten tries of a slot; where it is kept, unreadable as it is, one more in ten minutes."""
    assert lines_of(pair) == {
        ("bad-spec", "WARNING"): 10 + 1,
        ("bad-zone", "WARNING"): 10 + 1,
        ("bad-input", "WARNING"): 10 * (MARKS - 1) + 1,
        ("bad-input", "ERROR"): MARKS - 1,  # each slot is dropped in the end, but for the last, tried once so far
    }


def test_rw_i1_registering_again_puts_them_right(site: TimedSite) -> None:
    pair = up(site)
    live(site, MINUTE + 10 * STEP)  # bad-input was dropped at 09:01, and waits for 09:02; the others keep 09:01

    register(site, SICK)
    live(site, MINUTE + 2 * STEP)

    assert [process.end() for process in pair] == [0, 0]
    coming = [text_of(FIRST + MINUTE), text_of(FIRST + 2 * MINUTE)]
    for schedule_id in SICK:
        fires = site.sql("select scheduled_for from rota_schedule_fires where schedule_id = ? order by 1", schedule_id)
        assert [slot for (slot,) in fires] == coming, schedule_id
    assert site.sql("select count(*) from rota_schedules where last_error is not null") == [(0,)]
