"""An app for the command line to find."""

from __future__ import annotations

import logging
import os
from datetime import timedelta
from pathlib import Path

import rota

app = rota.App()


@app.step(name="sales/report", timeout=timedelta(seconds=90), label="The sales report")
def report(period: str) -> dict[str, str]:
    logging.getLogger("shop").warning("only %d left", 3)
    return {"of": period}


@app.action(name="till", retry=rota.Retry(3, timedelta(minutes=5)))
def till() -> None:
    raise RuntimeError("the till is empty\n\x1b[31m[bold]")


@app.action(name="wait", queue="slow")
def wait() -> None:
    """Says that it began, and ends once someone has written into the pipe `go`."""
    print("began", flush=True)  # noqa: T201 - the test waits for it
    Path("go").read_text()


@app.on_start
def register() -> None:
    app.schedule(report, "0 9 * * 1-5", "day", id="daily-report", tz="Europe/Berlin", label="For the bosses")
    if "SHOP_BREAKS" in os.environ:
        raise ZeroDivisionError("on purpose")
