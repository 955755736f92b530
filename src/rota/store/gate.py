"""The write gate: the writers of one SQLite file pass it one after the other, in the order in which they came.

SQLite's own lock is not fair: beside one busy worker another process may wait seconds to write one row. So a writer
takes the queue lock, then the writer lock, and lets go of the queue; who comes next waits in the queue, not in
SQLite. The kernel frees the locks of a process that dies.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock, Thread, get_ident

from rota.errors import DatabaseBusy, DatabaseReadOnly, DatabaseUnreachable, StoreError, TransactionOpen

try:
    import fcntl
except ImportError:  # no flock on this system: SQLite's own lock has to do
    fcntl = None  # type: ignore[assignment]
logger = logging.getLogger("rota")

WRITE_ACCESS = (
    "give this user write access to the file and to its folder (SQLite and the gate keep more files beside it)"
)
PAUSE = 0.001  # seconds that a writer steps aside after its commit where there are no locks
SLICE = 0.1  # seconds of patience, counted off one by one
_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}


class Gate:
    """The gate of one database file. Locks are taken on files beside it, which stay empty.

    Args:
        patience: for how many seconds a writer waits before it gives up.
    """

    def __init__(self, path: Path, url: str, patience: float) -> None:
        self._queue, self._writer = (f"{path}-{lock}" for lock in ("queue", "writer"))
        self._url, self._patience = url, patience
        self._works = fcntl is not None
        self._inside: int | None = None
        self._step_aside = Event()  # never set: its wait is a pause

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Inside it, no other writer that uses the gate is writing.

        Raises:
            DatabaseBusy: someone has been inside for longer than the gate's patience.
            TransactionOpen: it is this very thread that is inside, and it would wait for itself.
        """
        if self._inside == get_ident():
            raise TransactionOpen(self._url)
        writer = self._through() if self._works else None
        self._inside = get_ident()
        try:
            yield
        finally:
            self._inside = None
            if writer is not None:
                _let_go(writer)
            else:
                self._step_aside.wait(PAUSE)

    def _through(self) -> int | None:
        """The writer lock; None where this file system has no such locks."""
        wait = _Patience(self._patience)
        try:
            queue = self._take(self._queue, wait)
            try:
                return self._take(self._writer, wait)
            finally:
                _let_go(queue)
        except StoreError:
            raise
        except PermissionError as error:
            raise DatabaseReadOnly(self._url, WRITE_ACCESS) from error
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise DatabaseUnreachable(self._url, f"{error.strerror}; look at the disk and the folder") from error
            self._works = False
            logger.warning("database %s: its file system has no flock; writers take turns less fairly", self._url)
            return None

    def _take(self, name: str, patience: _Patience) -> int:
        file = os.open(name, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not patience.wait_for(file):
                raise DatabaseBusy(self._url, held_for(self._patience)) from None
        except OSError:
            os.close(file)
            raise
        return file


def held_for(seconds: float) -> str:
    """What is the matter where the write lock is held for so long."""
    return f"another program has held its write lock for {seconds:g} s; end that program's transaction, then try again"


def _let_go(file: int) -> None:
    """Unlocked, and not just closed: a child that was forked meanwhile has the file open, too."""
    fcntl.flock(file, fcntl.LOCK_UN)
    os.close(file)


class _Patience:
    """What is left of the time that one writer will wait for both locks."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def wait_for(self, file: int) -> bool:
        """Stand in the kernel's line, which is first come, first served; on a thread, for it cannot be left."""
        wait = _Wait(file)
        Thread(target=wait.stand, name="rota-gate", daemon=True).start()
        try:
            for _ in range(int(self._left / SLICE)):
                if wait.over.wait(SLICE):
                    return True
                self._left -= SLICE
        except BaseException:  # Ctrl-C, say: or the lock would be held by no one, for as long as the process lives
            if not wait.give_up():
                _let_go(file)
            raise
        return not wait.give_up()


class _Wait:
    """One wait for a lock. Given up, it lets go of the lock as soon as it gets it."""

    def __init__(self, file: int) -> None:
        self.over = Event()
        self._file, self._lock, self._left = file, Lock(), False

    def stand(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_EX)
        with self._lock:
            self.over.set()
            if self._left:
                _let_go(self._file)

    def give_up(self) -> bool:
        """True where it was still waiting; False where it got the lock at the last moment."""
        with self._lock:
            self._left = not self.over.is_set()
            return self._left
