"""Signals: one that comes just as the main thread goes to wait must not be lost."""

from __future__ import annotations

import subprocess
import sys

ROUNDS = 200

# Other threads are at work, as those of a worker are when it has just started: it is then that the main thread goes to
# wait, and nothing but a signal ends that. Where one is lost, the process says so, and ends with code 1.
CODE = """
import os, signal, sys
from threading import Event, Thread
from rota.cli.signals import heard

go, end = Event(), Event()

def send():
    while True:
        go.wait()
        go.clear()
        os.kill(os.getpid(), signal.SIGTERM)

def work():
    while True:
        sum(range(100))
        Event().wait(0)

def watch():
    while end.wait(10):
        end.clear()
    os.write(1, b"lost")
    os._exit(1)

for target in (send, work, watch):
    Thread(target=target, daemon=True).start()
for _ in range(int(sys.argv[1])):
    with heard() as ends:
        go.set()
        assert ends.wait() == signal.SIGTERM
    end.set()
"""


def test_a_signal_that_comes_as_one_goes_to_wait_is_heard() -> None:
    command = [sys.executable, "-c", CODE, str(ROUNDS)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
