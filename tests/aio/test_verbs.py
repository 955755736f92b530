"""`app.aio`: the verbs of an async application are the plain ones, and hold up no event loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import rota
from rota.aio import AsyncVerbs
from rota.errors import PayloadError, RunFinished, ScheduleNotFound
from rota.testing import Harness
from rota.verbs import Verbs
from tests.conftest import Sql

Report = rota.Job[str, int, int]

VERBS = sorted(name for name in dir(Verbs) if not name.startswith("_") and name != "unschedule")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_there_with_its_arguments_and_its_words(verb: str) -> None:
    """`unschedule` is left out: it is deprecated."""
    plain, awaitable = getattr(Verbs, verb), getattr(AsyncVerbs, verb)
    assert inspect.iscoroutinefunction(awaitable)
    assert inspect.signature(awaitable) == inspect.signature(plain)
    assert awaitable.__doc__ == plain.__doc__


def test_schedules(app: rota.App, report: Report, clean: rota.Job0[None, None]) -> None:
    async def steer() -> None:
        assert await app.aio.schedule(report, "@daily", "day", id="daily", label="Every day") == "daily"
        assert await app.aio.schedule(clean, "@hourly", id="hourly") == "hourly"
        assert [schedule.id for schedule in await app.aio.list()] == ["hourly", "daily"]
        await app.aio.pause("daily")
        assert not (await app.aio.get("daily")).enabled
        await app.aio.resume("daily")
        run = await app.aio.trigger("daily")
        assert (await app.aio.trigger("daily", slot=run.scheduled_for)).id == run.id
        assert (await app.aio.stats()).schedules == 2

    asyncio.run(steer())
    assert app.get("daily").label == "Every day"
    assert app.get("daily").enabled


def test_runs(app: rota.App, report: Report, sql: Sql) -> None:
    async def make() -> None:
        tomorrow = datetime(9000, 1, 1, tzinfo=UTC)
        run = await app.aio.enqueue(report, "now", run_after=tomorrow, priority=3, idempotency_key="once")
        assert (await app.aio.enqueue(report, "now", idempotency_key="once")).id == run.id
        assert len(await app.aio.enqueue_many(report, ["a", "b"])) == 2
        assert (await app.aio.enqueue_text("report", '"typed"')).job == "report"
        assert (await app.aio.cancel(run.id)).state == "cancelled"
        with pytest.raises(RunFinished):
            await app.aio.cancel(run.id)
        with pytest.raises(rota.errors.RunNotFailed):
            await app.aio.retry(run.id, idempotency_key="again")

    asyncio.run(make())
    assert sql("select input, priority from rota_runs order by id") == [
        ('"now"', 3),
        ('"a"', 0),
        ('"b"', 0),
        ('"typed"', 0),
    ]


def test_what_a_verb_raises_is_raised(app: rota.App, report: Report) -> None:
    async def go_wrong() -> None:
        with pytest.raises(ScheduleNotFound):
            await app.aio.pause("nobody")
        with pytest.raises(PayloadError):
            await app.aio.enqueue(report, 5)  # type: ignore[arg-type]

    asyncio.run(go_wrong())


def test_they_work_on_threads_beside_the_event_loop(app: rota.App, report: Report) -> None:
    threads: list[int] = []

    def inputs() -> Iterator[str]:
        threads.append(threading.get_ident())
        yield "read where the verb works"

    asyncio.run(app.aio.enqueue_many(report, inputs()))
    assert len(threads) == 1
    assert threads != [threading.get_ident()]


def test_many_at_once(app: rota.App, report: Report, sql: Sql) -> None:
    async def enqueue() -> None:
        runs = await asyncio.gather(*(app.aio.enqueue(report, str(n), idempotency_key=str(n % 5)) for n in range(40)))
        assert len({run.id for run in runs}) == 5

    asyncio.run(enqueue())
    assert sql("select count(*) from rota_runs") == [(5,)]


def test_inside_a_harness_they_are_its_own(env: Harness, app: rota.App, report: Report) -> None:
    asyncio.run(app.aio.schedule(report, "@daily", "day", id="daily"))
    env.force_due("daily")
    env.run_until_idle()
    assert [run.state for run in env.runs("daily")] == ["succeeded"]
