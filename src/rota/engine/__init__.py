"""The engine: what a worker does. It sees an app only as what is asked for here."""

from __future__ import annotations

from typing import Protocol

from rota.job import Jobs


class App(Protocol):
    """What the engine needs of an app: the jobs of this process, and someone to tell what happens."""

    @property
    def jobs(self) -> Jobs: ...

    def emit(self, event: object) -> None: ...
