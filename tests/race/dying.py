"""Where a process kills itself: at a point of its talk with the database.

A point is `before` or `after` a statement or a commit: `before INSERT rota_runs`, `after COMMIT rota_schedules`; of a
commit the table is the one that its transaction wrote last. `before` and `after` alone are any of them.
"""

from __future__ import annotations

import re
import signal
from collections import Counter
from pathlib import Path
from threading import local
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.engine.default import DefaultDialect

_WRITES = re.compile(r"(INSERT|UPDATE|DELETE)(?: INTO| FROM)? (rota_\w+)")


class Death:
    """Named by a file, `<nth> <point>`, which may come and go. Who meets it takes the file along: no other dies."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._met: Counter[str] = Counter()
        self._transaction = local()

    def lie_in_wait(self) -> None:
        """From here on this process can meet it."""
        event.listen(Engine, "before_cursor_execute", self._before_statement)
        event.listen(Engine, "after_cursor_execute", self._after_statement)
        commit = DefaultDialect.do_commit

        def do_commit(dialect: DefaultDialect, connection: Any) -> None:
            written = getattr(self._transaction, "written", None)
            self._meet(f"before COMMIT {written}")
            commit(dialect, connection)
            self._meet(f"after COMMIT {written}")

        DefaultDialect.do_commit = do_commit  # type: ignore[method-assign]

    def _before_statement(self, connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("BEGIN"):
            self._transaction.written = None
        if (writes := _WRITES.match(statement)) is not None:
            self._meet(f"before {writes[1]} {writes[2]}")

    def _after_statement(self, connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if (writes := _WRITES.match(statement)) is not None:
            self._transaction.written = writes[2]
            self._meet(f"after {writes[1]} {writes[2]}")

    def _meet(self, moment: str) -> None:
        try:
            nth, point = self._file.read_text().split(maxsplit=1)
        except FileNotFoundError:
            self._met.clear()
            return
        self._met[point] += moment.startswith(point)
        if self._met[point] == int(nth) and self._is_mine():
            signal.raise_signal(signal.SIGKILL)

    def _is_mine(self) -> bool:
        try:
            self._file.unlink()
        except FileNotFoundError:  # another process was here first
            return False
        return True
