"""A SQLite file and what can be wrong with it; what others write is noticed, and what is committed stays."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection

from rota.errors import DatabaseBusy, DatabaseReadOnly, DatabaseUnreachable, DatabaseUnusable, StoreError
from rota.queue import Queue
from rota.store import Store, open_store, queues, sqlite
from tests.store.conftest import NOW, Started


@pytest.fixture
def store(file_store: Store) -> Store:
    """These are matters of a file."""
    return file_store


def names(store: Store) -> list[str]:
    """The queues that a test has written; the first one is always there."""
    with store.read() as connection:
        return [row.name for row in queues.listing(connection) if row.name != "default"]


def write(store: Store, name: str) -> None:
    with store.begin() as connection:
        queues.ensure(connection, [name])


# ---- what cannot be opened -----------------------------------------------------------------------------------------


def test_a_file_that_is_no_database(path: Path) -> None:
    path.write_text("Dear diary, today I learned about schedulers.\n" * 100)
    before = path.read_bytes()
    with pytest.raises(DatabaseUnusable, match=f"{path}: it is not a sound SQLite database"):
        open_store(f"sqlite:///{path}", NOW)
    assert path.read_bytes() == before
    assert sorted(file.name for file in path.parent.iterdir()) == ["rota.db"]


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable, match="is a folder; name a file in it"):
        open_store(f"sqlite:///{tmp_path}", NOW)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable, match=f"there is no folder {tmp_path / 'gone'}; make it first"):
        open_store(f"sqlite:///{tmp_path / 'gone' / 'rota.db'}", NOW)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "", "rota.db", "mysql://host/rota", None, 7])
def test_an_address_that_cannot_be_a_rota(url: object) -> None:
    with pytest.raises(DatabaseUnusable):
        open_store(url, NOW)  # type: ignore[arg-type]


def test_a_damaged_page_is_our_error_wherever_it_is_met(store: Store, path: Path) -> None:
    for n in range(200):
        write(store, f"{n:03} {'x' * 400}")
    store.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xff" * (size - size // 2))
    with (
        pytest.raises(DatabaseUnusable, match="not a sound SQLite database"),
        closing(open_store(store.url, NOW)) as damaged,
    ):
        names(damaged)


# ---- what cannot be written ----------------------------------------------------------------------------------------


@pytest.fixture
def locked_away() -> Iterator[Path]:
    """A folder that everyone can enter, and only its owner can write to; the file in it too."""
    folder = Path(tempfile.mkdtemp(prefix="rota-"))
    open_store(f"sqlite:///{folder / 'rota.db'}", NOW).close()
    folder.chmod(0o755)
    for file in folder.iterdir():
        file.chmod(0o444)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@contextmanager
def as_someone_else(folder: Path) -> Iterator[None]:
    """Without the rights of root, and without those to this folder."""
    folder.chmod(0o555)
    former = os.geteuid()
    if former == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if former == 0:
            os.seteuid(former)


def test_a_file_that_may_only_be_read(locked_away: Path) -> None:
    with as_someone_else(locked_away):
        with (
            pytest.raises(DatabaseReadOnly, match="is read-only: give this user write access") as caught,
            closing(open_store(f"sqlite:///{locked_away / 'rota.db'}", NOW)) as unwritable,
        ):
            write(unwritable, "bulk")
        assert isinstance(caught.value, StoreError)
        assert isinstance(caught.value, PermissionError)


def test_a_folder_in_which_no_file_may_be_made(locked_away: Path) -> None:
    with as_someone_else(locked_away), pytest.raises(DatabaseUnreachable, match="look at the disk, the folder"):
        open_store(f"sqlite:///{locked_away / 'new.db'}", NOW)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.1)


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Another program in the middle of its transaction."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")
        yield other


@pytest.mark.usefixtures("impatient")
def test_another_program_that_holds_the_write_lock(path: Path) -> None:
    store = open_store(f"sqlite:///{path}", NOW)
    write(store, "before")
    with writing(path) as other:
        other.execute("insert into rota_queues values ('theirs', 4, null, 0)")
        with pytest.raises(DatabaseBusy, match=r"held its write lock for 0\.1 s; end that program's transaction"):
            write(store, "ours")
        assert names(store) == ["before"]  # looking never waits
        other.execute("commit")
    write(store, "after")
    assert names(store) == ["after", "before", "theirs"]
    store.close()


@pytest.mark.usefixtures("impatient")
def test_a_new_file_that_another_is_writing(path: Path) -> None:
    with writing(path), pytest.raises(DatabaseBusy):
        open_store(f"sqlite:///{path}", NOW)
    store = open_store(f"sqlite:///{path}", NOW)
    assert names(store) == []
    store.close()


def test_the_statement_s_own_error_stays_what_it_is(store: Store) -> None:
    with pytest.raises(Exception, match="UNIQUE constraint failed"), store.begin() as connection:
        write_twice(connection)
    assert names(store) == []


def write_twice(connection: Connection) -> None:
    for _ in range(2):
        connection.exec_driver_sql("insert into rota_queues values ('bulk', 4, null, 0)")


def write_and_fail(connection: Connection) -> None:
    queues.ensure(connection, ["bulk"])
    raise ZeroDivisionError


def test_what_is_raised_inside_undoes_the_transaction(store: Store) -> None:
    called: list[str] = []
    off = store.on_commit(lambda: called.append("committed"))
    with pytest.raises(ZeroDivisionError), store.begin() as connection:
        write_and_fail(connection)
    assert (names(store), called) == ([], [])
    write(store, "bulk")
    off()
    write(store, "other")
    assert called == ["committed"]


def test_a_look_is_of_one_moment(store: Store) -> None:
    with store.read() as connection:
        assert queues.listing(connection) == [Queue("default")]
        write(store, "bulk")
        assert queues.listing(connection) == [Queue("default")]
    assert names(store) == ["bulk"]


# ---- the file itself -----------------------------------------------------------------------------------------------


def test_a_file_that_is_moved_away_is_missed_until_it_is_back(store: Store, path: Path) -> None:
    write(store, "bulk")
    elsewhere = path.with_name("elsewhere.db")
    path.rename(elsewhere)
    for use in (names, lambda it: write(it, "lost")):
        with pytest.raises(DatabaseUnreachable, match="its file is gone; put it back"):
            use(store)
    assert not path.exists()
    elsewhere.rename(path)
    assert names(store) == ["bulk"]


def test_another_file_in_its_place_is_taken_in(store: Store, path: Path, tmp_path: Path) -> None:
    write(store, "old")
    other = open_store(f"sqlite:///{tmp_path / 'other.db'}", NOW)
    write(other, "new")
    other.close()
    (tmp_path / "other.db").replace(path)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    assert names(store) == ["new"]


# ---- noticing and keeping ------------------------------------------------------------------------------------------


def nobody() -> None:
    """A file wakes no one: one has to look."""


def by_this_store(store: Store, path: Path) -> None:
    write(store, "ours")


def by_another_connection(store: Store, path: Path) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("insert into rota_queues values ('theirs', 4, null, 0)")


@pytest.mark.parametrize("commit", [by_this_store, by_another_connection])
def test_a_watch_notices_each_commit_once(store: Store, path: Path, commit: Callable[[Store, Path], None]) -> None:
    watch = store.watch(nobody)
    watch.changed()
    assert not watch.changed()
    commit(store, path)
    assert watch.changed()
    assert not watch.changed()
    watch.close()


def test_a_watch_notices_nothing_where_nothing_was_committed(store: Store, path: Path) -> None:
    watch = store.watch(nobody)
    watch.changed()
    names(store)
    with writing(path) as other:
        other.execute("insert into rota_queues values ('theirs', 4, null, 0)")
        assert not watch.changed()
        other.execute("rollback")
    assert not watch.changed()
    watch.close()


def test_what_was_committed_outlives_kill_9_and_nothing_else_does(store: Store, path: Path, python: Started) -> None:
    code = f"""
from datetime import UTC, datetime
from rota.store import open_store, queues
store = open_store("sqlite:///{path}", datetime.now(UTC))
for n in range(50):
    with store.begin() as connection:
        queues.ensure(connection, [f"committed {{n:02}}"])
with store.begin() as connection:
    queues.ensure(connection, ["uncommitted"])
    print("in the middle", flush=True)
    input()
"""
    process = python(code)
    assert process.stdout is not None
    assert process.stdout.readline() == "in the middle\n"
    process.send_signal(signal.SIGKILL)
    assert process.wait(30) == -signal.SIGKILL
    assert path.with_name("rota.db-wal").stat().st_size > 0
    assert names(store) == [f"committed {n:02}" for n in range(50)]
    write(store, "the lock is free")
