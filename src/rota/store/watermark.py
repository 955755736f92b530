"""The watermark, next_run_at: every slot before it lies in exactly one fire or one miss. Only `advance` moves it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection

from rota.errors import RotaError
from rota.miss import Gap, Miss, gaps
from rota.schedule import Move, Schedule
from rota.store import fires, misses, schedules


def advance(connection: Connection, moves: Sequence[Move], now: datetime) -> list[Miss]:
    """Move the watermark, and write down what it passed over: the slots up to now that have no fire are misses."""
    passing = [move for move in moves if _passes_over(move, now)]
    missed: list[misses.Missed] = []
    if passing:
        fired = fires.between(connection, [(m.before.id, m.before.next_run_at, now) for m in passing])
        missed = [_missed(move, fired.get(move.before.id, ()), now) for move in passing]
        misses.record(connection, missed)
    if back := [move.before.id for move in moves if _goes_back(move)]:
        misses.cut_back(connection, back, now)
    schedules.progress(connection, (move.after for move in moves))
    return [miss for item in missed for miss in item.misses]


def _goes_back(move: Move) -> bool:
    """Whether an edit draws it back, to slots that may have been missed under a clock that was ahead."""
    slot, to = move.before.next_run_at, move.after.next_run_at
    return to is not None and (slot is None or to < slot)


def _passes_over(move: Move, now: datetime) -> bool:
    """Whether there can be slots without a fire: not where the one slot that was due has just been fired."""
    slot, to = move.before.next_run_at, move.after.next_run_at
    if slot is None or slot > now or slot == to:
        return False
    return not (move.after.last_run_at == slot and to is not None and to > now and _is_next(move.before, slot, to))


def _is_next(schedule: Schedule, slot: datetime, to: datetime) -> bool:
    return schedule.slot_after(slot) == to


def _missed(move: Move, fired: Iterable[datetime], now: datetime) -> misses.Missed:
    before, to = move.before, move.after.next_run_at
    found = [
        Miss(before.id, gap.first, gap.last, gap.slots, gap.reason, move.detail, before.version, now)
        for gap in _gaps(move, fired, now if to is None or to > now else to - timedelta(microseconds=1))
    ]
    return misses.Missed(before, found)


def _gaps(move: Move, fired: Iterable[datetime], until: datetime) -> Iterator[Gap]:
    before, slot = move.before, move.before.next_run_at
    if slot is None:
        return
    try:
        cadence = before.cadence
    except RotaError:  # someone wrote what is no cadence into the row: only the slot it held is known
        yield from () if slot in fired else (Gap(slot, slot, 1, move.reason),)
        return
    yield from gaps(cadence, slot, until, fired, move.reason, move.turns)
