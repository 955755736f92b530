"""Every verb in the caller's own transaction on SQLite: C16 and C17, for each kind of connection people hold."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.orm import Session

import rota
from rota.errors import ConnectionUnusable, TransactionStale


class Theirs:
    """A caller's connection of some kind: what to hand over, how to write with it, how to end it."""

    def __init__(
        self, held: Any, execute: Callable[[str], Any], commit: Callable[[], Any], rollback: Callable[[], Any]
    ):
        self.held, self.execute, self.commit, self.rollback = held, execute, commit, rollback


@contextmanager
def sqlite3_default(path: Path) -> Iterator[Theirs]:
    with closing(sqlite3.connect(path)) as c:
        yield Theirs(c, c.execute, c.commit, c.rollback)


@contextmanager
def sqlite3_by_hand(path: Path) -> Iterator[Theirs]:
    with closing(sqlite3.connect(path, isolation_level=None)) as c:
        c.execute("begin")
        yield Theirs(c, c.execute, lambda: c.execute("commit"), lambda: c.execute("rollback"))


@contextmanager
def sqlite3_with_rows(path: Path) -> Iterator[Theirs]:
    with closing(sqlite3.connect(path)) as c:
        c.row_factory = sqlite3.Row
        yield Theirs(c, c.execute, c.commit, c.rollback)


@contextmanager
def sqlite3_pep249(path: Path) -> Iterator[Theirs]:
    """Python 3.12 and newer: always inside a transaction, which the driver begins."""
    with closing(sqlite3.connect(path, autocommit=False)) as c:  # type: ignore[call-arg, unused-ignore]
        yield Theirs(c, c.execute, c.commit, c.rollback)


@contextmanager
def alchemy_connection(path: Path) -> Iterator[Theirs]:
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as c:
        yield Theirs(c, lambda sql: c.execute(text(sql)), c.commit, c.rollback)
    engine.dispose()


@contextmanager
def alchemy_session(path: Path) -> Iterator[Theirs]:
    engine = create_engine(f"sqlite:///{path}")
    with Session(engine) as s:
        yield Theirs(s, lambda sql: s.execute(text(sql)), s.commit, s.rollback)
    engine.dispose()


@contextmanager
def alchemy_with_begin_event(path: Path) -> Iterator[Theirs]:
    """The recipe of SQLAlchemy's manual: the driver begins nothing, an event of the engine does."""
    engine = create_engine(f"sqlite:///{path}", connect_args={"isolation_level": None})
    event.listen(engine, "begin", lambda c: c.exec_driver_sql("BEGIN"))
    with engine.connect() as c:
        yield Theirs(c, lambda sql: c.execute(text(sql)), c.commit, c.rollback)
    engine.dispose()


KINDS = [
    sqlite3_default,
    sqlite3_by_hand,
    sqlite3_with_rows,
    alchemy_connection,
    alchemy_session,
    alchemy_with_begin_event,
    *([sqlite3_pep249] if sys.version_info >= (3, 12) else []),
]


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'rota.db'}"


@pytest.fixture
def path(app: rota.App, sql: Callable[..., Any]) -> Path:
    sql("create table config (key text)")
    return Path(app.url.removeprefix("sqlite:///"))


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def theirs(request: pytest.FixtureRequest, path: Path) -> Iterator[Theirs]:
    with request.param(path) as theirs:
        yield theirs


def test_c16_a_rollback_takes_both(app, report, theirs, sql):
    theirs.execute("insert into config values ('report_schedule')")
    app.within(theirs.held).schedule(report, "@daily", "day", id="daily-report")
    assert sql("select id from rota_schedules") == []  # not to be seen before it is committed
    theirs.rollback()
    assert sql("select id from rota_schedules") == []
    assert sql("select key from config") == []


def test_c16_a_commit_makes_both(app, report, theirs, sql):
    theirs.execute("insert into config values ('report_schedule')")
    assert app.within(theirs.held).schedule(report, "@daily", "day", id="daily-report") == "daily-report"
    theirs.commit()
    assert sql("select id, kind from rota_schedules") == [("daily-report", "step")]
    assert sql("select key from config") == [("report_schedule",)]


