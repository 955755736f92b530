"""The outbox: one job puts reports in, another takes them out, and a lock file keeps the two apart."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from examples.housekeeping import folders, report

LOCK = folders.OUTBOX / "lock"
STALE = 5.0  # seconds: whoever held the lock longer than that is dead
SLOW = 2.5  # seconds that the collector takes


class OutboxBusy(Exception):
    """The outbox is being emptied at the moment; a little later it will not be."""


def deliver(slot: datetime) -> str:
    """Put the last lines of the report into the outbox; returns the name of the file."""
    if _is_locked():
        raise OutboxBusy("the collector is at the outbox, try again later")
    path = folders.OUTBOX / f"report-{folders.stamp(slot)}.txt"
    folders.write(path, report.tail(20).encode())
    return path.name


async def collect() -> None:
    """Take what lies in the outbox. It is slow, as collectors are, and locks the outbox meanwhile."""
    with _locked():
        await asyncio.sleep(SLOW)
        for path in sorted(folders.OUTBOX.glob("report-*.txt")):
            path.replace(folders.COLLECTED / path.name)
        folders.keep_newest(folders.COLLECTED, "*.txt", 50)


@contextmanager
def _locked() -> Iterator[None]:
    if not _is_locked():
        LOCK.unlink(missing_ok=True)  # left behind by a collector that was killed
    try:
        LOCK.touch(exist_ok=False)
    except FileExistsError:
        raise OutboxBusy("another collector is at the outbox") from None
    try:
        yield
    finally:
        LOCK.unlink(missing_ok=True)


def _is_locked() -> bool:
    try:
        return time.time() - LOCK.stat().st_mtime < STALE
    except FileNotFoundError:
        return False
