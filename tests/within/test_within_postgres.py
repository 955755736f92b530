"""Every verb in the caller's own transaction on PostgreSQL: C16 and C17, for each kind of connection people hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from sqlalchemy import create_engine, text
from sqlalchemy.orm import Session

import rota
from rota.errors import ConnectionUnusable
from tests.conftest import Sql
from tests.within.test_within_sqlite import Theirs

Report = rota.Job[str, int, int]


@pytest.fixture(params=["postgresql"])
def store_url(postgres_url: str) -> str:
    rota.store.open_store(postgres_url, rota.clock.SystemClock().now(), migrating=True).close()
    return postgres_url


@contextmanager
def psycopg_default(url: str) -> Iterator[Theirs]:
    with psycopg.connect(url) as c:
        yield Theirs(c, c.execute, c.commit, c.rollback)
        c.rollback()


@contextmanager
def psycopg_in_a_block(url: str) -> Iterator[Theirs]:
    """In autocommit mode, and inside `with connection.transaction()` all the same."""
    with psycopg.connect(url, autocommit=True) as c:
        c.execute("begin")
        yield Theirs(c, c.execute, lambda: c.execute("commit; begin"), lambda: c.execute("rollback; begin"))


@contextmanager
def psycopg_with_dicts(url: str) -> Iterator[Theirs]:
    with psycopg.connect(url, row_factory=dict_row) as c:
        yield Theirs(c, c.execute, c.commit, c.rollback)
        assert c.execute("select 1 as one").fetchall() == [{"one": 1}]
        c.rollback()


@contextmanager
def psycopg_with_raw_cursors(url: str) -> Iterator[Theirs]:
    """Whose parameters are written otherwise."""
    with psycopg.connect(url, cursor_factory=psycopg.RawCursor) as c:
        yield Theirs(c, c.execute, c.commit, c.rollback)
        c.rollback()


@contextmanager
def alchemy_connection(url: str) -> Iterator[Theirs]:
    engine = create_engine(url.replace("postgresql", "postgresql+psycopg"))
    with engine.connect() as c:
        yield Theirs(c, lambda sql: c.execute(text(sql)), c.commit, c.rollback)
    engine.dispose()


@contextmanager
def alchemy_session(url: str) -> Iterator[Theirs]:
    engine = create_engine(url.replace("postgresql", "postgresql+psycopg"))
    with Session(engine) as s:
        yield Theirs(s, lambda sql: s.execute(text(sql)), s.commit, s.rollback)
    engine.dispose()


KINDS = [
    psycopg_default,
    psycopg_in_a_block,
    psycopg_with_dicts,
    psycopg_with_raw_cursors,
    alchemy_connection,
    alchemy_session,
]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def theirs(request: pytest.FixtureRequest, app: rota.App, sql: Sql) -> Iterator[Theirs]:
    sql("create table config (key text)")
    with request.param(app.url) as theirs:
        yield theirs


def test_c16_a_rollback_takes_both(app: rota.App, report: Report, theirs: Theirs, sql: Sql) -> None:
    theirs.execute("insert into config values ('report_schedule')")
    app.within(theirs.held).schedule(report, "@daily", "day", id="daily-report")
    assert sql("select id from rota_schedules") == []  # not to be seen before it is committed
    theirs.rollback()
    assert sql("select id from rota_schedules") == []
    assert sql("select key from config") == []


def test_c16_a_commit_makes_both(app: rota.App, report: Report, theirs: Theirs, sql: Sql) -> None:
    theirs.execute("insert into config values ('report_schedule')")
    assert app.within(theirs.held).schedule(report, "@daily", "day", id="daily-report") == "daily-report"
    theirs.commit()
    assert sql("select id, kind from rota_schedules") == [("daily-report", "step")]
    assert sql("select key from config") == [("report_schedule",)]


def test_c17_an_action_too(app: rota.App, clean: rota.Job0[None, None], theirs: Theirs, sql: Sql) -> None:
    app.within(theirs.held).schedule(clean, "@daily", id="daily-clean")
    theirs.rollback()
    assert sql("select id from rota_schedules") == []
    app.within(theirs.held).schedule(clean, "@daily", id="daily-clean")
    theirs.commit()
    assert sql("select id, kind from rota_schedules") == [("daily-clean", "action")]


def test_every_verb_works_inside(app: rota.App, report: Report, theirs: Theirs, sql: Sql) -> None:
    within = app.within(theirs.held)
    within.schedule(report, "@daily", "day", id="daily-report")
    within.pause("daily-report")
    within.resume("daily-report")
    fired = within.trigger("daily-report")
    run = within.enqueue(report, "now", idempotency_key="once")
    assert within.enqueue(report, "now", idempotency_key="once").id == run.id
    assert within.enqueue_many(report, ["a", "b"]) == [run.id + 2, run.id + 3]
    assert within.cancel(run.id).state == "cancelled"
    assert within.get("daily-report").last_run_id == fired.id
    assert [schedule.id for schedule in within.list()] == ["daily-report"]
    assert within.stats().schedules == 1
    theirs.commit()
    assert sql("select count(*) from rota_runs") == [(4,)]


def refused(app: rota.App, report: Report, held: Any) -> str:
    with pytest.raises(ConnectionUnusable) as caught:
        app.within(held).schedule(report, "@daily", "day", id="daily-report")
    return str(caught.value)


def test_one_that_commits_each_statement(app: rota.App, report: Report, sql: Sql) -> None:
    with psycopg.connect(app.url, autocommit=True) as theirs:
        assert "begin a transaction first" in refused(app, report, theirs)
    engine = create_engine(app.url.replace("postgresql", "postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        assert "begin a transaction first" in refused(app, report, connection)
    engine.dispose()
    assert sql("select id from rota_schedules") == []


def test_another_database_and_another_schema(app: rota.App, report: Report, postgres: Any) -> None:
    with postgres.fresh() as url, psycopg.connect(url) as theirs:
        assert "another database or schema" in refused(app, report, theirs)
    with psycopg.connect(app.url) as theirs:
        theirs.execute("create schema other")
        theirs.execute("set search_path to other")
        assert "another database or schema" in refused(app, report, theirs)


def test_a_closed_one_and_no_connection_at_all(app: rota.App, report: Report) -> None:
    closed = psycopg.connect(app.url)
    closed.close()
    assert "give an open one" in refused(app, report, closed)
    assert "give a psycopg connection" in refused(app, report, object())


def test_an_error_ends_nothing_of_theirs(app: rota.App, report: Report, theirs: Theirs, sql: Sql) -> None:
    theirs.execute("insert into config values ('kept')")
    with pytest.raises(rota.errors.ScheduleNotFound):
        app.within(theirs.held).pause("nobody")
    app.within(theirs.held).schedule(report, "@daily", "day", id="daily-report")
    theirs.commit()
    assert sql("select key from config") == [("kept",)]
    assert sql("select id from rota_schedules") == [("daily-report",)]
