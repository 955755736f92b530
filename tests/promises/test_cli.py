"""The promises about the command line: C53, C68, C72 (the column), D41, D42."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.terminal import SHOP, Terminal


@pytest.fixture
def shop(tmp_path: Path) -> Terminal:
    """A terminal whose app has registered the schedule daily-report, by starting once."""
    terminal = Terminal(tmp_path, SHOP)
    assert terminal.rota("worker", "--once").exit_code == 0
    return terminal


def state(shop: Terminal) -> tuple[object, ...]:
    """What pause, resume and trigger may change."""
    (row,) = shop.sql(
        "select enabled, paused_at is not null, next_run_at, last_run_at, last_run_id from rota_schedules "
        "where id = 'daily-report'"
    )
    fires = shop.sql("select scheduled_for, run_id, origin from rota_schedule_fires")
    runs = shop.sql("select id, job, state, scheduled_for from rota_runs")
    return row, fires, runs


@pytest.mark.parametrize("verb", ["pause", "resume", "trigger"])
def test_c53_a_flag_does_as_the_api_does(shop: Terminal, tmp_path: Path, verb: str) -> None:
    (tmp_path / "other").mkdir()
    other = Terminal(tmp_path / "other", SHOP)
    assert other.rota("worker", "--once").exit_code == 0
    slot = "2100-01-01T08:00:00.000000Z"
    for terminal in (shop, other):
        terminal.sql("update rota_schedules set next_run_at = ?", slot)
        if verb == "resume":
            terminal.rota("schedules", "--pause", "daily-report")
    before = state(shop)

    assert shop.run("schedules", f"--{verb}", "daily-report").returncode == 0
    with other.app() as app:
        getattr(app, verb)("daily-report")

    assert state(shop) == state(other) != before


@pytest.mark.parametrize("verb", ["pause", "resume", "trigger"])
def test_c53_an_unknown_id_is_a_failure(shop: Terminal, verb: str) -> None:
    before = state(shop)

    result = shop.run("schedules", f"--{verb}", "nope")

    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "rota: no schedule has the id 'nope' (`rota schedules` lists them)\n"
    assert state(shop) == before


def test_c68_stats_prints_how_many_schedules_are_failing(shop: Terminal) -> None:
    with shop.app() as app:
        from tests.cli.shop import till

        for name in ("a", "b"):
            app.schedule(till, "@daily", id=name)
    shop.sql("update rota_schedules set consecutive_failures = 3, last_error = 'no room' where id in ('a', 'b')")

    assert "failing schedules: 2\n" in shop.run("stats").stdout


def test_c72_schedules_lists_the_last_error(shop: Terminal) -> None:
    shop.sql(
        "update rota_schedules set last_error = 'no room in the attic', next_run_at = '2026-01-01T00:00:00.000000Z'"
    )

    heading, row, _ = shop.run("schedules").stdout.splitlines()

    assert heading.split()[-1] == "LAST_ERROR"
    assert row[heading.index("LAST_ERROR") :] == "no room in the attic"


def test_d41_the_manual_check(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, SHOP)
    assert terminal.run("db", "migrate").returncode == 0
    assert terminal.run("worker", "--once").returncode == 0  # which registers
    terminal.make_due("daily-report")

    assert terminal.run("worker", "--once").stdout.endswith("processed 1 executions\n")
    heading, row = terminal.run("job", "execution", "list").stdout.splitlines()

    assert heading.split()[:4] == ["ID", "NAME", "JOB", "STATE"]
    assert row.split()[:4] == ["1", "daily-report", "sales/report", "succeeded"]


def test_d42_worker_once_fires_runs_settles_and_ends(shop: Terminal) -> None:
    shop.make_due("daily-report")

    result = shop.run("worker", "--once")

    assert result.returncode == 0
    assert result.stdout.splitlines()[-1] == "processed 1 executions"
    assert shop.sql("select state, output from rota_runs") == [("succeeded", '{"of":"day"}')]
    assert shop.sql("select count(*) from rota_schedule_fires") == [(1,)]
    assert shop.sql("select count(*) from rota_workers") == [(0,)]
