"""Runs the application, and shows live what fires: `python -m examples.housekeeping`.

SECONDS=20 ends it after 20 seconds; otherwise Ctrl-C does. HOUSEKEEPING_DATA names another data folder.
"""

from __future__ import annotations

import logging
import math
import os
import sys
import time
from datetime import UTC, datetime
from typing import Protocol

from rich.console import Console

from examples.housekeeping import folders, summary
from examples.housekeeping.absence import Absence
from examples.housekeeping.app import app
from examples.housekeeping.board import Board
from examples.housekeeping.ledger import Ledger
from examples.housekeeping.news import Ended, Line, News
from examples.housekeeping.plain import Plain
from rota import RotaError

OFTEN = 0.25  # seconds between two looks at the tables
PATIENCE = 5.0  # seconds within which a worker has surely caught up


class View(Protocol):
    """Where it is shown: on a board, or as plain lines."""

    def begin(self, told: list[str]) -> None: ...
    def show(self, line: Line) -> None: ...
    def draw(self) -> None: ...
    def ending(self) -> None: ...
    def end(self) -> None: ...


def main() -> int:
    try:
        seconds = _seconds(os.environ.get("SECONDS", ""))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    logging.basicConfig(filename=folders.DATA / "rota.log", level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        _run(seconds, Console(highlight=False))
    except RotaError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read the lines is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("ended at once: what was running comes back when its lease ends", file=sys.stderr)
        return 130
    return 0


def _seconds(text: str) -> float:
    """How long to run; without end where the text is empty."""
    if not text:
        return math.inf
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise ValueError(f"SECONDS={text!r}: give a number above 0, such as SECONDS=20, or leave it out")
    return seconds


def _run(seconds: float, console: Console) -> None:
    began, until = datetime.now(UTC), time.monotonic() + seconds
    app.list()  # opens the database, which makes it where there is none yet
    ledger, news = Ledger(folders.DATABASE), News(app)
    absence = Absence.look(app, ledger, began)
    view: View = Board(app, ledger, console, until) if console.is_terminal else Plain()
    news.end_on_signals()
    app.start()
    try:
        _catch_up(absence, time.monotonic() + PATIENCE)
        view.begin(list(absence.told(ledger)))
        _show(view, news, ledger, until)
        view.ending()
    finally:
        app.stop()
    _show_rest(view, news, ledger)
    view.end()
    summary.show(ledger, began, datetime.now(UTC), console)
    ledger.close()
    app.close()


def _catch_up(absence: Absence, until: float) -> None:
    """Wait until the worker has decided on what came due while none was here."""
    while not absence.caught_up(app) and time.monotonic() < until:
        time.sleep(0.02)


def _show(view: View, news: News, ledger: Ledger, until: float) -> None:
    while (left := until - time.monotonic()) > 0:
        piece = news.next(min(left, OFTEN), ledger)
        if isinstance(piece, Ended):
            return
        if piece is None:
            view.draw()
        else:
            view.show(piece)


def _show_rest(view: View, news: News, ledger: Ledger) -> None:
    while (piece := news.next(0.0, ledger)) is not None:
        if isinstance(piece, Line):
            view.show(piece)


if __name__ == "__main__":
    sys.exit(main())
