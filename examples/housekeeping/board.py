"""The board: a live table of the schedules, and the latest news below it."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

import rota
from examples.housekeeping.ledger import Counts, Ledger
from examples.housekeeping.news import Line

AROUND = 8  # lines of the board that are neither schedules nor news
WIDE = 96  # columns in which the cadences have room too


class Board:
    """Shows it all on a terminal, four times a second."""

    def __init__(self, app: rota.App, ledger: Ledger, console: Console, until: float) -> None:
        self._app, self._ledger, self._console, self._until = app, ledger, console, until
        self._news: deque[Line] = deque(maxlen=10)
        self._ending = False
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def begin(self, told: Iterable[str]) -> None:
        for line in told:
            self._console.print(Text(line, style="yellow" if line.startswith(" ") else "bold"))
        self._live.start()
        self.draw()

    def show(self, line: Line) -> None:
        self._news.append(line)
        self.draw()

    def draw(self) -> None:
        self._live.update(self._whole(datetime.now(UTC)), refresh=True)

    def ending(self) -> None:
        self._ending = True
        self.draw()

    def end(self) -> None:
        self._live.stop()

    def _whole(self, now: datetime) -> RenderableType:
        schedules = sorted(self._app.list(), key=lambda schedule: schedule.id)
        counts = self._ledger.counts()  # asked last, so that each schedule has its own
        room = max(3, self._console.size.height - len(schedules) - AROUND)
        news = _news(list(self._news)[-room:])
        wide = self._console.size.width >= WIDE
        return Group("", self._headline(now), _schedules(schedules, counts, now, wide), news)

    def _headline(self, now: datetime) -> Text:
        left = self._until - time.monotonic()
        ends = "Ctrl-C ends it" if math.isinf(left) else f"{max(0.0, left):.0f} s left"
        if self._ending:
            ends = "ending: what runs may come to its end"
        return Text.assemble(("rota housekeeping", "bold"), f"   {now:%H:%M:%S} UTC   ", (ends, "dim"))


def _schedules(schedules: Iterable[rota.Schedule], counts: dict[str, Counts], now: datetime, wide: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2 if wide else 1, 0, 0), pad_edge=False)
    table.add_column("SCHEDULE", style="bold", no_wrap=True)
    if wide:
        table.add_column("WHEN", no_wrap=True)
    table.add_column("NEXT SLOT", no_wrap=True)
    for heading in ("FIRES", "DONE", "FAILED", "UNDER WAY", "MISSED"):
        table.add_column(heading, justify="right", no_wrap=True)
    for schedule in schedules:
        when = [schedule.cadence.explain().partition(",")[0]] if wide else []
        table.add_row(schedule.id, *when, *_row(schedule, counts[schedule.id], now))
    return table


def _row(schedule: rota.Schedule, counts: Counts, now: datetime) -> Iterable[str | Text]:
    done, failed = counts.runs.get("succeeded", 0), counts.runs.get("failed", 0)
    under_way = sum(counts.runs.get(state, 0) for state in ("waiting", "queued", "running"))
    return (
        _next(schedule, now),
        f"{counts.fires:,}",
        _number(done, "green"),
        _number(failed, "red"),
        _number(under_way, "cyan"),
        _number(counts.missed, "yellow"),
    )


def _next(schedule: rota.Schedule, now: datetime) -> Text:
    slot = schedule.next_run_at
    if slot is None:
        return Text("none", style="dim")
    if not schedule.enabled:
        return Text(f"{slot:%H:%M:%S}  paused", style="yellow")
    left = (slot - now).total_seconds()
    return Text.assemble(f"{slot:%H:%M:%S}", (f"  in {left:2.0f} s" if left > 0 else "  now", "dim"))


def _number(number: int, style: str) -> Text:
    return Text(f"{number:,}", style=style if number else "dim")


def _news(lines: Iterable[Line]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for width in (8, 9, 14):
        table.add_column(no_wrap=True, min_width=width)
    table.add_column(no_wrap=True, overflow="ellipsis")
    for line in lines:
        table.add_row(
            Text(f"{line.at:%H:%M:%S}", style="dim"), Text(line.what, style=line.style), line.who, line.detail
        )
    return table
