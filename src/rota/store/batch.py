"""Many rows as one parameter: the one place where shared statements differ between the databases.

A hot statement takes its rows as a single JSON text, however many there are, so that it is compiled once and sent
once: `update … from batch`, `insert … select from batch`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any

from sqlalchemy import Select, Subquery, Table, Text, bindparam, func, select, true, type_coerce
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.types import TypeEngine

from rota.store.types import text_of

__all__ = ["Batch", "batch", "insert", "rows"]  # `insert` is the one that knows `on conflict`

ROWS = "rows"


class Batch:
    """Objects as rows of a table: of each the attributes that are named as these columns are."""

    def __init__(self, table: Table, *names: str) -> None:
        self.names = names or tuple(column.name for column in table.c)
        self.table = batch(*((name, table.c[name].type) for name in self.names))
        self.c = self.table.c
        self._values = attrgetter(*self.names)

    def select(self) -> Select[Any]:
        """All its rows; `where true` lets SQLite tell `on conflict` from a join."""
        return select(self.table).where(true())

    def rows(self, objects: Iterable[object]) -> dict[str, str]:
        """The parameter of a statement that has this batch."""
        return rows(map(self._values, objects))


def batch(*columns: tuple[str, TypeEngine[Any]], name: str = "batch") -> Subquery:
    """The rows of the parameter `rows` as a table with these columns, each of the given type."""
    each = func.json_each(bindparam(ROWS, type_=Text())).table_valued("value")
    fields = [
        type_coerce(func.json_extract(each.c.value, f"$[{place}]"), kind).label(label)
        for place, (label, kind) in enumerate(columns)
    ]
    return select(*fields).subquery(name)


def rows(values: Iterable[Sequence[Any]]) -> dict[str, str]:
    """The parameter of such a statement: a sequence per row, in the order of the columns."""
    return {ROWS: json.dumps(list(values), default=_plain, separators=(",", ":"))}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return text_of(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    raise TypeError(f"no column takes a {type(value).__name__}: {value!r}")
