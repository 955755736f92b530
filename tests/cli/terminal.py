"""A terminal: the command line as its user has it, in a folder of their own."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, closing, contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

from click.testing import CliRunner, Result

import rota
from rota.cli import rota as command

REPOSITORY = Path(__file__).parents[2]
SHOP = "tests.cli.shop:app"
PATIENCE = 60.0  # seconds


class Terminal:
    """Commands in `folder`, on the database `rota.db` there."""

    def __init__(self, folder: Path, app: str | None = None) -> None:
        self.folder = folder
        self.url = f"sqlite:///{folder / 'rota.db'}"
        self.environ = {"ROTA_APP": app, "ROTA_DATABASE_URL": self.url, "ROTA_ENV": None, "ROTA_DEBUG": None}

    def rota(self, *args: str) -> Result:
        """Run `rota …` in this process; what it prints is no terminal's."""
        with chdir(self.folder):
            return CliRunner(env=self.environ).invoke(command, args, catch_exceptions=False)

    def run(self, *args: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run `rota …` as a process."""
        return subprocess.run(_line(args), capture_output=True, text=True, timeout=PATIENCE, **self._place(), **options)

    @contextmanager
    def started(self, *args: str) -> Iterator[Started]:
        """Start `rota …` as a process, which is ended if it has not by the end."""
        process = subprocess.Popen(_line(args), stdout=-1, stderr=subprocess.STDOUT, text=True, **self._place())
        with process:
            try:
                yield Started(process)
            finally:
                if process.poll() is None:
                    process.kill()

    def piped(self, *args: str) -> subprocess.Popen[str]:
        """Start `rota …` with pipes for what it prints."""
        return subprocess.Popen(_line(args), stdout=-1, stderr=-1, text=True, **self._place())

    @contextmanager
    def app(self) -> Iterator[rota.App]:
        """The app over this database that has the jobs of the shop."""
        from tests.cli.shop import app

        home = rota.App(self.url)
        try:
            with app.housed(home.home()):
                yield app
        finally:
            home.close()

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.folder / "rota.db")) as connection, connection:
            return connection.execute(statement, values).fetchall()

    def make_due(self, schedule_id: str) -> None:
        self.sql("update rota_schedules set next_run_at = '2024-01-08T08:00:00.000000Z' where id = ?", schedule_id)

    def _place(self) -> dict[str, Any]:
        known = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONWARNINGS": "error"} | self.environ
        return {"cwd": self.folder, "env": {name: value for name, value in known.items() if value is not None}}


class Started:
    """A process whose output is read as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._coming: Queue[str | None] = Queue()
        Thread(target=self._read, daemon=True).start()

    def until(self, text: str) -> str:
        """The next line that contains `text`; others are passed over."""
        while True:
            line = self._coming.get(timeout=PATIENCE)
            assert line is not None, f"it ended without saying {text!r}:\n{''.join(self.lines)}"
            self.lines.append(line)
            if text in line:
                return line.rstrip("\n")

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def code(self) -> int:
        """Its exit code, once it has ended."""
        return self.process.wait(PATIENCE)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._coming.put(line)
        self._coming.put(None)


def _line(args: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "rota", *args]
