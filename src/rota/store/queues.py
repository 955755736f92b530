"""The statements of `rota_queues`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, select

from rota.store.batch import Batch, insert
from rota.store.tables import queues

CONCURRENCY = 4  # of a queue that no one has said anything about

_new = Batch(queues)
_put = insert(queues).from_select(_new.names, _new.select())
_ensure = _put.on_conflict_do_nothing(index_elements=[queues.c.name])
_all = select(*queues.c).order_by(queues.c.name)


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One row of `rota_queues`."""

    name: str
    concurrency: int
    """How many of its runs one worker has running at a time."""
    max_running: int | None
    paused: bool


def ensure(connection: Connection, names: Iterable[str]) -> None:
    """Insert the queues that are missing; those that are there keep what operators gave them."""
    connection.execute(_ensure, _new.rows(QueueRow(name, CONCURRENCY, None, False) for name in sorted(names)))


def listing(connection: Connection) -> list[QueueRow]:
    return [QueueRow(*row) for row in connection.execute(_all)]
