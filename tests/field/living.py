"""Time goes by, and a worker lives through it."""

from __future__ import annotations

from datetime import datetime, timedelta
from queue import Empty, Queue
from typing import TypeVar

from rota.testing import Harness

E = TypeVar("E")

BEAT = timedelta(seconds=10)


def live(env: Harness, until: datetime) -> None:
    """The worker passes, and sleeps as long as its last pass said, though no longer than to its next beat."""
    while True:
        env.run_until_idle()
        left = until - env.clock.now()
        if left <= timedelta(0):
            return
        env.advance(min(left, BEAT, timedelta(seconds=env.turn())))


def awaited(env: Harness, told: Queue[E], pace: timedelta = timedelta(seconds=1)) -> E:
    """What a worker on its own threads tells next. Where one of them was just about to wait, time goes on by `pace`."""
    for _ in range(10):
        try:
            return told.get(timeout=1)
        except Empty:
            env.clock.advance(pace)
    raise AssertionError("the worker sleeps on")
