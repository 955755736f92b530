"""Errors of jobs and their handlers."""

from __future__ import annotations

from rota.errors.base import RotaError, shown


class JobError(RotaError):
    """A job that cannot be registered, or cannot be used as asked."""


class HandlerInvalid(JobError, TypeError):
    """A function that cannot be a handler."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"handler {name}: {problem}")


class JobNameInvalid(JobError, ValueError):
    """A job's name that cannot be stored or shown."""

    def __init__(self, name: object, problem: str) -> None:
        super().__init__(f"job name {shown(name)}: {problem}")


class JobNameTaken(JobError, ValueError):
    """Two jobs of one name in one app."""

    def __init__(self, name: str, first: str, second: str) -> None:
        super().__init__(
            f"job name {name!r} is taken by {first}, and {second} asks for it too: give one of them another `name=`"
        )


class JobNotRegistered(JobError, LookupError):
    """A job that this app has not registered."""

    def __init__(self, job: object) -> None:
        super().__init__(
            f"{shown(job)} is not a job of this app: decorate its function with @app.step() or @app.action() first"
        )


class JobUnknown(JobError, LookupError):
    """No worker has ever said that it can run such a job."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no job has the name {shown(name)} (`rota job list` shows those that workers have said they run)"
        )


class JobDisabled(JobError):
    """A job that an operator has disabled."""

    def __init__(self, name: str) -> None:
        super().__init__(f"job {name} is disabled (`rota job enable {name}` brings it back)")
