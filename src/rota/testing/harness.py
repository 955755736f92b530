"""Harness: an app on a throw-away file and a FakeClock, and a worker that turns when the test says so."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from rota.app import App
from rota.engine.options import WorkerOptions
from rota.engine.worker import Worker
from rota.errors import NotIdle, ScheduleNotFound
from rota.fire import Fire
from rota.home import Home
from rota.miss import Miss
from rota.run import Run
from rota.store import Store, fires, misses, open_store, runs, schedules
from rota.testing.clock import START, FakeClock

ALL = 2**62  # more than there are
PATIENCE = 10.0  # seconds that run_until_idle waits for handlers


class Harness:
    """Inside it every verb of `app` uses a throw-away database and a clock that stands still.

    Args:
        app: the app to test.
        now: what time it is at first; a Monday morning in UTC if left out.
        options: how its worker works.
        url: an empty database that may be written into, such as one of PostgreSQL; a new file if left out.

    >>> with rota.testing.Harness(app) as env:
    ...     app.schedule(report, "@daily", Period("day"), id="daily-report")
    ...     env.force_due("daily-report")
    ...     env.run_until_idle()
    ...     assert [run.state for run in env.runs("daily-report")] == ["succeeded"]
    """

    def __init__(
        self, app: App, now: datetime = START, options: WorkerOptions | None = None, *, url: str | None = None
    ) -> None:
        self.app, self._url = app, url
        self.clock = FakeClock(now)
        self._options = replace(options or WorkerOptions(), shutdown_timeout=timedelta(0))
        self._exit = ExitStack()
        self._worker: Worker | None = None
        self._store: Store | None = None

    def __enter__(self) -> Self:
        if self._store is not None:
            raise RuntimeError("this harness is entered already: make another one for a nested block")
        self._store = open_store(self._url or self._new_file(), self.clock.now(), migrating=True)
        self._exit.callback(self._store.close)
        self._exit.enter_context(self.app.housed(Home(self._store, self.clock, upkeep=False)))
        return self

    def _new_file(self) -> str:
        folder = Path(self._exit.enter_context(tempfile.TemporaryDirectory(prefix="rota-")))
        return f"sqlite:///{folder / 'rota.db'}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stop()
        finally:
            self._exit.close()
            self._store = None

    # ---- time ------------------------------------------------------------------------------------------------------

    def advance(self, by: timedelta) -> None:
        """Let time go by, without a pass: what comes due waits for the next one, as in an outage."""
        if not isinstance(by, timedelta):
            raise TypeError(f"by={by!r}: give a timedelta, such as timedelta(minutes=5)")
        self.clock.advance(by)

    def force_due(self, schedule_id: str) -> None:
        """Make the schedule's next slot the present instant; an interval keeps its anchor.

        Raises:
            ScheduleNotFound: no schedule has that id.
        """
        with self.store.begin() as connection:
            schedule = schedules.get(connection, schedule_id)
            if schedule is None:
                raise ScheduleNotFound(schedule_id)
            schedules.progress(connection, [replace(schedule, next_run_at=self.clock.now())])

    # ---- passes ----------------------------------------------------------------------------------------------------

    def turn(self) -> float:
        """One pass of the worker, which is started if it was not; returns the seconds until the next reason to wake."""
        worker = self.worker
        worker.beat_if_due()
        return worker.turn()

    def run_until_idle(self, patience: float = PATIENCE) -> None:
        """Pass after pass, until nothing is due, queued or running. It never moves the clock.

        A run that waits for a later time, such as a retry, is idle: `advance` first.

        Args:
            patience: for how many real seconds to wait for handlers.

        Raises:
            NotIdle: something is still pending; it says what.
        """
        until = time.monotonic() + patience
        while True:
            self.worker.wake.clear()
            rests = self.turn() > 0.0
            if rests and not self._pending():
                return
            left = until - time.monotonic()
            if left <= 0:
                raise NotIdle(patience, self._pending())
            if rests:
                self.worker.wake.wait(min(left, 0.1))

    def stop(self) -> None:
        """Stop the worker, as a deploy would; the next pass starts another one."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.stop()

    @property
    def worker(self) -> Worker:
        """The worker of this harness; it has no thread of its own."""
        if self._worker is None:
            _ = self.store  # outside its block there is none, and the app would work on its own database
            self._worker = self.app.worker(self._options)
        return self._worker

    # ---- what became of it -----------------------------------------------------------------------------------------

    @property
    def store(self) -> Store:
        """The throw-away database."""
        if self._store is None:
            raise RuntimeError("use the harness in a `with` statement: it has a database only inside one")
        return self._store

    def runs(self, schedule_id: str | None = None) -> Sequence[Run]:
        """The runs of a schedule, or all of them, oldest first."""
        with self.store.read() as connection:
            if schedule_id is not None:
                return runs.of_schedule(connection, schedule_id)
            return runs.latest(connection, ALL)[::-1]

    def fires(self, schedule_id: str) -> Sequence[Fire]:
        """The fires of a schedule, oldest slot first."""
        with self.store.read() as connection:
            return fires.of(connection, schedule_id)

    def misses(self, schedule_id: str) -> Sequence[Miss]:
        """The misses of a schedule, oldest slot first."""
        with self.store.read() as connection:
            return misses.of(connection, schedule_id)

    def _pending(self) -> list[str]:
        """What this worker could still do."""
        mine = set(self.worker.queues)
        with self.store.read() as connection:
            due = schedules.due_slots(connection, self.clock.now(), 10)
            left = [run for run in runs.pending(connection) if run.queue in mine and run.job in self.app.jobs.names]
        return [f"schedule {schedule_id} is due for {slot}" for schedule_id, slot in due.items()] + [
            f"run {run.id} of {run.job} is {run.state}" for run in left
        ]
