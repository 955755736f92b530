"""Printing: tables and fields for people, JSON for programs. rich is loaded for a terminal only."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any
from unicodedata import combining, east_asian_width

import click

from rota import duration

Row = Sequence[object]

_JSON = {"input", "output", "options", "retry", "before", "after"}
"""The columns that hold JSON as text."""
_FOLDED = {"ID", "SPEC", "LAST_ERROR", "LABEL", "NAME", "JOB", "DETAIL", "MESSAGE"}
"""The columns whose cells may be folded where a terminal is too narrow."""
_NARROWEST = 12
_STYLES = {"failed": "red", "timeout": "red", "lost": "yellow", "running": "cyan", "retired": "dim", "disabled": "dim"}


# ---- for people ----------------------------------------------------------------------------------------------------


def table(headings: Sequence[str], rows: Iterable[Row]) -> None:
    """Print a table: on a terminal with rules and colours, else plain, aligned and never cut."""
    cells = [[text(value) for value in row] for row in rows]
    (_rich if sys.stdout.isatty() else _plain)(headings, cells)


def listing(pairs: Mapping[str, object]) -> None:
    """Print fields, a name and a value a line; further lines of a value are indented to it."""
    width = max(map(len, pairs)) + 2
    for name, value in pairs.items():
        lines = map(printable, value.splitlines()) if isinstance(value, str) and value else [_full(value)]
        click.echo(f"{name:{width}}" + ("\n" + " " * width).join(lines))


def _full(value: object) -> str:
    return instant(value) if isinstance(value, datetime) else text(value)


def fields_of(row: Any) -> dict[str, object]:
    """The fields of a dataclass, of a row of the database say."""
    return {field.name: getattr(row, field.name) for field in fields(row)}


def text(value: object) -> str:
    """A value in one cell: `-` where there is none, instants in UTC, durations as they are written."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return instant(value.replace(microsecond=0))
    if isinstance(value, timedelta):
        return duration.render(value)
    return printable(" ".join(str(value).split("\n")))


def instant(at: datetime) -> str:
    """`2026-08-03T10:00:00Z`, with as many decimals as it has."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def printable(line: str) -> str:
    """`line` with escapes for what a terminal would obey instead of showing."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def _plain(headings: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    widths = [max(map(_width, column)) for column in zip(headings, *cells, strict=True)]
    for row in (headings, *cells):
        padded = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
        click.echo("  ".join(padded).rstrip())


def _width(cell: str) -> int:
    """How many columns of a terminal it takes."""
    return len(cell) if cell.isascii() else sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in cell)


def _rich(headings: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, header_style="bold")
    least = 0
    for heading, column in zip(headings, zip(headings, *cells, strict=True), strict=True):
        width = max(map(_width, column))
        narrowest = min(width, max(_NARROWEST, len(heading))) if heading in _FOLDED else width
        drawn.add_column(heading, no_wrap=heading not in _FOLDED, overflow="fold", min_width=narrowest)
        least += narrowest + 2
    for row in cells:
        drawn.add_row(*(Text(cell, _style(heading, cell)) for heading, cell in zip(headings, row, strict=True)))
    console = Console()
    console.width = max(console.width, least)
    console.print(drawn)


def pretty(encoded: str | None) -> str | None:
    """JSON text, over as many lines as make it readable."""
    value = _decoded(encoded)
    return encoded if value is encoded else json.dumps(value, ensure_ascii=False, indent=2)


def _style(heading: str, cell: str) -> str:
    return "red" if heading == "LAST_ERROR" and cell != "-" else _STYLES.get(cell, "")


# ---- for programs --------------------------------------------------------------------------------------------------


def print_json(value: object) -> None:
    """Print `value` as JSON: instants as text in UTC, durations in seconds."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=_plainly))


def decoded(row: Any) -> dict[str, object]:
    """The fields of a dataclass; JSON that the database keeps as text is decoded."""
    return {name: _decoded(value) if name in _JSON else value for name, value in fields_of(row).items()}


def _decoded(value: Any) -> object:
    try:
        return None if value is None else json.loads(value)
    except ValueError:
        return value  # someone wrote what is no JSON into the row: shown as it is


def _plainly(value: object) -> object:
    if isinstance(value, datetime):
        return instant(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    return decoded(value)
