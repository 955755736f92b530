"""Retry: how often a run is attempted, and how long it waits in between."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from rota.errors import OptionInvalid

LONGEST_DELAY = timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a run is attempted, and how long it waits in between: the delay doubles after each failure.

    Args:
        attempts: attempts in all, the first one included; at least 1.
        initial_delay: the wait after the first failure.
        max_delay: the longest wait.

    >>> Retry(5, initial_delay=timedelta(seconds=10)).delay(failures=3)
    datetime.timedelta(seconds=40)
    """

    attempts: int
    initial_delay: timedelta = timedelta(seconds=10)
    max_delay: timedelta = timedelta(minutes=5)

    def __post_init__(self) -> None:
        if isinstance(self.attempts, bool) or not isinstance(self.attempts, int) or not 1 <= self.attempts <= 10_000:
            raise OptionInvalid("attempts", self.attempts, "give a whole number from 1 to 10000")
        for name in ("initial_delay", "max_delay"):
            delay = getattr(self, name)
            if not isinstance(delay, timedelta) or delay > LONGEST_DELAY:
                raise OptionInvalid(name, delay, f"give a timedelta of at most {LONGEST_DELAY.days} days")
        if self.initial_delay < timedelta(0):
            raise OptionInvalid("initial_delay", self.initial_delay, "a delay cannot be negative")
        if self.max_delay < self.initial_delay:
            raise OptionInvalid("max_delay", self.max_delay, f"it is shorter than initial_delay={self.initial_delay}")

    def delay(self, failures: int) -> timedelta:
        """The wait after that many failures (1 or more)."""
        doublings = min(failures - 1, 40)  # far beyond any max_delay, and far below an overflow
        seconds = min(self.initial_delay.total_seconds() * 2**doublings, self.max_delay.total_seconds())
        return timedelta(seconds=seconds)

    @property
    def text(self) -> str:
        """The delays, as a row keeps them; the attempts have a column of their own."""
        return json.dumps(
            {"initial_delay": self.initial_delay.total_seconds(), "max_delay": self.max_delay.total_seconds()}
        )

    @classmethod
    def read(cls, text: str, attempts: int) -> Self:
        """The Retry that a row keeps; the default delays where the row has none."""
        return cls(attempts, **{name: timedelta(seconds=seconds) for name, seconds in json.loads(text).items()})
