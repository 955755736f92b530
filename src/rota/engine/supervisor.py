"""Supervisor: worker processes, restarted with back-off, stopped all together."""

from __future__ import annotations

import logging
import signal
import subprocess
from collections.abc import Callable, Sequence
from threading import Event, Thread

from rota.clock import Clock
from rota.events import ProcessEnded

logger = logging.getLogger("rota")

BACK_OFF = (0.5, 30.0)  # seconds: the first and the longest wait before a process is started again
UNSTARTABLE = 127  # the code of a command that cannot be run, as a shell has it
STEADY = 60.0  # seconds: a process that lived for so long starts the back-off anew


class Supervisor:
    """Keeps `processes` processes of one command running. They are spawned, never forked.

    Args:
        command: what each process runs.
        grace: how many seconds a stop waits for them before it kills them.
    """

    def __init__(
        self, command: Sequence[str], processes: int, grace: float, clock: Clock, emit: Callable[[object], None]
    ) -> None:
        self._command, self._grace, self._clock, self._emit = list(command), grace, clock, emit
        self._stopping = Event()
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._threads = [Thread(target=self._keep, args=(place,), daemon=True) for place in range(processes)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ask all of them to stop, and kill those that have not within the grace."""
        self._stopping.set()
        self._signal(signal.SIGTERM)
        until = self._clock.elapsed() + self._grace
        for thread in self._threads:
            thread.join(max(0.0, until - self._clock.elapsed()))
        self.kill()

    def kill(self) -> None:
        """End all of them at once."""
        self.signal_kill()
        for thread in self._threads:
            thread.join()

    def signal_kill(self) -> None:
        """As `kill`, without waiting for them: for a signal handler."""
        self._stopping.set()
        self._signal(signal.SIGKILL)

    def _keep(self, place: int) -> None:
        """Start the process of one place, again and again."""
        troubles = 0
        while not self._stopping.is_set():
            started = self._clock.elapsed()
            code = self._run(place)
            if self._stopping.is_set():
                return
            troubles = 0 if self._clock.elapsed() - started >= STEADY else troubles
            seconds = min(BACK_OFF[1], BACK_OFF[0] * 2 ** min(troubles, 10))
            troubles += 1
            self._emit(ProcessEnded(place, code, seconds))
            self._clock.wait(self._stopping, seconds)

    def _run(self, place: int) -> int:
        # The pipe closes when the supervisor dies; in a session of its own, no Ctrl-C reaches it but through us.
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(self._command, stdin=pipe, start_new_session=True)  # noqa: S603 - our own
        except OSError as error:
            logger.warning("worker process %d cannot be started: %s", place, error)
            return UNSTARTABLE
        with process:
            self._running[place] = process
            if self._stopping.is_set():
                process.kill()  # it was started too late to hear of the stop, and has done nothing yet
            code = process.wait()
        del self._running[place]
        return code

    def _signal(self, number: signal.Signals) -> None:
        for process in list(self._running.values()):
            if process.poll() is None:
                process.send_signal(number)
