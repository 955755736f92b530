"""The report: how large a folder is, one line a slot."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from examples.housekeeping import folders

LINES = 1_000  # the report keeps its last ones


@dataclass(frozen=True)
class Folder:
    """The folder to measure, by its name below the data folder."""

    name: str


@dataclass(frozen=True)
class Size:
    """What was measured."""

    files: int
    bytes: int


def measure(folder: Path) -> Size:
    """Count the files, and add up their bytes. A file that goes away meanwhile does not count."""
    sizes = [size for path in folder.rglob("*") if (size := _size(path)) is not None]
    return Size(len(sizes), sum(sizes))


def append(slot: datetime, lateness: timedelta, folder: Folder, size: Size) -> None:
    """Add the line of this slot, once: a handler may run again, the report must not show it twice."""
    lines = folders.REPORT.read_text().splitlines() if folders.REPORT.exists() else []
    begin = f"{slot:%Y-%m-%d %H:%M:%S}  {folder.name}"
    if any(line.startswith(begin) for line in lines):
        return
    late = f"  ({lateness.total_seconds():.0f} s late)" if lateness >= timedelta(seconds=1) else ""
    lines.append(f"{begin}  {size.files} files  {size.bytes:,} bytes{late}")
    folders.write(folders.REPORT, "".join(f"{line}\n" for line in lines[-LINES:]).encode())


def tail(count: int) -> str:
    """The last lines of the report."""
    lines = folders.REPORT.read_text().splitlines() if folders.REPORT.exists() else []
    return "".join(f"{line}\n" for line in lines[-count:])


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size if path.is_file() else None
    except FileNotFoundError:
        return None
