"""A cron expression: five fields → sorted values, and the matching local times before and after a given one.

Pure: it knows no zone. A *local minute* is the number of minutes on a wall clock since it showed 1970-01-01 00:00.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache

from rota.errors import CadenceInvalid, CadenceNeverComes
from rota.fields import FIELDS, FieldError, begins_with_star

DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
LONGEST_TEXT = 1_000
FIRST_YEAR, LAST_YEAR = 2, 9998
"""Where the search ends, a year clear of both ends of Python's calendar."""

_EPOCH = date(1970, 1, 1).toordinal()
_THURSDAY = 4  # 1970-01-01
_DAY = 1440


def parse(text: str) -> Cron:
    """The five-field expression `text`; blanks of any length between the fields.

    Raises `CadenceInvalid`, which names the field, the bad part, the allowed range and the remedy;
    and `CadenceNeverComes` where no date of the calendar matches (30 February).
    """
    check_text(text)
    return _parse(text)


def check_text(text: str) -> None:
    """Raises `CadenceInvalid` for what cannot be a cadence of any kind: no text, or one over 1,000 characters."""
    if not isinstance(text, str):
        raise CadenceInvalid(text, "give a text, such as '0 9 * * MON-FRI'")
    if len(text) > LONGEST_TEXT:
        raise CadenceInvalid(text, f"it has over {LONGEST_TEXT:,} characters: write ranges and steps, as in '0-30/5'")


@lru_cache(maxsize=1024)
def _parse(text: str) -> Cron:
    texts = _split(text)
    try:
        minutes, hours, days, months, weekdays = (one.values(part) for one, part in zip(FIELDS, texts, strict=True))
    except FieldError as problem:
        raise CadenceInvalid(text, str(problem)) from None
    minute, hour, day, _, weekday = map(begins_with_star, texts)
    seven_is_sunday = tuple(sorted({value % 7 for value in weekdays}))
    cron = Cron(minutes, hours, days, months, seven_is_sunday, day or weekday, minute or hour)
    if not cron.comes():
        raise CadenceNeverComes(text)
    return cron


def _split(text: str) -> list[str]:
    zone = re.match(r"\s*(?:CRON_)?TZ=(\S*)", text, re.IGNORECASE)
    if zone:
        name = zone[1] or "Europe/Berlin"
        raise CadenceInvalid(text, f"the zone does not stand in the text: give it apart, as tz={name!r}")
    parts = text.split()
    if len(parts) != len(FIELDS):
        raise CadenceInvalid(text, _why_not_five(parts))
    return parts


def _why_not_five(parts: list[str]) -> str:
    names = " ".join(one.place for one in FIELDS)
    if len(parts) == 1 and parts[0].lower() in DESCRIPTORS:
        return f"five fields are wanted here, and this is a descriptor: write '{DESCRIPTORS[parts[0].lower()]}'"
    problem = f"it has {len(parts)} field{'s' * (len(parts) != 1)} and needs five: {names}"
    if len(parts) == 6:
        return f"{problem}; there is no seconds field (for less than a minute write '@every 30s')"
    return f"{problem}; there is no seconds field and no year field" if len(parts) > 6 else problem


@dataclass(frozen=True, slots=True)
class Cron:
    """The sorted values of five fields, and the two rules that hang on a leading star.

    `weekdays`: 0 is Sunday. `both_days`: a day must match day-of-month AND day-of-week (one of them begins with a
    star), else one of them is enough. `follows_clock`: minute or hour begins with a star; see `daylight`.
    """

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    both_days: bool
    follows_clock: bool
    times: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The minutes of a matching day, counted from its midnight."""
    _seen: dict[tuple[int, int], tuple[int, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", tuple(hour * 60 + minute for hour in self.hours for minute in self.minutes))
        object.__setattr__(self, "_seen", {})

    def first_from(self, minute: int) -> int | None:
        """The first matching local minute at or after `minute`; None after the year 9998."""
        day, time = divmod(minute, _DAY)
        found = self._first_day(day if time <= self.times[-1] else day + 1)
        if found is None:
            return None
        return found * _DAY + (self.times[bisect_left(self.times, time)] if found == day else self.times[0])

    def last_until(self, minute: int) -> int | None:
        """The last matching local minute at or before `minute`; None before the year 2."""
        day, time = divmod(minute, _DAY)
        found = self._last_day(day if time >= self.times[0] else day - 1)
        if found is None:
            return None
        return found * _DAY + (self.times[bisect_right(self.times, time) - 1] if found == day else self.times[-1])

    def comes(self) -> bool:
        """Whether any date matches. In time every month begins on every weekday, leap years' February too."""
        return any(self._days(weekday, _LEAP_LENGTHS[month]) for month in self.months for weekday in range(7))

    def _first_day(self, day: int) -> int | None:
        """The first matching day at or after `day`, counted from 1970-01-01: a walk over months."""
        start = date.fromordinal(day + _EPOCH)
        year, month, wanted = start.year, start.month, start.day
        first = day - wanted + 1
        while year <= LAST_YEAR:
            length = _length(year, month)
            if month in self.months:
                days = self._days((first + _THURSDAY) % 7, length)
                index = bisect_left(days, wanted)
                if index < len(days):
                    return first + days[index] - 1
            first, wanted = first + length, 1
            year, month = (year, month + 1) if month < 12 else (year + 1, 1)
        return None

    def _last_day(self, day: int) -> int | None:
        start = date.fromordinal(day + _EPOCH)
        year, month, wanted = start.year, start.month, start.day
        first = day - wanted + 1
        while year >= FIRST_YEAR:
            if month in self.months:
                days = self._days((first + _THURSDAY) % 7, _length(year, month))
                index = bisect_right(days, wanted)
                if index:
                    return first + days[index - 1] - 1
            year, month, wanted = (year, month - 1, 31) if month > 1 else (year - 1, 12, 31)
            first -= _length(year, month)
        return None

    def _days(self, first_weekday: int, length: int) -> tuple[int, ...]:
        """The matching days of a month that has `length` days and begins on `first_weekday`."""
        key = (first_weekday, length)
        days = self._seen.get(key)
        if days is None:
            days = self._seen[key] = tuple(day for day in range(1, length + 1) if self._matches(day, first_weekday))
        return days

    def _matches(self, day: int, first_weekday: int) -> bool:
        by_date, by_weekday = day in self.days, (first_weekday + day - 1) % 7 in self.weekdays
        return by_date and by_weekday if self.both_days else by_date or by_weekday


_LENGTHS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_LEAP_LENGTHS = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _length(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return (_LEAP_LENGTHS if leap else _LENGTHS)[month]
