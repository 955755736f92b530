"""PostgreSQL that fails: restarted under load, deaf listeners, calls of which every fifth is lost, clocks that lie."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event, Lock
from typing import Any

import pytest
from sqlalchemy import Connection

import rota
from rota.clock import SystemClock
from rota.engine.options import WorkerOptions
from rota.errors import DatabaseUnreachable
from rota.home import Home
from rota.store import Store, open_store
from tests.conftest import asked
from tests.race.test_processes import ENQUEUE, finish
from tests.race.workers import Site, check_account
from tests.servers.postgres import OwnServer

UNFINISHED = "select count(*) from rota_runs where state in ('waiting', 'queued', 'running')"


def migrated(url: str) -> str:
    open_store(url, SystemClock().now(), migrating=True).close()
    return url


# ---- the server ----------------------------------------------------------------------------------------------------


@pytest.fixture
def server_site(private_postgres: OwnServer, tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, migrated(private_postgres.url)) as site:
        yield site


def test_the_server_is_restarted_under_load(server_site: Site, private_postgres: OwnServer) -> None:
    """Field case l2 B: nobody crashes, and what came due meanwhile is fired or missed, once."""
    site = server_site
    site.schedules(20, seconds=0.05)
    workers = [site.worker() for _ in range(2)]
    for worker in workers:
        worker.until("queues")
    for _ in range(2):
        Event().wait(2.0)
        private_postgres.stop("immediate")
        for worker in workers:
            worker.until("cannot be reached")
        private_postgres.start()
    Event().wait(2.0)
    for worker in workers:
        assert worker.end() == 0
    lines = [line for worker in workers for line in worker.lines]
    finish(site, lines)
    assert check_account(site)["fires"] > 20
    assert not [line for line in lines if "Traceback" in line or "UniqueViolation" in line]


def test_a_worker_that_starts_while_the_server_is_down_says_so(server_site: Site, private_postgres: OwnServer) -> None:
    """Field case l2 D: it ends at once, with what is the matter; whoever runs it starts it again."""
    private_postgres.stop("fast")
    worker = server_site.worker()
    assert worker.process.wait(30) == 1
    worker.close()
    assert "cannot be reached" in worker.lines[-1]
    assert "Traceback" not in "".join(worker.lines)


def test_a_listener_that_is_cut_off_listens_again(server_site: Site) -> None:
    """Field case l2 A: long before the next poll."""
    site = server_site
    (site.folder / "go").write_text("")
    worker = site.worker("--poll-interval", "1h")
    worker.until("queues")
    listening = (
        "select pid from pg_stat_activity where query like 'listen%' or query = 'LISTEN' or query like '%rota.public%'"
    )
    for _ in range(2):
        run = int(site.said(ENQUEUE))
        worker.until("attempt 1 began")
        listeners = site.sql(listening)
        assert listeners
        for (pid,) in listeners:
            site.sql("select pg_terminate_backend(?)", pid)
        worker.until("lost the connection that listens")
        assert site.sql("select id from rota_runs where id = ?", run) == [(run,)]
    assert worker.end() == 0


def test_without_notifications_the_poll_finds_it(server_site: Site) -> None:
    """D36: the tables are the truth; a notification is only faster."""
    (server_site.folder / "go").write_text("")
    worker = server_site.worker("--poll-only", "--poll-interval", "1s")
    worker.until("queues")
    server_site.said(ENQUEUE)
    worker.until("attempt 1 began")
    assert worker.end() == 0


# ---- lost calls ----------------------------------------------------------------------------------------------------


class LosingStore:
    """A store of which some calls are lost: before they begin, before they commit, or only the answer after."""

    def __init__(self, store: Store, share: float, kinds: tuple[str, ...], rng: random.Random) -> None:
        self._store, self._share, self._kinds, self._rng = store, share, kinds, rng
        self.lost: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        fault = self._rng.choice(self._kinds) if self._rng.random() < self._share else "none"
        self._lose("connect", fault)
        with self._store.begin() as connection:
            yield connection
            self._lose("commit", fault)
        self._lose("answer", fault)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        self._lose("connect", "connect" if self._rng.random() < self._share else "none")
        with self._store.read() as connection:
            yield connection

    def calm(self) -> None:
        self._share = 0.0

    def _lose(self, place: str, fault: str) -> None:
        if place == fault:
            self.lost[place] += 1
            raise DatabaseUnreachable(self._store.url, f"lost at {place}, the test says so")


class Company:
    """Several apps over one database, as so many machines would have them; each runs a worker."""

    def __init__(self) -> None:
        self.called: Counter[tuple[int, int]] = Counter()
        self._lock = Lock()

    def app(self, schedules: int) -> rota.App:
        app = rota.App()

        @app.step(queue="ticks")
        def tick() -> int:
            run = rota.current_run()
            with self._lock:
                self.called[run.id, run.attempt] += 1
            return run.attempt

        @app.on_start
        def register() -> None:
            with app.transaction() as tx:
                for number in range(schedules):
                    tx.schedule(tick, "@every 1s", id=f"tick-{number}")

        return app


@pytest.mark.parametrize(
    "kinds", [("connect",), ("commit",), ("answer",), ("connect", "commit", "answer")], ids="+".join
)
def test_a_fifth_of_all_calls_is_lost(store_url: str, tmp_path: Path, kinds: tuple[str, ...]) -> None:
    """Nothing is lost or doubled; and what succeeded is not run again because no one heard of its commit."""
    company, seed = Company(), random.randrange(2**32)
    clock = SystemClock()
    with ExitStack() as stack:
        stores = []
        for number in range(2):
            app = company.app(schedules=10)
            store = stack.enter_context(closing(open_store(store_url, clock.now())))
            losing = LosingStore(store, 0.2, kinds, random.Random(seed + number))
            stores.append(losing)
            stack.enter_context(app.housed(Home(store, store.clock(clock), upkeep=False)))
            worker = app.worker(WorkerOptions(poll_interval=timedelta(seconds=1)))  # it starts before the trouble does
            for part in (worker, worker._executor, worker._lease):
                part._store = losing  # type: ignore[assignment]
            worker.start()
            stack.callback(worker.stop)
        for _ in range(300):  # so long that enough has come due, and enough of it was lost
            Event().wait(0.1)
            lost = sum(sum(losing.lost.values()) for losing in stores)
            if lost > 8 and asked(store_url, "select count(*) >= 50 from rota_schedule_fires") == [(True,)]:
                break
        asked(store_url, "update rota_schedules set enabled = false")
        for losing in stores:
            losing.calm()
        for _ in range(300):
            if asked(store_url, UNFINISHED) == [(0,)]:
                break
            Event().wait(0.1)
    site = Site(tmp_path, store_url)
    assert check_account(site)["fires"] >= 20, seed
    assert sum(sum(losing.lost.values()) for losing in stores) > 4, seed
    assert not [key for key, times in company.called.items() if times > 1], seed
    last = dict(asked(store_url, "select id, attempt from rota_runs where state = 'succeeded'"))
    assert all(company.called[run, attempt] == 1 for run, attempt in last.items()), seed
    again = [run for (run, attempt), _ in company.called.items() if attempt < last[run]]
    assert again == [], f"these ran again: {again}, seed {seed}"


# ---- clocks --------------------------------------------------------------------------------------------------------


class LyingClock(SystemClock):
    """A machine's clock that is wrong, and that someone sets now and then."""

    def __init__(self, off: timedelta) -> None:
        self.off = off

    def now(self) -> datetime:
        return super().now() + self.off


