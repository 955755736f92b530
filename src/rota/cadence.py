"""A cadence: when something is due. A cron text, a descriptor or an interval, always with a time zone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from rota import cron, interval, offsets, words, zone
from rota.daylight import LocalTimes
from rota.errors import CadenceInvalid, InstantNaive, ZoneUnknown
from rota.interval import Interval, whole_second


@dataclass(frozen=True, slots=True, repr=False)
class Cadence:
    """When something is due. Make one with `Cadence.parse`; two are equal if text, zone and anchor are.

    Instants go in as aware datetimes of any zone and come out in UTC, on whole minutes (intervals: whole seconds).
    Nothing is read but the arguments: not the clock, not the machine's own zone.
    """

    text: str
    """As written, each run of blanks one blank."""
    zone_name: str
    """As given: an IANA name or an offset."""
    anchor: datetime | None
    """Where an interval counts from: UTC, a whole second. None until it is known, and for everything else."""
    _slots: Interval | LocalTimes = field(compare=False)

    @classmethod
    def parse(cls, text: str, tz: str = "UTC", anchor: datetime | None = None) -> Cadence:
        """Five cron fields, a descriptor (`@yearly` … `@hourly`) or `@every <duration>`, in the zone `tz`.

        The dialect is that of Debian's crontab(5), with 7 for Sunday, `?` for `*`, names in any case and `5/15`.
        `anchor` is where an interval counts from, cut to its whole second; other cadences have none and drop it.
        Raises `CadenceInvalid`, `CadenceNeverComes`, `ZoneUnknown` or `InstantNaive` (the anchor).
        """
        cron.check_text(text)
        if not isinstance(tz, str):
            raise ZoneUnknown(tz)
        if anchor is not None:
            anchor = whole_second(_aware(anchor, "anchor"))
        return _parse(text, tz, anchor)

    @property
    def is_interval(self) -> bool:
        """Whether this is `@every`: elapsed time, for which zone and clock changes play no part."""
        return isinstance(self._slots, Interval)

    def next_after(self, instant: datetime) -> datetime | None:
        """The first slot strictly later than `instant`; None when there is none up to the year 9998.

        An interval without an anchor answers `instant`, cut to its whole second, plus its length.
        Raises `InstantNaive`.
        """
        return self._slots.next_after(_aware(instant))

    def last_before(self, instant: datetime) -> datetime | None:
        """The last slot strictly earlier than `instant`; None when there is none.

        An interval without an anchor answers `instant`, raised to a whole second, minus its length.
        Raises `InstantNaive`.
        """
        return self._slots.last_before(_aware(instant))

    def upcoming(self, instant: datetime, n: int) -> list[datetime]:
        """The next `n` slots strictly later than `instant`, rising; fewer where they end. Raises `InstantNaive`."""
        slots: list[datetime] = []
        slot = self.next_after(instant)
        while slot is not None and len(slots) < n:
            slots.append(slot)
            slot = self.next_after(slot)
        return slots

    def anchored(self, instant: datetime) -> Cadence:
        """An interval that has no anchor, counting from `instant`, cut to its whole second; all else as it is.

        Raises `InstantNaive`.
        """
        if not self.is_interval or self.anchor is not None:
            return self
        return Cadence.parse(self.text, self.zone_name, instant)

    def explain(self) -> str:
        """What it means, in English: "at 02:30 every day (America/New_York)"."""
        if isinstance(self._slots, Interval):
            return words.of_interval(self._slots.span, self.anchor)
        return words.of_cron(self._slots.cron, self.zone_name)

    def __repr__(self) -> str:
        anchor = f", anchor={self.anchor.isoformat()}" if self.anchor else ""
        return f"Cadence({self.text!r}, tz={self.zone_name!r}{anchor})"

    def __reduce__(self) -> tuple[Callable[..., Cadence], tuple[str, str, datetime | None]]:
        return Cadence.parse, (self.text, self.zone_name, self.anchor)


@lru_cache(maxsize=4096)
def _parse(text: str, tz: str, anchor: datetime | None) -> Cadence:
    """Remembered, because a thousand schedules share an expression."""
    place = zone.parse(tz)
    text = " ".join(text.split())
    name = text.partition(" ")[0].lower()
    if name == interval.DESCRIPTOR:
        return Cadence(text, tz, anchor, interval.parse(text, anchor))
    if name.startswith("@"):
        return Cadence(text, tz, None, LocalTimes(cron.parse(_described(text)), offsets.of(place)))
    return Cadence(text, tz, None, LocalTimes(cron.parse(text), offsets.of(place)))


def _described(text: str) -> str:
    fields = cron.DESCRIPTORS.get(text.lower())
    if fields is None:
        raise CadenceInvalid(text, _why_no_descriptor(text.lower()))
    return fields


def _why_no_descriptor(text: str) -> str:
    if text == "@reboot":
        return "a start is no time: do it in a function under @app.on_start"
    return f"there is no such descriptor: the ones there are are {', '.join(cron.DESCRIPTORS)} and @every <duration>"


def _aware(instant: datetime, name: str = "instant") -> datetime:
    if instant.utcoffset() is None:
        raise InstantNaive(instant, name)
    return instant
