"""A clock in a file. It stands still until the test moves it, and then for every process that goes by it."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from threading import Event, local

GLANCE = 0.01  # seconds between two looks at the file


class SharedClock:
    """`now` is what the file says. What has elapsed is that, and the real time too, or no one could wait for less."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._thread = local()
        self._made = self.elapsed() if file.exists() else 0.0

    def now(self) -> datetime:
        return datetime.fromisoformat(self._file.read_text())

    def elapsed(self) -> float:
        return time.monotonic() + self.now().timestamp()

    def wait(self, wake: Event, seconds: float) -> bool:
        """From when this thread last waited: a test that moves on at once leaves nobody behind."""
        until = getattr(self._thread, "woken", self._made) + seconds
        while not wake.is_set() and (left := until - self.elapsed()) > 0:
            wake.wait(min(left, GLANCE))
        self._thread.woken = self.elapsed()
        return wake.is_set()

    def advance_to(self, instant: datetime) -> None:
        """Let time go by until `instant`."""
        coming = self._file.with_suffix(".coming")
        coming.write_text(instant.isoformat())
        coming.replace(self._file)
