"""Opening: how a verb comes to its connection. An app opens a transaction for each, a transaction has one for all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from sqlalchemy import Connection

from rota.author import Author
from rota.job import AnyJob, Jobs


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

    def _news(self, job: AnyJob) -> list[AnyJob]:
        """The job, where its row may have to be brought up to date first; nothing where that has been done."""
        return [job]

    def _learned(self, jobs: list[AnyJob]) -> None:  # noqa: B027 - there is nothing to remember in a transaction
        """Their rows are up to date now, and committed."""

    @abstractmethod
    def _tell(self, told: Sequence[object]) -> None: ...
