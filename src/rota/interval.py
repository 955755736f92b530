"""An interval: slots that are equally far apart in elapsed time, whatever the clocks do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rota import duration
from rota.errors import CadenceInvalid, DurationInvalid

DESCRIPTOR = "@every"

_SECOND = timedelta(seconds=1)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = datetime(2, 1, 1, tzinfo=UTC)
_END = datetime(9999, 1, 1, tzinfo=UTC)


def parse(text: str, anchor: datetime | None) -> Interval:
    """`@every 1h30m`: whole seconds, one or more. Raises `CadenceInvalid`."""
    _, _, length = text.partition(" ")
    try:
        span = duration.parse(length)
    except DurationInvalid:
        raise CadenceInvalid(text, _why_no_duration(length)) from None
    if span < _SECOND or span % _SECOND:
        raise CadenceInvalid(text, "an interval is whole seconds, one or more, as in '@every 30s'")
    return Interval(span, anchor)


@dataclass(frozen=True, slots=True)
class Interval:
    """Slots at anchor + k · span for k ≥ 1, up to the year 9998; without an anchor, `span` from the instant given."""

    span: timedelta
    anchor: datetime | None = None

    def next_after(self, instant: datetime) -> datetime | None:
        """The first slot after `instant`, which without an anchor is first cut to a whole second."""
        if self.anchor is None:
            since = whole_second(instant)
            return since + self.span if since < _END - self.span else None
        steps = max((instant - self.anchor) // self.span + 1, 1)
        return self.anchor + steps * self.span if steps <= (_END - _MICROSECOND - self.anchor) // self.span else None

    def last_before(self, instant: datetime) -> datetime | None:
        """The last slot before `instant`, which without an anchor is first raised to a whole second."""
        if self.anchor is None:
            until = whole_second(instant)
            return until - self.span + _SECOND * (until < instant) if until >= _FIRST + self.span else None
        steps = (min(instant, _END) - self.anchor - _MICROSECOND) // self.span
        return self.anchor + steps * self.span if steps >= 1 else None


def whole_second(instant: datetime) -> datetime:
    """In UTC, cut down to its second."""
    return instant.astimezone(UTC).replace(microsecond=0)


def _why_no_duration(length: str) -> str:
    if not length:
        return "say how often, as in '@every 5m'"
    if re.search(r"\d *(d|w|y|mo|bus)", length.lower()):
        return "its units are h, m and s: for 7 days write '@every 168h', for calendar days and months five cron fields"
    return "write how often with the units h, m and s, as in '@every 5m' or '@every 1h30m', up to a hundred years"