def test_clocks_that_lie_fire_nothing_early_and_nothing_twice(postgres_url: str, tmp_path: Path) -> None:
    """Now is the database's time: machines ten minutes ahead, ten behind, and one that is set all the time, agree."""
    migrated(postgres_url)
    asked(postgres_url, "create table witness (schedule_id text, slot timestamptz, at timestamptz)")
    asked(
        postgres_url,
        "create function see() returns trigger language plpgsql as $$ begin "
        "insert into witness values (new.schedule_id, new.scheduled_for, clock_timestamp()); return new; end $$;"
        "create trigger see before insert on rota_schedule_fires for each row execute function see()",
    )
    company = Company()
    clocks = [LyingClock(timedelta(minutes=minutes)) for minutes in (10, -10, 0)]
    with ExitStack() as stack:
        for clock in clocks:
            app = company.app(schedules=10)
            store = stack.enter_context(closing(open_store(postgres_url, clock.now())))
            stack.enter_context(app.housed(Home(store, store.clock(clock), upkeep=False)))
            stack.enter_context(app.running(WorkerOptions(poll_interval=timedelta(seconds=1))))
        for step in range(40):
            Event().wait(0.1)
            clocks[2].off = timedelta(minutes=7 * (step % 5 - 2))
        asked(postgres_url, "update rota_schedules set enabled = false")
        for _ in range(100):
            if asked(postgres_url, UNFINISHED) == [(0,)]:
                break
            Event().wait(0.1)
    assert check_account(Site(tmp_path, postgres_url))["fires"] >= 20
    assert asked(postgres_url, "select count(*) from witness where at < slot") == [(0,)]
    assert set(company.called.values()) == {1}
