"""The pytest plugin: `rota_env`, a Harness around the app that the settings name, or that you give as `rota_app`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rota.app import App
    from rota.testing.harness import Harness


@pytest.fixture
def rota_app() -> App:
    """The app under test; define a fixture of this name to give another than the settings name."""
    from rota.finding import find_app

    return find_app()


@pytest.fixture
def rota_env(rota_app: App) -> Iterator[Harness]:
    """A Harness around `rota_app`."""
    from rota.testing.harness import Harness

    with Harness(rota_app) as env:
        yield env
