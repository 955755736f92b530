"""The application: its jobs, and when they are due."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import rota
from examples.housekeeping import folders, logs, outbox, report
from examples.housekeeping.logs import Keeping
from examples.housekeeping.report import Folder, Size

folders.make()
app = rota.App(f"sqlite:///{folders.DATABASE}")

PATIENT = rota.Retry(3, initial_delay=timedelta(seconds=1))
MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
"""Where two of the intervals count from: any instant will do, as long as it stays."""


@app.step()
def measure_folder(folder: Folder) -> Size:
    """Measure a folder, and add a line to the report. A step returns a value, and the run keeps it."""
    size = report.measure(folders.DATA / folder.name)
    report.append(_slot(), rota.current_run().lateness, folder, size)
    return size


@app.action()
async def write_log() -> None:
    """Write a log, so that there is something to compress. An action returns nothing; this one is a coroutine."""
    await asyncio.to_thread(logs.write, _slot())


@app.action()
def compress_logs(keeping: Keeping) -> None:
    """Compress old logs. It may be long, so it looks whether its worker wants to stop."""
    run = rota.current_run()
    logs.compress(keeping, stopping=lambda: run.stopping)


@app.action(retry=PATIENT)
async def collect_outbox() -> None:
    """Empty the outbox, which takes a while."""
    await outbox.collect()


@app.step(retry=PATIENT)
def deliver_report() -> str:
    """Put the report into the outbox. One second after the collector came it is locked: this fails, and retries."""
    return outbox.deliver(_slot())


@app.on_start
def register() -> None:
    """Say when. The same id updates the same row, so this runs at every start."""
    with app.transaction() as tx:
        tx.schedule(measure_folder, "@every 3s", Folder("logs"), id="measure-folder")
        tx.schedule(write_log, "@every 2s", id="write-log")
        tx.schedule(compress_logs, "* * * * *", Keeping(seconds=20, archives=100), id="compress-logs")
        tx.schedule(collect_outbox, _every_10s(MIDNIGHT), id="collect-outbox")
        tx.schedule(deliver_report, _every_10s(MIDNIGHT + timedelta(seconds=1)), id="deliver-report")


def _every_10s(anchor: datetime) -> rota.Cadence:
    return rota.Cadence.parse("@every 10s", anchor=anchor)


def _slot() -> datetime:
    """The instant for which this run was due; when it started, where someone enqueued it by hand."""
    run = rota.current_run()
    return run.slot or run.started_at
