"""Executor: each round settles the runs that ended and claims new ones, in one transaction."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from threading import Event

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from rota import events
from rota.claim import Claim, Failed, Lost, Outcome, Settlement, settled
from rota.clock import Clock
from rota.engine import App
from rota.engine.invoke import Call, Invoker
from rota.engine.logbook import Logbook, open_logbooks
from rota.store import Store, logs, runs
from rota.store.logs import LogLine

QUICK = 0.010  # seconds: handlers that take longer get no runs ahead of time
AHEAD = 0.050  # seconds of work that wait, claimed, for quick handlers
MOST_AHEAD = 500


class Executor:
    """Holds a worker's claims, from claiming to settling. `wake` is set whenever a handler came back."""

    def __init__(self, store: Store, clock: Clock, app: App, wake: Event, capacity: Capacity) -> None:
        self._store, self._clock, self._app, self._wake = store, clock, app, wake
        self._capacity = capacity
        self._invoker = Invoker(clock, self._done, capacity.total)
        self._ended: deque[tuple[Claim, Outcome]] = deque()
        self._held: dict[tuple[int, int], Call] = {}
        self._unwanted: set[int] = set()
        open_logbooks()

    @property
    def holding(self) -> int:
        """How many claims it holds: waiting, running, or ended and not yet settled."""
        return len(self._held)

    @property
    def ended(self) -> bool:
        """Whether outcomes wait to be settled."""
        return bool(self._ended)

    def room(self, queue: str) -> int:
        """How many more runs of this queue it would take."""
        running = sum(call.claim.queue == queue for call in self._held.values())
        return self._capacity.room(queue, running, len(self._held)) + self._ahead(queue)

    def check_deadlines(self) -> float:
        """Tell the handlers whose time is up; returns the seconds until that is so for the next one."""
        for call, seconds in self._invoker.newly_stuck():
            self._app.emit(events.HandlerStuck(call.claim.id, call.claim.job, seconds))
        return self._invoker.check_deadlines()

    def round(self, worker: str, queues: Sequence[str]) -> int:
        """Settle what came back, then claim from `queues` as much as there is room for; returns how many moved.

        Raises:
            StoreError: the database is out of reach or busy; the outcomes are kept for the next round.
        """
        outcomes = [self._ended.popleft() for _ in range(len(self._ended))]
        try:
            with self._store.begin() as connection:
                self.hear_cancels(connection, worker)
                told = self._settle(connection, worker, outcomes)
                claims = self._claim(connection, worker, queues)
        except DBAPIError:
            self._ended.extendleft(reversed(outcomes))
            if not outcomes:
                raise
            self._settle_apart(worker)
            return len(outcomes)
        except BaseException:
            self._ended.extendleft(reversed(outcomes))
            raise
        self._forget(outcomes, told)
        for claim in claims:
            self._start(claim)
        return len(outcomes) + len(claims)

    def drop(self) -> None:
        """The lease is lost: what it holds may be another's by now. Outcomes that still come are dropped."""
        for call in self._held.values():
            call.cancel.set()

    def stop(self) -> None:
        """Start nothing more."""
        self._invoker.stop()

    def abandon(self) -> None:
        """Give back what has not ended yet: its outcome, should it still come, will find no row."""
        ended = {(claim.id, claim.attempt) for claim, _ in self._ended}
        for key, call in list(self._held.items()):
            if key not in ended:
                self._ended.append((call.claim, Lost("its worker was shut down before it ended")))

    def close(self) -> None:
        self._invoker.close()

    # ---- claiming --------------------------------------------------------------------------------------------------

    def _claim(self, connection: Connection, worker: str, queues: Sequence[str]) -> list[Claim]:
        now = self._clock.now()
        if queues:
            runs.promote(connection, now)
        claims: list[Claim] = []
        for queue in queues:
            room = self.room(queue) - (len(claims) if self._capacity.shared else 0)
            if room > 0:
                claims += runs.claim(connection, worker, queue, self._app.jobs.names, room, now)
        return claims

    def _ahead(self, queue: str) -> int:
        seconds = self._invoker.seconds
        if seconds == 0.0 or seconds >= QUICK:
            return 0
        return min(MOST_AHEAD, int(AHEAD / seconds) * self._capacity.of(queue))

    def _start(self, claim: Claim) -> None:
        job = self._app.jobs.get(claim.job)
        if job is None:
            raise AssertionError(f"claimed run {claim.id} of {claim.job}, which this process does not have")
        call = Call(claim, job, Logbook(claim.id, claim.attempt, self._clock))
        self._held[claim.id, claim.attempt] = call
        self._invoker.submit(call)

    def _done(self, claim: Claim, outcome: Outcome) -> None:
        self._ended.append((claim, outcome))
        self._wake.set()

    # ---- cancelling ------------------------------------------------------------------------------------------------

    def hear_cancels(self, connection: Connection, worker: str) -> None:
        """Look which of its runs were asked to end, and tell their handlers."""
        if not self._held:
            return
        self._unwanted = runs.cancel_requested(connection, worker)
        for call in list(self._held.values()):
            if call.claim.id in self._unwanted:
                self._invoker.cancel(call)

    def _lines_of(self, claim: Claim) -> list[LogLine]:
        call = self._held.get((claim.id, claim.attempt))
        return [] if call is None else call.logbook.lines()

    # ---- settling --------------------------------------------------------------------------------------------------

    def _settle(self, connection: Connection, worker: str, outcomes: Iterable[tuple[Claim, Outcome]]) -> list[object]:
        now = self._clock.now()
        settlements = [
            settled(claim, outcome, now, cancelled=claim.id in self._unwanted) for claim, outcome in outcomes
        ]
        if not settlements:
            return []
        mine = runs.settle(connection, worker, settlements, now)
        lines = [line for s in settlements if s.claim.token in mine for line in self._lines_of(s.claim)]
        if lines:
            logs.keep(connection, lines)
        return [_told(s, s.claim.token in mine) for s in settlements]

    def _settle_apart(self, worker: str) -> None:
        """The database refused the batch: write each outcome alone, and the refused one as its run's failure."""
        for _ in range(len(self._ended)):
            claim, outcome = self._ended.popleft()
            try:
                told = self._settle_one(worker, claim, outcome)
            except DBAPIError as error:
                refusal = Failed(f"the database refused its outcome: {error.orig}", final=True)
                told = self._settle_one(worker, claim, refusal)
            self._forget([(claim, outcome)], told)

    def _settle_one(self, worker: str, claim: Claim, outcome: Outcome) -> list[object]:
        with self._store.begin() as connection:
            return self._settle(connection, worker, [(claim, outcome)])

    def _forget(self, outcomes: Iterable[tuple[Claim, Outcome]], told: Iterable[object]) -> None:
        for claim, _ in outcomes:
            self._held.pop((claim.id, claim.attempt), None)
        for event in told:
            self._app.emit(event)


class Capacity:
    """How many runs a worker can have running: in all where it was told so, else in each queue as the queue says."""

    def __init__(self, queues: dict[str, int], total: int | None) -> None:
        self.queues = queues
        self.shared = total is not None
        """Whether all queues share one number."""
        self.total = total if total is not None else sum(queues.values())

    def of(self, queue: str) -> int:
        return self.total if self.shared else self.queues[queue]

    def room(self, queue: str, running: int, held: int) -> int:
        """How many more may run, where `running` of the queue and `held` in all do so already."""
        return self.total - held if self.shared else self.queues[queue] - running


def _told(settlement: Settlement, mine: bool) -> object:
    claim = settlement.claim
    if not mine:
        return events.ClaimLost(claim.id, claim.job, claim.attempt)
    return events.RunSettled(claim.id, claim.job, claim.attempt, settlement.state, settlement.error)
