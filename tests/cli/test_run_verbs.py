"""`rota job execution run|cancel|retry`, `rota job show` and `rota check`."""

from __future__ import annotations

import json

import pytest

from tests.cli.terminal import Terminal


@pytest.fixture
def open_shop(shop: Terminal) -> Terminal:
    """A shop whose jobs a worker has said it has."""
    assert shop.rota("worker", "--once").exit_code == 0
    return shop


def test_run_makes_a_run_from_json(open_shop: Terminal) -> None:
    said = open_shop.rota("job", "execution", "run", "sales/report", "--input", '"week"', "--idempotency-key", "once")
    assert (said.exit_code, said.stdout) == (0, "run 1 of sales/report is queued\n")
    again = open_shop.rota("job", "exec", "run", "sales/report", "--payload", '"other"', "--idempotency-key", "once")
    assert again.stdout == "run 1 of sales/report is queued\n"
    assert open_shop.sql("select input, idempotency_key, timeout, queue from rota_runs") == [
        ('"week"', "once", 90.0, "default")
    ]
    assert open_shop.rota("worker", "--once").stdout.splitlines()[-1] == "processed 1 executions"


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["sales/report", "--input", "5"], "input does not fit its type"),
        (["sales/report", "--input", "{bad"], "is not JSON"),
        (["sales/report"], "it needs an input"),
        (["till", "--input", "1"], "it takes no input"),
        (["nobody"], "no job has the name 'nobody'"),
        (["till", "--idempotency-key", "schedule:x"], "kept for the fires of schedules"),
    ],
)
def test_what_cannot_be_run(open_shop: Terminal, args: list[str], text: str) -> None:
    said = open_shop.rota("job", "execution", "run", *args)
    assert said.exit_code == 1
    assert text in said.stderr
    assert "Traceback" not in said.stderr
    assert open_shop.sql("select count(*) from rota_runs") == [(0,)]


def test_without_the_code_the_input_is_checked_when_it_runs(open_shop: Terminal) -> None:
    url = f"sqlite:///{open_shop.folder / 'rota.db'}"
    assert open_shop.rota("--database", url, "job", "execution", "run", "sales/report", "--input", "5").exit_code == 0
    open_shop.rota("worker", "--once")
    (row,) = open_shop.sql("select state, error from rota_runs")
    assert row[0] == "failed"
    assert "does not fit its type" in row[1]


def test_cancel_and_retry(open_shop: Terminal) -> None:
    open_shop.rota("job", "execution", "run", "till")
    assert open_shop.rota("job", "execution", "cancel", "1").stdout == "run 1 of till is cancelled\n"
    again = open_shop.rota("job", "execution", "cancel", "1")
    assert (again.exit_code, again.stderr) == (
        1,
        "rota: run 1 has ended already, it is cancelled: there is nothing to cancel\n",
    )
    open_shop.sql("update rota_runs set state = 'failed'")
    said = open_shop.rota("job", "execution", "retry", "1", "--idempotency-key", "second")
    assert said.stdout == "run 2 of till is queued, in place of run 1\n"
    assert open_shop.rota("job", "execution", "retry", "1").exit_code == 2
    assert open_shop.rota("job", "execution", "retry", "99", "--idempotency-key", "k").exit_code == 1
    assert open_shop.sql("select verb, subject, via from rota_audit where subject like 'run %' order by id") == [
        ("cancel", "run 1", "cli"),
        ("retry", "run 1", "cli"),
    ]


def test_show_of_a_job(open_shop: Terminal) -> None:
    shown = open_shop.rota("job", "show", "sales/report").stdout
    assert "timeout       1m30s\n" in shown
    assert "schedules     daily-report\n" in shown
    row = json.loads(open_shop.rota("job", "show", "sales/report", "--json").stdout)
    assert (row["status"], row["schedules"]) == ("active", ["daily-report"])
    assert "no job has the name 'x'" in open_shop.rota("job", "show", "x").stderr


def test_check_finds_nothing(open_shop: Terminal) -> None:
    said = open_shop.rota("check")
    assert (said.exit_code, said.stdout, said.stderr) == (0, "nothing is wrong\n", "")


def test_check_says_what_is_wrong_and_what_to_do(open_shop: Terminal) -> None:
    open_shop.sql(
        "update rota_schedules set next_run_at = '2024-01-08T08:00:00.000000Z', consecutive_failures = 3, "
        "last_error = 'no room' where id = 'daily-report'"
    )
    open_shop.sql("update rota_schedules set cron_spec = '99 * * * *' where id = 'rota/prune'")
    said = open_shop.rota("check")
    assert said.exit_code == 1
    assert said.stdout.splitlines() == [
        (
            "error: schedule daily-report: it has failed 3 times in a row: no room; "
            "mend what the error says; the slot is tried again until the tenth failure"
        ),
        (
            "error: schedule rota/prune: its row cannot be read: "
            "cadence '99 * * * *': minute '99': 99 is outside 0-59; "
            "register it again"
        ),
        "error: workers: schedules are due, and no worker lives; start one with `rota worker`",
    ]
    rows = json.loads(open_shop.rota("check", "--json").stdout)
    assert [row["level"] for row in rows] == ["error", "error", "error"]


def test_check_warns_of_surprising_expressions(open_shop: Terminal) -> None:
    with open_shop.app() as app:
        from tests.cli.shop import till

        app.schedule(till, "0 0 13 * FRI", id="friday-the-13th")
        app.schedule(till, "*/7 * * * *", id="sevens")
        app.schedule(till, "0 0 * * *", id="plain")
    said = open_shop.rota("check")
    assert said.exit_code == 0
    assert "warning: schedule friday-the-13th: '0 0 13 * FRI' comes on days that match either" in said.stdout
    assert "warning: schedule sevens: minute '*/7' starts anew at each hour" in said.stdout
    assert "write '@every 7m'" in said.stdout
    assert "plain" not in said.stdout
