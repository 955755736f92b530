"""The supervisor: keeps small processes running, with longer and longer pauses, and ends them all together."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from queue import Queue
from threading import Thread

import pytest

from rota.engine.supervisor import BACK_OFF, STEADY, Supervisor
from rota.events import ProcessEnded
from rota.testing import FakeClock
from tests.engine.conftest import LIMIT

BORN = "import os, signal, sys; open(sys.argv[1], 'w').write(f'{os.getpid()}\\n'); "
PATIENT = BORN + "signal.pause()"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + PATIENT + "; signal.pause()"
HASTY = BORN + "sys.exit(3)"


class Nursery:
    """A supervisor, the pids of its processes as they are born, and what it tells."""

    def __init__(self, born: Path) -> None:
        self._born = born
        self.clock = FakeClock()
        self.pids: Queue[int] = Queue()
        self.ended: Queue[ProcessEnded] = Queue()
        self.supervisor: Supervisor | None = None
        os.mkfifo(born)
        self._pipe = os.fdopen(os.open(born, os.O_RDWR))  # both ends of it are here, so that it never ends
        Thread(target=self._listen, daemon=True).start()

    def start(self, code: str, processes: int = 1, grace: float = LIMIT) -> Supervisor:
        command = [sys.executable, "-S", "-E", "-c", code, str(self._born)]
        self.supervisor = Supervisor(command, processes, grace, self.clock, self.hear)
        self.supervisor.start()
        return self.supervisor

    def born(self, many: int = 1) -> set[int]:
        return {self.pids.get(timeout=LIMIT) for _ in range(many)}

    def died(self) -> ProcessEnded:
        return self.ended.get(timeout=LIMIT)

    def later(self, seconds: float) -> None:
        self.clock.advance(timedelta(seconds=seconds))

    def hear(self, event: object) -> None:
        assert isinstance(event, ProcessEnded)
        self.ended.put(event)

    def _listen(self) -> None:
        for line in self._pipe:
            self.pids.put(int(line))


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    nursery = Nursery(tmp_path / "born")
    yield nursery
    if nursery.supervisor is not None:
        nursery.supervisor.kill()


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


# ---- ending --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [Supervisor.stop, Supervisor.kill])
def test_all_of_them_end(nursery: Nursery, way: Callable[[Supervisor], None]) -> None:
    supervisor = nursery.start(PATIENT, processes=3)
    pids = nursery.born(3)
    assert all(map(lives, pids))
    way(supervisor)
    assert not any(map(lives, pids))
    assert nursery.ended.empty()
    assert nursery.pids.empty()


def test_one_that_does_not_stop_in_time_is_killed(nursery: Nursery) -> None:
    supervisor = nursery.start(DEAF, processes=2, grace=0.1)
    pids = nursery.born(2)
    supervisor.stop()
    assert not any(map(lives, pids))


def test_a_stop_does_not_wait_for_a_pause_to_end(nursery: Nursery) -> None:
    supervisor = nursery.start(HASTY)
    nursery.born()
    nursery.died()
    supervisor.stop()
    assert nursery.pids.empty()


# ---- starting again ------------------------------------------------------------------------------------------------


def test_one_that_ends_at_once_is_started_after_longer_and_longer_pauses(nursery: Nursery) -> None:
    nursery.start(HASTY)
    pauses = []
    for _ in range(9):
        (_,) = nursery.born()
        ended = nursery.died()
        assert (ended.place, ended.code) == (0, 3)
        assert nursery.pids.empty()  # while no time goes by it is not started again
        pauses.append(ended.seconds)
        nursery.later(ended.seconds)

    assert pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert BACK_OFF == (0.5, 30.0)


def test_one_that_lived_for_long_starts_the_pauses_anew(nursery: Nursery) -> None:
    nursery.start(PATIENT)
    for lived, pause in ((0, 0.5), (1, 1), (STEADY - 1, 2), (STEADY, 0.5), (0, 1)):
        (pid,) = nursery.born()
        nursery.later(lived)
        end(pid)
        ended = nursery.died()
        assert (ended.seconds, ended.code) == (pause, -signal.SIGKILL)
        nursery.later(pause)


def test_the_others_go_on_where_one_ends(nursery: Nursery) -> None:
    nursery.start(PATIENT, processes=3)
    first, second, third = nursery.born(3)
    end(second)
    nursery.later(nursery.died().seconds)
    (fourth,) = nursery.born()
    assert [lives(pid) for pid in (first, second, third, fourth)] == [True, False, True, True]


def test_a_command_that_cannot_be_run_is_tried_again(nursery: Nursery) -> None:
    """While a new release is unpacked, say."""
    supervisor = Supervisor(["/nowhere/python"], 1, LIMIT, nursery.clock, nursery.hear)
    supervisor.start()
    for seconds in (0.5, 1):
        ended = nursery.died()
        assert (ended.code, ended.seconds) == (127, seconds)
        nursery.later(seconds)
    supervisor.stop()
