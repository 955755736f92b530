"""The absence: when a worker was last here, and what came due while none was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import rota
from examples.housekeeping.ledger import Gap, Held, Ledger
from examples.housekeeping.news import counted


@dataclass(frozen=True)
class Absence:
    """What was found before the worker was started."""

    last_seen: datetime | None
    began: datetime
    due: frozenset[str]
    held: tuple[Held, ...]

    @classmethod
    def look(cls, app: rota.App, ledger: Ledger, now: datetime) -> Absence:
        """Ask before the worker starts: it catches up at once."""
        due = frozenset(schedule.id for schedule in app.list() if schedule.may_fire(now))
        return cls(ledger.last_seen(), now, due, tuple(ledger.held()))

    def caught_up(self, app: rota.App) -> bool:
        """Whether everything that came due in the absence is decided."""
        return not any(schedule.id in self.due and schedule.is_due(self.began) for schedule in app.list())

    def told(self, ledger: Ledger) -> Iterator[str]:
        """What became of it, one line each."""
        if self.last_seen is None:
            yield "nothing has run here before: the first slots are still to come"
            return
        ago = counted(round((self.began - self.last_seen).total_seconds()), "second")
        late, gaps = ledger.late(self.began), ledger.gaps(self.began)
        meanwhile = "meanwhile nothing came due" if not late else "what came due meanwhile:"
        yield f"last seen {ago} ago, at {_clock(self.last_seen, self.began)}; {meanwhile}"
        for fire in late:
            missed = next((_missed(gap, self.began) for gap in gaps if gap.schedule_id == fire.schedule_id), "")
            lateness = (fire.fired_at - fire.slot).total_seconds()
            yield f"  {fire.schedule_id:<16} slot {_clock(fire.slot, self.began)} fired {lateness:.0f} s late{missed}"
        for run in self.held:
            yield f"  {run.schedule_id:<16} {_held(run, self.began)}"


def _missed(gap: Gap, now: datetime) -> str:
    if gap.slots == 1:
        return f"; 1 slot missed, {_clock(gap.first, now)}"
    count = "over 1,000 slots" if gap.slots is None else counted(gap.slots, "slot")
    return f"; {count} missed, {_clock(gap.first, now)} to {_clock(gap.last, now)}"


def _held(run: Held, now: datetime) -> str:
    left = (run.lease_until - now).total_seconds()
    when = f"in {left:.0f} s" if left > 0 else "now"
    return f"run {run.run_id} was running; if its worker is dead it is given back when the lease ends, {when}"


def _clock(instant: datetime, now: datetime) -> str:
    """The time of day; with the date where that is not today's."""
    return f"{instant:%H:%M:%S}" if now - instant < timedelta(hours=12) else f"{instant:%Y-%m-%d %H:%M:%S}"
