"""`python -m bench cron [REPEATS]`: how long the next slot takes, in one process, the engines taking turns.

Streaming: each expression of the corpus in each zone, twenty slots in a row; making the engine and its first slot are
timed apart. One round, which fills everyone's caches (rota's offsets of each zone, 1 ms for eight years), goes before.
A ratio is an engine's mean over rota's mean in the same repeat.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from bench.cron_corpus import ZONES, corpus
from bench.tables import spread, table, version
from rota.cadence import Cadence

START = datetime(2026, 1, 15, tzinfo=UTC)
SLOTS = 20

Next = Callable[[], object]


def rota(text: str, zone: str) -> Next:
    cadence, slot = Cadence.parse(text, tz=zone), START

    def following() -> object:
        nonlocal slot
        slot = cadence.next_after(slot) or START
        return slot

    return following


def cronsim(text: str, zone: str) -> Next:
    from cronsim import CronSim

    return CronSim(text, START.astimezone(ZoneInfo(zone))).__next__


def croniter(text: str, zone: str) -> Next:
    from croniter import croniter as engine

    return engine(text, START.astimezone(ZoneInfo(zone)), ret_type=datetime).get_next


@dataclass
class Figures:
    """Microseconds, one of each a repeat."""

    first: list[float] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    median: list[float] = field(default_factory=list)


ENGINES = {"rota": rota, "cronsim": cronsim, "croniter": croniter}


def main(arguments: list[str]) -> None:
    repeats = int(arguments[0]) if arguments else 5
    figures = {name: Figures() for name in ENGINES}
    expressions = [text for text in corpus() if all(_takes(engine, text) for engine in ENGINES.values())]
    for engine in ENGINES.values():
        _measure(engine, expressions, Figures())
    for _ in range(repeats):
        for name, engine in ENGINES.items():
            _measure(engine, expressions, figures[name])
    title = (
        f"cron: {len(expressions)} expressions x {len(ZONES)} zones x {SLOTS} slots, {repeats} repeats, microseconds"
    )
    head = [
        "engine",
        "version",
        "next: mean",
        "next: median expression",
        "parse and first",
        "mean / rota's, per repeat",
    ]
    print(table(title, head, [_row(name, found, figures["rota"]) for name, found in figures.items()]))


def _row(name: str, found: Figures, ours: Figures) -> list[str]:
    ratios = [theirs / mine for theirs, mine in zip(found.mean, ours.mean, strict=True)]
    return [name, version(name), spread(found.mean), spread(found.median), spread(found.first), spread(ratios)]


def _measure(engine: Callable[[str, str], Next], expressions: list[str], figures: Figures) -> None:
    firsts, streams = [], []
    for zone in ZONES:
        for text in expressions:
            begun = time.perf_counter_ns()
            following = engine(text, zone)
            following()
            first = time.perf_counter_ns()
            for _ in range(SLOTS):
                following()
            firsts.append((first - begun) / 1000)
            streams.append((time.perf_counter_ns() - first) / 1000 / SLOTS)
    figures.first.append(statistics.fmean(firsts))
    figures.mean.append(statistics.fmean(streams))
    figures.median.append(statistics.median(streams))


def _takes(engine: Callable[[str, str], Next], text: str) -> bool:
    try:
        following = engine(text, ZONES[1])
        return all(following() for _ in range(SLOTS))
    except (ValueError, KeyError, StopIteration):
        return False
