"""`rota job list`, `rota job execution`, `rota stats`."""

from __future__ import annotations

import json

from tests.cli.terminal import Terminal


def test_the_jobs_with_their_terms(shop: Terminal) -> None:
    shop.rota("worker", "--once")
    shop.sql("update rota_jobs set enabled = 0 where name = 'till'")
    shop.sql("update rota_jobs set retired = 1 where name = 'wait'")

    lines = shop.rota("job", "list").stdout.splitlines()

    assert [line.split() for line in lines] == [
        ["APP", "JOB", "STATUS", "SOURCE", "QUEUE", "TIMEOUT", "LABEL"],
        ["rota", "rota/prune", "active", "system", "default", "-", "-"],
        ["sales", "sales/report", "active", "code", "default", "1m30s", "The", "sales", "report"],
        ["-", "till", "disabled", "code", "default", "-", "-"],
        ["-", "wait", "retired", "code", "slow", "-", "-"],
    ]
    rows = json.loads(shop.rota("job", "list", "--json").stdout)
    assert (rows[1]["name"], rows[1]["status"], rows[1]["timeout"]) == ("sales/report", "active", 90.0)


def test_the_executions_the_newest_first(shop: Terminal) -> None:
    shop.rota("schedules", "--trigger", "daily-report")
    with shop.app() as app:
        from tests.cli.shop import till, wait

        app.enqueue(till)
        app.enqueue(wait)
    shop.rota("worker", "--once", "--queue", "default")

    lines = shop.rota("job", "execution", "list").stdout.splitlines()

    assert lines[0].split() == [
        *("ID", "NAME", "JOB", "STATE", "QUEUE", "ATTEMPT", "RUN_AFTER", "STARTED_AT", "FINISHED_AT")
    ]
    cells = [line.split() for line in lines[1:]]
    assert [row[:6] for row in cells] == [
        ["3", "-", "wait", "queued", "slow", "0/1"],
        ["2", "-", "till", "waiting", "default", "1/3"],
        ["1", "daily-report", "sales/report", "succeeded", "default", "1/1"],
    ]
    assert cells[0][7:] == ["-", "-"]
    assert all(at.endswith("Z") for at in cells[2][6:])
    newest = shop.rota("job", "exec", "list", "--limit", "1").stdout.splitlines()[1:]
    assert [row.split() for row in newest] == cells[:1]
    assert [row["id"] for row in json.loads(shop.rota("job", "exec", "list", "--json").stdout)] == [3, 2, 1]


def test_everything_about_one_that_succeeded(shop: Terminal) -> None:
    shop.rota("schedules", "--trigger", "daily-report")
    shop.rota("worker", "--once")

    said = shop.rota("job", "execution", "show", "1").stdout

    names = [line.split()[0] for line in said.split("\n\n")[0].splitlines() if not line.startswith(" ")]
    assert names == [name for _, name, *_ in shop.sql("pragma table_info(rota_runs)")]
    assert 'input                "day"\n' in said
    assert 'output               {\n                       "of": "day"\n                     }\n' in said
    assert "WARNING  shop    only 3 left\n" in said
    shown = json.loads(shop.rota("job", "exec", "show", "1", "--json").stdout)
    assert (shown["output"], [line["message"] for line in shown["logs"]]) == ({"of": "day"}, ["only 3 left"])


def test_everything_about_one_that_failed(shop: Terminal) -> None:
    with shop.app() as app:
        from tests.cli.shop import till

        app.enqueue(till)
    shop.rota("worker", "--once")

    said = shop.rota("job", "execution", "show", "1").stdout

    assert "RuntimeError: the till is empty\n" in said
    assert r"\x1b[31m[bold]" in said
    assert "\x1b" not in said
    assert "\nattempt 1\n" in said
    assert "outcome      failed\n" in said
    shown = json.loads(shop.rota("job", "execution", "show", "1", "--json").stdout)
    assert [(kept["attempt"], kept["outcome"]) for kept in shown["attempts"]] == [(1, "failed")]


def test_attempts_that_were_lost_do_not_count(shop: Terminal) -> None:
    shop.rota("schedules", "--trigger", "daily-report")
    shop.sql("update rota_runs set attempt = 2, lost = 1, state = 'running'")

    assert " 1/1 " in shop.rota("job", "execution", "list").stdout


def test_an_execution_that_is_not_there(shop: Terminal) -> None:
    result = shop.rota("job", "execution", "show", "99")

    assert result.exit_code == 1
    assert result.stderr == "rota: no run has the id 99 (`rota job execution list` shows them)\n"
    assert shop.rota("job", "execution", "show", "x").exit_code == 2
    assert shop.rota("job", "execution", "show", "9" * 30).exit_code == 2
    assert shop.rota("job", "execution", "list", "--limit", "0").exit_code == 2


def test_stats_for_people_and_for_programs(shop: Terminal) -> None:
    shop.rota("schedules", "--trigger", "daily-report")
    shop.sql("update rota_schedules set consecutive_failures = 1, last_error = 'no room'")

    assert shop.rota("stats").stdout.splitlines() == [
        "schedules: 1 (1 enabled, 0 due)",
        "failing schedules: 1",
        "refused schedules: 0",
        "longest overdue: 0 s",
        "workers: 0",
        "queue default: 0 waiting, 1 queued, 0 running",
    ]
    counted = json.loads(shop.rota("stats", "--json").stdout)
    assert counted["health"] == {"failing_schedules": 1, "refused_schedules": 0, "overdue_seconds": 0.0}
    assert counted["queues"] == [{"name": "default", "waiting": 0, "queued": 1, "running": 0}]
    assert counted["at"].endswith("Z")
