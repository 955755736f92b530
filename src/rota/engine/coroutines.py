"""Coroutines: the one event loop that a worker's async handlers run on, on a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context
from threading import Event, Lock, Thread
from typing import Any

LAST_WORDS = 1.0  # seconds that cancelled coroutines have to clean up before the loop is closed


class Coroutines:
    """Made when the first coroutine comes; most workers never have one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._closing = Event()

    def start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run it as a task, which sees nothing of the caller's context."""
        Context().run(asyncio.run_coroutine_threadsafe, coroutine, self._running())

    def call(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a plain function on the loop's thread."""
        self._running().call_soon_threadsafe(function, *arguments)

    def close(self) -> None:
        """Cancel what is still on the loop, and end it."""
        with self._lock:
            loop, thread, self._loop = self._loop, self._thread, None
            self._closing.set()
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(2 * LAST_WORDS)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = Thread(
                    target=_serve, args=(self._loop, self._closing), name="rota-coroutines", daemon=True
                )
                self._thread.start()
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop, closing: Event) -> None:
    asyncio.set_event_loop(loop)
    while not closing.is_set():
        with suppress(SystemExit, KeyboardInterrupt):  # a task that a handler left behind may raise them here
            loop.run_forever()
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=LAST_WORDS))
    loop.close()
