"""Look: what a plain look at the database shows a worker."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Look:
    """What a plain look shows: when the next thing is to be done, and which queues have something to claim."""

    now: datetime
    next_due: datetime | None
    next_waiting: datetime | None
    ready: tuple[str, ...]

    @property
    def is_due(self) -> bool:
        return self.next_due is not None and self.next_due <= self.now

    @property
    def is_waiting_over(self) -> bool:
        return self.next_waiting is not None and self.next_waiting <= self.now

    @property
    def wake_at(self) -> datetime | None:
        return min(filter(None, (self.next_due, self.next_waiting)), default=None)
