"""A PostgreSQL server for tests: one that answers at a URL, or one that is ours to stop and to start."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from random import SystemRandom
from socket import socket
from typing import Any, Literal, Self
from uuid import uuid4

import psycopg
from sqlalchemy import make_url

from tests.servers import guard
from tests.servers.binaries import Binaries, give

LIMIT = 30  # seconds to wait for an answer

SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{folder}'
max_connections = 200
max_wal_size = 128MB               # it may lie in memory
dynamic_shared_memory_type = mmap  # in the folder, so that it goes with it
fsync = off                        # servers are killed here, machines are not
"""


class Server:
    """A server whose database `postgres`, or another that is always there, is at `url`."""

    def __init__(self, url: str) -> None:
        self.url = url

    @cached_property
    def version(self) -> int:
        """The major one."""
        return int(self.ask("show server_version_num")[0][0]) // 10_000

    @contextmanager
    def fresh(self, template: str = "template0") -> Iterator[str]:
        """The URL of a new database, like the template; dropped afterwards, whoever is still connected to it."""
        name = f"rota_{uuid4().hex}"
        self.ask(f"create database {name} template {template} strategy file_copy")
        try:
            yield self.database(name)
        finally:
            self.ask(f"drop database if exists {name} with (force)")

    def database(self, name: str) -> str:
        return make_url(self.url).set(database=name).render_as_string(hide_password=False)

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows; committed at once, through a connection of its own."""
        with closing(psycopg.connect(self.url, autocommit=True, connect_timeout=LIMIT)) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


class OwnServer(Server):
    """A server in a folder of its own. Its port stays the same while it is stopped."""

    def __init__(self, binaries: Binaries, folder: Path) -> None:
        self.binaries, self.folder, self.data = binaries, folder, folder / "data"
        self.port = int((folder / "port").read_text())
        super().__init__(f"postgresql://postgres@127.0.0.1:{self.port}/postgres")

    @classmethod
    def make(cls, binaries: Binaries, folder: Path, data: Path) -> Self:
        """A new one in an empty folder, with a copy of this data. It does not run yet."""
        give(folder)
        subprocess.run(["cp", "-a", data, folder / "data"], check=True)
        port = _free_port()
        with (folder / "data/postgresql.conf").open("a") as settings:
            settings.write(SETTINGS.format(port=port, folder=folder))
        (folder / "port").write_text(str(port))
        return cls(binaries, folder)

    @property
    def socket_url(self) -> str:
        """The same through its Unix socket."""
        return f"postgresql://postgres@/postgres?host={self.folder}&port={self.port}"

    @property
    def pid(self) -> int:
        """That of the postmaster, for signals. There is none while it is stopped."""
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def start(self) -> None:
        """It answers when this returns."""
        self._control("start", "-l", self.folder / "server.log")

    def stop(self, mode: Literal["smart", "fast", "immediate"] = "immediate") -> None:
        """It has ended when this returns. *Immediate* is a crash: no goodbye to clients, recovery at the next start."""
        self._control("stop", "-m", mode)

    def restart(self, mode: Literal["smart", "fast", "immediate"] = "immediate") -> None:
        self.stop(mode)
        self.start()

    def discard(self) -> None:
        """Stopped, if it runs, and forgotten."""
        with suppress(FileNotFoundError):
            guard.stop(self.pid)
        shutil.rmtree(self.folder)

    def _control(self, verb: str, *options: str | Path) -> None:
        self.binaries.run("pg_ctl", verb, "-w", "-s", "-D", self.data, *options, within=self.folder)


def _free_port() -> int:
    """Below those that a system gives to outgoing connections: a stopped server's port stays free."""
    while True:
        port = SystemRandom().randrange(10_000, 32_000)
        with suppress(OSError), socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
