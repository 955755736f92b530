"""Instants that people give: aware, and in UTC from here on."""

from __future__ import annotations

from datetime import UTC, datetime

from rota.errors import InstantNaive, OptionInvalid


def checked_instant(name: str, instant: datetime) -> datetime:
    """`instant` in UTC, where it is an aware datetime that every zone can show; else an error that names it."""
    if not isinstance(instant, datetime):
        raise OptionInvalid(name, instant, "give an aware datetime")
    if instant.utcoffset() is None:
        raise InstantNaive(instant, name)
    if not 2 <= instant.year <= 9998:
        raise OptionInvalid(name, instant, "give one of the years 2 to 9998")
    return instant.astimezone(UTC)
