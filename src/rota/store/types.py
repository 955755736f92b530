"""Column types that mean the same on both databases: instants in UTC, JSON as encoded text, durations in seconds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    CheckConstraint,
    ColumnElement,
    Dialect,
    Float,
    Integer,
    MetaData,
    Text,
    TypeDecorator,
    cast,
    type_coerce,
)
from sqlalchemy.dialects.postgresql import JSON, TIMESTAMP
from sqlalchemy.types import TypeEngine

from rota.errors import InstantNaive

RunId = BigInteger().with_variant(Integer(), "sqlite")  # SQLite counts upwards only in a column declared INTEGER


@lru_cache(maxsize=4096)  # the rows of a batch share most of their instants
def text_of(instant: datetime) -> str:
    """An instant as SQLite keeps it: 27 characters of UTC that sort as time does, `2026-03-08T07:00:00.000000Z`."""
    if instant.tzinfo is None:
        raise InstantNaive(instant)
    if instant.tzinfo is not UTC:
        instant = instant.astimezone(UTC)
    return instant.isoformat(timespec="microseconds")[:26] + "Z"


@lru_cache(maxsize=4096)
def instant_of(text: str) -> datetime:
    """The instant that such a text means."""
    return datetime.fromisoformat(text)


class Instant(TypeDecorator[datetime]):
    """An aware datetime: timestamptz on PostgreSQL, sortable text on SQLite."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return TIMESTAMP(timezone=True) if dialect.name == "postgresql" else Text()

    def bind_processor(self, dialect: Dialect) -> Callable[[datetime | None], Any]:
        return _in_utc if dialect.name == "postgresql" else _text_or_none

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:  # noqa: ARG002
        return _in_utc if dialect.name == "postgresql" else _instant_or_none


def _text_or_none(instant: datetime | None) -> str | None:
    return None if instant is None else text_of(instant)


def _instant_or_none(text: str | None) -> datetime | None:
    return None if text is None else instant_of(text)


def _in_utc(instant: datetime | None) -> datetime | None:
    if instant is not None and instant.tzinfo is None:
        raise InstantNaive(instant)
    return None if instant is None else instant.astimezone(UTC)


class Json(TypeDecorator[str]):
    """JSON as encoded text, going in and coming out: a row that cannot be decoded then fails for itself alone.

    On PostgreSQL it is `json`, which keeps the text as it was written; `jsonb` would not.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return JSON() if dialect.name == "postgresql" else Text()

    def bind_processor(self, dialect: Dialect) -> None:
        """It is text already."""

    def bind_expression(self, bindparam: BindParameter[Any]) -> ColumnElement[Any]:
        return cast(type_coerce(bindparam, Text()), self)

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        return cast(column, Text())


class Seconds(TypeDecorator[timedelta]):
    """A duration, as a number of seconds."""

    impl = Float
    cache_ok = True

    def process_bind_param(self, value: timedelta | None, dialect: Dialect) -> float | None:  # noqa: ARG002
        return None if value is None else value.total_seconds()

    def process_result_value(self, value: float | None, dialect: Dialect) -> timedelta | None:  # noqa: ARG002
        return None if value is None else timedelta(seconds=value)


def keep_instants(metadata: MetaData) -> None:
    """On SQLite an instant is text, and any text would do: a CHECK keeps it a real one, 27 characters that sort.

    On PostgreSQL one keeps out what no program can read: infinity, and the years before the first and after 9999.
    """
    digits = "".join("[0-9]" if c == "0" else c for c in "0000-00-00T00:00:00.000000Z")
    for table in metadata.tables.values():
        for column in [column for column in table.columns if isinstance(column.type, Instant)]:
            seconds = f"substr({column.name}, 1, 19)"
            real = f"strftime('%Y-%m-%dT%H:%M:%S', {seconds}, '+0 days') is {seconds}"  # which rights 31 February
            rule = CheckConstraint(f"{column.name} glob '{digits}' and {real}", name=f"{column.name}_instant")
            table.append_constraint(rule.ddl_if(dialect="sqlite"))
            finite = f"{column.name} between '0001-01-01T00:00:00Z' and '9999-12-31T23:59:59.999999Z'"
            rule = CheckConstraint(finite, name=f"{column.name}_finite")
            table.append_constraint(rule.ddl_if(dialect="postgresql"))


def keep_by_key(metadata: MetaData) -> None:
    """On SQLite the rows of tables with a key of several columns stand in its order, and not once more beside it."""
    for table in metadata.tables.values():
        if len(table.primary_key.columns) > 1:
            table.dialect_options["sqlite"]["with_rowid"] = False


def one_of(column: str, *values: str) -> CheckConstraint:
    """A column that holds one of these words."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} in ({listed})", name=f"{column}_known")
