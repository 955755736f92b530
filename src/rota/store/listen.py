"""Listening on PostgreSQL: who commits work for others says so, and idle workers hear it at once.

A notification is a fast path and nothing more: what is to be done stands in the tables, and a worker that hears
nothing finds it at the next poll.
"""

from __future__ import annotations

import logging
import selectors
import socket
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from rota.store.wake import CHANNEL

logger = logging.getLogger("rota")

BACK_OFF = (0.25, 4.0)  # seconds: the first and the longest wait before a lost connection is made anew
CHECK = 20.0  # seconds of silence, after which the line is tried: a dead one does not say that it is


class Listener:
    """Calls `wake` when someone has committed work; and after it was deaf for a while, for it may have missed that."""

    interval = None
    """It wakes by itself, and need not be asked."""

    def __init__(self, connect: Callable[[], psycopg.Connection[Any]], wake: Callable[[], None]) -> None:
        self._connect, self._wake = connect, wake
        self._ending = Event()
        self._end, self._ended = socket.socketpair()
        self._thread = Thread(target=self._listen_on, name="rota-listener", daemon=True)
        self._thread.start()

    def changed(self) -> bool:
        return False

    def close(self) -> None:
        self._ending.set()
        self._end.close()
        self._thread.join(CHECK)
        self._ended.close()

    def _listen_on(self) -> None:
        troubles = 0
        while not self._ending.is_set():
            try:
                with self._connect() as connection:
                    _listen(connection)
                    troubles = 0
                    self._wake()
                    self._hear(connection)
            except Exception as error:  # noqa: BLE001 - whatever it is, the poll goes on meanwhile
                seconds = min(BACK_OFF[1], BACK_OFF[0] * 2**troubles)
                troubles += 1
                text = "lost the connection that listens (%s); next try in %.2g s, till then work is found by polling"
                logger.warning(text, " ".join(str(error).split()), seconds)
                self._ending.wait(seconds)

    def _hear(self, connection: psycopg.Connection[Any]) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(connection.fileno(), selectors.EVENT_READ)
            selector.register(self._ended, selectors.EVENT_READ)
            while not self._ending.is_set():
                if not selector.select(CHECK):
                    connection.execute("select 1")
                if not self._ending.is_set() and list(connection.notifies(timeout=0)):  # also what came with the check
                    self._wake()


def _listen(connection: psycopg.Connection[Any]) -> None:
    (table,) = connection.execute("select to_regclass('rota_schedules')::oid").fetchone() or (None,)
    connection.execute(SQL("listen {}").format(Identifier(f"{CHANNEL}{table}")))
