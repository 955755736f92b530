"""For your tests: a Harness with a clock that stands still, and a pytest plugin with the fixture `rota_env`."""

from __future__ import annotations

from rota.testing.clock import FakeClock
from rota.testing.harness import Harness

__all__ = ["FakeClock", "Harness"]
