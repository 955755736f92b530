"""Slots, as they are printed: in UTC, and beside it in the zone in which they are meant."""

from __future__ import annotations

from datetime import datetime

from rota import zone
from rota.cli.tables import instant
from rota.errors import RotaError


def in_zone(slot: datetime, name: str) -> str:
    """`2026-08-03T07:00:00Z  Mon 2026-08-03 09:00:00 +02:00 (Europe/Berlin)`, of UTC only the first part."""
    try:
        local = slot.astimezone(zone.parse(name))
    except RotaError:  # someone wrote what is no zone into the row
        return instant(slot)
    weekday = f"{instant(slot)}  {local:%a}"
    return weekday if name == "UTC" else f"{weekday} {local.isoformat(' ')} {name}"
