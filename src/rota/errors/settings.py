"""Errors of settings, and of finding, starting and testing an app."""

from __future__ import annotations

from collections.abc import Iterable

from rota.errors.base import RotaError, shown


class SettingInvalid(RotaError, ValueError):
    """A setting that makes no sense, or that no one knows."""

    def __init__(self, place: str, value: object, problem: str) -> None:
        super().__init__(f"{place} = {shown(value)}: {problem}")


class AppNotFound(RotaError, LookupError):
    """No app is named, or what is named is none."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"{problem}: name the app as module:attribute, with --app, ROTA_APP, "
            "or `app` under [tool.rota] in pyproject.toml"
        )


class AppRunning(RotaError):
    """start() was called twice."""

    def __init__(self) -> None:
        super().__init__("this app runs a worker already: call stop() first")


class StoppedFromWithin(RotaError):
    """stop() was called on the worker's own thread, by a listener to its events, say: it would wait for itself."""

    def __init__(self) -> None:
        super().__init__("a worker cannot be stopped on its own thread: have a listener tell another thread to do it")


class NotIdle(RotaError, TimeoutError):
    """`run_until_idle` waited, and something is still pending."""

    def __init__(self, seconds: float, pending: Iterable[str]) -> None:
        super().__init__(f"not idle after {seconds:g} s; still pending: " + "; ".join(pending))
