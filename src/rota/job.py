"""Job: named code this process can run; and Jobs, the ones this process has."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any, Generic, Literal, Protocol, TypeVar, overload

from rota.errors import HandlerInvalid, JobNameInvalid, JobNameTaken, JobNotRegistered, OptionInvalid
from rota.handler import is_async, place, signature
from rota.payload import Codec, readable
from rota.retry import Retry
from rota.terms import Terms

Kind = Literal["step", "action", "workflow", "command", "call"]

I = TypeVar("I")  # noqa: E741 - input, output and what a plain call returns: the three letters of the public types
O = TypeVar("O")  # noqa: E741
R = TypeVar("R")


@dataclass(frozen=True, eq=False, repr=False)
class AnyJob:
    """What every job has. `Job` takes one input, `Job0` none."""

    name: str
    kind: Kind
    handler: Callable[..., Any]
    input: Codec[Any] | None
    output: Codec[Any]
    queue: str = "default"
    timeout: timedelta | None = None
    retry: Retry = field(default_factory=lambda: Retry(1))
    label: str | None = None
    description: str | None = None
    is_async: bool = False

    @property
    def app(self) -> str | None:
        """The app of a name such as `sales/send-report`; None where the name has none."""
        app, slash, _ = self.name.partition("/")
        return app if slash else None

    @cached_property
    def terms(self) -> Terms:
        """What it says of its runs."""
        return Terms(self.name, self.kind, self.queue, self.retry.attempts, self.retry.text, self.timeout)

    def encode(self, given: tuple[object, ...]) -> str | None:
        """The input of a run, given as no value or one, as JSON text.

        Raises:
            PayloadError: it does not fit the handler's type, or cannot be kept.
            HandlerInvalid: a value for a job without input, or none for one that needs it.
        """
        if self.input is None:
            if given:
                raise HandlerInvalid(self.name, f"it takes no input, and {given[0]!r:.80} was given")
            return None
        if not given:
            raise HandlerInvalid(self.name, "it needs an input, and none was given")
        return self.input.encode(given[0], "input")

    def parse(self, text: str | None) -> str | None:
        """The input of a run, given as the JSON text that a person typed; raises as `encode` does."""
        if self.input is None or text is None:
            return self.encode(() if text is None else (text,))
        return self.input.parse(text, "input")

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name!r}>"


class Job(AnyJob, Generic[I, O, R]):
    """A job that takes one input. Called, it is the plain function it was."""

    def __call__(self, input: I, /) -> R:  # noqa: A002
        result: R = self.handler(input)
        return result


class Job0(AnyJob, Generic[O, R]):
    """A job that takes no input. Called, it is the plain function it was."""

    def __call__(self) -> R:
        result: R = self.handler()
        return result


class StepDecorator(Protocol):
    """What `@step()` makes of a handler: no input before one, coroutine before plain."""

    @overload
    def __call__(self, handler: Callable[[], Coroutine[Any, Any, O]], /) -> Job0[O, Coroutine[Any, Any, O]]: ...
    @overload
    def __call__(self, handler: Callable[[], O], /) -> Job0[O, O]: ...
    @overload
    def __call__(self, handler: Callable[[I], Coroutine[Any, Any, O]], /) -> Job[I, O, Coroutine[Any, Any, O]]: ...
    @overload
    def __call__(self, handler: Callable[[I], O], /) -> Job[I, O, O]: ...


class ActionDecorator(Protocol):
    """What `@action()` makes of a handler that returns nothing."""

    @overload
    def __call__(
        self, handler: Callable[[], Coroutine[Any, Any, None]], /
    ) -> Job0[None, Coroutine[Any, Any, None]]: ...
    @overload
    def __call__(self, handler: Callable[[], None], /) -> Job0[None, None]: ...
    @overload
    def __call__(
        self, handler: Callable[[I], Coroutine[Any, Any, None]], /
    ) -> Job[I, None, Coroutine[Any, Any, None]]: ...
    @overload
    def __call__(self, handler: Callable[[I], None], /) -> Job[I, None, None]: ...


class Jobs:
    """The jobs that this process can run, by name."""

    def __init__(self) -> None:
        self._jobs: dict[str, AnyJob] = {}
        self.names: tuple[str, ...] = ()

    def add(
        self, handler: Callable[..., Any], kind: Kind, name: str | None, *, system: bool = False, **options: Any
    ) -> Any:
        """Make a job of `handler` and keep it; names that begin with `rota/` are for the system's own.

        Raises:
            HandlerInvalid: the handler takes more than one input, or its annotations cannot be read.
            JobNameInvalid, JobNameTaken: its name cannot be stored, or another job has it.
            OptionInvalid: a queue, timeout or retry that makes no sense.
        """
        job = _job_of(handler, kind, name, **options)
        if job.name.startswith("rota/") and not system:
            raise JobNameInvalid(job.name, "names that begin with 'rota/' are for rota's own jobs")
        if (other := self._jobs.get(job.name)) is not None:
            raise JobNameTaken(job.name, place(other.handler), place(handler))
        self._jobs[job.name] = job
        self.names = tuple(sorted(self._jobs))
        return job

    def resolve(self, job: object) -> AnyJob:
        """The job meant by `job`, given as itself or by its name.

        Raises:
            JobNotRegistered: this app has no such job.
        """
        name = job.name if isinstance(job, AnyJob) else job
        found = self._jobs.get(name) if isinstance(name, str) else None
        if found is None or (isinstance(job, AnyJob) and found is not job):
            raise JobNotRegistered(job if isinstance(job, (str, AnyJob)) else getattr(job, "__qualname__", job))
        return found

    def get(self, name: str) -> AnyJob | None:
        return self._jobs.get(name)

    def __iter__(self) -> Iterator[AnyJob]:
        return iter(self._jobs.values())

    def __len__(self) -> int:
        return len(self._jobs)


def _job_of(
    handler: Callable[..., Any],
    kind: Kind,
    name: str | None,
    *,
    queue: str = "default",
    timeout: timedelta | None = None,
    max_attempts: int | None = None,
    retry: Retry | None = None,
    label: str | None = None,
    description: str | None = None,
) -> AnyJob:
    if not callable(handler):
        raise HandlerInvalid(repr(handler), "it is no function; decorators take parentheses, such as @app.step()")
    name = _checked_name(name if name is not None else getattr(handler, "__name__", ""))
    parameter, returns = signature(handler, name)
    made: type[Job[Any, Any, Any]] | type[Job0[Any, Any]] = Job0 if parameter is None else Job
    return made(
        name=name,
        kind=kind,
        handler=handler,
        input=None if parameter is None else Codec(parameter.annotation),
        output=Codec(None if kind == "action" else returns),
        queue=_checked_queue(queue),
        timeout=_checked_timeout(timeout),
        retry=_retry_of(max_attempts, retry),
        label=_checked_words("label", label),
        description=_checked_words("description", description),
        is_async=is_async(handler),
    )


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not name.strip() or name != name.strip() or len(name) > 255:
        raise JobNameInvalid(name, "give 1 to 255 characters, without blanks around them")
    if name == "<lambda>":
        raise JobNameInvalid(name, "a lambda has no name of its own: give one with `name=`")
    if not name.isprintable():
        raise JobNameInvalid(name, "it has a character that cannot be shown (a line break, say)")
    return name


def _checked_queue(queue: object) -> str:
    if not isinstance(queue, str) or not queue.strip() or not queue.isprintable() or len(queue) > 255:
        raise OptionInvalid("queue", queue, "give a name of 1 to 255 printable characters")
    return queue


def _checked_timeout(timeout: timedelta | None) -> timedelta | None:
    if timeout is not None and (not isinstance(timeout, timedelta) or timeout <= timedelta(0)):
        raise OptionInvalid("timeout", timeout, "give a positive timedelta, such as timedelta(minutes=10)")
    return timeout


def _checked_words(name: str, text: str | None) -> str | None:
    if text is not None and (not isinstance(text, str) or readable(text) != text):
        raise OptionInvalid(name, text, "give a text without NUL and lone surrogates")
    return text


def _retry_of(max_attempts: int | None, retry: Retry | None) -> Retry:
    if retry is not None and max_attempts is not None:
        raise OptionInvalid("max_attempts", max_attempts, "it is short for retry=Retry(attempts): give one of the two")
    if retry is not None:
        if not isinstance(retry, Retry):
            raise OptionInvalid(
                "retry", retry, "give a rota.Retry, such as Retry(3); for attempts alone, max_attempts=3"
            )
        return retry
    return Retry(1 if max_attempts is None else max_attempts)
