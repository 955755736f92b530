"""What the tests of the store share: a store on a file of its own, and rows to put into it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from sqlalchemy import Connection

from rota.store import Store, open_store
from tests.conftest import fresh_postgres

NOW = datetime(2026, 8, 3, 9, 0, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rota.db"


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    store = open_store(store_url, NOW)
    yield store
    store.close()


@pytest.fixture
def file_store(path: Path) -> Iterator[Store]:
    """One in a SQLite file, for what is a matter of files."""
    store = open_store(f"sqlite:///{path}", NOW)
    yield store
    store.close()


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def kept_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One for many examples, each of which is undone."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            url = f"sqlite:///{tmp_path_factory.mktemp('kept') / 'rota.db'}"
        else:
            url = stack.enter_context(fresh_postgres(request))
        yield stack.enter_context(closing(open_store(url, NOW)))


class Undo(Exception):
    """Raised to roll a transaction back."""


@contextmanager
def undone(store: Store) -> Iterator[Connection]:
    """A transaction in which nothing stays."""
    with suppress(Undo), store.begin() as connection:
        yield connection
        raise Undo


Started = Callable[[str], "Popen[str]"]


@pytest.fixture
def python() -> Iterator[Started]:
    """`python(code)`: another process of this Python, spoken to by its pipes; killed at the end if it still runs."""
    running: list[Popen[str]] = []

    def start(code: str) -> Popen[str]:
        running.append(Popen([sys.executable, "-W", "error", "-c", code], stdin=PIPE, stdout=PIPE, text=True))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.communicate()
