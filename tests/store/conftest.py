"""What the tests of the store share: a store on a file of its own, and rows to put into it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from sqlalchemy import Connection

from rota.store import Store, open_store

NOW = datetime(2026, 8, 3, 9, 0, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rota.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = open_store(f"sqlite:///{path}", NOW)
    yield store
    store.close()


@pytest.fixture(scope="session")
def kept_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One for many examples, each of which is undone."""
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('kept') / 'rota.db'}", NOW)
    yield store
    store.close()


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
