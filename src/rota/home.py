"""Home: where an app lives, its database and the clock it goes by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from rota.clock import Clock, SystemClock
from rota.job import AnyJob
from rota.settings import Settings
from rota.store import Store, open_store


@dataclass(frozen=True, slots=True)
class Home:
    """Where an app lives: its database, and the clock it goes by. `Home.at(url)` opens one."""

    store: Store
    clock: Clock
    upkeep: bool = True
    """Whether a worker sees to it that old history is forgotten; a test's throw-away database keeps all."""
    known: set[AnyJob] = field(default_factory=set)
    """The jobs whose rows there are up to date, as far as this process has to do with it."""

    @classmethod
    def at(cls, url: str) -> Self:
        """The database at `url`, opened, and the clock that goes with it; raises as `open_store` does."""
        machine = SystemClock()
        store = open_store(url, machine.now(), listen_url=Settings.load().listen_url)
        return cls(store, store.clock(machine))
