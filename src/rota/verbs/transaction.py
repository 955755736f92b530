"""Transaction: every verb over one connection; many of them, one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import Connection

from rota.author import Author
from rota.clock import Clock
from rota.errors import TransactionOver
from rota.job import AnyJob, Jobs
from rota.schedule import Registration
from rota.store import Store
from rota.verbs import Verbs
from rota.verbs.register import register


class Transaction(Verbs):
    """What `app.transaction()` gives. Registrations are gathered and written together, before the next other verb."""

    def __init__(
        self, connection: Connection, jobs: Jobs, author: Author, clock: Clock, tell: Callable[[object], None]
    ) -> None:
        self.jobs, self.author = jobs, author
        self._connection, self._clock, self._emit = connection, clock, tell
        self._asked: dict[str, tuple[Registration, AnyJob]] = {}
        self._told: list[object] = []
        self._failed = self._ended = False

    def flush(self) -> None:
        """Write the registrations that were gathered. Where that fails, nothing of the transaction may be committed."""
        if self._ended or self._failed:
            raise TransactionOver(failed=self._failed)
        if not self._asked:
            return
        gathered, self._asked = list(self._asked.values()), {}
        known = {job.name: job for _, job in gathered}
        asked = [registration for registration, _ in gathered]
        self._failed = True
        self._told += register(self._connection, asked, known.values(), self.author, self._clock.now())
        self._failed = False

    def end(self) -> None:
        """No verb may follow."""
        self._ended = True

    def committed(self) -> None:
        """Tell what happened in it, now that it has."""
        for event in self._told:
            self._emit(event)

    def _register(self, asked: Registration, job: AnyJob) -> None:
        if self._ended or self._failed or asked.id in self._asked:
            self.flush()
        self._asked[asked.id] = asked, job

    def _now(self) -> datetime:
        return self._clock.now()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        self.flush()
        yield self._connection

    _reading = _writing

    def _tell(self, told: Sequence[object]) -> None:
        self._told += told


class Within(Verbs):
    """What `app.within(connection)` gives: every verb in the caller's own transaction.

    Events are not told: only the caller knows whether it commits.
    """

    def __init__(self, theirs: object, store: Store, jobs: Jobs, author: Author, clock: Clock) -> None:
        self.jobs, self.author = jobs, author
        self._theirs, self._store, self._clock = theirs, store, clock

    def _now(self) -> datetime:
        return self._clock.now()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._store.borrow(self._theirs, write=True) as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._store.borrow(self._theirs, write=False) as connection:
            yield connection

    def _tell(self, told: Sequence[object]) -> None:
        """Not known to have happened yet."""
