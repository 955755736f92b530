"""Calls that a type checker takes, and calls that it refuses: each of those is marked so at the end of its line."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, assert_type

from fastapi import FastAPI
from starlette.applications import Starlette

import rota


@dataclass(frozen=True)
class Period:
    name: str


app = rota.App()


@app.step(queue="bulk", max_attempts=3)
def report(period: Period) -> int:
    return len(period.name)


@app.step()
async def fetch(period: Period) -> str:
    return period.name


@app.action(name="sales/clean")
def clean() -> None: ...


@app.action()
async def sweep() -> None: ...


@app.step()
def optional(count: int = 3) -> int:
    return count


def never_registered(period: Period) -> int:
    return 0


assert_type(report, rota.Job[Period, int, int])
assert_type(fetch, rota.Job[Period, str, Coroutine[Any, Any, str]])
assert_type(clean, rota.Job0[None, None])
assert_type(sweep, rota.Job0[None, Coroutine[Any, Any, None]])
assert_type(optional, rota.Job0[int, int])
assert_type(report(Period("day")), int)
assert_type(app.enqueue(clean), rota.Run)

app.schedule(report, "@daily", Period("day"), id="daily", tz="Europe/Berlin")
app.schedule(clean, rota.Cadence.parse("0 3 * * *"))
app.schedule(optional, "@daily")
app.enqueue(fetch, Period("day"), priority=3)
app.enqueue_many(report, [Period("day"), Period("week")])
with app.transaction() as tx:
    tx.schedule(report, "@daily", Period("day"))


async def in_an_async_application() -> None:
    assert_type(await app.aio.schedule(report, "@daily", Period("day"), id="daily", tz="Europe/Berlin"), str)
    assert_type(await app.aio.schedule(clean, rota.Cadence.parse("0 3 * * *")), str)
    assert_type(await app.aio.enqueue(fetch, Period("day"), priority=3), rota.Run)
    assert_type(await app.aio.enqueue(sweep), rota.Run)
    assert_type(await app.aio.enqueue_many(report, [Period("day")]), Sequence[int])
    assert_type(await app.aio.trigger("daily"), rota.Run)
    assert_type(await app.aio.get("daily"), rota.Schedule)
    assert_type(await app.aio.stats(), rota.Stats)
    async with app.aio.running(rota.WorkerOptions(concurrency=1)) as worker:
        assert_type(worker, rota.Worker)
    assert_type(await app.aio.within(object()).enqueue(fetch, Period("day")), rota.Run)
    Starlette(lifespan=app.aio.lifespan)
    FastAPI(lifespan=app.aio.lifespan)

    await app.aio.schedule(report, "@daily")  # refused
    await app.aio.schedule(report, "@daily", "day")  # refused
    await app.aio.schedule(clean, "@daily", Period("day"))  # refused
    await app.aio.schedule(never_registered, "@daily", Period("day"))  # refused
    await app.aio.enqueue(report)  # refused
    await app.aio.enqueue(report, 5)  # refused
    await app.aio.enqueue(clean, priority="high")  # refused
    await app.aio.enqueue_many(report, ["day"])  # refused
    await app.aio.pause(5)  # refused
    await app.aio.within(object()).enqueue(fetch, "day")  # refused
    app.aio.pause("daily")  # refused


app.schedule(report, "@daily")  # refused
app.schedule(report, "@daily", "day")  # refused
app.schedule(report, "@daily", Period("day"), Period("week"))  # refused
app.schedule(clean, "@daily", Period("day"))  # refused
app.schedule(never_registered, "@daily", Period("day"))  # refused
app.schedule(report, 5, Period("day"))  # refused
app.enqueue(report)  # refused
app.enqueue(report, 5)  # refused
app.enqueue(clean, 5)  # refused
app.enqueue_many(report, ["day"])  # refused
report("day")  # refused


@app.step  # refused
def bare() -> int:
    return 1


@app.action()  # refused
def returns() -> int:
    return 1


@app.step()  # refused
def two(first: int, second: int) -> int:
    return first + second
