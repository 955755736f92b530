"""Seats: how many runs of a queue may be going at a time, and which claims wait for one to end."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from threading import Lock

from rota.engine.invoke import Call
from rota.queue import Queue


class Capacity:
    """How many runs a worker can have running: in all where it was told so, else in each queue as the queue says."""

    def __init__(self, queues: dict[str, int], total: int | None) -> None:
        self.queues = queues
        self.limited: frozenset[str] = frozenset()
        """The queues that have a limit over all workers."""
        self.shared = total is not None
        """Whether all queues share one number."""
        self._total = total

    def adopt(self, said: Iterable[Queue]) -> None:
        """What the queues say now: an operator may have changed it."""
        known = {queue.name: queue for queue in said}
        self.queues = {name: known[name].concurrency if name in known else n for name, n in self.queues.items()}
        self.limited = frozenset(name for name, queue in known.items() if queue.max_running is not None)

    @property
    def total(self) -> int:
        return sum(self.queues.values()) if self._total is None else self._total

    def of(self, queue: str) -> int:
        return self.total if self.shared else self.queues[queue]

    def room(self, queue: str, running: int, held: int) -> int:
        """How many more may run, where `running` of the queue and `held` in all do so already."""
        return self.total - held if self.shared else self.queues[queue] - running


class Seats:
    """Starts calls, each queue's in turn, and never more at a time than it has seats for."""

    def __init__(self, capacity: Capacity, start: Callable[[Call], None]) -> None:
        self._capacity, self._start = capacity, start
        self._lock = Lock()
        self._waiting: dict[str, deque[Call]] = defaultdict(deque)
        self._taken: dict[str, int] = defaultdict(int)

    def take(self, call: Call) -> None:
        """Start it, or have it wait for a seat."""
        line = self._line(call.claim.queue)
        with self._lock:
            self._waiting[line].append(call)
        self._fill(call.claim.queue)

    def leave(self, queue: str) -> None:
        """A run of this queue has ended: the next one has its seat. Called from whatever thread it ended on."""
        with self._lock:
            self._taken[self._line(queue)] -= 1
        self._fill(queue)

    def clear(self) -> list[Call]:
        """Start nothing more; returns those that were still waiting."""
        with self._lock:
            left = [call for waiting in self._waiting.values() for call in waiting]
            self._waiting.clear()
            return left

    def _fill(self, queue: str) -> None:
        line = self._line(queue)
        while (call := self._next(line, self._capacity.of(queue))) is not None:
            self._start(call)

    def _next(self, line: str, seats: int) -> Call | None:
        with self._lock:
            if not self._waiting[line] or self._taken[line] >= seats:
                return None
            self._taken[line] += 1
            return self._waiting[line].popleft()

    def _line(self, queue: str) -> str:
        return "" if self._capacity.shared else queue
