"""Lease: the one row that says a worker lives. It renews its own row only; a worker that lost it starts anew."""

from __future__ import annotations

import json
import logging
import os
import platform
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Event, Lock, Thread

from rota.clock import Clock
from rota.engine import App, fallback, janitor
from rota.engine.fallback import LEASE, TOLERANCE
from rota.engine.seats import Capacity
from rota.errors import StoreError
from rota.events import ClockStepped, WorkerRenewed, WorkerTroubled
from rota.store import Store, clock, workers
from rota.store.workers import WorkerRow

logger = logging.getLogger("rota")

BEAT = timedelta(seconds=10)


class Lease:
    """A worker's row in `rota_workers`, from `register` to `release`. `lost` is called when it had to start anew."""

    def __init__(
        self, store: Store, clock: Clock, app: App, capacity: Capacity, build: str, lost: Callable[[], None]
    ) -> None:
        self._store, self._clock, self._app = store, clock, app
        self._capacity, self._build, self._lost = capacity, build, lost
        self._lock = Lock()
        self._beaten = clock.elapsed()
        self._ended = Event()
        self._thread: Thread | None = None
        self.worker = _new_id()

    def register(self) -> None:
        """Write the row; from here on the worker may claim. What dead workers held is rescued at once."""
        with self._store.begin() as connection:
            now = self._clock.now()
            fell_back = fallback.heed(connection, now)
            clock.keep(connection, now)
            workers.add(connection, self._row(self.worker, now))
        self._beaten = self._clock.elapsed()
        for event in fell_back:
            self._app.emit(event)
        janitor.rescue(self._store, self._clock, self._app.emit)

    def beat_if_due(self) -> None:
        """For a worker without a thread, which is awake whenever it is asked: renew the lease where it is time."""
        if self._clock.elapsed() - self._beaten >= BEAT.total_seconds():
            self._beaten = self._clock.elapsed()
            self.beat()

    def beat(self) -> None:
        """Renew the lease, note what time it is, and rescue what dead workers held.

        A worker that slept through its lease, or whose row is gone, starts anew under another id.

        Raises:
            StoreError: the database is out of reach or busy; the next beat comes all the same.
        """
        if abs(step := self._store.measure()) > TOLERANCE:
            self._app.emit(ClockStepped(step))
        with self._lock:
            slept = self._clock.elapsed() - self._beaten > LEASE.total_seconds()
            with self._store.begin() as connection:
                now = self._clock.now()
                fell_back = fallback.heed(connection, now)
                clock.keep(connection, now)
                lives = not slept and workers.beat(connection, self._row(self.worker, now))
            if not lives:
                self._start_anew()
            self._beaten = self._clock.elapsed()
        for event in fell_back:
            self._app.emit(event)
        janitor.rescue(self._store, self._clock, self._app.emit)

    def keep(self) -> None:
        """Renew it from a thread of its own, until it is released: a long pass must not cost the lease."""
        self._thread = Thread(target=self._beat_on, name="rota-lease", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Beat no more. Without a beat the lease runs out, whatever becomes of the release."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def release(self, reason: str) -> int:
        """Give back what is still held, and delete the row; returns how many runs."""
        with self._store.begin() as connection:
            return janitor.give_back(connection, self.worker, self._clock, reason)

    def _beat_on(self) -> None:
        while not self._clock.wait(self._ended, BEAT.total_seconds()):
            try:
                self.beat()
            except Exception as error:
                if not isinstance(error, StoreError):
                    logger.exception("worker %s: a beat failed", self.worker)
                self._app.emit(WorkerTroubled(self.worker, str(error), BEAT.total_seconds()))

    def _start_anew(self) -> None:
        """Its runs may be another's by now: hand back what is left of them, and go on under another id."""
        former, successor = self.worker, _new_id()
        with self._store.begin() as connection:
            janitor.give_back(connection, former, self._clock, "its worker lost its lease")
            workers.add(connection, self._row(successor, self._clock.now()))
            self._lost()  # before the commit, after which it may claim anew
        self.worker = successor
        self._app.emit(WorkerRenewed(former, successor))

    def _row(self, worker: str, now: datetime) -> WorkerRow:
        return WorkerRow(
            id=worker,
            host=platform.node(),
            pid=os.getpid(),
            queues=json.dumps(list(self._capacity.queues)),
            jobs=json.dumps(self._app.jobs.names),
            build=self._build,
            started_at=now,
            beat_at=now,
            lease_until=now + LEASE,
        )


def _new_id() -> str:
    """Generated, never the host's name: containers of one image share that."""
    return f"w-{secrets.token_hex(8)}"
