"""Logbook: what a handler logs is kept with its run, up to a bound."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from threading import Lock
from typing import Any

from rota import current
from rota.clock import Clock
from rota.payload import readable
from rota.store.logs import LINES, SIZE, LogLine


class Logbook:
    """The lines of one attempt: what comes when it is full is counted, and dropped."""

    def __init__(self, run_id: int, attempt: int, clock: Clock) -> None:
        self._run_id, self._attempt, self._clock = run_id, attempt, clock
        self._lock = Lock()  # a handler may log from threads that share its context
        self._lines: list[LogLine] = []
        self._bytes = self._dropped = 0

    def add(self, record: logging.LogRecord) -> None:
        message = readable(_worded(record))
        size = len(message.encode())
        with self._lock:
            if len(self._lines) + 1 >= LINES or self._bytes + size > SIZE:
                self._dropped += 1
                return
            self._bytes += size
            self._append(self._clock.now(), readable(record.levelname), readable(record.name), message)

    def lines(self) -> list[LogLine]:
        """What was kept; where something was dropped, the last line says how much."""
        with self._lock:
            if self._dropped:
                self._append(self._clock.now(), "WARNING", "rota", f"{self._dropped:,} more lines were dropped")
                self._dropped = 0
            return list(self._lines)

    def clear(self) -> None:
        """Keep nothing of it."""
        with self._lock:
            self._lines.clear()

    def _append(self, at: datetime, level: str, logger: str, message: str) -> None:
        self._lines.append(LogLine(self._run_id, self._attempt, len(self._lines) + 1, at, level, logger, message))


def _worded(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - a line that cannot be worded must not fail the run; logging says so itself
        return f"a line that could not be worded: {type(record.msg).__name__}"


class KeepingFactory:
    """Makes log records as before, and hands each to the logbook of the run in whose handler it was made.

    A logging handler on the root logger would do too, but it would change what an application that has not set up
    logging prints, and keep it from setting it up later.
    """

    def __init__(self, make: Callable[..., logging.LogRecord]) -> None:
        self._make = make

    def __call__(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record = self._make(*args, **kwargs)
        book = current.logbook()
        if isinstance(book, Logbook):
            book.add(record)
        return record


def open_logbooks() -> None:
    """Have what this process's handlers log kept with their runs; once for all its workers."""
    make = logging.getLogRecordFactory()
    if not isinstance(make, KeepingFactory):
        logging.setLogRecordFactory(KeepingFactory(make))
