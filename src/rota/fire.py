"""Fire: the record that a slot was given its run. Its key, (schedule, slot), is the exactly-once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

Origin = Literal["scan", "trigger"]


@dataclass(frozen=True, slots=True)
class Fire:
    """One row of `rota_schedule_fires`. Instants are aware, in UTC."""

    schedule_id: str
    scheduled_for: datetime
    run_id: int
    version: int
    """The version of the schedule that was in force."""
    origin: Origin
    fired_at: datetime
    worker: str | None


def idempotency_key(schedule_id: str, app: str | None, key: str | None, slot: datetime) -> str:
    """The idempotency key of the run of a slot, from the slot and never from the clock (promise D31).

    >>> idempotency_key("sales.weekly-report", "sales", "weekly-report", datetime(2026, 5, 31, 23, tzinfo=UTC))
    'schedule:sales/weekly-report:2026-05-31T23:00:00Z'
    """
    name = f"{app}/{key}" if app is not None else schedule_id
    instant = slot.astimezone(UTC).replace(tzinfo=None).isoformat()
    return f"schedule:{name}:{instant}Z"
