"""rota: a durable scheduler. Say what should happen and when; it happens exactly once per slot.

The public names are loaded when they are first used, so that a small command does not pay for a large package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rota import errors, events, testing
    from rota.app import App
    from rota.cadence import Cadence
    from rota.current import CurrentRun, current_run
    from rota.engine.options import WorkerOptions
    from rota.engine.worker import Worker
    from rota.errors import RotaError
    from rota.fire import Fire
    from rota.job import Job, Job0
    from rota.miss import Miss
    from rota.queue import Queue
    from rota.retry import Retry
    from rota.run import Run
    from rota.schedule import Schedule
    from rota.stats import Stats

__all__ = [
    "App",
    "Cadence",
    "CurrentRun",
    "Fire",
    "Job",
    "Job0",
    "Miss",
    "Queue",
    "Retry",
    "RotaError",
    "Run",
    "Schedule",
    "Stats",
    "Worker",
    "WorkerOptions",
    "current_run",
    "errors",
    "events",
    "testing",
]

_MODULES = {"errors", "events", "testing"}
_HOMES = {
    "App": "app",
    "Cadence": "cadence",
    "CurrentRun": "current",
    "Fire": "fire",
    "Job": "job",
    "Job0": "job",
    "Miss": "miss",
    "Queue": "queue",
    "Retry": "retry",
    "RotaError": "errors",
    "Run": "run",
    "Schedule": "schedule",
    "Stats": "stats",
    "Worker": "engine.worker",
    "WorkerOptions": "engine.options",
    "current_run": "current",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"rota.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'rota' has no attribute {name!r}")
    value = getattr(import_module(f"rota.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
