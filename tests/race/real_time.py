"""For the long forms, which go by the machine's own clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Event


def real_mark() -> datetime:
    """The next full minute, at least 50 seconds away."""
    now = datetime.now(UTC)
    mark = now.replace(second=0, microsecond=0) + timedelta(minutes=1)
    if (mark - now).total_seconds() < 50:
        wait_for(mark)
        mark += timedelta(minutes=1)
    return mark


def wait_for(instant: datetime) -> None:
    """Wait until it is that time."""
    Event().wait(max(0.0, (instant - datetime.now(UTC)).total_seconds()))
