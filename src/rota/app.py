"""App: registers jobs, has every verb, and runs a worker inside your process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from importlib.metadata import version
from threading import RLock
from typing import Any, TypeVar, cast

from sqlalchemy import Connection

from rota import log
from rota.aio import Aio
from rota.author import Author
from rota.engine import pruner
from rota.engine.options import WorkerOptions
from rota.engine.worker import Worker
from rota.errors import AppRunning
from rota.events import Events
from rota.handler import with_parentheses
from rota.home import Home
from rota.job import ActionDecorator, AnyJob, Jobs, StepDecorator
from rota.retry import Retry
from rota.settings import Settings
from rota.verbs import Verbs
from rota.verbs.transaction import Transaction, Within
from rota.verbs.upkeep import schedule_pruning

E = TypeVar("E")
Started = TypeVar("Started", bound=Callable[[], object])


class App(Verbs):
    """An application's rota. Making one opens nothing; the first verb does.

    Args:
        url: the database, `sqlite:///rota.db` for one; left out, ROTA_DATABASE_URL or pyproject.toml say it, and
            `./rota.db` is the default.

    >>> app = rota.App()
    >>> @app.step()
    ... def report(period: str) -> int: ...
    >>> app.schedule(report, "@daily", "day", id="daily-report")
    'daily-report'
    """

    def __init__(self, url: str | None = None) -> None:
        self.jobs = Jobs()
        self.author = Author()
        self.events = Events()
        self.aio = Aio(self)
        log.subscribe(self.events)
        self._url = url
        self._lock = RLock()
        self._home: Home | None = None
        self._starters: list[Callable[[], object]] = []
        self._worker: Worker | None = None
        self._starting = False

    @property
    def url(self) -> str:
        """The URL of its database."""
        return self._url if self._url is not None else Settings.load().database_url

    # ---- jobs ------------------------------------------------------------------------------------------------------

    def step(
        self,
        misplaced: None = None,
        /,
        *,
        name: str | None = None,
        queue: str = "default",
        timeout: timedelta | None = None,
        max_attempts: int | None = None,
        retry: Retry | None = None,
        label: str | None = None,
        description: str | None = None,
    ) -> StepDecorator:
        """Make a job of a function, plain or `async`, that takes at most one input and returns a value.

        Args:
            name: `<app>/<job>` or any printable text; the function's own name if left out.
            queue: the line its runs stand in.
            timeout: how long an attempt may take; None: however long.
            max_attempts: attempts in all, 1 if left out; short for `retry=Retry(max_attempts)`.
            retry: the attempts and the delays between them.

        Raises:
            HandlerInvalid, JobNameInvalid, JobNameTaken, OptionInvalid: it cannot be a job as asked.
        """
        with_parentheses(misplaced)
        options: dict[str, Any] = {"queue": queue, "timeout": timeout, "max_attempts": max_attempts, "retry": retry}
        words: dict[str, Any] = {"label": label, "description": description}
        return cast(StepDecorator, lambda handler: self.jobs.add(handler, "step", name, **options, **words))

    def action(
        self,
        misplaced: None = None,
        /,
        *,
        name: str | None = None,
        queue: str = "default",
        timeout: timedelta | None = None,
        max_attempts: int | None = None,
        retry: Retry | None = None,
        label: str | None = None,
        description: str | None = None,
    ) -> ActionDecorator:
        """Make a job of a function that returns nothing. Arguments and errors are those of `step`."""
        with_parentheses(misplaced)
        options: dict[str, Any] = {"queue": queue, "timeout": timeout, "max_attempts": max_attempts, "retry": retry}
        words: dict[str, Any] = {"label": label, "description": description}
        return cast(ActionDecorator, lambda handler: self.jobs.add(handler, "action", name, **options, **words))

    # ---- running ---------------------------------------------------------------------------------------------------

    def on_start(self, call: Started, /) -> Started:
        """Call the decorated function whenever a worker starts, in `app.start()` and `rota worker`; not on import."""
        self._starters.append(call)
        return call

    def on(self, kind: type[E], listener: Callable[[E], None]) -> None:
        """Call `listener` with each event of this kind, on the thread in which it happens."""
        self.events.on(kind, listener)

    def start(self, options: WorkerOptions | None = None) -> Worker:
        """Run a worker on a thread of this process, until `stop`. It scans, fires and runs: there is no other process.

        First it calls what `on_start` marked.

        Raises:
            AppRunning: it runs already.
            QueueUnknown, StoreError: it cannot start.
        """
        with self._lock:
            if self._worker is not None or self._starting:
                raise AppRunning
            self._starting = True
        try:
            worker = self._worker = self.worker(options or WorkerOptions())
            worker.start()
        finally:
            self._starting = False
        return worker

    def stop(self) -> None:
        """Stop the worker: claim no more, let what runs end, give the rest back. Nothing where none runs."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.stop()

    @contextmanager
    def running(self, options: WorkerOptions | None = None) -> Iterator[Worker]:
        """A worker in this process for as long as the `with` block lasts: `start`, and `stop` at the end."""
        worker = self.start(options)
        try:
            yield worker
        finally:
            self.stop()

    def worker(self, options: WorkerOptions) -> Worker:
        """A worker of this app, registered but not started, after what `on_start` asks for."""
        for call in self._starters:
            call()
        home = self.home()
        if home.upkeep:
            with home.store.begin() as connection:
                told = schedule_pruning(connection, self.jobs, self._forget_old_history, home.clock.now())
            self._tell(told)
        return Worker(home.store, home.clock, self, version("rota"), options)

    def _forget_old_history(self) -> None:
        home, settings = self.home(), Settings.load()
        pruner.prune(home.store, home.clock, settings.keep_runs, settings.keep_fires)

    def emit(self, event: object) -> None:
        self.events.emit(event)

    # ---- the database ----------------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self, author: Author | None = None) -> Iterator[Transaction]:
        """Many verbs, one commit: all of them, or none where something is raised.

        Registrations are written together, before the next other verb or at the end; what they raise is raised there.

        >>> with app.transaction() as tx:
        ...     tx.schedule(report, "@daily", "day", id="daily-report")
        ...     tx.pause("weekly-report")
        """
        home = self.home()
        with home.store.begin() as connection:
            transaction = Transaction(connection, self.jobs, author or self.author, home.clock, self.emit)
            try:
                yield transaction
                transaction.flush()
            finally:
                transaction.end()
        transaction.committed()

    def within(self, connection: object) -> Within:
        """Every verb in your own transaction: it commits with yours, or not at all.

        Args:
            connection: to the app's own database: a sqlite3 or psycopg connection, a SQLAlchemy Connection or Session,
                or a Django connection inside `atomic()`; for async ones there is `app.aio.within`. Nothing of it is
                committed, rolled back or closed here.

        Raises:
            ConnectionUnusable: by its verbs: it is none of these, is closed, is another database's, or commits each
                statement by itself.
            TransactionStale: by its verbs: it has read, and another has committed since.

        >>> with sqlite3.connect("rota.db") as connection:
        ...     connection.execute("insert into config values ('report', 'on')")
        ...     app.within(connection).schedule(report, "@daily", Period("day"), id="daily-report")
        """
        home = self.home()
        return Within(connection, home.store, self.jobs, self.author, home.clock)

    def home(self) -> Home:
        """Its database, opened now if it was not, and its clock.

        Raises:
            StoreError: the database cannot be opened.
        """
        with self._lock:
            if self._home is None:
                self._home = Home.at(self.url)
            return self._home

    @contextmanager
    def housed(self, home: Home) -> Iterator[None]:
        """Live elsewhere for a while: what the test harness does."""
        with self._lock:
            former, self._home = self._home, home
        try:
            yield
        finally:
            with self._lock:
                self._home = former

    def close(self) -> None:
        """Stop the worker, and close the database. The next verb opens it again."""
        self.stop()
        with self._lock:
            home, self._home = self._home, None
        if home is not None:
            home.store.close()

    def _now(self) -> datetime:
        return self.home().clock.now()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self.home().store.begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self.home().store.read() as connection:
            yield connection

    def _news(self, job: AnyJob) -> list[AnyJob]:
        return [] if job in self.home().known else [job]

    def _learned(self, jobs: list[AnyJob]) -> None:
        self.home().known.update(jobs)

    def _seen_slot(self, schedule_id: str) -> datetime | None:
        return self.get(schedule_id).next_run_at  # read before anyone waits for a lock

    def _tell(self, told: Sequence[object]) -> None:
        for event in told:
            self.emit(event)
