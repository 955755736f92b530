"""Figures as a table, with what is needed to judge them: the machine's load, versions, and the spread of each."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]], *notes: str) -> str:
    """A Markdown table under its title."""
    machine = [f"Python {platform.python_version()}", f"{os.cpu_count()} cores", f"load {os.getloadavg()[0]:.2f}"]
    lines = [f"### {title}", "", ", ".join([*machine, *notes]), ""]
    lines += [_line(head), "|" + "---|" * len(head), *map(_line, rows)]
    return "\n".join(lines) + "\n"


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Median, and in parentheses the least and the most."""
    middle, least, most = statistics.median(values), min(values), max(values)
    return f"{middle:.{digits}f} ({least:.{digits}f}-{most:.{digits}f})"


def version(distribution: str) -> str:
    """The installed version, or a dash."""
    try:
        return installed(distribution)
    except PackageNotFoundError:
        return "-"


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
