"""Errors of schedules."""

from __future__ import annotations

from datetime import datetime

from rota.errors.base import RotaError, shown


class ScheduleError(RotaError):
    """A schedule that cannot be registered, or cannot be used as asked."""


class ScheduleNotFound(ScheduleError, LookupError):
    """No schedule has that id."""

    def __init__(self, schedule_id: str) -> None:
        super().__init__(f"no schedule has the id {shown(schedule_id)} (`rota schedules` lists them)")


class ScheduleIdInvalid(ScheduleError, ValueError):
    """An id that cannot be stored or shown on one line."""

    def __init__(self, schedule_id: object, problem: str) -> None:
        super().__init__(f"schedule id {shown(schedule_id)}: {problem}")


class ScheduleInvalid(ScheduleError, ValueError):
    """A schedule's option that makes no sense."""

    def __init__(self, name: str, value: object, problem: str) -> None:
        super().__init__(f"schedule option {name}={shown(value)}: {problem}")


class ScheduleOwned(ScheduleError):
    """The id belongs to another source: code does not overwrite what a file or the studio owns."""

    def __init__(self, schedule_id: str, owner: str, source: str) -> None:
        super().__init__(
            f"schedule {schedule_id!r} is owned by {owner}, and {source} may not change it: choose another id, "
            f"or remove it from its {owner} first"
        )


class ScheduleRetired(ScheduleError):
    """The schedule is gone from its file or plan."""

    def __init__(self, schedule_id: str) -> None:
        super().__init__(f"schedule {schedule_id!r} is retired: put it back where it was declared, then use it")


class ScheduleFinished(ScheduleError):
    """The schedule has no slot left."""

    def __init__(self, schedule_id: str) -> None:
        super().__init__(f"schedule {schedule_id!r} is finished, it has no slot left: use `enqueue` for an extra run")


class SlotFired(ScheduleError):
    """The slot was fired long ago, and its run is forgotten."""

    def __init__(self, schedule_id: str, slot: datetime, run_id: int) -> None:
        super().__init__(
            f"schedule {schedule_id!r}: its slot {slot:%Y-%m-%dT%H:%M:%SZ} was fired as run {run_id}, "
            "which is pruned by now: use `enqueue` for an extra run"
        )
