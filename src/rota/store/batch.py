"""Many rows as one parameter: the one place where shared statements differ between the databases.

A hot statement takes its rows as a single JSON text, however many there are, so that it is compiled once and sent
once: `update … from batch`, `insert … select from batch`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Subquery,
    Table,
    Text,
    bindparam,
    cast,
    literal_column,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType, TypeEngine

from rota.store.types import text_of

__all__ = ["Batch", "batch", "chosen", "insert", "rows"]  # `insert` knows `on conflict`, for both databases

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
    each = _Each(bindparam(ROWS, type_=Text())).table_valued("value")
    fields = [
        cast(_Field(each.c.value, literal_column(str(place))), kind).label(label)
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


def chosen(column: ColumnElement[Any], ids: Select[Any]) -> ColumnElement[Any]:
    """Whether `column` is one of these ids, which are chosen first and once, limit, order and locks included."""
    return _Chosen(column, ids.scalar_subquery())


# ---- how each database says it -------------------------------------------------------------------------------------


class _Each(FunctionElement[Any]):
    """The elements of a JSON array, as rows."""

    inherit_cache = True


class _Field(FunctionElement[str]):
    """An element of a JSON array, by its place."""

    inherit_cache = True
    type = Text()


class _Chosen(FunctionElement[Any]):
    inherit_cache = True
    type = NullType()  # to a Boolean one SQLAlchemy adds `= 1` on SQLite, which then finds no index for it


_WORDS: dict[tuple[type[FunctionElement[Any]], str], str] = {
    (_Each, "sqlite"): "json_each({0})",
    (_Each, "postgresql"): "jsonb_array_elements(CAST({0} AS JSONB))",
    (_Field, "sqlite"): "json_extract({0}, '$[{1}]')",
    (_Field, "postgresql"): "({0} ->> {1})",
    (_Chosen, "sqlite"): "{0} IN {1}",
    (_Chosen, "postgresql"): "{0} = ANY (ARRAY{1})",
}


def _said_with(words: str) -> Callable[..., str]:
    def say(element: FunctionElement[Any], compiler: SQLCompiler, **more: Any) -> str:
        return words.format(*(compiler.process(clause, **more) for clause in element.clauses))

    return say


for (_element, _dialect), _words in _WORDS.items():
    compiles(_element, _dialect)(_said_with(_words))
