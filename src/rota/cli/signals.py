"""Signals, as the main thread hears them: the first asks for a clean end, the second ends at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from types import FrameType

End = signal.Signals | int | Exception
"""Why the main thread stops waiting: a signal, a batch that is done (how many), or what went wrong."""


class Ends:
    """Where the reasons arrive, without a thread that polls."""

    def __init__(self) -> None:
        self._heard: SimpleQueue[End] = SimpleQueue()  # whose put may come in the middle of anything
        self._stopping = False
        self.at_once: Callable[[], None] = lambda: None
        """What a second signal does before it ends the process."""

    def put(self, end: End) -> None:
        self._heard.put(end)

    def wait(self) -> End:
        return self._heard.get()

    def on_signal(self, number: int, _: FrameType | None) -> None:
        if self._stopping:
            self.at_once()
            os.write(2, b"rota: ended at once; what ran is given back when its lease has run out\n")
            os._exit(1)
        self._stopping = True
        self.put(signal.Signals(number))


@contextmanager
def heard() -> Iterator[Ends]:
    """SIGTERM and SIGINT go to what it gives, until the end."""
    ends = Ends()
    former = {number: signal.signal(number, ends.on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield ends
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
