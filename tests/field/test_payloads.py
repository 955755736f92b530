"""Field cases RW-k1 and RW-k3 through the verbs, and as results: what cannot be kept is refused, with its place."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

import rota
from rota.errors import PayloadError, PayloadNotJson, PayloadTooLarge, ScheduleIdInvalid, ScheduleInvalid
from rota.testing import Harness
from tests.conftest import Sql

AnyJob = rota.Job[Any, Any, Any]

ring: dict[str, Any] = {"a": 1}
ring["me"] = ring

deep: Any = 1
for _ in range(10_000):
    deep = [deep]

UNKEEPABLE = [
    pytest.param({"q": "a\0b"}, "input.q", id="NUL in a value"),
    pytest.param({"k\0": 1}, r"input['k\x00']", id="NUL in a key"),
    pytest.param({"deep": [{"x": ["\0"]}]}, "input.deep[0].x[0]", id="NUL deep inside"),
    pytest.param({"s": "\ud800"}, "input.s", id="a lone surrogate"),
    pytest.param({"t": datetime(2026, 1, 1)}, "input.t", id="a datetime"),
    pytest.param({"d": Decimal("1.1")}, "input.d", id="a Decimal"),
    pytest.param({"s": {1, 2}}, "input.s", id="a set"),
    pytest.param({"b": b"x"}, "input.b", id="bytes"),
    pytest.param({"n": float("nan")}, "input.n", id="NaN"),
    pytest.param({"i": float("inf")}, "input.i", id="infinity"),
    pytest.param({1: "a"}, "input[1]", id="a key that is no text"),
    pytest.param((1, 2), "input", id="a tuple"),
    pytest.param(ring, "input.me", id="a dict that contains itself"),
    pytest.param(deep, "input[0][0]", id="10000 levels"),
    pytest.param({"o": object()}, "input.o", id="an object"),
]


@pytest.fixture
def echo(app: rota.App) -> AnyJob:
    """A step that takes anything, and gives it back."""

    @app.step()
    def echo(given: Any) -> Any:
        return given

    return echo


@pytest.mark.parametrize(("value", "place"), UNKEEPABLE)
def test_rw_k1_k3_an_input_is_refused_with_its_place(
    app: rota.App, env: Harness, echo: AnyJob, sql: Sql, value: object, place: str
) -> None:
    refused: list[Callable[[], object]] = [
        lambda: app.schedule(echo, "@daily", value, id="nightly"),
        lambda: app.schedule(echo, "@daily", value),
        lambda: app.enqueue(echo, value),
        lambda: app.enqueue_many(echo, [1, value]),
    ]

    for call in refused:
        with pytest.raises(PayloadNotJson) as caught:
            call()
        assert str(caught.value).startswith(place)
    assert sql("select (select count(*) from rota_schedules), (select count(*) from rota_runs)") == [(0, 0)]
    assert app.list() == []


@pytest.mark.parametrize("schedule_id", ["nightly\0", "\ud800", "two\nlines", "x" * 256, "", " x"])
def test_rw_k1_an_id_is_refused(app: rota.App, env: Harness, echo: AnyJob, sql: Sql, schedule_id: str) -> None:
    with pytest.raises(ScheduleIdInvalid, match=r"^schedule id "):
        app.schedule(echo, "@daily", 1, id=schedule_id)

    assert sql("select count(*) from rota_schedules") == [(0,)]
    assert app.list() == []


@pytest.mark.parametrize("words", [{"label": "x\0y"}, {"description": "\udfff"}], ids=["label", "description"])
def test_rw_k1_words_are_refused(app: rota.App, env: Harness, echo: AnyJob, words: dict[str, str]) -> None:
    with pytest.raises(ScheduleInvalid, match=rf"^schedule option {next(iter(words))}="):
        app.schedule(echo, "@daily", 1, id="nightly", **words)

    assert app.list() == []


@pytest.mark.parametrize("value", ["a\0b", {"deep": ["\ud800"]}, {"k\0": 1}, b"x", float("nan"), (1, 2), object()])
def test_rw_k1_k3_a_result_that_cannot_be_kept_fails_its_run(app: rota.App, env: Harness, value: object) -> None:
    @app.step()
    def returns() -> Any:
        return value

    @app.step()
    def well() -> int:
        return 1

    bad, good = app.enqueue(returns), app.enqueue(well)
    env.run_until_idle()

    runs = {run.id: run for run in env.runs()}
    assert (runs[bad.id].state, runs[bad.id].output) == ("failed", None)
    assert str(runs[bad.id].error).startswith("result")
    assert runs[good.id].state == "succeeded"


def test_rw_k1_an_error_text_is_made_readable(app: rota.App, env: Harness, sql: Sql) -> None:
    @app.step()
    def raises() -> None:
        raise ValueError("a\0b\ud800c")

    app.enqueue(raises)
    env.run_until_idle()

    ((state, error),) = sql("select state, error from rota_runs")
    assert state == "failed"
    assert error.endswith("ValueError: a\ufffdb\ufffdc")


def test_rw_k3_9000_bytes_go_through(app: rota.App, env: Harness, echo: AnyJob) -> None:
    app.schedule(echo, "@daily", "x" * 9_000, id="big")
    env.force_due("big")
    env.run_until_idle()

    (run,) = env.runs("big")
    assert (run.state, json.loads(str(run.output))) == ("succeeded", "x" * 9_000)


def test_rw_k3_60_megabytes_are_refused_at_once(app: rota.App, env: Harness, echo: AnyJob) -> None:
    blob = "x" * 60_000_000
    began = time.perf_counter()
    with pytest.raises(PayloadTooLarge, match="1,048,576 is the limit"):
        app.schedule(echo, "@daily", blob, id="huge")
    with pytest.raises(PayloadTooLarge):
        app.enqueue(echo, blob)

    assert time.perf_counter() - began < 2
    assert app.list() == []
    assert env.runs() == []


def test_rw_k3_a_result_of_60_megabytes_fails_its_run(app: rota.App, env: Harness) -> None:
    @app.step()
    def returns() -> str:
        return "x" * 60_000_000

    app.enqueue(returns)
    env.run_until_idle()

    (run,) = env.runs()
    assert run.state == "failed"
    assert "1,048,576 is the limit" in str(run.error)


def test_a_handler_sees_one_form_from_the_first_run_on(app: rota.App, env: Harness, echo: AnyJob) -> None:
    given = {"text": "ünï 😀", "list": [1, 2.5, None, True], "nested": {"a": {"b": []}}}
    app.schedule(echo, "@daily", given, id="echo")
    for _ in range(2):
        env.force_due("echo")
        env.run_until_idle()
        env.stop()
        env.advance(timedelta(days=1))

    assert [json.loads(str(run.output)) for run in env.runs("echo")] == [given] * 2


def test_an_input_of_the_wrong_type(app: rota.App, env: Harness, report: rota.Job[str, int, int]) -> None:
    wrong: Any = 17
    with pytest.raises(PayloadError, match=r"^input .*: .*string"):
        app.schedule(report, "@daily", wrong, id="report")

    assert app.list() == []
