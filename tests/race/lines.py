"""An app with one long job, which writes a line a second, by the clock of its rota."""

from __future__ import annotations

import os
from datetime import timedelta
from threading import Event

import rota

app = rota.App()


@app.step(name="lines")
def lines() -> int:
    """How many it has written when it ends: LONG (20), or fewer if it is not wanted any more."""
    run, clock, pause = rota.current_run(), app.home().clock, Event()
    began, count = clock.now(), int(os.environ.get("LONG", "20"))
    say(run, "begins")
    for number in range(1, count + 1):
        while clock.now() < began + timedelta(seconds=number):
            if run.cancelled:
                return number - 1
            pause.wait(0.01)
        say(run, f"line {number}")
    return count


def say(run: rota.CurrentRun, text: str) -> None:
    print(f"run {run.id} attempt {run.attempt} {text}", flush=True)  # noqa: T201
