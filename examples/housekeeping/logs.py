"""Logs: one file a slot, and its compression once it is old."""

from __future__ import annotations

import gzip
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from examples.housekeeping import folders


@dataclass(frozen=True)
class Keeping:
    """From what age on logs are compressed, and how many archives are kept."""

    seconds: int
    archives: int


def write(slot: datetime) -> None:
    """Write down how the disk stands, and every file in the data folder. A second time, it is the same file again."""
    disk = shutil.disk_usage(folders.DATA)
    lines = [f"{slot:%Y-%m-%dT%H:%M:%SZ} disk {disk.used} of {disk.total} bytes used", *_listing()]
    folders.write(folders.LOGS / f"{folders.stamp(slot)}.log", "".join(f"{line}\n" for line in lines).encode())


def compress(keeping: Keeping, stopping: Callable[[], bool]) -> None:
    """Compress the logs that are old enough, and delete the oldest archives.

    Killed anywhere, it leaves a log, an archive, or both; the next call puts that right.
    """
    for log in sorted(folders.LOGS.glob("*.log")):
        if stopping():
            return
        if time.time() - log.stat().st_mtime >= keeping.seconds:
            _compress_one(log)
    folders.keep_newest(folders.ARCHIVE, "*.gz", keeping.archives)


def _compress_one(log: Path) -> None:
    archive = folders.ARCHIVE / f"{log.name}.gz"
    folders.write(archive, gzip.compress(log.read_bytes()))
    log.unlink()


def _listing() -> Iterator[str]:
    for path in sorted(folders.DATA.rglob("*")):
        try:
            yield f"{path.stat().st_size:>10} {path.relative_to(folders.DATA)}"
        except FileNotFoundError:
            continue  # it went away between the two looks
