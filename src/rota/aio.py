"""`app.aio`: the verbs for async applications. Each is the plain one, called on a thread; there is no second copy."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from rota.engine.options import WorkerOptions
from rota.engine.worker import Worker
from rota.store.foreign_async import lent
from rota.verbs import Verbs

P = ParamSpec("P")
T = TypeVar("T")


class Host(Protocol):
    """App, as far as it is more than its verbs here."""

    def start(self, options: WorkerOptions | None = None) -> Worker: ...
    def stop(self) -> None: ...
    def home(self) -> object: ...
    def within(self, connection: object) -> Verbs: ...


def awaitable(
    verb: Callable[Concatenate[Verbs, P], T],
) -> Callable[Concatenate[AsyncVerbs, P], Coroutine[Any, Any, T]]:
    """The verb as a coroutine function, with the same arguments, overloads and docstring."""

    @wraps(verb)
    async def awaited(self: AsyncVerbs, /, *args: P.args, **options: P.kwargs) -> T:
        return await self._do(lambda verbs: verb(verbs, *args, **options))

    return awaited


class AsyncVerbs(ABC):
    """The verbs, each to be awaited."""

    @abstractmethod
    async def _do(self, call: Callable[[Any], T]) -> T:
        """What `call` returns, given something that has the plain verbs."""

    schedule = awaitable(Verbs.schedule)
    pause = awaitable(Verbs.pause)
    resume = awaitable(Verbs.resume)
    trigger = awaitable(Verbs.trigger)
    get = awaitable(Verbs.get)
    list = awaitable(Verbs.list)
    enqueue = awaitable(Verbs.enqueue)
    enqueue_text = awaitable(Verbs.enqueue_text)
    enqueue_many = awaitable(Verbs.enqueue_many)
    cancel = awaitable(Verbs.cancel)
    retry = awaitable(Verbs.retry)
    stats = awaitable(Verbs.stats)
    queues = awaitable(Verbs.queues)
    limit_queue = awaitable(Verbs.limit_queue)
    pause_queue = awaitable(Verbs.pause_queue)
    resume_queue = awaitable(Verbs.resume_queue)


class Aio(AsyncVerbs):
    """What `app.aio` is: every verb of the app, and its worker, without holding up the event loop.

    A thread cannot be cancelled. Where a task is, while it awaits a verb, the verb comes to its end all the same.

    >>> run = await app.aio.enqueue(report, Period("now"))
    """

    def __init__(self, app: Host) -> None:
        self._app = app

    async def _do(self, call: Callable[[Any], T]) -> T:
        return await asyncio.to_thread(call, self._app)

    async def start(self, options: WorkerOptions | None = None) -> Worker:
        """As `app.start`: run a worker on threads of this process, until `stop`."""
        return await asyncio.to_thread(self._app.start, options)

    async def stop(self) -> None:
        """As `app.stop`: claim no more, let what runs end, give the rest back."""
        await asyncio.to_thread(self._app.stop)

    @asynccontextmanager
    async def running(self, options: WorkerOptions | None = None) -> AsyncIterator[Worker]:
        """A worker in this process for as long as the `async with` block lasts."""
        starting = asyncio.ensure_future(self.start(options))
        try:
            yield await asyncio.shield(starting)
        finally:
            await asyncio.wait([starting])  # one that was cancelled on the way comes up nevertheless
            if starting.exception() is None:
                await self.stop()

    @asynccontextmanager
    async def lifespan(self, asgi: object) -> AsyncIterator[None]:  # noqa: ARG002
        """`running`, as ASGI applications take it; where you have a lifespan of your own, use `running` in it.

        >>> api = FastAPI(lifespan=app.aio.lifespan)
        """
        async with self.running():
            yield

    def within(self, connection: object) -> AsyncWithin:
        """Every verb in your own transaction, as `app.within`: it commits with yours, or not at all.

        Args:
            connection: to the app's own database: an AsyncConnection or AsyncSession of SQLAlchemy, or a connection of
                psycopg (an AsyncConnection), asyncpg or aiosqlite. Nothing of it is committed, rolled back or closed.

        Raises:
            ConnectionUnusable, TransactionStale: by its verbs, as those of `app.within`.

        >>> async with AsyncSession(engine) as session, session.begin():
        ...     session.add(Report(name="daily"))
        ...     await app.aio.within(session).schedule(report, "@daily", Period("day"), id="daily-report")
        """
        return AsyncWithin(self._app, connection)


class AsyncWithin(AsyncVerbs):
    """What `app.aio.within(connection)` gives: every verb in the caller's own transaction, each to be awaited."""

    def __init__(self, app: Host, theirs: object) -> None:
        self._app, self._theirs = app, theirs

    async def _do(self, call: Callable[[Any], T]) -> T:
        await asyncio.to_thread(self._app.home)  # opens the app's database where that has not been done
        return await lent(self._theirs, lambda plain: call(self._app.within(plain)))
