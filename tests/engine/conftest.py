"""What the tests of the engine share: events to wait for, a clock that goes on, and a handler that is held."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from queue import Empty, Queue
from threading import Event, Semaphore
from typing import Any

import pytest

import rota
from rota.testing import Harness
from tests.conftest import Sql

LIMIT = 10.0  # seconds: longer than anything here takes, and the end of waiting for what does not come
SECOND = timedelta(seconds=1)


class Heard:
    """The events of one kind, as they come."""

    def __init__(self) -> None:
        self.events: Queue[Any] = Queue()

    def next(self) -> Any:
        return self.events.get(timeout=LIMIT)

    def all(self) -> list[Any]:
        """Those that have come since one last asked."""
        found = []
        while True:
            try:
                found.append(self.events.get_nowait())
            except Empty:
                return found

    def next_while(self, going_on: Callable[[], object]) -> Any:
        """The next one, while time is made to go on."""
        for _ in range(int(LIMIT / 0.02)):
            try:
                return self.events.get(timeout=0.02)
            except Empty:
                going_on()
        raise AssertionError("it never happened")


Hear = Callable[[type], Heard]


@pytest.fixture
def hear(app: rota.App) -> Hear:
    """`hear(events.RunSettled)`: from here on, the events of that kind."""

    def hear(kind: type) -> Heard:
        heard = Heard()
        app.on(kind, heard.events.put)
        return heard

    return hear


class Held:
    """A job whose handler waits until the test lets go of it."""

    def __init__(self, app: rota.App) -> None:
        self.started = Semaphore(0)
        self.let_go = Event()
        self.job = app.step(name="held")(self._handle)

    def _handle(self, number: int) -> int:
        self.started.release()
        self.let_go.wait(LIMIT)
        return number

    def wait_started(self, many: int = 1) -> None:
        for _ in range(many):
            assert self.started.acquire(timeout=LIMIT)


@pytest.fixture
def held(app: rota.App) -> Iterator[Held]:
    held = Held(app)
    yield held
    held.let_go.set()


@pytest.fixture
def ticking(env: Harness) -> Callable[[], None]:
    """Lets a little time go by: a sleeping worker looks up."""
    return lambda: env.advance(timedelta(milliseconds=50))


__all__ = ["LIMIT", "SECOND", "Hear", "Heard", "Held", "Sql"]
