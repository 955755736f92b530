"""The parent of all errors, and how they quote a value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager


class RotaError(Exception):
    """The parent of all errors that rota raises."""


def shown(value: object, limit: int = 80) -> str:
    """`value` as an error text quotes it: its repr, cut where it is long."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}… ({len(text):,} characters)"


def hidden(url: str) -> str:
    """`url` without its password, wherever in it that stands."""
    scheme, found, rest = url.partition("://")
    if not found:
        return url
    who, at, where = rest.rpartition("@")
    user = who.partition(":")[0]
    shown_as = f"{scheme}://{user}:***@{where}" if ":" in who else url
    return re.sub(r"(?i)([?&;]\w*password=)[^&]*", r"\1***", shown_as if at else url)


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Add to an error of ours, as a note, what it is about: with thirty schedules one wants to know which."""
    try:
        yield
    except RotaError as error:
        if what not in getattr(error, "__notes__", ()):
            error.add_note(what)
        raise
