"""An app with many schedules of one second, whose handlers write into a file what they did."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event

import rota

app = rota.App()


@app.step()
def tick() -> int:
    Event().wait(float(os.environ["TICK_SECONDS"]))  # so that a kill finds it at work
    with Path("ticks.txt").open("a") as file:
        file.write(f"{rota.current_run().id} {rota.current_run().attempt}\n")
    return os.getpid()


@app.step(name="held", queue="held")
def held() -> int:
    """Says that it began, and ends once someone has written into the pipe `go`, or it is its second attempt."""
    attempt = rota.current_run().attempt
    print(f"attempt {attempt} began", flush=True)  # noqa: T201
    if attempt == 1:
        Path("go").read_text()
    return attempt


@app.on_start
def register() -> None:
    for number in range(int(os.environ["TICKS"])):
        app.schedule(tick, "@every 1s", id=f"tick-{number}")
