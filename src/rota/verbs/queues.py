"""The verbs of queues: pause and resume, and how many of their runs may run at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rota.errors import QueueUnknown
from rota.payload import readable
from rota.queue import Queue
from rota.store import audit, queues
from rota.verbs.opening import Opening


class QueueVerbs(Opening):
    """What one does to queues."""

    def queues(self) -> Sequence[Queue]:
        """All queues, by name."""
        with self._reading() as connection:
            return queues.listing(connection)

    def limit_queue(self, name: str, *, concurrency: int | None = None, max_running: int | None = None) -> Queue:
        """Say how many runs of a queue may run at a time; running workers heed it at their next pass.

        Args:
            concurrency: in each worker, 1 or more; None: as before.
            max_running: over all workers, 1 or more; 0: no such limit; None: as before. It is exact: also workers
                that claim at the same moment never have more.

        Raises:
            QueueUnknown: no queue has that name.
            OptionInvalid: a number that makes no sense.
        """
        return self._change("limit", name, lambda queue: queue.limited(concurrency, max_running))

    def pause_queue(self, name: str) -> Queue:
        """Let its runs wait until it is resumed; those that run go on, and schedules fire all the same.

        Raises:
            QueueUnknown: no queue has that name.
        """
        return self._change("pause", name, lambda queue: replace(queue, paused=True))

    def resume_queue(self, name: str) -> Queue:
        """Let its runs be started again.

        Raises:
            QueueUnknown: no queue has that name.
        """
        return self._change("resume", name, lambda queue: replace(queue, paused=False))

    def _change(self, verb: str, name: str, change: Callable[[Queue], Queue]) -> Queue:
        with self._writing() as connection:
            queue = queues.locked(connection, name) if isinstance(name, str) and readable(name) == name else None
            if queue is None:
                raise QueueUnknown(name, (known.name for known in queues.listing(connection)))
            changed = change(queue)
            if changed != queue:
                queues.change(connection, changed)
                audit.record_queue(connection, self.author, verb, name, self._now())
            return changed
