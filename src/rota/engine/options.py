"""WorkerOptions: how a worker works."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from rota.errors import OptionInvalid
from rota.queue import MOST


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """How a worker works.

    Args:
        queues: the queues whose runs it runs; none means every queue that its jobs name. It scans every schedule.
        concurrency: how many runs it has running in all; None: in each queue as many as that queue says.
        poll_interval: how long it sleeps at most.
        poll_only: do not watch for what other processes write; only the poll and the known times wake it.
        shutdown_timeout: how long a stop waits for runs to end before they are given back.
    """

    queues: tuple[str, ...] = ()
    concurrency: int | None = None
    poll_interval: timedelta = timedelta(seconds=60)
    poll_only: bool = False
    shutdown_timeout: timedelta = timedelta(seconds=30)

    def __post_init__(self) -> None:
        if self.concurrency is not None and not 1 <= self.concurrency <= MOST:
            problem = f"give a whole number from 1 to {MOST:,}, or None for what the queues say"
            raise OptionInvalid("concurrency", self.concurrency, problem)
        for name in ("poll_interval", "shutdown_timeout"):
            if not isinstance(getattr(self, name), timedelta):
                raise OptionInvalid(name, getattr(self, name), "give a timedelta")
        if self.poll_interval <= timedelta(0):
            raise OptionInvalid("poll_interval", self.poll_interval, "give a positive timedelta")
        if self.shutdown_timeout < timedelta(0):
            raise OptionInvalid("shutdown_timeout", self.shutdown_timeout, "it cannot be negative")
