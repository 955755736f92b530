"""Rows for tests to put into the store."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import Connection

from rota.schedule import Schedule
from rota.store import workers
from rota.store.workers import WorkerRow
from tests.store.conftest import NOW


def schedule(schedule_id: str, **changes: Any) -> Schedule:
    row: dict[str, Any] = dict.fromkeys(Schedule.__dataclass_fields__)
    row |= {"id": schedule_id, "source": "code", "kind": "step", "job": "tick", "job_name": "tick"}
    row |= {"cron_spec": "* * * * *", "location": "UTC", "enabled": True, "retired": False, "options": "{}"}
    row |= {"consecutive_failures": 0, "version": 1, "created_at": NOW, "updated_at": NOW}
    return Schedule(**(row | changes))


def alive(connection: Connection, worker: str) -> None:
    """See to it that there is a worker of this name: who has no row may claim nothing."""
    if worker not in {row.id for row in workers.listing(connection)}:
        workers.add(connection, WorkerRow(worker, "host", 1, "[]", "[]", "0", NOW, NOW, NOW + timedelta(days=9999)))
