"""Executor: each round settles the runs that ended and claims new ones, in one transaction."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Sequence
from datetime import datetime
from threading import Event

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from rota import events
from rota.claim import Claim, Failed, Lost, Outcome, Settlement, lost_at_most, settled
from rota.clock import Clock
from rota.engine import App
from rota.engine.invoke import UNSTARTED, Call, Invoker, timed_out
from rota.engine.logbook import Logbook, open_logbooks
from rota.engine.seats import Capacity, Seats
from rota.store import Store, claims, logs, queues, workers
from rota.store.logs import LogLine
from rota.store.refusal import reason_of
from rota.store.wake import wake

logger = logging.getLogger("rota")

QUICK = 0.010  # seconds: handlers that take longer get no runs ahead of time
AHEAD = 0.050  # seconds of work that wait, claimed, for quick handlers
MOST_AHEAD = 500


class Executor:
    """Holds a worker's claims, from claiming to settling. `wake` is set whenever a handler came back."""

    def __init__(self, store: Store, clock: Clock, app: App, wake: Event, capacity: Capacity) -> None:
        self._store, self._clock, self._app, self._wake = store, clock, app, wake
        self._capacity = capacity
        self._invoker = Invoker(clock, self._done, wake)
        self._seats = Seats(capacity, self._invoker.submit)
        self._ended: deque[tuple[Claim, Outcome]] = deque()
        self._held: dict[tuple[int, int], Call] = {}
        self._unsure = False
        self.given_back = 0
        """How many runs it gave back unstarted."""
        open_logbooks()

    @property
    def holding(self) -> int:
        """How many claims it holds: waiting, running, or ended and not yet settled."""
        return len(self._held)

    @property
    def has_work(self) -> bool:
        """Whether outcomes wait to be settled, or it is not known what became of the last round's claims."""
        return bool(self._ended) or self._unsure

    def room(self, queue: str) -> int:
        """How many more runs of this queue it would take."""
        running = sum(call.claim.queue == queue for call in self._held.values())
        return self._capacity.room(queue, running, len(self._held)) + self._ahead(queue)

    def check_deadlines(self) -> float:
        """Tell the handlers whose time is up; returns the seconds until that is so for the next one."""
        for call, seconds in self._invoker.newly_stuck():
            self._app.emit(events.HandlerStuck(call.claim.id, call.claim.job, seconds))
        return self._invoker.check_deadlines()

    def round(self, worker: str, lines: Sequence[str]) -> int:
        """Settle what came back, then claim from these queues as much as there is room for; returns how many moved.

        Raises:
            StoreError: the database is out of reach or busy; the outcomes are kept for the next round.
        """
        outcomes = [self._ended.popleft() for _ in range(len(self._ended))]
        try:
            with self._store.begin() as connection:
                lives = workers.hold(connection, worker)
                self._recall(connection, worker)
                told = self._settle(connection, worker, outcomes)
                taken = self._claim(connection, worker, lines) if lives else []
        except DBAPIError:
            self._ended.extendleft(reversed(outcomes))
            if not outcomes:
                raise
            self._settle_apart(worker)
            return len(outcomes)
        except BaseException:
            self._ended.extendleft(reversed(outcomes))
            self._unsure = True
            raise
        self._forget(outcomes, told)
        self._unsure = True  # until each is held: what cannot be started is given back by the next round
        for claim in taken:
            self._start(claim)
        self._unsure = False
        return len(outcomes) + len(taken)

    def drop(self) -> None:
        """The lease is lost: what it holds may be another's by now. Outcomes that still come are dropped."""
        for call in list(self._held.values()):
            self._invoker.cancel(call)

    def stop(self) -> None:
        """Start nothing more; what waits for its turn comes back as lost."""
        self._invoker.stop()
        self._ended.extend((call.claim, Lost(UNSTARTED)) for call in self._seats.clear())

    def give_up_overdue(self) -> None:
        """What is beyond its time has timed out, though its handler never came back to say so."""
        for call in self._invoker.overdue():
            self._ended.append((call.claim, timed_out(call)))

    def close(self) -> None:
        self._invoker.close()

    # ---- claiming --------------------------------------------------------------------------------------------------

    def _claim(self, connection: Connection, worker: str, lines: Sequence[str]) -> list[Claim]:
        now = self._clock.now()
        if lines:
            claims.promote(connection, now)
        taken: list[Claim] = []
        for queue in sorted(lines):  # all take their locks in one order
            room = self.room(queue) - (len(taken) if self._capacity.shared else 0)
            if room > 0 and queue in self._capacity.limited:
                left = queues.room(connection, queue)
                room = room if left is None else min(room, left)
            if room > 0:
                lost = lost_at_most([*(call.claim for call in self._held.values()), *taken])
                taken += claims.claim(connection, worker, queue, self._app.jobs.names, room, now, lost=lost)
        return taken

    def _ahead(self, queue: str) -> int:
        seconds = self._invoker.seconds
        if seconds == 0.0 or seconds >= QUICK or queue in self._capacity.limited:
            return 0
        return min(MOST_AHEAD, int(AHEAD / seconds) * self._capacity.of(queue))

    def _start(self, claim: Claim) -> None:
        job = self._app.jobs.get(claim.job)
        if job is None:
            raise AssertionError(f"claimed run {claim.id} of {claim.job}, which this process does not have")
        call = Call(claim, job, Logbook(claim.id, claim.attempt, self._clock))
        self._held[claim.token] = call
        self._seats.take(call)

    def _done(self, claim: Claim, outcome: Outcome) -> None:
        self._ended.append((claim, outcome))
        self._wake.set()
        self._seats.leave(claim.queue)

    def _recall(self, connection: Connection, worker: str) -> None:
        """After a commit whose answer was lost: give back the claims that the database has and this worker has not."""
        if not self._unsure:
            return
        now, lost = self._clock.now(), Lost("its worker never heard of its claim")
        unknown = [claim for claim in claims.held_by(connection, worker) if claim.token not in self._held]
        if unknown:
            claims.settle(connection, worker, [settled(claim, lost, now) for claim in unknown], now)

    # ---- cancelling ------------------------------------------------------------------------------------------------

    def hear_cancels(self, connection: Connection, worker: str) -> None:
        """Look which of its runs were asked to end, and tell their handlers."""
        if not self._held:
            return
        unwanted = claims.cancel_requested(connection, worker)
        for call in list(self._held.values()):
            if call.claim.id in unwanted:
                self._invoker.cancel(call)

    def _lines_of(self, claim: Claim) -> list[LogLine]:
        call = self._held.get((claim.id, claim.attempt))
        return [] if call is None else call.logbook.lines()

    # ---- settling --------------------------------------------------------------------------------------------------

    def _settle(self, connection: Connection, worker: str, outcomes: Iterable[tuple[Claim, Outcome]]) -> list[object]:
        now = self._clock.now()
        ended = list(outcomes)
        if not ended:
            return []
        unwanted = claims.unwanted(connection, worker, (claim for claim, _ in ended))
        settlements = [_settlement(claim, outcome, now, claim.id in unwanted) for claim, outcome in ended]
        mine = claims.settle(connection, worker, settlements, now)
        written = set(mine)
        if self._unsure:  # the answer to a commit was lost, and it may have been this very one
            mine |= claims.recorded(connection, [s for s in settlements if s.claim.token not in mine])
        if self._capacity.limited & {s.claim.queue for s in settlements}:  # there is room again
            wake(connection)
        lines = [line for s in settlements if s.claim.token in written for line in self._lines_of(s.claim)]
        if lines:
            logs.keep(connection, lines)
        if again := {line.run_id for line in lines if line.attempt > 1}:
            logs.bound(connection, again)
        return [_told(s, s.claim.token in mine) for s in settlements]

    def _settle_apart(self, worker: str) -> None:
        """The database refused the batch: write each outcome alone, and the refused one as its run's failure."""
        for _ in range(len(self._ended)):
            claim, outcome = self._ended[0]  # it stays there until it is written
            told = self._settle_one(worker, claim, outcome)
            self._ended.popleft()
            self._forget([(claim, outcome)], told)

    def _settle_one(self, worker: str, claim: Claim, outcome: Outcome) -> list[object]:
        try:
            with self._store.begin() as connection:
                return self._settle(connection, worker, [(claim, outcome)])
        except DBAPIError as error:
            text = f"the database refused its outcome: {reason_of(error)}"
        self._held[claim.token].logbook.clear()  # which may be what it refused
        try:
            with self._store.begin() as connection:
                return self._settle(connection, worker, [(claim, Failed(text, final=True))])
        except DBAPIError:
            logger.exception("run %d (%s): %s, and its failure too; it is left as it is", claim.id, claim.job, text)
            return []

    def _forget(self, outcomes: Iterable[tuple[Claim, Outcome]], told: Iterable[object]) -> None:
        for claim, outcome in outcomes:
            self._held.pop(claim.token, None)
            self.given_back += isinstance(outcome, Lost)
        for event in told:
            self._app.emit(event)


def _told(settlement: Settlement, mine: bool) -> object:
    claim = settlement.claim
    if not mine:
        return events.ClaimLost(claim.id, claim.job, claim.attempt)
    return events.RunSettled(claim.id, claim.job, claim.attempt, settlement.state, settlement.error)


def _settlement(claim: Claim, outcome: Outcome, now: datetime, unwanted: bool) -> Settlement:
    """Never raises: a row whose terms cannot be read fails for itself alone."""
    try:
        return settled(claim, outcome, now, cancelled=unwanted)
    except Exception as error:  # noqa: BLE001 - whatever someone wrote into its row
        unreadable = Failed(f"its terms cannot be read: {type(error).__name__}: {error}", final=True)
        return settled(claim, unreadable, now, cancelled=unwanted)
