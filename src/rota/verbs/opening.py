"""Opening: how a verb comes to its connection. An app opens a transaction for each, a transaction has one for all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from sqlalchemy import Connection

from rota.job import Jobs
from rota.store.audit import Author


class Opening(ABC):
    """What the verbs ask of the class that has them."""

    jobs: Jobs
    author: Author

    @abstractmethod
    def _now(self) -> datetime: ...

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Connection]: ...

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Connection]: ...

    def _seen_slot(self, schedule_id: str) -> datetime | None:  # noqa: ARG002
        """The pending slot as the caller sees it; None: in its own transaction, what the locked row shows is that."""
        return None

    @abstractmethod
    def _tell(self, told: Sequence[object]) -> None: ...
