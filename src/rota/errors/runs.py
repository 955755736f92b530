"""Errors of runs and queues."""

from __future__ import annotations

from collections.abc import Iterable

from rota.errors.base import RotaError, shown


class RunError(RotaError):
    """A run that cannot be made or found."""


class RunNotFound(RunError, LookupError):
    """No run has that id."""

    def __init__(self, run_id: int) -> None:
        super().__init__(f"no run has the id {run_id} (`rota job execution list` shows them)")


class RunFinished(RunError):
    """It has ended, and can be cancelled no more."""

    def __init__(self, run_id: int, state: str) -> None:
        super().__init__(f"run {run_id} has ended already, it is {state}: there is nothing to cancel")


class RunNotFailed(RunError):
    """Only a failed run can be tried again."""

    def __init__(self, run_id: int, state: str) -> None:
        super().__init__(f"run {run_id} is {state}, and only a failed run can be retried: enqueue a new one instead")


class OptionInvalid(RunError, ValueError):
    """An option of a job or a run that makes no sense."""

    def __init__(self, name: str, value: object, problem: str) -> None:
        super().__init__(f"{name}={shown(value)}: {problem}")


class QueueUnknown(RunError, LookupError):
    """No queue has that name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"no queue has the name {shown(name)}; there are: {', '.join(sorted(known)) or 'none'}")


class NoCurrentRun(RunError, LookupError):
    """current_run() was called outside a handler."""

    def __init__(self) -> None:
        super().__init__("there is no current run: current_run() is for handlers that a worker calls")
