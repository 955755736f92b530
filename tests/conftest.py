"""What the tests share: an app with two jobs, a harness around it, and plain SQL on its database, as an operator's."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import set_json_loads

import rota
from rota.store import open_store
from rota.store.types import text_of
from rota.testing import Harness
from tests.servers.postgres import Server

NOW = datetime(2026, 8, 3, 9, 0, tzinfo=UTC)

pytest_plugins = ["tests.servers.fixtures"]

Sql = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of each kind that holds no schedule yet."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'rota.db'}"
    else:
        with fresh_postgres(request) as url:
            yield url


@pytest.fixture
def app(store_url: str) -> Iterator[rota.App]:
    app = rota.App(store_url)
    yield app
    app.close()


@pytest.fixture
def env(app: rota.App, request: pytest.FixtureRequest) -> Iterator[Harness]:
    """A harness; it is Monday 2026-08-03, 09:00 UTC."""
    with throw_away(app, request) as url, Harness(app, url=url) as env:
        yield env


@pytest.fixture
def report(app: rota.App) -> rota.Job[str, int, int]:
    """A step with an input."""

    @app.step()
    def report(period: str) -> int:
        return len(period)

    return report


@pytest.fixture
def clean(app: rota.App) -> rota.Job0[None, None]:
    """An action without one."""

    @app.action()
    def clean() -> None:
        return None

    return clean


@pytest.fixture
def sql(app: rota.App) -> Sql:
    """`sql("select …", value, …)`: the rows, and whatever it writes is committed."""

    def ask(statement: str, *values: object) -> list[tuple[Any, ...]]:
        return asked(app.home().store.url, statement, *values)

    return ask


def asked(url: str, statement: str, *values: object) -> list[tuple[Any, ...]]:
    """What a statement gives, its values marked by `?`; instants as text, as SQLite has them."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=30)) as connection, connection:
            return connection.execute(statement, values).fetchall()
    with psycopg.connect(url) as theirs:
        set_json_loads(lambda text: text.decode() if isinstance(text, bytes) else text, theirs)
        marked = statement.replace("%", "%%").replace("?", "%s") if values else _trigger(statement)
        cursor = theirs.execute(marked, values or None)  # type: ignore[arg-type, unused-ignore]
        rows = cursor.fetchall() if cursor.description else []
    return [tuple(text_of(value) if isinstance(value, datetime) else value for value in row) for row in rows]


_SQLITE_TRIGGER = re.compile(
    r"create trigger (\w+) (.*?)(?:\s+when (.*?))?\s+begin select raise\(abort, (.*)\); end$", re.DOTALL
)


def _trigger(statement: str) -> str:
    """A trigger that refuses something is made and dropped in PostgreSQL's own words; all else stays as it is."""
    if found := re.match(r"drop trigger (\w+)$", statement):
        return f"drop function {found[1]} cascade"
    if found := _SQLITE_TRIGGER.match(statement):
        name, event, when, text = found.groups()
        return (
            f"create function {name}() returns trigger language plpgsql as $$ begin raise exception {text}; end $$;"
            f"create trigger {name} {event} for each row when ({when or 'true'}) execute function {name}()"
        )
    return statement


@contextmanager
def throw_away(app: rota.App, request: pytest.FixtureRequest) -> Iterator[str | None]:
    """A database for a harness, of the kind of the app's own; None: it makes itself a file."""
    if app.url.startswith("sqlite"):
        yield None
    else:
        with fresh_postgres(request) as url:
            yield url


@contextmanager
def fresh_postgres(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a new database that has the tables; a test that uses none starts no server."""
    server: Server = request.getfixturevalue("postgres")
    with server.fresh(request.getfixturevalue("postgres_template")) as url:
        yield url


@pytest.fixture(scope="session")
def postgres_template(postgres: Server) -> Iterator[str]:
    """The name of a database that has the tables, to be copied."""
    with postgres.fresh() as url:
        open_store(url, NOW, migrating=True).close()
        yield url.rpartition("/")[2]
