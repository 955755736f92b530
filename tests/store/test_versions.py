"""The versions of PostgreSQL that rota is tested on: the same from top to bottom on each."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest

import rota
from rota.errors import DatabaseUnreachable, DatabaseUnusable, SchemaNewer, SchemaOutdated
from rota.store import Store, is_there, migrate, open_store, postgres
from rota.testing import Harness
from tests.servers.postgres import Server
from tests.store.conftest import NOW


def test_from_the_tables_to_a_run(each_postgres: Server) -> None:
    app = rota.App()

    @app.step(max_attempts=2)
    def report(period: str) -> int:
        return len(period)

    with each_postgres.fresh() as url, Harness(app, url=url) as env:
        app.schedule(report, "@hourly", "day", id="hourly")
        assert app.schedule(report, "*/5 * * * *", "day", id="hourly") == "hourly"
        env.advance(timedelta(minutes=17))
        env.run_until_idle()
        assert [(run.state, run.output) for run in env.runs("hourly")] == [("succeeded", "3")]
        assert [miss.slots for miss in env.misses("hourly")] == [2]
        with psycopg.connect(url) as theirs:
            app.within(theirs).enqueue(report, "week")
        env.run_until_idle()
        assert [run.output for run in env.runs()] == ["3", "4"]


def test_the_tables_are_made_when_that_is_asked_for(postgres_url: str) -> None:
    assert not is_there(postgres_url)
    with pytest.raises(SchemaOutdated, match="holds no rota's tables yet: run `rota db migrate`"):
        open_store(postgres_url, NOW)
    open_store(postgres_url, NOW, migrating=True).close()
    assert is_there(postgres_url)
    open_store(postgres_url, NOW).close()


def test_a_newer_database_is_refused_and_an_older_one_is_told_of(postgres_url: str) -> None:
    open_store(postgres_url, NOW, migrating=True).close()
    with psycopg.connect(postgres_url) as theirs:
        theirs.execute("insert into rota_migrations values (99, now())")
    for migrating in (False, True):
        with pytest.raises(SchemaNewer, match="has schema version 99"):
            open_store(postgres_url, NOW, migrating=migrating)
    with psycopg.connect(postgres_url) as theirs:
        theirs.execute("delete from rota_migrations where version = 99")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrate, "VERSION", 2)
        with pytest.raises(SchemaOutdated, match="has schema version 1, and this build needs 2"):
            open_store(postgres_url, NOW)


def test_a_schema_of_its_own(postgres_url: str) -> None:
    url = f"{postgres_url}?schema=my ops"
    store = open_store(url, NOW, migrating=True)
    with store.read() as connection:
        assert connection.exec_driver_sql("select current_schema()").scalar_one() == "my ops"
    store.close()
    with psycopg.connect(postgres_url) as theirs:
        found = theirs.execute("select distinct schemaname from pg_tables where tablename like 'rota_%'").fetchall()
    assert found == [("my ops",)]


def test_many_that_migrate_at_once(postgres_url: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        stores: list[Store] = list(pool.map(lambda _: open_store(postgres_url, NOW, migrating=True), range(8)))
    with stores[0].read() as connection:
        assert migrate.applied(connection) == [(1, NOW)]
    for store in stores:
        store.close()


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        (("@127.0.0.1:", "@127.0.0.1:1"), DatabaseUnreachable, "cannot be reached"),
        (("postgresql://", "postgresql+psycopg2://"), DatabaseUnusable, "begin the URL with 'postgresql://'"),
        (("postgresql://", "mysql://"), DatabaseUnusable, "give a URL such as"),
    ],
)
def test_what_cannot_be_reached(postgres_url: str, change: tuple[str, str], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        open_store(postgres_url.replace(*change), NOW)


def test_a_server_that_is_too_old(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "OLDEST", 99)
    with pytest.raises(DatabaseUnusable, match="and 99 is the oldest that works"):
        open_store(postgres_url, NOW, migrating=True)


def test_a_user_without_rights(postgres_url: str) -> None:
    from rota.errors import DatabaseReadOnly

    open_store(postgres_url, NOW, migrating=True).close()
    with psycopg.connect(postgres_url) as theirs:
        theirs.execute("create role guest login; grant select on all tables in schema public to guest")
    try:
        guest = open_store(postgres_url.replace("postgres@", "guest@"), NOW)
        with pytest.raises(DatabaseReadOnly, match="a user who may write"), guest.begin() as connection:
            connection.exec_driver_sql("delete from rota_runs")
        guest.close()
    finally:
        with psycopg.connect(postgres_url) as theirs:
            theirs.execute("drop owned by guest; drop role guest")


def test_a_clock_of_the_database_that_is_set_is_told_of_once(postgres_url: str) -> None:
    """And a machine's own, which is wrong, is what `rota check` says."""
    from rota.checks import check
    from rota.clock import DistantClock
    from rota.events import ClockStepped
    from rota.home import Home
    from rota.testing import FakeClock

    store, machine, told = open_store(postgres_url, NOW, migrating=True), FakeClock(NOW), []
    clock = store.clock(machine)
    assert isinstance(clock, DistantClock)
    app = rota.App()
    app.on(ClockStepped, told.append)
    with app.housed(Home(store, clock, upkeep=False)):
        worker = app.worker(rota.WorkerOptions())
        clock.set(clock.now() - timedelta(minutes=10))  # as if it had shown that when it was last asked
        for _ in range(3):
            worker._lease.beat()
        assert [round(event.by.total_seconds()) for event in told] == [600]
        with store.read() as connection:
            (problem,) = check(connection, clock.now(), clock.now() + timedelta(seconds=90))
        assert (problem.place, problem.text) == ("this machine's clock", "it is 90 s ahead of the database's")
        worker.stop()
    store.close()
