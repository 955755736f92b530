"""A clock that tells for how long it is waited on: so a test knows that a worker sleeps, and until when."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from queue import Queue
from threading import Event, current_thread

import pytest

import rota
from rota.testing import FakeClock, Harness
from tests.conftest import asked, throw_away
from tests.engine.conftest import LIMIT


class SleepClock(FakeClock):
    """A FakeClock; `asleep` waits until a worker has gone to sleep."""

    def __init__(self) -> None:
        super().__init__()
        self._naps: Queue[float] = Queue()

    def wait(self, wake: Event, seconds: float) -> bool:
        if current_thread().name == "rota-worker" and not wake.is_set():
            self._naps.put(seconds)
        return super().wait(wake, seconds)

    def asleep(self, seconds: float) -> None:
        """Wait until a worker sleeps for so long, whatever shorter naps it had before."""
        while self._naps.get(timeout=LIMIT) != seconds:
            pass

    def tick(self) -> None:
        """Let a little time go by: a worker that watches for others' writes looks up."""
        self.advance(timedelta(milliseconds=50))


@pytest.fixture
def clock() -> SleepClock:
    return SleepClock()


@pytest.fixture
def env(app: rota.App, clock: SleepClock, request: pytest.FixtureRequest) -> Iterator[Harness]:
    """The harness, with a clock of that kind."""
    with throw_away(app, request) as url:
        env = Harness(app, url=url)
        env.clock = clock
        with env:
            yield env


@contextmanager
def taken_away(env: Harness) -> Iterator[None]:
    """Someone moves the database's file, or shuts everyone out of the database, and takes that back."""
    if env.store.url.startswith("sqlite"):
        path = Path(env.store.url.removeprefix("sqlite:///"))
        path.rename(path.with_suffix(".away"))
        yield
        path.with_suffix(".away").rename(path)
    else:
        server, _, name = env.store.url.rpartition("/")
        closed = f"alter database {name} with allow_connections"
        asked(f"{server}/postgres", f"{closed} false")
        asked(f"{server}/postgres", f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'")
        yield
        asked(f"{server}/postgres", f"{closed} true")
