"""Invoke: calls one handler, on a thread or on the event loop, within its time, and says how it ended."""

from __future__ import annotations

import asyncio
import inspect
import os
import traceback
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from rota import current
from rota.claim import Claim, Failed, Lost, Outcome, Succeeded
from rota.clock import Clock
from rota.current import CurrentRun
from rota.engine.coroutines import Coroutines
from rota.engine.logbook import Logbook
from rota.errors import PayloadError
from rota.job import AnyJob
from rota.payload import readable

Done = Callable[[Claim, Outcome], None]

UNSTARTED = "its worker was stopped before it started"
UNWANTED = Failed("cancelled before it started", final=True)
STUCK = 60.0  # seconds past its time, after which a thread is taken to be stuck for good
ERROR_LIMIT = 32_000  # characters of a traceback that are kept: its end, which names the error


@dataclass(frozen=True, slots=True)
class Call:
    """A claim on its way through its handler."""

    claim: Claim
    job: AnyJob
    logbook: Logbook
    cancel: Event = field(default_factory=Event)


class Invoker:
    """Calls handlers: plain ones on threads, coroutines on one event loop. `done` is told each outcome once.

    `wake` is set when a deadline comes up that is earlier than the ones `check_deadlines` knew.
    """

    def __init__(self, clock: Clock, done: Done, wake: Event) -> None:
        self._clock, self._done, self._wake = clock, done, wake
        self._waiting: SimpleQueue[Call | None] = SimpleQueue()
        self._lock = Lock()
        self._threads, self._idle, self._queued = 0, 0, 0
        self._coroutines = Coroutines()
        self._stop = Event()
        self._process = os.getpid()
        self._deadlines: dict[Event, tuple[float, Call]] = {}
        self._next_deadline = float("inf")
        self._stuck: set[Event] = set()
        self._tasks: dict[Event, asyncio.Task[None] | None] = {}
        self.seconds = 0.0
        """How long a handler takes, averaged over the last ones."""

    def submit(self, call: Call) -> None:
        """Have it called at once."""
        if call.job.is_async:
            self._coroutines.start(self._run_async(call))
            return
        with self._lock:
            self._queued += 1
            if self._queued > self._idle:
                self._threads += 1
                Thread(target=self._work, name=f"rota-handler-{self._threads}", daemon=True).start()
        self._waiting.put(call)

    def cancel(self, call: Call) -> None:
        """Tell its handler that it is not wanted any more: a coroutine is cancelled, a thread can only be told."""
        if call.cancel.is_set():
            return
        call.cancel.set()
        if call.job.is_async:
            self._coroutines.call(self._cancel_task, call)

    def _cancel_task(self, call: Call) -> None:
        task = self._tasks.get(call.cancel)
        if task is not None:
            task.cancel()

    def check_deadlines(self) -> float:
        """Set `cancelled` for the handlers whose time is up; returns the seconds until that is so for the next one."""
        now, following = self._clock.elapsed(), float("inf")
        self._next_deadline = following  # before it looks: a thread that starts after that wakes the worker
        for deadline, call in list(self._deadlines.values()):
            if deadline > now:
                following = min(following, deadline - now)
            else:
                call.cancel.set()
                following = min(following, max(1.0, deadline + STUCK - now))
        self._next_deadline = now + following
        return following

    def overdue(self) -> list[Call]:
        """The calls that are beyond their time."""
        now = self._clock.elapsed()
        return [call for deadline, call in list(self._deadlines.values()) if deadline <= now]

    def newly_stuck(self) -> list[tuple[Call, float]]:
        """The calls whose time was up a minute ago and that have not come back, each told once, and for how long."""
        now = self._clock.elapsed()
        stuck = [
            (call, now - deadline)
            for deadline, call in list(self._deadlines.values())
            if now - deadline >= STUCK and call.cancel not in self._stuck
        ]
        self._stuck |= {call.cancel for call, _ in stuck}
        return stuck

    def stop(self) -> None:
        """Start no more; those that wait come back as lost, those that run are told."""
        self._stop.set()
        with self._lock:
            threads = self._threads
        for _ in range(threads):
            self._waiting.put(None)

    def close(self) -> None:
        """End the event loop, and with it the coroutines that are still on it."""
        self.stop()
        self._coroutines.close()

    # ---- threads ---------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            call = self._waiting.get()
            with self._lock:
                self._idle -= 1
                self._queued -= call is not None
            if call is None:
                return
            outcome = self._run(call)
            if os.getpid() != self._process:
                os._exit(0)  # the handler forked, and this is the child: it has no business here
            self._done(call.claim, outcome)

    def _run(self, call: Call) -> Outcome:
        if self._stop.is_set():
            return Lost(UNSTARTED)
        if call.cancel.is_set():
            return UNWANTED
        given = _input(call)
        if isinstance(given, Failed):
            return given
        started = self._clock.elapsed()
        if call.claim.timeout is not None:
            self._set_deadline(call, started + call.claim.timeout.total_seconds())
        try:
            outcome = _succeeded(call.job, Context().run(self._enter_and_call, call, given))
        except BaseException as error:  # noqa: BLE001 - whatever a handler raises is its run's failure
            outcome = _failed(error)
        self._deadlines.pop(call.cancel, None)
        self._stuck.discard(call.cancel)
        return self._timed(call, outcome, self._clock.elapsed() - started)

    def _set_deadline(self, call: Call, deadline: float) -> None:
        self._deadlines[call.cancel] = deadline, call
        if deadline < self._next_deadline:
            self._next_deadline = deadline
            self._wake.set()

    def _enter_and_call(self, call: Call, given: tuple[Any, ...]) -> Any:
        current.enter(self._current(call), call.logbook)
        return call.job.handler(*given)

    def _timed(self, call: Call, outcome: Outcome, seconds: float) -> Outcome:
        """A thread cannot be cancelled: when it comes back too late, it has timed out, whatever it returned."""
        self._measure(seconds)
        timeout = call.claim.timeout
        return outcome if timeout is None or seconds <= timeout.total_seconds() else timed_out(call)

    def _measure(self, seconds: float) -> None:
        self.seconds += (seconds - self.seconds) * (0.1 if self.seconds else 1.0)

    # ---- the event loop --------------------------------------------------------------------------------------------

    async def _run_async(self, call: Call) -> None:
        if self._stop.is_set():
            self._done(call.claim, Lost(UNSTARTED))
            return
        if call.cancel.is_set():
            self._done(call.claim, UNWANTED)
            return
        self._tasks[call.cancel] = asyncio.current_task()
        given = _input(call)
        started = self._clock.elapsed()
        outcome = given if isinstance(given, Failed) else await self._within_time(call, given)
        self._measure(self._clock.elapsed() - started)
        del self._tasks[call.cancel]
        self._done(call.claim, outcome)

    async def _within_time(self, call: Call, given: tuple[Any, ...]) -> Outcome:
        timeout = call.claim.timeout
        limit = asyncio.timeout(None if timeout is None else timeout.total_seconds())
        current.enter(self._current(call), call.logbook)
        try:
            async with limit:
                outcome = _succeeded(call.job, await call.job.handler(*given))
        except BaseException as error:  # noqa: BLE001 - as above; a cancelled task is a failed attempt
            outcome = _failed(error)
        return timed_out(call) if limit.expired() else outcome

    def _current(self, call: Call) -> CurrentRun:
        claim = call.claim
        return CurrentRun(
            claim.id,
            claim.job,
            claim.attempt,
            claim.schedule_id,
            claim.scheduled_for,
            claim.started_at,
            call.cancel,
            self._stop,
        )


