"""`make demo`: what it runs is run here, as a process of its own, with its files in a folder of the test."""

from __future__ import annotations

import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Timer

import pytest

from tests.docs.pages import ROOT

WAIT = 60  # seconds, after which it hangs
DEMO = [sys.executable, "-m", "examples.housekeeping"]


def environment(folder: Path, seconds: str | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ROTA_") and name != "SECONDS"}
    return {**kept, "HOUSEKEEPING_DATA": str(folder), **({} if seconds is None else {"SECONDS": seconds})}


def run(folder: Path, seconds: str) -> subprocess.CompletedProcess[str]:
    asked = environment(folder, seconds)
    return subprocess.run(DEMO, env=asked, cwd=ROOT, capture_output=True, text=True, timeout=WAIT)


@contextmanager
def started(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The demo without an end; killed if the test does not end it."""
    asked = environment(folder, None)
    with subprocess.Popen(DEMO, env=asked, cwd=ROOT, stdout=subprocess.PIPE, text=True) as demo:
        too_long = Timer(WAIT, demo.kill)
        too_long.start()
        try:
            yield demo
        finally:
            too_long.cancel()
            demo.kill()


def read_until(demo: subprocess.Popen[str], pattern: str) -> str:
    assert demo.stdout is not None
    lines = []
    for line in demo.stdout:
        lines.append(line)
        if re.search(pattern, line):
            return line
    raise AssertionError(f"it ended without {pattern!r}:\n{''.join(lines)}")


def totals(output: str) -> tuple[int, int, str]:
    """Fires, missed slots and runs by state, in all."""
    found = re.search(r"^ in all +([\d,]+) +([\d,]+\+?) +(.*?) *$", output, re.MULTILINE)
    assert found, output
    return int(found[1].replace(",", "")), int(found[2].replace(",", "")), found[3]


def counted(folder: Path, statement: str) -> int:
    with closing(sqlite3.connect(folder / "rota.db")) as connection:
        count: int = connection.execute(statement).fetchone()[0]
    return count


def test_it_ends_with_a_summary_and_goes_on_where_it_was(tmp_path: Path):
    folder = tmp_path / "data"
    first = run(folder, "5")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith("nothing has run here before")
    assert re.search(r"fired +write-log +slot .* as run \d+", first.stdout)
    assert re.search(r"succeeded +measure-folder +run \d+, result {\"bytes\":\d+,\"files\":\d+}", first.stdout)
    fires, _, runs = totals(first.stdout)
    assert fires >= 2
    assert "succeeded" in runs
    assert counted(folder, "select count(*) from rota_schedule_fires") == fires
    assert (folder / "report.txt").read_text().count("\n") >= 1
    assert list((folder / "logs").glob("*.log"))

    second = run(folder, "3")
    assert (second.returncode, second.stderr) == (0, "")
    assert second.stdout.startswith("last seen ")
    more, missed, _ = totals(second.stdout)
    assert more > fires
    assert counted(folder, "select count(*) from rota_schedule_fires") == more
    assert counted(folder, "select coalesce(sum(slots), 0) from rota_schedule_misses") == missed
    assert counted(folder, "select count(*) from rota_schedules where source = 'code'") == 5


def test_it_says_what_came_due_while_it_was_down(tmp_path: Path):
    folder = tmp_path / "data"
    run(folder, "1")
    with closing(sqlite3.connect(folder / "rota.db")) as connection, connection:
        # as if it had been down since four slots ago: nothing else would make them pass without a wait
        connection.execute(
            "update rota_schedules set anchor = strftime('%Y-%m-%dT%H:%M:%S.000000Z', anchor, '-1 hour'),"
            " next_run_at = strftime('%Y-%m-%dT%H:%M:%S.000000Z', next_run_at, '-10 seconds') where id = 'write-log'"
        )
    again = run(folder, "1")
    assert re.search(r"last seen .*; what came due meanwhile:", again.stdout)
    told = re.search(r"^  write-log +slot \S+ fired \d+ s late; (\d+) slots missed, ", again.stdout, re.MULTILINE)
    assert told, again.stdout
    assert counted(folder, "select sum(slots) from rota_schedule_misses where schedule_id = 'write-log'") == int(
        told[1]
    )


def test_the_one_that_fails_is_retried_until_it_succeeds(tmp_path: Path):
    """The collector holds the outbox for 2.5 s; one second after it the report comes, and finds it locked."""
    with started(tmp_path / "data") as demo:
        first = read_until(demo, r"retries +deliver-report +run \d+, attempt 1/3: OutboxBusy")
        run_id = re.search(r"run (\d+)", first)
        assert run_id
        read_until(demo, rf"retries +deliver-report +run {run_id[1]}, attempt 2/3")
        read_until(demo, rf"succeeded +deliver-report +run {run_id[1]}, attempt 3/3, result")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_the_same_summary(tmp_path: Path, number: signal.Signals):
    with started(tmp_path / "data") as demo:
        read_until(demo, "succeeded +write-log")
        demo.send_signal(number)
        read_until(demo, "^ending")
        read_until(demo, "^ in all")
        demo.communicate(timeout=WAIT)
        assert demo.returncode == 0


def test_what_was_running_when_it_was_killed_is_told(tmp_path: Path):
    folder = tmp_path / "data"
    with started(folder) as demo:
        run_id = re.search(r"run (\d+)", read_until(demo, "fired +collect-outbox"))
        assert run_id
        read_until(demo, r"retries +deliver-report")  # one second later: the collector is at it
        demo.kill()
    again = run(folder, "1")
    assert re.search(rf"collect-outbox +run {run_id[1]} was running; if its worker is dead", again.stdout), again.stdout
    assert counted(folder, f"select count(*) from rota_runs where id = {run_id[1]} and state = 'running'") == 1


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan", "inf"])
def test_seconds_that_make_no_sense_are_refused(tmp_path: Path, seconds: str):
    refused = run(tmp_path / "data", seconds)
    assert refused.returncode == 2
    assert refused.stderr == f"SECONDS={seconds!r}: give a number above 0, such as SECONDS=20, or leave it out\n"
    assert refused.stdout == ""


def test_on_a_terminal_it_is_a_live_table(tmp_path: Path):
    ours, theirs = pty.openpty()
    asked = {**environment(tmp_path / "data", "2"), "TERM": "xterm", "COLUMNS": "120", "LINES": "40"}
    with subprocess.Popen(DEMO, env=asked, cwd=ROOT, stdout=theirs, stderr=theirs) as demo:
        os.close(theirs)
        shown = _read_all(ours)
        assert demo.wait(timeout=WAIT) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert "\x1b[" in shown
    for word in ("SCHEDULE", "NEXT SLOT", "UNDER WAY", "every 2 seconds", "s left", "MISSED SLOTS"):
        assert word in text


def _read_all(terminal: int) -> str:
    parts = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # how a terminal says that the other side is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode()
