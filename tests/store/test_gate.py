"""The write gate: first come, first served, and never left shut."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from rota.errors import DatabaseBusy, TransactionOpen
from rota.store.gate import Gate

LIMIT = 10.0


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "rota.db", "sqlite:///rota.db", LIMIT)


def another(gate: Gate, patience: float = LIMIT) -> Gate:
    """The same gate, as another process sees it."""
    return Gate(Path(gate._writer.removesuffix("-writer")), "sqlite:///rota.db", patience)


class Holder:
    """Someone who is inside, until `go`."""

    def __init__(self, gate: Gate) -> None:
        self.inside, self.go = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._hold, args=(gate,))
        self.thread.start()
        assert self.inside.wait(LIMIT)

    def _hold(self, gate: Gate) -> None:
        with gate.passed():
            self.inside.set()
            self.go.wait(LIMIT)

    def leave(self) -> None:
        self.go.set()
        self.thread.join(LIMIT)


def test_one_at_a_time(gate: Gate) -> None:
    holder, order = Holder(gate), []

    def pass_it() -> None:
        with another(gate).passed():
            order.append("second")

    second = threading.Thread(target=pass_it)
    second.start()
    order.append("first")
    holder.leave()
    second.join(LIMIT)
    assert order == ["first", "second"]


def test_who_waits_for_too_long_gives_up(gate: Gate) -> None:
    holder = Holder(gate)
    with pytest.raises(DatabaseBusy), another(gate, patience=0.2).passed():
        pass
    holder.leave()
    with another(gate).passed():
        """And what was given up does not keep it shut."""


def test_who_is_inside_would_wait_for_itself(gate: Gate) -> None:
    with gate.passed(), pytest.raises(TransactionOpen), gate.passed():
        pass
    with gate.passed():
        pass


def test_an_interrupted_wait_does_not_keep_it_shut(gate: Gate) -> None:
    holder, former = Holder(gate), signal.getsignal(signal.SIGALRM)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt), another(gate).passed():
            pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    holder.leave()
    with another(gate).passed():
        """It is open."""


def test_a_forked_child_does_not_keep_it_shut(gate: Gate) -> None:
    """It has the lock's file open for as long as it lives; so the lock is let go of, and not just closed."""
    with gate.passed():
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
    try:
        with another(gate, patience=2.0).passed():
            """It is open, though the child lives."""
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _die_inside(writer: str, ready: Any) -> None:
    with Gate(Path(writer.removesuffix("-writer")), "url", LIMIT).passed():
        ready.set()
        signal.pause()


def test_a_killed_process_lets_go(gate: Gate) -> None:
    spawn = multiprocessing.get_context("spawn")
    ready = spawn.Event()
    process = spawn.Process(target=_die_inside, args=(gate._writer, ready))
    process.start()
    assert ready.wait(LIMIT)
    process.kill()
    process.join(LIMIT)
    with another(gate).passed():
        """The kernel has freed it."""
