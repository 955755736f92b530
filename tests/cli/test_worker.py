"""`rota worker`: real processes, real signals, a real file. Nothing sleeps: what is printed says how far it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from signal import SIGINT, SIGTERM, Signals

import pytest

from tests.cli.terminal import Started, Terminal

ENOUGH = "1h"


@pytest.fixture
def waiting(shop: Terminal) -> Callable[[], None]:
    """Enqueue a run that goes on until `let_go`."""
    os.mkfifo(shop.folder / "go")

    def enqueue() -> None:
        with shop.app() as app:
            from tests.cli.shop import wait

            app.enqueue(wait)

    return enqueue


def let_go(shop: Terminal) -> None:
    (shop.folder / "go").write_text("")


def state(shop: Terminal) -> tuple[object, ...]:
    (row,) = shop.sql("select state, attempt, lost from rota_runs")
    return row


def stopped(worker: Started, number: Signals) -> None:
    worker.send(number)
    worker.until(f"stopping ({number.name})")


# ---- until it is stopped -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [SIGTERM, SIGINT])
def test_a_signal_lets_what_runs_end(shop: Terminal, waiting: Callable[[], None], number: Signals) -> None:
    with shop.started("worker", "--queue", "slow", "--concurrency", "1", "--shutdown-timeout", ENOUGH) as worker:
        worker.until("queues slow:1 (production)")
        waiting()
        worker.until("began")
        worker.send(number)
        assert worker.until("stopping") == f"stopping ({number.name}); 1 still running, for up to 1h"
        waiting()  # which it claims no more
        let_go(shop)
        worker.until("stopped, 0 given back")
        assert worker.code() == 0

    assert shop.sql("select state, attempt, lost from rota_runs order by id") == [("succeeded", 1, 0), ("queued", 0, 0)]
    assert shop.sql("select count(*) from rota_workers") == [(0,)]


def test_after_its_time_it_gives_back_what_still_runs(shop: Terminal, waiting: Callable[[], None]) -> None:
    with shop.started("worker", "--shutdown-timeout", "0s") as worker:
        worker.until("queues")
        waiting()
        worker.until("began")
        stopped(worker, SIGTERM)
        worker.until("stopped, 1 given back")
        assert worker.code() == 0

    assert state(shop) == ("queued", 1, 1)


def test_the_second_signal_ends_it_at_once(shop: Terminal, waiting: Callable[[], None]) -> None:
    with shop.started("worker", "--shutdown-timeout", ENOUGH) as worker:
        worker.until("queues")
        waiting()
        worker.until("began")
        stopped(worker, SIGINT)
        worker.send(SIGINT)
        worker.until("ended at once")
        assert worker.code() == 1

    assert state(shop) == ("queued", 1, 1)  # nobody has to wait for its lease


def test_an_idle_one_stops_at_once(shop: Terminal) -> None:
    with shop.started("worker", "--poll-only") as worker:
        worker.until("queues")
        stopped(worker, SIGTERM)
        assert worker.code() == 0


def test_it_fires_what_is_due_and_logs_to_stderr(shop: Terminal) -> None:
    shop.make_due("daily-report")
    result = shop.run("worker", "--once")

    assert result.stdout == "queues default:4 slow:4 (production)\nprocessed 1 executions\n"
    assert " INFO rota: worker w-" in result.stderr
    assert all(line[10] == "T" and line[23] == "Z" for line in result.stderr.splitlines())


# ---- once ----------------------------------------------------------------------------------------------------------


def test_once_runs_one_batch(shop: Terminal) -> None:
    with shop.app() as app:
        from tests.cli.shop import report

        app.enqueue_many(report, ["a", "b", "c"])

    assert shop.rota("worker", "--once", "--concurrency", "2").stdout.endswith("\nprocessed 2 executions\n")
    assert shop.rota("worker", "--once").stdout.endswith("\nprocessed 1 executions\n")
    assert shop.rota("worker", "--once").stdout.endswith("\nprocessed 0 executions\n")
    assert shop.sql("select count(*) from rota_workers") == [(0,)]


def test_once_fires_all_that_is_due_and_runs_the_first_of_it(shop: Terminal) -> None:
    with shop.app() as app, app.transaction() as tx:
        from tests.cli.shop import report

        for number in range(1100):
            tx.schedule(report, "@yearly", "year", id=f"s{number}")
    shop.sql("update rota_schedules set next_run_at = '2024-01-01T00:00:00.000000Z'")

    assert shop.rota("worker", "--once").stdout.endswith("\nprocessed 4 executions\n")
    assert shop.sql("select state, count(*) from rota_runs group by 1") == [("queued", 1097), ("succeeded", 4)]


def test_once_can_be_stopped(shop: Terminal, waiting: Callable[[], None]) -> None:
    waiting()
    with shop.started("worker", "--once", "--shutdown-timeout", "0s") as worker:
        worker.until("began")
        stopped(worker, SIGTERM)
        worker.until("stopped, 1 given back")
        assert worker.code() == 0

    assert state(shop) == ("queued", 1, 1)


def test_once_in_another_database(shop: Terminal) -> None:
    other = f"sqlite:///{shop.folder / 'other.db'}"

    assert shop.rota("worker", "--once", "--database", other).exit_code == 0
    assert "daily-report" in shop.rota("schedules", "--database", other).stdout


# ---- how it is told what to do -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "queues default:4 slow:4 (production)"),
        (("--queue", "slow"), "queues slow:4 (production)"),
        (("--queue", "slow", "--queue", "default"), "queues slow:4 default:4 (production)"),
        (("--concurrency", "8"), "queues default slow, 8 in all (production)"),
        (("--queue", "slow", "--concurrency", "8"), "queues slow:8 (production)"),
    ],
)
def test_it_says_which_queues(shop: Terminal, args: tuple[str, ...], said: str) -> None:
    assert shop.rota("worker", "--once", *args).stdout.splitlines()[0] == said


def test_it_says_which_environment(shop: Terminal) -> None:
    shop.environ["ROTA_ENV"] = "staging"

    assert "(staging)" in shop.rota("worker", "--once").stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--queue", "nope"), "no queue has the name 'nope'; there are: default, slow"),
        (("--concurrency", "0"), "'--concurrency': 0 is not in the range"),
        (("--concurrency", "many"), "'--concurrency'"),
        (("--poll-interval", "60"), "'--poll-interval': duration '60': write it with the units"),
        (("--poll-interval", "0s"), "'--poll-interval': 0s is less than 1s"),
        (("--shutdown-timeout", "-1s"), "'--shutdown-timeout': duration '-1s'"),
        (("more",), "more"),
    ],
)
def test_wrong_usage(shop: Terminal, args: tuple[str, ...], said: str) -> None:
    result = shop.rota("worker", "--once", *args)

    assert result.exit_code == 2
    assert said in result.stderr.splitlines()[-1]
    assert shop.sql("select count(*) from rota_workers") == [(0,)]


def test_without_an_app_it_cannot_work(terminal: Terminal) -> None:
    result = terminal.rota("worker")

    assert result.exit_code == 1
    assert result.stderr.startswith("rota: no app is named: name the app as module:attribute, with --app")


def test_what_goes_wrong_at_the_start_is_told_in_a_line(shop: Terminal) -> None:
    shop.environ["SHOP_BREAKS"] = "yes"

    result = shop.run("worker")

    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("rota: unexpected ZeroDivisionError: on purpose (")
    assert "shop.py, line " in result.stderr
    assert "Traceback" in shop.run("worker", "--debug").stderr
