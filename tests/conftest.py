"""What the tests share: an app with two jobs, a harness around it, and plain SQL on its database, as an operator's."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import rota
from rota.testing import Harness

pytest_plugins = ["tests.servers.fixtures"]

Sql = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture(params=["sqlite"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    return f"{request.param}:///{tmp_path / 'rota.db'}"


@pytest.fixture
def app(store_url: str) -> Iterator[rota.App]:
    app = rota.App(store_url)
    yield app
    app.close()


@pytest.fixture
def env(app: rota.App) -> Iterator[Harness]:
    """A harness; it is Monday 2026-08-03, 09:00 UTC."""
    with Harness(app) as env:
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
        with closing(sqlite3.connect(app.home().store.url.removeprefix("sqlite:///"))) as connection, connection:
            return connection.execute(statement, values).fetchall()

    return ask
