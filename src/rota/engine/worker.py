"""Worker: scans, runs jobs and cleans up, pass after pass; between them it sleeps until the earliest reason to wake."""

from __future__ import annotations

import logging
import random
from contextlib import suppress
from math import inf
from threading import Event, Thread, current_thread

from rota.clock import Clock
from rota.engine import App
from rota.engine.executor import Executor
from rota.engine.lease import Lease
from rota.engine.look import Look
from rota.engine.options import WorkerOptions
from rota.engine.scanner import BATCH, scan
from rota.engine.seats import Capacity
from rota.errors import QueueUnknown, StoppedFromWithin, StoreError
from rota.events import WorkerStarted, WorkerStopped, WorkerTroubled
from rota.store import Store, Watch, claims, jobs, queues, runs, schedules

logger = logging.getLogger("rota")

THREAD = "rota-worker"
ABANDONED = "its worker was ended before it ended"
BACK_OFF = (0.25, 15.0)  # seconds: the first and the longest wait after a pass that could not reach the database


class Worker:
    """One process's worker. `start` and `stop` run it on a thread of its own; `turn` makes one pass here and now."""

    def __init__(self, store: Store, clock: Clock, app: App, build: str, options: WorkerOptions) -> None:
        self._store, self._clock, self._app, self._options = store, clock, app, options
        self.wake = Event()
        self._stopping = Event()
        self._thread: Thread | None = None
        self._troubles = 0
        self._names = app.jobs.names
        self._capacity = Capacity(_open(store, app, options), options.concurrency)
        self._executor = Executor(store, clock, app, self.wake, self._capacity)
        self._lease = Lease(store, clock, app, self._capacity, build, self._executor.drop)
        self._lease.register()
        app.emit(WorkerStarted(self.id, self._queues))

    @property
    def id(self) -> str:
        """Generated at the start; another one once its lease was lost."""
        return self._lease.worker

    @property
    def queues(self) -> dict[str, int]:
        """The queues it works on, and how many runs of each it can have running."""
        return {queue: self._capacity.of(queue) for queue in self._queues}

    @property
    def _queues(self) -> tuple[str, ...]:
        return tuple(self._capacity.queues)

    # ---- on a thread -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Work on a thread, until `stop`."""
        self._lease.keep()
        self._thread = Thread(target=self._work, name=THREAD, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        """Claim no more, let what runs end within shutdown_timeout, give the rest back; returns how many that were."""
        self._stopping.set()
        self.wake.set()
        if (thread := self._thread) is not None:
            if thread is current_thread() and thread.name == THREAD:
                raise StoppedFromWithin
            thread.join()
        return self._close()

    def abandon(self, seconds: float) -> int | None:
        """Give back what it holds, for this process ends now whatever its handlers do; returns how many runs.

        Returns None where that is not done within so many seconds: then the lease has to run out.
        """
        released: list[int] = []

        def give_back() -> None:
            with suppress(StoreError):
                released.append(self._lease.release(ABANDONED))

        giving_back = Thread(target=give_back, daemon=True)
        giving_back.start()
        giving_back.join(seconds)
        return released[0] if released else None

    def once(self) -> int:
        """In place of `start`: fire what is due, claim one batch, run it and settle it; returns how many runs ended.

        `stop`, from another thread, makes it claim no more and return; it is called at the end in any case.

        Raises:
            StoreError: the database is out of reach or busy.
        """
        self._thread = current_thread()
        self._lease.keep()
        try:
            self._look()
            while scan(self._store, self._clock, self._app.emit, self.id) == BATCH and not self._stopping.is_set():
                pass
            claimed = 0 if self._stopping.is_set() else self._executor.round(self.id, self._queues)
            self._finish(inf, until_stopped=True)
            return claimed - self._executor.holding
        finally:
            self._thread = None

    def _work(self) -> None:
        off = self._store.on_commit(self._on_commit)
        watch = None if self._options.poll_only else self._store.watch(self.wake.set)
        try:
            while not self._stopping.is_set():
                self.wake.clear()
                if watch is not None:
                    watch.changed()  # before the pass looks: what is written after that wakes it again
                self._sleep(self._attempt(), watch)
        finally:
            off()
            if watch is not None:
                watch.close()

    def _on_commit(self) -> None:
        """Someone of this process has written, and there may be something to do; of its own passes it knows."""
        if current_thread() is not self._thread:
            self.wake.set()

    def _attempt(self) -> float:
        """A pass; returns for how many seconds to sleep. No trouble ends a worker: it backs off, and goes on."""
        try:
            seconds = self.turn()
        except Exception as error:
            seconds = min(BACK_OFF[1], BACK_OFF[0] * 2**self._troubles) * random.uniform(0.8, 1.2)  # noqa: S311
            self._troubles = min(self._troubles + 1, 10)
            if not isinstance(error, StoreError):
                logger.exception("worker %s: a pass failed", self.id)
            self._app.emit(WorkerTroubled(self.id, str(error), seconds))
        else:
            self._troubles = 0
        return seconds

    def _sleep(self, seconds: float, watch: Watch | None) -> None:
        until = self._clock.elapsed() + seconds
        interval = inf if watch is None or watch.interval is None else watch.interval
        while (left := until - self._clock.elapsed()) > 0 and not self._stopping.is_set():
            if self._clock.wait(self.wake, min(left, interval)):
                return
            if watch is not None and watch.changed():
                return

    # ---- a pass ----------------------------------------------------------------------------------------------------

    def turn(self) -> float:
        """One pass: fire what is due, settle what ended, claim what there is room for.

        Returns:
            For how many seconds there is nothing to do, at most the poll interval.

        Raises:
            StoreError: the database is out of reach or busy.
        """
        self._learn()
        look = self._look()
        decided = scan(self._store, self._clock, self._app.emit, self.id) if look.is_due else 0
        if decided is None:
            self._lease.beat()  # which finds out, and starts anew
            return 0.0
        moved = 0
        if decided or look.ready or look.is_waiting_over or self._executor.has_work:
            moved = self._executor.round(self.id, self._queues)
        if decided == BATCH or moved:
            return 0.0
        return self._until_next(look if not decided else self._look())

    def beat_if_due(self) -> None:
        """For a worker without a thread: renew its lease where it is time."""
        self._lease.beat_if_due()

    @property
    def holding(self) -> int:
        """How many runs it holds."""
        return self._executor.holding

    def _learn(self) -> None:
        """The app may have got jobs since: their rows are brought up to date, and their queues are its own too."""
        if (names := self._app.jobs.names) is not self._names:
            self._capacity.queues = _open(self._store, self._app, self._options)
            self._names = names

    def _look(self) -> Look:
        with self._store.read() as connection:
            now = self._clock.now()
            self._capacity.adopt(queues.listing(connection))
            self._executor.hear_cancels(connection, self.id)
            room = [queue for queue in self._queues if self._executor.room(queue) > 0]
            return Look(
                now,
                schedules.next_due(connection),
                runs.next_waiting(connection),
                claims.ready(connection, room, self._app.jobs.names),
            )

    def _until_next(self, look: Look) -> float:
        reasons = [self._options.poll_interval.total_seconds(), self._executor.check_deadlines()]
        if look.wake_at is not None:
            reasons.append((look.wake_at - self._clock.now()).total_seconds())
        return max(0.0, min(reasons))

    # ---- the end ---------------------------------------------------------------------------------------------------

    def _close(self) -> int:
        self._executor.stop()
        try:
            self._finish(self._clock.elapsed() + self._options.shutdown_timeout.total_seconds())
            self._executor.give_up_overdue()
            self._finish(until=0.0)
        except StoreError as error:
            self._app.emit(WorkerTroubled(self.id, str(error), 0.0))
        finally:
            self._lease.end()
            self._executor.close()
        released = self._release()
        given_back = self._executor.given_back + released
        self._app.emit(WorkerStopped(self.id, given_back))
        return given_back

    def _release(self) -> int:
        try:
            return self._lease.release("its worker was shut down before it ended")
        except StoreError as error:  # then the lease runs out, and others give back what it held
            self._app.emit(WorkerTroubled(self.id, str(error), 0.0))
            return 0

    def _finish(self, until: float, *, until_stopped: bool = False) -> None:
        """Let what runs come to its end, and settle it; a database that is out of reach is tried again till then."""
        while self._executor.holding and not (until_stopped and self._stopping.is_set()):
            self.wake.clear()
            left = until - self._clock.elapsed()
            try:
                if self._executor.has_work:
                    self._executor.round(self.id, ())
                    continue
                self._look()
            except StoreError:
                if left <= 0:
                    raise
            if left <= 0:
                return
            self._executor.check_deadlines()
            self._clock.wait(self.wake, min(left, 1.0))


def _open(store: Store, app: App, options: WorkerOptions) -> dict[str, int]:
    """Bring the rows of its jobs and queues up to date; returns what it works on, and how many seats each has."""
    with store.begin() as connection:
        jobs.refresh(connection, app.jobs)
        known = {row.name: row.concurrency for row in queues.listing(connection)}
    for queue in options.queues:
        if queue not in known:
            raise QueueUnknown(queue, known)
    wanted = options.queues or sorted({job.queue for job in app.jobs})
    return {queue: known[queue] for queue in wanted}
