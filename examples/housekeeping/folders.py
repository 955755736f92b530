"""Folders: where the example keeps its files, and how it writes one so that a crash never leaves half of it."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

DATA = Path(os.environ.get("HOUSEKEEPING_DATA") or Path(__file__).parent / "data").absolute()
DATABASE = DATA / "rota.db"
LOGS = DATA / "logs"
ARCHIVE = DATA / "archive"
OUTBOX = DATA / "outbox"
COLLECTED = DATA / "collected"
REPORT = DATA / "report.txt"


def make() -> None:
    """Make those that are not there yet."""
    for folder in (DATA, LOGS, ARCHIVE, OUTBOX, COLLECTED):
        folder.mkdir(parents=True, exist_ok=True)


def write(path: Path, content: bytes) -> None:
    """Write the file as a whole or not at all: beside it first, then renamed."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(content)
    part.replace(path)


def stamp(instant: datetime) -> str:
    """An instant as file names have it; they sort as time."""
    return f"{instant:%Y%m%dT%H%M%SZ}"


def keep_newest(folder: Path, pattern: str, count: int) -> None:
    """Delete the oldest files, by name, beyond `count`."""
    for path in sorted(folder.glob(pattern))[:-count]:
        path.unlink(missing_ok=True)
