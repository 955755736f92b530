"""The statements of `rota_queues`."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, func, literal_column, select, update

from rota.queue import Queue
from rota.store.batch import Batch, insert
from rota.store.tables import queues, runs
from rota.store.wake import wake

_new = Batch(queues)
_put = insert(queues).from_select(_new.names, _new.select())
_ensure = _put.on_conflict_do_nothing(index_elements=[queues.c.name])
_all = select(*queues.c).order_by(queues.c.name)
_locked = select(*queues.c).where(queues.c.name == bindparam("line")).with_for_update()
_change = (
    update(queues)
    .where(queues.c.name == _new.c.name)
    .values({queues.c[name]: _new.c[name] for name in ("concurrency", "max_running", "paused")})
)
_running = select(func.count()).where(runs.c.queue == bindparam("line"), runs.c.state == literal_column("'running'"))


def ensure(connection: Connection, names: Iterable[str]) -> None:
    """Insert the queues that are missing; those that are there keep what operators gave them."""
    connection.execute(_ensure, _new.rows(Queue(name) for name in sorted(names)))


def listing(connection: Connection) -> list[Queue]:
    return [Queue(*row) for row in connection.execute(_all)]


def locked(connection: Connection, name: str) -> Queue | None:
    """One of them, its row locked."""
    row = connection.execute(_locked, {"line": name}).one_or_none()
    return None if row is None else Queue(*row)


def change(connection: Connection, changed: Queue) -> None:
    """Write what it allows from now on."""
    connection.execute(_change, _new.rows([changed]))
    wake(connection)


def room(connection: Connection, name: str) -> int | None:
    """How many more of its runs may be claimed, where it has a limit over all workers; None: it has none any more.

    Until the transaction ends no one else claims from it: so the limit is exact, however many ask at once.
    """
    queue = locked(connection, name)
    if queue is None or queue.max_running is None:
        return None
    return max(0, queue.max_running - connection.execute(_running, {"line": name}).scalar_one())
