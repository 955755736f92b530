"""FakeClock: time that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Condition, Event, Lock

from rota.errors import InstantNaive

START = datetime(2026, 8, 3, 9, 0, tzinfo=UTC)  # a Monday


class FakeClock:
    """A clock that a test holds. Waiting ends when the event is set, or when the test has moved time far enough."""

    def __init__(self, now: datetime = START) -> None:
        if now.tzinfo is None:
            raise InstantNaive(now, "now")
        self._now = now.astimezone(UTC)
        self._elapsed = 0.0
        self._lock = Lock()
        self._moved = Condition(self._lock)

    def now(self) -> datetime:
        with self._lock:
            return self._now

    def elapsed(self) -> float:
        with self._lock:
            return self._elapsed

    def wait(self, wake: Event, seconds: float) -> bool:
        until = self.elapsed() + seconds
        while not wake.is_set():
            with self._moved:
                if self._elapsed >= until:
                    return False
                self._moved.wait(0.001)  # an Event cannot be waited for together with a Condition
        return True

    def advance(self, by: timedelta) -> None:
        """Let time go by."""
        if by < timedelta(0):
            raise ValueError(f"time does not go back by {by}; to step the clock itself, use step()")
        with self._moved:
            self._now += by
            self._elapsed += by.total_seconds()
            self._moved.notify_all()

    def advance_to(self, instant: datetime) -> None:
        """Let time go by until `instant`."""
        self.advance(instant - self.now())

    def step(self, by: timedelta) -> None:
        """Set the clock to another time, as an operator or a time server would: no time goes by."""
        with self._moved:
            self._now += by
            self._moved.notify_all()
