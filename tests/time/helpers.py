"""What the tests of time share: the cases from the field, each zone's clock changes, and a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import rota

CASES = {case["id"]: case for case in json.loads((Path(__file__).parents[1] / "cases/field_cases.json").read_text())}
ZONES = sorted(available_timezones() - {"localtime"})
DAY = timedelta(days=1)


def at(text: str) -> datetime:
    """`2026-03-08T06:30:00Z` and the like, in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


def said(instant: datetime | None) -> str | None:
    """As the cases write instants."""
    return None if instant is None else instant.strftime("%Y-%m-%dT%H:%M:%SZ")


@cache
def clock_changes(name: str) -> list[datetime]:
    """The first whole UTC minute of each new offset that the zone has from 1990 to 2040, found by plain probing."""
    zone, start, end = ZoneInfo(name), at("1990-01-01T00:00Z"), at("2041-01-01T00:00Z")
    days = [start + number * DAY for number in range((end - start).days)]
    offsets = [day.astimezone(zone).utcoffset() for day in days]
    return [
        _change(zone, day, day + DAY)
        for day, before, after in zip(days, offsets, offsets[1:], strict=False)
        if before != after
    ]


def _change(zone: ZoneInfo, low: datetime, high: datetime) -> datetime:
    before = low.astimezone(zone).utcoffset()
    while high - low > timedelta(minutes=1):
        middle = low + (high - low) // timedelta(minutes=2) * timedelta(minutes=1)
        low, high = (middle, high) if middle.astimezone(zone).utcoffset() == before else (low, middle)
    return high


def python(code: str, **environment: str) -> str:
    """What this Python prints when it runs `code` in a process with these environment variables."""
    source = str(Path(rota.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": source, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
