"""The verbs: what one does to a rota. An app has them, and so does a transaction, in which many become one commit."""

from __future__ import annotations

from rota.stats import Stats
from rota.verbs import count
from rota.verbs.queues import QueueVerbs
from rota.verbs.runs import RunVerbs
from rota.verbs.schedules import ScheduleVerbs


class Verbs(ScheduleVerbs, RunVerbs, QueueVerbs):
    """Every verb, over whatever connection the subclass opens."""

    def stats(self) -> Stats:
        """How the rota stands now; `.health.failing_schedules` is the number to alert on."""
        with self._reading() as connection:
            return count.stats(connection, self._now())
