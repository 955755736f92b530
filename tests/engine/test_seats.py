"""A queue never has more runs going than it has seats, however quick they are and however many were claimed ahead."""

from __future__ import annotations

import asyncio
from collections import Counter
from queue import Queue
from threading import Event, Lock

import pytest

import rota
from rota.events import RunSettled
from tests.conftest import Sql

RUNS = 60
LIMIT = 20.0


class Crowd:
    """How many are inside at a time, by queue."""

    def __init__(self) -> None:
        self._lock, self._inside, self.most = Lock(), Counter[str](), Counter[str]()

    def enter(self, queue: str) -> None:
        with self._lock:
            self._inside[queue] += 1
            self.most[queue] = max(self.most[queue], self._inside[queue])

    def leave(self, queue: str) -> None:
        with self._lock:
            self._inside[queue] -= 1


@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_quick_handlers_keep_to_their_queue_s_seats(app: rota.App, sql: Sql, kind: str) -> None:
    """On the real clock: only then does a worker learn that they are quick, and claims ahead."""
    crowd, never, settled = Crowd(), Event(), Queue[int]()

    def plain(queue: str) -> None:
        crowd.enter(queue)
        never.wait(0.001)
        crowd.leave(queue)

    async def coroutine(queue: str) -> None:
        crowd.enter(queue)
        await asyncio.sleep(0.001)
        crowd.leave(queue)

    handler = plain if kind == "plain" else coroutine
    narrow = app.action(name="narrow", queue="narrow")(handler)
    wide = app.action(name="wide", queue="wide")(handler)
    app.on(RunSettled, lambda event: settled.put(event.run_id))
    app.enqueue_many(narrow, ["narrow"] * RUNS)
    app.enqueue_many(wide, ["wide"] * RUNS)
    sql("update rota_queues set concurrency = 1 where name = 'narrow'")
    with app.running():
        for _ in range(2 * RUNS):
            settled.get(timeout=LIMIT)
    assert crowd.most["narrow"] == 1
    assert crowd.most["wide"] <= 4