def test_c17_an_action_too(app, clean, theirs, sql):
    app.within(theirs.held).schedule(clean, "@daily", id="daily-cleanup")
    theirs.rollback()
    assert sql("select id from rota_schedules") == []
    if theirs.held.__class__ is sqlite3.Connection and theirs.held.isolation_level is None:
        theirs.execute("begin")
    app.within(theirs.held).schedule(clean, "@daily", id="daily-cleanup")
    theirs.commit()
    assert sql("select id, kind from rota_schedules") == [("daily-cleanup", "action")]


def test_it_is_theirs_to_begin_with(app, report, theirs, sql):
    """It joins also where the caller has done nothing yet."""
    app.within(theirs.held).schedule(report, "@daily", "day", id="daily-report")
    theirs.commit()
    assert sql("select id from rota_schedules") == [("daily-report",)]


def test_every_verb_works_inside(app, report, theirs, sql):
    app.schedule(report, "@daily", "day", id="daily-report")
    within = app.within(theirs.held)
    within.pause("daily-report")
    run = within.trigger("daily-report")
    assert within.trigger("daily-report").id == run.id
    extra = within.enqueue(report, "extra", idempotency_key="once")
    assert within.enqueue(report, "extra", idempotency_key="once").id == extra.id
    assert len(within.enqueue_many(report, ["a", "b"])) == 2
    assert within.cancel(extra.id).state == "cancelled"
    assert not within.get("daily-report").enabled
    assert within.stats().schedules == len(within.list()) == 1
    within.resume("daily-report")
    assert sql("select count(*) from rota_runs") == [(0,)]
    theirs.commit()
    assert sql("select count(*) from rota_runs") == [(4,)]


def test_what_is_rolled_back_never_fires(env, app, report, tmp_path):
    with closing(sqlite3.connect(env.store.url.removeprefix("sqlite:///"))) as theirs:
        app.within(theirs).schedule(report, "@hourly", "day", id="never")
        theirs.rollback()
    env.advance(2 * (env.clock.now() - env.clock.now().replace(hour=8)))
    env.run_until_idle()
    assert env.runs() == []


# ---- what cannot be used -------------------------------------------------------------------------------------------


def refused(app: rota.App, report: Any, held: object) -> str:
    with pytest.raises(ConnectionUnusable) as error:
        app.within(held).schedule(report, "@daily", "day", id="never")
    return str(error.value)


def test_another_database(app, report, path, tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        assert "other.db, and the app's is" in refused(app, report, other)
    with closing(sqlite3.connect(":memory:")) as memory:
        assert "a database in memory" in refused(app, report, memory)


def test_one_that_commits_each_statement(app, report, path):
    with closing(sqlite3.connect(path, isolation_level=None)) as theirs:
        assert "begin a transaction first" in refused(app, report, theirs)
    if sys.version_info >= (3, 12):
        with closing(sqlite3.connect(path, autocommit=True)) as theirs:  # type: ignore[call-arg, unused-ignore]
            assert "begin a transaction first" in refused(app, report, theirs)
    engine = create_engine(f"sqlite:///{path}", isolation_level="AUTOCOMMIT")
    with engine.connect() as theirs:
        assert "begin a transaction first" in refused(app, report, theirs)
    engine.dispose()


def test_a_closed_one_and_no_connection_at_all(app, report, path):
    closed = sqlite3.connect(path)
    closed.close()
    assert "give an open one" in refused(app, report, closed)
    assert "give a sqlite3 connection" in refused(app, report, object())
    assert "give a sqlite3 connection" in refused(app, report, None)


def test_one_that_has_read_before_another_committed(app, report, path):
    app.schedule(report, "@daily", "day", id="theirs")
    with closing(sqlite3.connect(path, isolation_level=None)) as theirs:
        theirs.execute("begin")
        theirs.execute("select * from config").fetchall()
        app.enqueue(report, "another's commit")
        with pytest.raises(TransactionStale, match="begin with BEGIN IMMEDIATE"):
            app.within(theirs).pause("theirs")
        theirs.execute("rollback")
    assert app.get("theirs").enabled


def test_nothing_of_theirs_is_ended_by_an_error(app, report, path, sql):
    """A refused verb leaves the caller's transaction as it was, for the caller to decide."""
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("insert into config values ('kept')")
        with pytest.raises(rota.RotaError):
            app.within(theirs).pause("unknown")
        assert theirs.in_transaction
        theirs.commit()
    assert sql("select key from config") == [("kept",)]
