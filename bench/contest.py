"""A contest: contenders take turns, repeat after repeat; then their figures, and the ratios to those of the last."""

from __future__ import annotations

import logging
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.tables import spread, table, version

Measure = Callable[[Path, int], Sequence[float]]
"""Given an empty folder and a size, the figures of one repeat."""

Figures = Mapping[str, Sequence[Sequence[float]]]
"""Of each contender, its figures in each repeat. Its name up to a comma is that of its package."""


def contest(
    title: str,
    heads: Mapping[str, int],
    contenders: Mapping[str, Measure],
    arguments: Sequence[str],
    *,
    size: int,
    repeats: int,
) -> None:
    """Print the table.

    Args:
        title: its title, with `{:,}` for the size.
        heads: what the figures are, and with how many digits each is shown.
        contenders: rota, and the rival last.
        arguments: the size and the repeats that the command line asks for, in place of these.
    """
    size, repeats = asked_for(arguments, size, repeats)
    figures, flushes = _take_turns(contenders, size, repeats)
    print(compared(title.format(size), heads, figures, f"a flush {spread(flushes)} ms"))


def asked_for(arguments: Sequence[str], *defaults: int) -> tuple[int, ...]:
    """The numbers on the command line; what it leaves out is as in `defaults`."""
    return (*map(int, arguments), *defaults[len(arguments) :])


def compared(title: str, heads: Mapping[str, int], figures: Figures, *notes: str) -> str:
    """The table: each figure's spread, then the spread of its ratios, each taken within one repeat."""
    rival, digits = list(figures)[-1], list(heads.values())
    theirs = figures[rival]
    head = ["", "version", *heads, *(f"{head}: ratio to {rival}'s" for head in heads)]
    rows = [_row(name, digits, found, theirs) for name, found in figures.items()]
    return table(f"{title}; repeats: {len(theirs)}, median (least-most)", head, rows, *notes)


def _take_turns(contenders: Mapping[str, Measure], size: int, repeats: int) -> tuple[Figures, list[float]]:
    """What slows the machine down for a while slows them all. Also how long a flush took before each turn."""
    logging.disable(logging.WARNING)
    figures: dict[str, list[Sequence[float]]] = {name: [] for name in contenders}
    flushes = []
    for _ in range(repeats):
        for name, measure in contenders.items():
            with tempfile.TemporaryDirectory() as folder:
                flushes.append(_flush())
                figures[name].append(measure(Path(folder), size))
    return figures, flushes


def _row(
    name: str, digits: Sequence[int], found: Sequence[Sequence[float]], rivals: Sequence[Sequence[float]]
) -> list[str]:
    mine, theirs = list(zip(*found, strict=True)), list(zip(*rivals, strict=True))
    return [name, version(name.partition(",")[0]), *map(spread, mine, digits), *map(_ratios, mine, theirs)]


def _ratios(mine: Sequence[float], theirs: Sequence[float]) -> str:
    return spread([a / b for a, b in zip(mine, theirs, strict=True)]) if all(theirs) else "-"


def _flush() -> float:
    """Milliseconds for 8 kB to reach the disk on which the databases are: no commit takes less."""
    took = []
    with tempfile.TemporaryFile(buffering=0) as file:
        for _ in range(50):
            began = time.perf_counter()
            file.write(bytes(8192))
            os.fsync(file.fileno())
            took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)
