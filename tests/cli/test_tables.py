"""Tables on a terminal: nothing is cut there either."""

from __future__ import annotations

import io
import os
import sys

import pytest

from rota.cli.tables import table

HEADINGS = ("ID", "NEXT_RUN_AT", "LAST_ERROR")
ROWS = [("daily-report", "2026-08-03T10:00:00Z", "no room [red] in the attic " * 4), ("b", None, None)]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, width: int) -> str:
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setitem(os.environ, "COLUMNS", str(width))
    monkeypatch.setitem(os.environ, "NO_COLOR", "1")
    table(HEADINGS, ROWS)
    return screen.getvalue()


@pytest.mark.parametrize("width", [20, 60, 80, 300])
def test_what_is_too_long_is_folded_and_never_cut(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    said = shown(monkeypatch, width)

    assert "2026-08-03T10:00:00Z" in said
    assert "…" not in said
    letters = "".join(line[line.index("Z") + 1 if "Z" in line else 0 :] for line in said.splitlines()[1:])
    assert "".join(letters.split()).startswith("noroom[red]intheattic")
    assert said.count("attic") <= 4


def test_a_wide_one_has_a_line_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(shown(monkeypatch, 300).splitlines()) == 3
