"""`python -m tests.race.timed_rota` is `rota`, by the clock of its site, in a process that can meet its death."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rota import App
from rota.cli import main as rota
from rota.clock import Clock, SystemClock
from rota.finding import find_app
from rota.home import Home
from rota.store import open_store
from tests.race.clock import SharedClock
from tests.race.dying import Death


def main() -> None:
    here = Path.cwd()
    Death(here / "death").lie_in_wait()
    if "TWIN" in os.environ:
        _look_like_the_others()
    clock = SharedClock(here / "clock") if (here / "clock").exists() else SystemClock()
    with housed(os.environ["ROTA_APP"], os.environ["ROTA_DATABASE_URL"], clock):
        rota()


@contextmanager
def housed(place: str, url: str, clock: Clock) -> Iterator[App]:
    """The app at that place, in this database and time. It keeps all history, so that everything can be counted."""
    app = find_app(place)
    store = open_store(url, clock.now())
    try:
        with app.housed(Home(store, clock, upkeep=False)):
            yield app
    finally:
        store.close()


def _look_like_the_others() -> None:
    """As containers of one image do: the same host name, and each thinks that it is process 1."""
    platform.node = lambda: "web"
    os.getpid = lambda: 1


if __name__ == "__main__":
    main()
