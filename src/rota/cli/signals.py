"""Signals, as the main thread hears them: the first asks for a clean end, the second ends at once."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from types import FrameType

LEFT = "what ran is given back when its lease has run out"

End = signal.Signals | int | Exception
"""Why the main thread stops waiting: a signal, a batch that is done (how many), or what went wrong."""


class Ends:
    """Where the reasons arrive, without a thread that polls.

    The main thread waits for a byte, not for a lock: a signal that another thread has caught ends no wait for a lock,
    and Python runs its handler only when the main thread runs again.
    """

    def __init__(self) -> None:
        self._heard: SimpleQueue[End] = SimpleQueue()  # whose put may come in the middle of anything
        self._bell, self._ear = socket.socketpair()
        self._bell.setblocking(False)
        self._stopping = False
        self.at_once: Callable[[], str] = lambda: "nothing had begun"
        """What a second signal does before it ends the process; it says what became of that."""

    def put(self, end: End) -> None:
        self._heard.put(end)
        with suppress(BlockingIOError):  # it has rung often enough
            self._bell.send(b"!")

    def wait(self) -> End:
        while True:
            try:
                return self._heard.get_nowait()
            except Empty:
                self._ear.recv(64)

    def close(self) -> None:
        self._bell.close()
        self._ear.close()

    def fileno(self) -> int:
        """Where Python itself rings when a signal comes."""
        return self._bell.fileno()

    def on_signal(self, number: int, _: FrameType | None) -> None:
        if self._stopping:
            os.write(2, f"rota: ended at once; {self.at_once()}\n".encode())
            os._exit(1)
        self._stopping = True
        self.put(signal.Signals(number))


@contextmanager
def heard() -> Iterator[Ends]:
    """SIGTERM and SIGINT go to what it gives, until the end."""
    ends = Ends()
    former = {number: signal.signal(number, ends.on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    bell = signal.set_wakeup_fd(ends.fileno(), warn_on_full_buffer=False)
    try:
        yield ends
    finally:
        signal.set_wakeup_fd(bell)
        for number, handler in former.items():
            signal.signal(number, handler)
        ends.close()