def _input(call: Call) -> tuple[Any, ...] | Failed:
    codec, text = call.job.input, call.claim.input
    if codec is None:
        return ()
    try:
        return (codec.decode("null" if text is None else text),)
    except PayloadError as error:
        return Failed(readable(str(error)), final=True)
    except BaseException as error:  # noqa: BLE001 - a type may run code of the reader's own, such as __post_init__
        return _failed(error)


def _succeeded(job: AnyJob, result: object) -> Outcome:
    """The result as it is kept; encoded before it joins a batch, so that a bad one fails its own run only."""
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        text = "it returned a coroutine that no one awaits: make the function that rota is given an `async def`"
        return Failed(text, final=True)
    if job.kind == "action":
        return Succeeded(None)
    try:
        return Succeeded(job.output.encode(result, "result"))
    except PayloadError as error:
        return Failed(readable(str(error)), final=True)


def _failed(error: BaseException) -> Failed:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next  # the reader's code is what failed, not ours
    text = "".join(traceback.format_exception(type(error), error, trace))
    return Failed(readable(text[-ERROR_LIMIT:].rstrip()))


def timed_out(call: Call) -> Outcome:
    """The outcome of a call that took too long."""
    return Failed(f"timeout: it took longer than {call.claim.timeout}", timeout=True)
