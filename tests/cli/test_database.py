"""`rota db`."""

from __future__ import annotations

import pytest

from tests.cli.terminal import Terminal


def test_migrate_makes_it_and_says_so(terminal: Terminal) -> None:
    assert terminal.rota("db", "migrate").stdout == f"{terminal.url}: made, applied version 1\n"
    assert terminal.rota("db", "migrate").stdout == f"{terminal.url}: up to date, version 1\n"
    assert terminal.sql("select version from rota_migrations") == [(1,)]


def test_migrate_beside_the_tables_of_others(terminal: Terminal) -> None:
    terminal.sql("create table mine (it text)")

    assert terminal.rota("db", "migrate").exit_code == 0
    assert terminal.sql("select count(*) from mine") == [(0,)]
    assert terminal.rota("schedules").exit_code == 0


def test_the_sql_makes_the_same_database(terminal: Terminal) -> None:
    script = terminal.rota("db", "sql").stdout
    for statement in script.split(";\n"):
        terminal.sql(statement)
    schema = "select type, name, tbl_name from sqlite_master where name not like 'sqlite_%' order by name"
    by_hand, columns = terminal.sql(schema), terminal.sql("pragma table_info(rota_runs)")

    assert terminal.rota("db", "migrate").stdout == f"{terminal.url}: up to date, version 1\n"
    assert terminal.rota("worker", "--once", "--app", "tests.cli.shop:app").exit_code == 0
    other = Terminal(terminal.folder / "other")
    other.folder.mkdir()
    other.rota("db", "migrate")
    assert (other.sql(schema), other.sql("pragma table_info(rota_runs)")) == (by_hand, columns)


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_the_sql_opens_nothing(terminal: Terminal, dialect: str) -> None:
    result = terminal.rota("db", "sql", "--dialect", dialect)

    assert result.stdout.startswith("CREATE TABLE rota_")
    assert ("TIMESTAMP WITH TIME ZONE" in result.stdout) == (dialect == "postgresql")
    assert list(terminal.folder.iterdir()) == []
