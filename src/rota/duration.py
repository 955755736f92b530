"""A length of time as text: `1h30m`."""

from __future__ import annotations

import re
from datetime import timedelta

from rota.errors import DurationInvalid

LONGEST = timedelta(days=36_525)
"""A hundred years: what is longer is a slip of the pen."""

_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?[hms])+")
_PART = re.compile(r"([0-9]+)(?:\.([0-9]+))?([hms])")
_MICROSECONDS = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000}
_LONGEST_TEXT = 40


def parse(text: str) -> timedelta:
    """The length of time that `text` says: `45s`, `5m`, `1h30m`, `1.5h`; units h, m and s as Go has them.

    Exact to the microsecond, never rounded. `0s` is a duration; whoever needs a positive one says so.
    Raises `DurationInvalid` for anything else: no unit, another unit, a sign, over a hundred years.
    """
    if not isinstance(text, str) or len(text) > _LONGEST_TEXT or not _DURATION.fullmatch(text):
        raise DurationInvalid(text)
    microseconds = sum(_part(text, *part) for part in _PART.findall(text))
    if microseconds > LONGEST // _MICROSECOND:
        raise DurationInvalid(text, "it is over a hundred years: write a shorter one")
    return microseconds * _MICROSECOND


def render(span: timedelta) -> str:
    """`span` as `parse` reads it: `1h30m`, `1.5s`, `0s`; one that is negative has a minus before it."""
    if span < timedelta(0):
        return "-" + render(-span)
    seconds, microseconds = divmod(span // _MICROSECOND, 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    tail = f"{seconds}.{microseconds:06}".rstrip("0").rstrip(".")
    parts = [f"{hours}h" * (hours > 0), f"{minutes}m" * (minutes > 0), f"{tail}s" * (tail != "0")]
    return "".join(parts) or "0s"


def _part(text: str, whole: str, decimals: str, unit: str) -> int:
    scaled = int(whole + decimals) * _MICROSECONDS[unit]
    microseconds, rest = divmod(scaled, int(10 ** len(decimals)))
    if rest:
        raise DurationInvalid(text, "it is finer than a microsecond: leave out some decimals")
    return microseconds


_MICROSECOND = timedelta(microseconds=1)
