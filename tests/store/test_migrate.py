"""Migrations: each applied once, however many processes start at the same moment; a newer database is left alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from subprocess import Popen

import pytest
from sqlalchemy import Connection

from rota.errors import SchemaNewer
from rota.store import Store, migrate, open_store
from rota.store.tables import metadata
from tests.store.conftest import HOUR, NOW, Started


@pytest.fixture
def store(file_store: Store) -> Store:
    """These are matters of a file."""
    return file_store


def content(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def applied(store: Store) -> list[tuple[int, object]]:
    with store.read() as connection:
        return list(migrate.applied(connection))


def test_a_fresh_database_has_every_table(store: Store, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        names = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}
    assert set(metadata.tables) <= names
    assert {name for name in names if not name.startswith("sqlite_")} == set(metadata.tables)
    assert applied(store) == [(version, NOW) for version in range(1, migrate.VERSION + 1)]


def test_the_second_time_nothing_is_written(store: Store, path: Path) -> None:
    store.close()
    before = content(path)
    open_store(store.url, NOW + HOUR).close()
    assert content(path) == before
    assert migrate.migrate(store.begin, store.read, store.url, NOW + HOUR) == []


def test_tables_of_others_are_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table orders (id integer primary key, total real)")
        connection.execute("insert into orders values (1, 9.5)")
    open_store(f"sqlite:///{path}", NOW).close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("select * from orders").fetchall() == [(1, 9.5)]


def test_five_processes_at_once_on_new_files(tmp_path: Path, python: Started) -> None:
    """Many files, for one is not always met at the moment in which SQLite gives up on one of them."""
    code = """
import sys
from datetime import UTC, datetime
from rota.store import open_store
print("ready", flush=True)
for path in sys.stdin:
    store = open_store(f"sqlite:///{path.strip()}", datetime.now(UTC))
    with store.begin() as connection:
        connection.exec_driver_sql("insert into rota_queues values (hex(randomblob(8)), 4, null, 0)")
    store.close()
    print("done", flush=True)
"""
    paths = [tmp_path / f"{number}.db" for number in range(40)]
    processes = [python(code) for _ in range(5)]
    assert [_line_of(process) for process in processes] == ["ready"] * 5
    for path in paths:
        assert not path.exists()
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
        assert [_line_of(process) for process in processes] == ["done"] * 5
        with closing(sqlite3.connect(path)) as connection:
            versions = connection.execute("select version from rota_migrations order by version").fetchall()
            assert versions == [(version,) for version in range(1, migrate.VERSION + 1)]
            assert connection.execute("select count(*) from rota_queues").fetchone() == (1 + 5,)


def _line_of(process: Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip()


def test_a_newer_database_is_refused_and_untouched(store: Store, path: Path) -> None:
    with store.begin() as connection:
        connection.exec_driver_sql("insert into rota_migrations values (99, '2030-01-01T00:00:00.000000Z')")
    store.close()
    before = path.read_bytes()
    with pytest.raises(
        SchemaNewer, match=f"version 99, and this build knows versions up to {migrate.VERSION}"
    ) as caught:
        open_store(store.url, NOW)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


# ---- steps: none is there yet, so these tests bring one ------------------------------------------------------------

LATER = migrate.VERSION + 1


def add_a_column(connection: Connection) -> None:
    connection.exec_driver_sql("alter table rota_queues add column colour text")


def break_off(connection: Connection) -> None:
    add_a_column(connection)
    connection.exec_driver_sql("select colour from nowhere")


def test_an_older_database_gets_the_steps_it_lacks(store: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(migrate.STEPS, LATER, add_a_column)
    monkeypatch.setattr(migrate, "VERSION", LATER)
    assert migrate.migrate(store.begin, store.read, store.url, NOW + HOUR) == [LATER]
    assert migrate.migrate(store.begin, store.read, store.url, NOW + HOUR) == []
    assert applied(store)[-1] == (LATER, NOW + HOUR)
    with store.read() as connection:
        assert connection.exec_driver_sql("select colour from rota_queues").all() == [(None,)]


def test_a_step_that_fails_leaves_nothing_behind(store: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(path)
    monkeypatch.setitem(migrate.STEPS, LATER, break_off)
    monkeypatch.setattr(migrate, "VERSION", LATER)
    with pytest.raises(Exception, match="no such"):
        migrate.migrate(store.begin, store.read, store.url, NOW)
    assert content(path) == before


def test_the_schema_as_text_is_the_schema(store: Store, path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.executescript(migrate.ddl("sqlite", NOW))
    open_store(f"sqlite:///{other}", NOW + HOUR).close()
    assert [line.split() for line in schema(other)] == [line.split() for line in schema(path)]


def schema(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [sql for (sql,) in connection.execute("select sql from sqlite_master where sql <> '' order by name")]
