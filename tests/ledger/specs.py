"""Cadences under test, each beside a plain function that a referee can follow: instant → the next slot after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rota.cadence import Cadence
from rota.duration import parse

Spec = Callable[[datetime], datetime | None]

END = datetime(9999, 1, 1, tzinfo=UTC)  # slots come up to the year 9998


@dataclass(frozen=True)
class Text:
    """A cadence as it is registered."""

    text: str
    tz: str = "UTC"

    def spec(self, now: datetime) -> Spec:
        """What it means when it is registered at `now`. Intervals are reckoned here, and not by rota."""
        if not self.text.startswith("@every"):
            return Cadence.parse(self.text, self.tz).next_after
        anchor, span = now.replace(microsecond=0), parse(self.text.split()[1])

        def next_after(instant: datetime) -> datetime | None:
            slot = anchor + max((instant - anchor) // span + 1, 1) * span
            return slot if slot < END else None

        return next_after


OFTEN = [Text("* * * * *"), Text("*/5 * * * *"), Text("@every 90s"), Text("@every 7s"), Text("@every 10m")]
SELDOM = [Text("0 * * * *"), Text("@hourly", "Asia/Kolkata"), Text("@every 1h30m"), Text("17,18 */3 * * *", "+05:45")]
LOCAL = [Text("30 2 * * *", "Europe/Berlin"), Text("*/30 1-3 * * *", "Europe/Berlin"), Text("0 4 26 10 *")]
TEXTS = OFTEN + SELDOM + LOCAL


def slots_from(spec: Spec, first: datetime, last: datetime) -> Iterator[datetime]:
    """`first`, which is a slot, and those after it, up to and including `last`."""
    slot: datetime | None = first
    while slot is not None and slot <= last:
        yield slot
        slot = spec(slot)


SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
INSTANT = timedelta.resolution
