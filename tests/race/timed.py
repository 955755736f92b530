"""A site whose time the test holds, and whose processes kill themselves where it says."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event

from rota.engine.lease import BEAT
from rota.store.types import text_of
from tests.race.clock import SharedClock
from tests.race.workers import GLANCE, LIMIT, Process, Site

LEASE_AND_BEAT = timedelta(seconds=40)  # after which no one still waits for what a dead worker held

_BEATEN = "select count(*) from rota_workers where beat_at > ?"


class TimedSite(Site):
    """All its processes go by `clock`, which stands still until the test moves it, with `advance`, `live` and so on."""

    program = "tests.race.timed_rota"
    clock: SharedClock

    def __init__(self, folder: Path, now: datetime, app: str = "tests.race.ticks:app") -> None:
        super().__init__(folder)
        self.environ["ROTA_APP"] = app
        self.clock = SharedClock(folder / "clock")
        self.clock.advance_to(now)

    def kill_at(self, point: str, nth: int = 1) -> None:
        """The first process that comes to this point for the nth time from now on ends there (see `dying`)."""
        (self.folder / "coming").write_text(f"{nth} {point}")
        (self.folder / "coming").rename(self.folder / "death")

    def advance_to(self, instant: datetime) -> None:
        """Let time go by until `instant`. The commit that follows has those look again who looked just before."""
        self.clock.advance_to(instant)
        self.sql(f"pragma user_version = {int(instant.timestamp()) % 2**31}")

    def advance(self, by: timedelta) -> None:
        """Let time go by."""
        self.advance_to(self.clock.now() + by)

    def live(self, by: timedelta, workers: int) -> None:
        """Time goes by from beat to beat; each of so many workers, which are up, beats before it goes on."""
        until = self.clock.now() + by
        while (now := self.clock.now()) < until:
            self.advance_to(min(until, now + BEAT))
            self.until(_BEATEN, (workers,), given=[text_of(self.clock.now() - BEAT)])


def killed(processes: Iterable[Process]) -> Process:
    """The one of these that has been killed, as soon as one has."""
    pause, many = Event(), list(processes)
    for _ in range(int(LIMIT / GLANCE)):
        for process in many:
            if process.process.poll() == -signal.SIGKILL:
                return process
        pause.wait(GLANCE)
    raise AssertionError(f"none was killed within {LIMIT:g} s: {[process.lines for process in many]}")
