"""Miss: the record that slots were not given a run, and the reason. One row covers a whole gap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal

from rota.cadence import Cadence

Reason = Literal["late", "paused", "poisoned", "blocked", "overlap", "condition", "edited", "retired"]

COUNTED = 1000  # gaps are counted exactly up to here

_INSTANT = timedelta.resolution


@dataclass(frozen=True, slots=True)
class Miss:
    """One row of `rota_schedule_misses`: the slots from first_slot to last_slot, both included. Instants are UTC."""

    schedule_id: str
    first_slot: datetime
    last_slot: datetime
    slots: int | None
    """How many; None where there are more than 1,000."""
    reason: Reason
    detail: str | None
    version: int
    """The version of the schedule that was in force."""
    recorded_at: datetime

    def cut_after(self, instant: datetime, cadence: Cadence) -> Miss:
        """The part of it that does not lie after `instant`; asked only where its first slot does not."""
        last = min(self.last_slot, _last_before(cadence, instant + _INSTANT, self.first_slot))
        return replace(self, last_slot=last, slots=_count(cadence, self.first_slot, last))


@dataclass(frozen=True, slots=True)
class Gap:
    """Slots in a row that had no fire, for one reason."""

    first: datetime
    last: datetime
    slots: int | None
    reason: Reason


def gaps(
    cadence: Cadence,
    first: datetime,
    now: datetime,
    fired: Iterable[datetime],
    reason: Reason,
    turns: Iterable[tuple[datetime, Reason]] = (),
) -> Iterator[Gap]:
    """The slots from `first` up to and including `now` that are not in `fired`, as few gaps as tell them apart.

    They are missed for `reason`; from each turn on, the earliest turn first, for the turn's reason.
    """
    cuts = sorted(slot for slot in set(fired) if slot == first or _is_slot(cadence, slot))
    start: datetime | None = first
    for turn, following in turns:
        if start is not None and start < turn:
            yield from _between(cadence, start, min(now, turn - _INSTANT), cuts, reason)
            start = cadence.next_after(turn - _INSTANT)
        reason = following
    if start is not None:
        yield from _between(cadence, start, now, cuts, reason)


def _is_slot(cadence: Cadence, instant: datetime) -> bool:
    """Whether the cadence has this slot; an edit may have left the fire of another cadence here."""
    return cadence.next_after(instant - _INSTANT) == instant


def _between(
    cadence: Cadence, first: datetime, until: datetime, fired: list[datetime], reason: Reason
) -> Iterator[Gap]:
    """The gaps of one reason from `first` up to `until`, between the slots that were fired."""
    start: datetime | None = first
    for cut in fired:
        if start is not None and start <= cut <= until:
            if start < cut:
                yield _gap(cadence, start, _last_before(cadence, cut, start), reason)
            start = cadence.next_after(cut)
    if start is not None and start <= until:
        yield _gap(cadence, start, _last_before(cadence, until + _INSTANT, start), reason)


def _last_before(cadence: Cadence, instant: datetime, first: datetime) -> datetime:
    """The last slot before `instant`; `first` itself may have been set by hand, and lie beside the cadence."""
    last = cadence.last_before(instant)
    return first if last is None else max(first, last)


def _gap(cadence: Cadence, first: datetime, last: datetime, reason: Reason) -> Gap:
    return Gap(first, last, _count(cadence, first, last), reason)


@lru_cache(maxsize=4096)  # after an outage a thousand schedules share a cadence, and so a count
def _count(cadence: Cadence, first: datetime, last: datetime) -> int | None:
    slot: datetime | None = first
    for counted in range(1, COUNTED + 1):
        if slot is None or slot >= last:
            return counted
        slot = cadence.next_after(slot)
    return None
