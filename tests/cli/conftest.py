"""What the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.terminal import SHOP, Terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A terminal in an empty folder; no app is named."""
    return Terminal(tmp_path)


@pytest.fixture
def shop(tmp_path: Path) -> Terminal:
    """A terminal whose app is the shop, which has registered its schedule."""
    terminal = Terminal(tmp_path, SHOP)
    with terminal.app() as app:
        from tests.cli.shop import register

        register()
        assert [schedule.id for schedule in app.list()] == ["daily-report"]
    return terminal
