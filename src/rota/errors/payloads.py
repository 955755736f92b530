"""Errors of inputs and results."""

from __future__ import annotations

from collections.abc import Iterable

from rota.errors.base import RotaError


class PayloadError(RotaError, ValueError):
    """An input or a result that rota cannot keep as JSON, or that does not fit its type."""


class PayloadMismatch(PayloadError):
    """A value that does not fit the declared type."""

    def __init__(self, what: str, problems: Iterable[tuple[str, str]]) -> None:
        lines = [f"{place}: {problem}" for place, problem in problems]
        super().__init__(f"{what} does not fit its type: " + "; ".join(lines))


class PayloadNotJson(PayloadError):
    """A value that JSON, or one of the databases, cannot hold."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}")


class PayloadTooLarge(PayloadError):
    """More than 1 MiB of JSON."""

    def __init__(self, what: str, size: int, limit: int, at_least: bool = False) -> None:
        super().__init__(
            f"{what} is {'at least ' if at_least else ''}{size:,} bytes of JSON, and {limit:,} is the limit: "
            "keep the data in a file or a table and hand over where it is"
        )
