"""Logbook: what a handler logs is kept with its run, up to a bound."""

from __future__ import annotations

import logging
from datetime import datetime

from rota import current
from rota.clock import Clock
from rota.payload import readable
from rota.store.logs import LogLine

LINES, BYTES = 1000, 256 * 1024  # of one attempt; what comes after is counted, and dropped


class Logbook:
    """The lines of one attempt. Only its own handler's thread or task writes to it."""

    def __init__(self, run_id: int, attempt: int, clock: Clock) -> None:
        self._run_id, self._attempt, self._clock = run_id, attempt, clock
        self._lines: list[LogLine] = []
        self._bytes = self._dropped = 0

    def add(self, record: logging.LogRecord) -> None:
        message = readable(record.getMessage())
        size = len(message.encode())
        if len(self._lines) + 1 >= LINES or self._bytes + size > BYTES:
            self._dropped += 1
            return
        self._bytes += size
        self._append(self._clock.now(), record.levelname, record.name, message)

    def lines(self) -> list[LogLine]:
        """What was kept; where something was dropped, the last line says how much."""
        if self._dropped:
            self._append(self._clock.now(), "WARNING", "rota", f"{self._dropped:,} more lines were dropped")
            self._dropped = 0
        return self._lines

    def _append(self, at: datetime, level: str, logger: str, message: str) -> None:
        self._lines.append(LogLine(self._run_id, self._attempt, len(self._lines) + 1, at, level, logger, message))


class LogbookHandler(logging.Handler):
    """Hands each record to the logbook of the run in whose handler it was made."""

    def emit(self, record: logging.LogRecord) -> None:
        book = current.logbook()
        if isinstance(book, Logbook):
            try:
                book.add(record)
            except Exception:  # noqa: BLE001 - a record that cannot be worded must not fail its run
                self.handleError(record)


_HANDLER = LogbookHandler()


def open_logbooks() -> None:
    """Have the records of this process's handlers kept. One logging handler serves all its workers."""
    logging.getLogger().addHandler(_HANDLER)
