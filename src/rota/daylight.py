"""Where local times fall in UTC when the clocks change, as Debian's cron has it.

A fixed time (neither minute nor hour begins with `*`) comes once a day: one that the clock leaps over comes at the
first instant after the gap, one that it shows twice comes the first time. An expression that follows the clock comes
whenever the clock shows it: in both passes, and never for what was leapt over. Shifts of more than three hours put a
calendar right: what was leapt over is gone, what comes again comes again. Slots on one instant are one slot.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rota.cron import FIRST_YEAR, LAST_YEAR, Cron
from rota.offsets import Offsets, Stretch


@dataclass(frozen=True, slots=True)
class LocalTimes:
    """The slots of a cron expression on the local clock of a zone."""

    cron: Cron
    offsets: Offsets

    def next_after(self, instant: datetime) -> datetime | None:
        """The first slot strictly later than `instant`, in UTC; None when there is none up to the year 9998."""
        minute = max(_minute(instant) + 1, _FIRST)
        slot = first_slot(self.cron, self.offsets, minute) if minute <= _LAST else None
        return None if slot is None else _instant(slot)

    def last_before(self, instant: datetime) -> datetime | None:
        """The last slot strictly earlier than `instant`, in UTC; None when there is none since the year 2."""
        minute = min(_minute_before(instant), _LAST)
        slot = last_slot(self.cron, self.offsets, minute) if minute >= _FIRST else None
        return None if slot is None else _instant(slot)


def first_slot(cron: Cron, offsets: Offsets, minute: int) -> int | None:
    """The first slot at or after `minute`, both in minutes of UTC since 1970; None when there is none till 9998."""
    searched, found = 0, -1  # from the one to the other the local clock shows no match; nothing is searched yet
    while True:
        stretch = offsets.at(minute)
        earliest = _earliest(cron, stretch, minute)
        if not searched <= earliest <= found:
            match = cron.first_from(earliest)
            if match is None:
                return None
            searched, found = earliest, match
        slot = max(found - stretch.offset, minute)
        if slot < stretch.end:
            return slot
        minute = stretch.end


def last_slot(cron: Cron, offsets: Offsets, minute: int) -> int | None:
    """The last slot at or before `minute`, both in minutes of UTC since 1970; None when there is none since year 2."""
    searched, found = -1, 0
    while True:
        stretch = offsets.at(minute)
        latest = minute + stretch.offset
        if not found <= latest <= searched:
            match = cron.last_until(latest)
            if match is None:
                return None
            searched, found = latest, match
        if found >= _earliest(cron, stretch, stretch.start):
            return max(found - stretch.offset, stretch.start)
        minute = stretch.start - 1


def _earliest(cron: Cron, stretch: Stretch, minute: int) -> int:
    """The first local minute that counts for a slot at or after `minute` in its stretch."""
    if cron.follows_clock:
        return minute + stretch.offset
    since = stretch.fixed_from if minute == stretch.start else max(minute, stretch.fixed_from)
    return since + stretch.offset


def _minute(instant: datetime) -> int:
    since = instant - _EPOCH
    return since.days * 1440 + since.seconds // 60


def _minute_before(instant: datetime) -> int:
    """The last whole minute that is strictly earlier."""
    since = instant - _EPOCH - timedelta.resolution
    return since.days * 1440 + since.seconds // 60


def _instant(minute: int) -> datetime:
    return _EPOCH + timedelta(0, minute * 60)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = _minute(datetime(FIRST_YEAR, 1, 1, tzinfo=UTC))
_LAST = _minute(datetime(LAST_YEAR, 12, 31, 23, 59, tzinfo=UTC))
