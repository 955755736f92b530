"""The summary: fires, runs by state, and missed slots, of this time and in all."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from rich import box
from rich.console import Console
from rich.table import Table

from examples.housekeeping import folders
from examples.housekeeping.ledger import Counts, Ledger

STATES = ("succeeded", "failed", "cancelled", "waiting", "queued", "running")


def show(ledger: Ledger, began: datetime, ended: datetime, console: Console) -> None:
    """Print what came of it from `began` on, and since the rota was made."""
    here, whole = ledger.counts(began), ledger.counts()
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("SCHEDULE", style="bold", no_wrap=True)
    table.add_column("FIRES", justify="right")
    table.add_column("MISSED SLOTS", justify="right")
    table.add_column("RUNS")
    for schedule_id, counts in here.items():
        table.add_row(schedule_id, *_cells([counts]))
    table.add_section()
    table.add_row("this time", *_cells(here.values()))
    table.add_row("in all", *_cells(whole.values()))
    seconds = (ended - began).total_seconds()
    console.print(f"\nthis time: {seconds:.0f} s, from {began:%Y-%m-%d %H:%M:%S} UTC on", style="bold")
    console.print(table)
    console.print(f"Start it again and it goes on from here. Its files: {folders.DATA}", soft_wrap=True)


def _cells(counted: Iterable[Counts]) -> tuple[str, str, str]:
    counted = list(counted)
    totals = {state: sum(counts.runs.get(state, 0) for counts in counted) for state in STATES}
    runs = ", ".join(f"{count:,} {state}" for state, count in totals.items() if count)
    missed = f"{sum(counts.missed for counts in counted):,}{'+' * any(counts.more for counts in counted)}"
    return f"{sum(counts.fires for counts in counted):,}", missed, runs or "none"
