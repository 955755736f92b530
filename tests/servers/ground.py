"""Where the servers of one test session live, whichever of its workers started them."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from tests.servers import guard
from tests.servers.binaries import Binaries, give
from tests.servers.postgres import OwnServer

IN_MEMORY = Path("/dev/shm")
ROOM = 2**30  # bytes that must be free there


class Ground:
    """Folders that all the session's processes know by its name, and a guard that outlives them."""

    def __init__(self, session: str, owner: int) -> None:
        """`owner` is the process with whose end the session ends."""
        self.session, self.owner = session, owner
        self.folder = Path(gettempdir()) / f"rota-servers-{session}"
        self.room = _roomy() / f"rota-servers-{session}-data"

    def shared(self, binaries: Binaries) -> OwnServer:
        """The server of this version; whoever asks first starts it."""
        with self._alone():
            binaries = binaries.within_reach(self.folder)
            known = self.folder / f"postgres-{binaries.version()}"
            if known.exists():
                return OwnServer(binaries, Path(known.read_text()))
            server = self._started(binaries)
            known.write_text(str(server.folder))
            return server

    def private(self, binaries: Binaries) -> OwnServer:
        """A new one."""
        with self._alone():
            return self._started(binaries.within_reach(self.folder))

    def clear(self) -> None:
        """No server is left, and no folder. If nobody gets here, the guard does it."""
        guard.clear([self.folder, self.room])

    def _started(self, binaries: Binaries) -> OwnServer:
        server = OwnServer.make(binaries, Path(mkdtemp(dir=self.room)), self._first_data(binaries))
        server.start()
        return server

    def _first_data(self, binaries: Binaries) -> Path:
        """What `initdb` makes, once for all servers of a version: a copy takes a tenth of the time."""
        kept = self.room / f"initdb-{binaries.version()}"
        if not kept.exists():
            folder = Path(mkdtemp(dir=self.room))
            give(folder)
            options = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
            binaries.run("initdb", "-D", folder / "data", *options, within=folder)
            folder.rename(kept)
        return kept / "data"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time; and a guard is there before the first server."""
        for folder in (self.folder, self.room):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o711)
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (self.folder / "guard").exists():
                self._call_guard()
            yield

    def _call_guard(self) -> None:
        command: list[str | Path] = [sys.executable, "-IS", guard.__file__, str(self.owner), self.folder, self.room]
        quiet = subprocess.DEVNULL
        subprocess.run(command, check=True, stdin=quiet, stdout=quiet, stderr=quiet)


def _roomy() -> Path:
    """In memory a database is made in some 15 ms, on a disk in 20 to 200; containers often have little there."""
    if os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > ROOM:
        return IN_MEMORY
    return Path(gettempdir())
