"""Values on their way in and out: instants as text that sorts, and many rows as one parameter."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Boolean, Float, Integer, Text, select

from rota.errors import InstantNaive
from rota.store import Store, clock
from rota.store.batch import batch, rows
from rota.store.tables import metadata
from rota.store.types import Instant, Json, RunId, Seconds, instant_of, text_of
from tests.store.conftest import NOW, undone

many = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
zones = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
instants = st.datetimes(datetime(1900, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC) | zones)
readable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


# ---- instants ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "tomorrow",
        "",
        "2026-02-31T09:00:00.000000Z",
        "2026-02-29T09:00:00.000000Z",
        "2026-13-01T09:00:00.000000Z",
        "2026-08-03T24:00:00.000000Z",
        "2026-08-03T09:60:00.000000Z",
        "2026-08-03T09:00:60.000000Z",
        "2026-08-03T09:00:00",
        "2026-08-03T09:00:00Z",
        "2026-08-03T09:00:00.000Z",
        "2026-08-03 09:00:00.000000Z",
        "2026-08-03T09:00:00.000000z",
        "2026-08-03T09:00:00.000000+00:00",
        "2026-08-03T09:00:00.000000Z ",
        1_785_747_600,
    ],
)
def test_what_is_no_instant_is_refused(file_store: Store, path: Path, text: object) -> None:
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError, match="seen_at_instant"):
        connection.execute("insert into rota_clock values (1, ?)", (text,))


@pytest.mark.parametrize("year", ["0001-01-01", "1900-02-28", "2028-02-29", "9999-12-31"])
def test_what_is_one_is_kept(file_store: Store, path: Path, year: str) -> None:
    text = f"{year}T23:59:59.999999Z"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("insert into rota_clock values (1, ?)", (text,))
    with file_store.read() as connection:
        assert clock.newest(connection) == datetime.fromisoformat(text)


def test_every_column_of_instants_is_guarded(file_store: Store, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        tables = dict(connection.execute("select name, sql from sqlite_master where type = 'table'").fetchall())
    found = [(t.name, c.name) for t in metadata.tables.values() for c in t.columns if isinstance(c.type, Instant)]
    assert len(found) >= 30
    assert [(table, column) for table, column in found if f"CONSTRAINT {column}_instant" not in tables[table]] == []


@many
@given(instant=instants)
def test_an_instant_comes_back_in_utc(kept_store: Store, instant: datetime) -> None:
    with undone(kept_store) as connection:
        clock.keep(connection, instant)
        seen = clock.newest(connection)
    assert seen == instant
    assert seen is not None
    assert seen.utcoffset() == timedelta(0)


@many
@given(one=instants, other=instants)
def test_texts_sort_as_time_does(one: datetime, other: datetime) -> None:
    assert (text_of(one) < text_of(other)) == (one < other)
    assert instant_of(text_of(one)) == one
    assert len(text_of(one)) == 27


def test_a_naive_one_is_refused(store: Store) -> None:
    with pytest.raises(InstantNaive):
        text_of(datetime(2026, 8, 3, 9, 0))
    with undone(store) as connection, pytest.raises(Exception, match="has no time zone"):
        clock.keep(connection, datetime(2026, 8, 3, 9, 0))


# ---- batches -------------------------------------------------------------------------------------------------------

_everything = batch(
    ("id", RunId),
    ("words", Text()),
    ("at", Instant()),
    ("yes", Boolean()),
    ("span", Seconds()),
    ("json", Json()),
    ("number", Integer()),
    ("ratio", Float()),
)
_select = select(_everything)


def come_back(store: Store, given: list[Any]) -> list[tuple[Any, ...]]:
    with store.read() as connection:
        return [tuple(row) for row in connection.execute(_select, rows(given))]


@many
@given(
    given=st.lists(
        st.tuples(
            st.integers(1, 2**63 - 1),
            st.none() | readable,
            st.none() | instants,
            st.booleans(),
            st.none() | st.timedeltas(timedelta(0), timedelta(days=40_000)),
            st.none() | st.sampled_from(['{"a":[1,2]}', "null", '"\\u00e9"', '"é"', "[]", "1.0"]),
            st.integers(-(2**31), 2**31 - 1),
            st.none() | st.floats(-1e9, 1e9, width=32),
        ),
        max_size=5,
    )
)
def test_rows_come_back_as_they_went_in(kept_store: Store, given: list[Any]) -> None:
    assert come_back(kept_store, given) == given


@pytest.mark.parametrize(
    "words",
    ["", " ", "'", '"', "\\", "\n\t\r", "{}", "null", "\x7f\x01", "ß€😀", "e\u0301", "\ufeff", "\u2028", "%s :id ?"],
)
def test_words_of_every_kind(store: Store, words: str) -> None:
    row = (1, words, NOW, True, timedelta(seconds=1.5), None, 0, None)
    assert come_back(store, [row]) == [row]


def test_two_thousand_rows_are_one_parameter_in_their_order(store: Store) -> None:
    given = [(n + 1, f"row {n}", NOW + timedelta(seconds=n), n % 2 == 0, None, None, -n, n / 4) for n in range(2000)]
    assert come_back(store, given) == given
    assert set(rows(given)) == {"rows"}


def test_what_no_column_takes_is_an_error_of_its_own() -> None:
    with pytest.raises(TypeError, match=r"no column takes a set: \{1\}"):
        rows([({1},)])
