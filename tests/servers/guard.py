"""`python guard.py PID FOLDER…`: when that process ends, stops the PostgreSQL servers in the folders and removes them.

A process of its own, for a session that is killed cannot tidy up. It returns once it watches, and goes on in the
background, in a session of its own: what ends the tests does not end it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from select import select

LIMIT = 30  # seconds for a server to end


def main(pid: int, folders: Sequence[Path]) -> None:
    watched = _watch(pid)
    if guard := os.fork():
        (folders[0] / "guard").write_text(str(guard))
        return
    os.setsid()
    os.chdir("/")
    _ended(watched)
    clear(folders)


def clear(folders: Sequence[Path]) -> None:
    """Whatever runs in them is stopped, and they are removed, if they are there."""
    if not folders[0].exists():
        return
    with (folders[0] / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # nobody is just starting one
        for folder in folders:
            for running in folder.glob("*/data/postmaster.pid"):
                with suppress(FileNotFoundError):
                    stop(int(running.read_text().split()[0]))
            shutil.rmtree(folder, ignore_errors=True)


def stop(postmaster: int) -> None:
    """At once, also if it was halted; or is gone already."""
    with suppress(ProcessLookupError):
        watched = _watch(postmaster)
        assert watched is not None
        for number in (signal.SIGQUIT, signal.SIGCONT):
            signal.pidfd_send_signal(watched, number)
        _ended(watched, LIMIT)


def _watch(pid: int) -> int | None:
    """A descriptor that can be read when the process has ended. None: it has."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


def _ended(watched: int | None, limit: float | None = None) -> None:
    if watched is not None:
        select([watched], [], [], limit)


if __name__ == "__main__":
    main(int(sys.argv[1]), [Path(folder) for folder in sys.argv[2:]])
