"""Now, and waiting: the only file that reads a clock. Everything else is given one."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Protocol


class Clock(Protocol):
    """What time it is, how much has gone by, and how to wait for more of it."""

    def now(self) -> datetime:
        """The present instant, aware, in UTC. It may be stepped backwards or forwards at any moment."""
        ...

    def elapsed(self) -> float:
        """Seconds since some fixed moment. Never stepped; counts while the machine sleeps, where the system can."""
        ...

    def wait(self, wake: Event, seconds: float) -> bool:
        """Wait until `wake` is set (then True), or for that many seconds by a clock that is never stepped."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def elapsed(self) -> float:
        return _boottime()

    def wait(self, wake: Event, seconds: float) -> bool:
        return wake.wait(max(0.0, seconds))


class DistantClock:
    """The clock of another machine: what it showed when it was last asked, and what has gone by since."""

    def __init__(self, base: Clock) -> None:
        self._base = base
        self._shown = base.now(), base.elapsed()

    def set(self, instant: datetime) -> timedelta:
        """It shows `instant` now; returns by how much that is more than was to be expected."""
        step = instant - self.now()
        self._shown = instant.astimezone(UTC), self._base.elapsed()
        return step

    def now(self) -> datetime:
        instant, then = self._shown
        return instant + timedelta(seconds=self._base.elapsed() - then)

    def elapsed(self) -> float:
        return self._base.elapsed()

    def wait(self, wake: Event, seconds: float) -> bool:
        return self._base.wait(wake, seconds)


def _boottime() -> float:
    return time.clock_gettime(_BOOTTIME) if _BOOTTIME is not None else time.monotonic()


_BOOTTIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)
