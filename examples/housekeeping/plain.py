"""Plain lines: the news as it comes, for a log file or a pipe."""

from __future__ import annotations

from collections.abc import Iterable

from examples.housekeeping.news import Line


class Plain:
    """Prints a line for each piece of news."""

    def begin(self, told: Iterable[str]) -> None:
        for line in told:
            print(line, flush=True)

    def show(self, line: Line) -> None:
        print(f"{line.at:%H:%M:%S}  {line.what:<9}  {line.who:<16}  {line.detail}", flush=True)

    def draw(self) -> None:
        """Nothing stands still here, so there is nothing to draw anew."""

    def ending(self) -> None:
        print("ending: what runs may come to its end", flush=True)

    def end(self) -> None:
        """Nothing to put away."""
