"""Worker processes over one SQLite file, and the account that must balance whatever was done to them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, Self

from rota import App
from rota.cadence import Cadence
from rota.clock import Clock, SystemClock
from tests.conftest import asked
from tests.race.timed_rota import housed

REPOSITORY = Path(__file__).parents[2]
LIMIT = 60.0  # seconds to wait for a named line
GLANCE = 0.01  # seconds between two looks at what may have come


class Site:
    """A folder with a database, and processes that work on it."""

    program = "rota"
    clock: Clock = SystemClock()

    def __init__(self, folder: Path, url: str | None = None) -> None:
        self.folder = folder
        self.url = url or f"sqlite:///{folder / 'rota.db'}"
        self.environ = {
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "ROTA_APP": "tests.race.ticks:app",
            "ROTA_DATABASE_URL": self.url,
            "TICKS": "0",
            "TICK_SECONDS": "0",
        }
        self._processes: list[Process] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Whatever happened, no process is left."""
        for process in self._processes:
            process.close()

    def schedules(self, count: int, seconds: float = 0.0) -> None:
        """How many schedules of a second its workers register, and how long a run of one takes."""
        self.environ |= {"TICKS": str(count), "TICK_SECONDS": str(seconds)}

    def worker(self, *options: str) -> Process:
        return self.rota("worker", *options)

    def rota(self, *args: str) -> Process:
        """The command line."""
        return self.process("-m", self.program, *args)

    def app(self) -> AbstractContextManager[App]:
        """The app in this process, over this database."""
        return housed(self.environ["ROTA_APP"], self.environ["ROTA_DATABASE_URL"], self.clock)

    def said(self, code: str) -> str:
        """The last line that a Python process with this code prints."""
        process = self.process("-c", code)
        assert process.process.wait(LIMIT) == 0, process.lines
        process.close()
        return process.lines[-1].strip()

    def process(self, *command: str) -> Process:
        process = Process(
            subprocess.Popen(
                [sys.executable, *command],
                cwd=self.folder,
                env=self.environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
        self._processes.append(process)
        return process

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return asked(self.url, statement, *values)

    def until(self, statement: str, *rows: tuple[object, ...], given: Iterable[object] = ()) -> None:
        """Wait until the database answers this."""
        pause, found = Event(), self.sql(statement, *given)
        for _ in range(int(LIMIT / GLANCE)):
            if found == list(rows):
                return
            pause.wait(GLANCE)
            found = self.sql(statement, *given)
        raise AssertionError(f"{statement}: {found}, and not {list(rows)}, after {LIMIT:g} s")

    def expire_leases(self) -> None:
        """As if the lease of every worker had run out: the dead are found at the next beat."""
        self.sql("update rota_workers set lease_until = '2020-01-01T00:00:00.000000Z'")


class Process:
    """A process whose output is read as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._coming: Queue[str | None] = Queue()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def until(self, text: str) -> str:
        while True:
            try:
                line = self._coming.get(timeout=LIMIT)
            except Empty:
                raise AssertionError(f"no {text!r} within {LIMIT:g} s:\n{''.join(self.lines)}") from None
            assert line is not None, f"it ended without {text!r}:\n{''.join(self.lines)}"
            if text in line:
                return line

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.send(number)
        return self.process.wait(LIMIT)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT)
        self._reader.join(LIMIT)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._coming.put(line)
        self._coming.put(None)


def check_account(site: Site) -> dict[str, int]:
    """Every slot has one outcome, every fire one run, every run an end; returns how many there are."""
    fires, misses = 0, 0
    for schedule_id, spec, zone, anchor, next_run_at, created in site.sql(
        "select id, cron_spec, location, anchor, next_run_at, created_at from rota_schedules where source = 'code'"
    ):
        cadence = Cadence.parse(spec, zone, None if anchor is None else datetime.fromisoformat(anchor))
        fired = [_at(slot) for (slot,) in site.sql(_FIRES, schedule_id)]
        missed = [slot for row in site.sql(_MISSES, schedule_id) for slot in _slots(cadence, *map(_at, row))]
        assert len(set(fired)) == len(fired)
        assert len(set(missed)) == len(missed)
        assert not set(fired) & set(missed), schedule_id
        due = _slots(cadence, cadence.next_after(_at(created)), _at(next_run_at) - timedelta.resolution)
        assert sorted([*fired, *missed]) == due, schedule_id
        fires, misses = fires + len(fired), misses + len(missed)
    assert site.sql("select run_id from rota_schedule_fires group by run_id having count(*) > 1") == []
    assert site.sql("select count(*) from rota_schedule_fires left join rota_runs on id = run_id where id is null") == [
        (0,)
    ]
    assert site.sql("select state, count(*) from rota_runs where state not in ('succeeded', 'failed') group by 1") == []
    return {"fires": fires, "misses": misses}


_FIRES = "select scheduled_for from rota_schedule_fires where schedule_id = ? order by 1"
_MISSES = "select first_slot, last_slot from rota_schedule_misses where schedule_id = ? order by 1"


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _slots(cadence: Cadence, first: datetime | None, last: datetime) -> list[datetime]:
    slots = []
    while first is not None and first <= last:
        slots.append(first)
        first = cadence.next_after(first)
    return slots
