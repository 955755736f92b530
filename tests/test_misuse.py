"""What is asked for in the wrong way, at the wrong time or from the wrong place gets an error of its own."""

from __future__ import annotations

import functools
import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import rota
from rota.errors import (
    AppRunning,
    HandlerInvalid,
    JobNameInvalid,
    OptionInvalid,
    RotaError,
    ScheduleInvalid,
    ScheduleNotFound,
    TransactionOpen,
    TransactionOver,
)
from rota.testing import Harness

FAR = datetime.max.replace(tzinfo=timezone(-timedelta(hours=5)))


@pytest.mark.parametrize("verb", ["get", "pause", "resume", "trigger"])
@pytest.mark.parametrize("wrong", [5, None, b"x", "\ud800", "a\0b"])
def test_ids_that_no_database_holds(app: rota.App, verb: str, wrong: Any) -> None:
    with pytest.raises(ScheduleNotFound):
        getattr(app, verb)(wrong)


@pytest.mark.parametrize("slot", [datetime(2026, 1, 1), "x", 5, FAR])
def test_slots_that_are_none(app: rota.App, clean: Any, slot: Any) -> None:
    app.schedule(clean, "@daily", id="x")
    with pytest.raises(RotaError):
        app.trigger("x", slot=slot)
    with pytest.raises(RotaError):
        app.enqueue(clean, run_after=slot)


@pytest.mark.parametrize("run_id", [-1, 0, 2**63, 2**80])
def test_runs_that_cannot_be(app: rota.App, run_id: int) -> None:
    with pytest.raises(RotaError):
        app.cancel(run_id)


@pytest.mark.parametrize("grace", [timedelta(0), timedelta(days=800_000), timedelta.max, 5])
def test_graces_out_of_bounds(app: rota.App, clean: Any, grace: Any) -> None:
    with pytest.raises(ScheduleInvalid, match="from one second"):
        app.schedule(clean, "@daily", grace=grace)


@pytest.mark.parametrize("wrong", [{"concurrency": 0}, {"poll_interval": 5}, {"shutdown_timeout": -timedelta(1)}])
def test_worker_options(wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionInvalid):
        rota.WorkerOptions(**wrong)


def test_decorators_without_parentheses(app: rota.App) -> None:
    with pytest.raises(HandlerInvalid, match=r"report: decorators take parentheses: write @app\.step\(\)"):

        @app.step
        def report() -> None: ...


@pytest.mark.parametrize("wrong", [{"retry": 3}, {"label": 5}, {"label": "a\0b"}, {"retry": "x"}])
def test_options_of_jobs(app: rota.App, wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionInvalid):
        app.step(name="x", **wrong)(lambda: 1)
    with pytest.raises(JobNameInvalid, match="a lambda has no name"):
        app.step()(lambda: 1)


def test_retries_out_of_bounds() -> None:
    with pytest.raises(OptionInvalid, match="at most 3650 days"):
        rota.Retry(2, initial_delay=timedelta.max, max_delay=timedelta.max)


# ---- at the wrong time ---------------------------------------------------------------------------------------------


def test_a_verb_of_the_app_inside_its_own_transaction(app: rota.App, clean: Any) -> None:
    with app.transaction() as tx:
        tx.enqueue(clean)
        with pytest.raises(TransactionOpen, match="use the verbs of tx"):
            app.enqueue(clean)
    assert app.stats().queues[0].queued == 1


def test_a_transaction_whose_block_has_ended(app: rota.App, clean: Any) -> None:
    with app.transaction() as tx:
        tx.enqueue(clean)
    with pytest.raises(TransactionOver, match="its block has ended"):
        tx.enqueue(clean)
    with pytest.raises(TransactionOver, match="its block has ended"):
        tx.schedule(clean, "@daily", id="lost")


def test_a_transaction_in_which_a_registration_failed(app: rota.App, clean: Any, sql: Any) -> None:
    app.schedule(clean, "@daily", id="theirs")
    sql("update rota_schedules set source = 'file'")

    def lose_it() -> None:
        with app.transaction() as tx:
            tx.schedule(clean, "@daily", id="mine")
            tx.schedule(clean, "@hourly", id="theirs")
            with pytest.raises(RotaError, match="owned by file"):
                tx.pause("whatever")

    with pytest.raises(TransactionOver, match="a registration in it has failed"):
        lose_it()
    assert [schedule.id for schedule in app.list()] == ["theirs"]


def test_a_harness_outside_its_block(app: rota.App, clean: Any, sql: Any) -> None:
    run = app.enqueue(clean)
    env = Harness(app)
    with pytest.raises(RuntimeError, match="use the harness in a `with` statement"):
        env.run_until_idle()
    with env, pytest.raises(RuntimeError, match="entered already"):
        env.__enter__()
    with pytest.raises(RuntimeError, match="use the harness in a `with` statement"):
        env.turn()
    assert sql("select state from rota_runs where id = ?", run.id) == [("queued",)]
    assert sql("select count(*) from rota_workers") == [(0,)]


def test_starting_from_on_start(app: rota.App, clean: Any) -> None:
    app.on_start(app.start)
    with pytest.raises(AppRunning):
        app.start()
    app.stop()


# ---- handlers that are not what they seem --------------------------------------------------------------------------


def test_a_wrapper_that_forgets_to_await(env: Harness, app: rota.App) -> None:
    async def real() -> None: ...

    @functools.wraps(real)
    def wrapper() -> Any:
        return real()

    app.enqueue(app.action(name="wrapped")(wrapper))
    env.run_until_idle()
    (run,) = env.runs()
    assert run.state == "failed"
    assert "a coroutine that no one awaits" in str(run.error)


def test_an_object_whose_call_is_a_coroutine(env: Harness, app: rota.App) -> None:
    class Handler:
        __name__ = "handler"

        async def __call__(self) -> int:
            return 5

    app.enqueue(app.step()(Handler()))
    env.run_until_idle()
    assert [(run.state, run.output) for run in env.runs()] == [("succeeded", "5")]


def test_a_handler_that_forks(env: Harness, app: rota.App) -> None:
    """The child comes out of the handler, too; it must not go on as a worker."""

    @app.action()
    def fork() -> None:
        if os.fork() == 0:
            return
        os.wait()

    app.enqueue(fork)
    env.run_until_idle()
    assert [run.state for run in env.runs()] == ["succeeded"]


def test_terms_that_someone_wrote_into_a_row(env: Harness, app: rota.App, report: Any, sql: Any) -> None:
    @app.action(max_attempts=3)
    def failing() -> None:
        raise ValueError

    bad = app.enqueue(failing)
    sql("update rota_runs set retry = '[]', max_attempts = 20000")
    good = app.enqueue(report, "x")
    env.run_until_idle()
    states = {run.id: run.state for run in env.runs()}
    assert states == {bad.id: "failed", good.id: "succeeded"}


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
def test_a_file_that_is_gone_and_one_that_takes_its_place(app: rota.App, clean: Any, tmp_path: Path) -> None:
    app.schedule(clean, "@daily", id="first")
    path = Path(app.url.removeprefix("sqlite:///"))
    for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        name.rename(tmp_path / f"away-{name.name}")
    with pytest.raises(RotaError, match="its file is gone"):
        app.enqueue(clean)
    assert not path.exists()  # a lost file must not come back empty
    other = rota.App(f"sqlite:///{tmp_path / 'other.db'}")
    other.stats()
    other.close()
    (tmp_path / "other.db").rename(path)
    assert app.list() == []
    app.schedule(clean, "@daily", id="second")
    assert app.get("second").next_run_at is not None
    assert app.get("second").created_at <= datetime.now(UTC)
