"""Errors of the database."""

from __future__ import annotations

from rota.errors.base import RotaError, hidden


class StoreError(RotaError):
    """The database cannot be used as asked."""


class DatabaseUnusable(StoreError):
    """The URL or the file is not a database rota can use."""

    def __init__(self, url: str, problem: str) -> None:
        super().__init__(f"database {hidden(url)}: {problem}")


class DatabaseReadOnly(StoreError, PermissionError):
    """The database can be read, but not written."""

    def __init__(self, url: str, remedy: str) -> None:
        super().__init__(f"database {hidden(url)} is read-only: {remedy}")


class DatabaseUnreachable(StoreError, ConnectionError):
    """The database does not answer, or the connection broke: passing trouble, worth another try."""

    def __init__(self, url: str, problem: str) -> None:
        super().__init__(f"database {hidden(url)} cannot be reached: {problem}")


class DatabaseBusy(StoreError, TimeoutError):
    """Another transaction was in the way, for too long or for good: passing trouble, worth another try."""

    def __init__(self, url: str, problem: str) -> None:
        super().__init__(f"database {hidden(url)}: {problem}")


class SchemaNewer(StoreError):
    """The tables are newer than this build."""

    def __init__(self, url: str, found: int, known: int) -> None:
        super().__init__(
            f"database {hidden(url)} has schema version {found}, and this build knows versions up to {known}: "
            "install the newer rota, or name another database"
        )


class SchemaOutdated(StoreError):
    """The tables are missing, or older than this build."""

    def __init__(self, url: str, found: int, known: int) -> None:
        what = f"has schema version {found}, and this build needs {known}" if found else "holds no rota's tables yet"
        super().__init__(f"database {hidden(url)} {what}: run `rota db migrate`")


class ConnectionUnusable(StoreError, TypeError):
    """`within` was given what it cannot work in."""

    def __init__(self, connection: object, problem: str) -> None:
        super().__init__(f"within({type(connection).__name__}): {problem}")


class TransactionStale(StoreError):
    """A SQLite transaction that has read before someone else committed may write no more."""

    def __init__(self) -> None:
        super().__init__(
            "this transaction has read, and another has committed since, so SQLite lets it write no more: "
            "roll back, and begin with BEGIN IMMEDIATE"
        )


class TransactionOpen(StoreError):
    """A verb of the app was called inside a transaction of the same thread."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"database {hidden(url)}: this thread is inside a transaction already, and would wait for itself: "
            "inside `with app.transaction() as tx:` use the verbs of tx"
        )


class TransactionOver(StoreError):
    """A verb of a transaction that has ended, or in which a registration has failed."""

    def __init__(self, *, failed: bool) -> None:
        why = "a registration in it has failed, so nothing of it is committed" if failed else "its block has ended"
        super().__init__(f"this transaction is over, {why}: begin another one with app.transaction()")
