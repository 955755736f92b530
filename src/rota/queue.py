"""Queue: a named line of runs; how many of them may run at a time, and whether they wait."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from rota.errors import OptionInvalid

MOST = 100_000


@dataclass(frozen=True, slots=True)
class Queue:
    """One row of `rota_queues`."""

    name: str
    concurrency: int = 4
    """How many of its runs one worker has running at a time."""
    max_running: int | None = None
    """How many all workers together have running at a time; None: no such limit."""
    paused: bool = False
    """Its runs wait; those that run go on."""

    def limited(self, concurrency: int | None, max_running: int | None) -> Self:
        """With these limits; what is None stays as it is, and a `max_running` of 0 takes that limit away.

        Raises:
            OptionInvalid: a number that makes no sense.
        """
        limited = self
        if concurrency is not None:
            limited = replace(limited, concurrency=_checked("concurrency", concurrency, least=1))
        if max_running is not None:
            limited = replace(limited, max_running=_checked("max_running", max_running, least=0) or None)
        return limited


def _checked(name: str, number: int, least: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= MOST:
        raise OptionInvalid(name, number, f"give a whole number from {least} to {MOST:,}")
    return number
