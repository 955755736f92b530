"""The UTC offsets of a zone, as stretches of time within which the offset stays the same.

Asking zoneinfo for each local time costs more than finding the time itself; a stretch answers in integers.
Minutes are counted from 1970-01-01T00:00Z. Old offsets with seconds in them are cut to whole minutes, and begin
with the first whole minute they touch: a slot is a whole minute of UTC.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple

LONGEST_SHIFT = 3 * 3600
"""Seconds. A clock that is set by more is a calendar put right, not daylight saving."""


class Stretch(NamedTuple):
    """The UTC minutes start ≤ t < end, in which the local clock shows t + offset."""

    start: int
    end: int
    offset: int
    fixed_from: int
    """From here on t + offset counts for a fixed time. Before `start` where the clock leapt: the times in between fall
    on `start`. After it where the clock was put back: it shows times that it has shown before. Else `start`."""


class Offsets:
    """The stretches of one zone, found where they are asked for and kept."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._pages: dict[int, _Page] = {}

    def at(self, minute: int) -> Stretch:
        """The stretch that holds this UTC minute."""
        starts, stretches = self._pages.get(minute >> _PAGE) or self._page(minute >> _PAGE)
        return stretches[bisect_right(starts, minute) - 1]

    def _page(self, number: int) -> _Page:
        stretches = list(self._stretches(number << _PAGE, (number + 1) << _PAGE))
        page = self._pages[number] = ([one.start for one in stretches], stretches)
        return page

    def _stretches(self, start: int, end: int) -> Iterator[Stretch]:
        """From a little before `start`, so that a shift just before it is seen, and its repeated times with it."""
        begin = max(start * 60 - _STEP, _FIRST)
        changes = [(begin, self._offset(begin)), *self._changes(begin, min(end * 60, _LAST))]
        ends = [_up(second) for second, _ in changes[1:]] + [end]
        before = changes[0][1]
        for (second, offset), until in zip(changes, ends, strict=True):
            yield _stretch(second, until, before, offset)
            before = offset

    def _changes(self, second: int, end: int) -> Iterator[tuple[int, int]]:
        """(the UTC second from which an offset holds, that offset in seconds), after `second` and up to `end`."""
        offset = self._offset(second)
        while second < end:
            probe = min(second + _STEP, end)
            if self._offset(probe) == offset:
                second = probe
                continue
            second = self._change_between(second, probe)
            offset = self._offset(second)
            yield second, offset

    def _change_between(self, low: int, high: int) -> int:
        offset = self._offset(low)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._offset(middle) == offset else (low, middle)
        return high

    def _offset(self, second: int) -> int:
        shift = (_EPOCH + timedelta(0, second)).astimezone(self._zone).utcoffset()
        assert shift is not None
        return shift.days * 86_400 + shift.seconds


@lru_cache(maxsize=1024)
def of(zone: tzinfo) -> Offsets:
    """The offsets of `zone`, shared by all who ask."""
    return Offsets(zone)


def _stretch(second: int, end: int, before: int, offset: int) -> Stretch:
    start, shift = _up(second), offset - before
    fixed_from = start
    if 0 < shift <= LONGEST_SHIFT:
        fixed_from = start - (offset // 60 - before // 60)
    elif -LONGEST_SHIFT <= shift < 0:
        fixed_from = _up(second - shift)
    return Stretch(start, end, offset // 60, fixed_from)


def _up(seconds: int) -> int:
    """In minutes, a part of one counted as a whole."""
    return -(-seconds // 60)


_Page = tuple[list[int], list[Stretch]]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PAGE = 22  # bits: a page is eight years of minutes
_STEP = 2 * 86_400  # no zone has ever kept an offset for less than four days
_FIRST = -62_135_596_800 + 2 * 86_400  # where Python's calendar begins, and two days
_LAST = 253_402_300_799 - 2 * 86_400
