"""Places: the parts of a payload, and the way to each, as errors name them: `input.rows[0].n`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple

from rota.errors import PayloadNotJson, PayloadTooLarge, shown

LIMIT = 1_048_576
"""The most bytes of JSON, in UTF-8, that one payload may take."""

DEPTH = 100
"""The most levels of containers in a payload: half of what pydantic's parser takes."""

UNKEEPABLE = re.compile("[\0\ud800-\udfff]")
"""What one database or the other refuses in a text."""

REMEDY = "annotate it with a type that says so, or convert it to text, numbers, lists and dicts"


class Part(NamedTuple):
    """A value inside a payload, and the way to it. At the top the key is the payload's name."""

    value: Any
    key: Any
    parent: Part | None = None
    depth: int = 0

    def parts(self) -> list[Part]:
        """What it holds; nothing for a value that is one to us."""
        inside = _inside(type(self.value))
        return [Part(child, key, self, self.depth + 1) for key, child in inside(self.value)] if inside else []

    def walk(self) -> Iterator[Part]:
        """It and every part of it, in reading order."""
        stack = [self]
        while stack:
            part = stack.pop()
            yield part
            stack += part.parts()[::-1]

    def place(self) -> str:
        """The way to it, as text."""
        top, *steps = self.path()
        return str(top.key) + "".join(_step(part.key) for part in steps[:12]) + ("…" if len(steps) > 12 else "")

    def path(self) -> list[Part]:
        """The parts on the way to it, from the top."""
        path = [self]
        while path[-1].parent is not None:
            path.append(path[-1].parent)
        return path[::-1]


def _step(key: object) -> str:
    if key is ...:  # a member of a set has no place of its own
        return ""
    return f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{shown(key)}]"


Lister = Callable[[Any], Iterable[tuple[Any, Any]]]


def _lister(cls: type) -> Lister | None:
    """How to list what a value of this type holds, with keys; None for a type without parts."""
    if issubclass(cls, dict):
        return dict.items
    if issubclass(cls, list | tuple):
        return enumerate
    if issubclass(cls, set | frozenset):
        return lambda members: [(..., member) for member in members]
    if is_dataclass(cls):
        names = [field.name for field in fields(cls) if field.compare]
        return lambda record: [(name, getattr(record, name, None)) for name in names]
    return _inside_model if hasattr(cls, "__pydantic_validator__") else None


_inside: Callable[[type], Lister | None] = lru_cache(maxsize=1024)(_lister)


def _inside_model(model: Any) -> list[tuple[str, Any]]:
    held = {name: getattr(model, name, None) for name in type(model).model_fields}
    return list((held | (model.model_extra or {}) | (model.__pydantic_private__ or {})).items())


# ---- before it is written: size, depth, endless values ---------------------------------------------------------------


def survey(top: Part) -> None:
    """Refuse early what is far too big, too deep or endless.

    Raises:
        PayloadTooLarge, PayloadNotJson: so it is.
    """
    room = _room(top.value, LIMIT, DEPTH)
    if room == -math.inf:
        raise _too_deep(top)
    if room < 0:
        raise PayloadTooLarge(top.key, int(LIMIT - room), LIMIT, at_least=True)


def _room(value: Any, room: float, levels: int) -> float:
    """What is left of `room`, counting no more than the value's JSON will surely take; -inf where levels run out."""
    kind = type(value)
    if kind in _SMALL:
        return room
    inside = _inside(kind)
    if inside and levels == 0:
        return -math.inf
    if inside or issubclass(kind, _SIZED):
        room -= 2 + (len(value) if issubclass(kind, _SIZED) else 0)  # 2 for the quotes or brackets
    for _, part in inside(value) if inside else ():
        if room < 0:
            break
        room = _room(part, room, levels - 1)
    return room


def has_sets(value: Any) -> bool:
    """Whether a set is anywhere in it."""
    kind = type(value)
    if kind in _SMALL or kind is str:
        return False
    inside = _inside(kind)
    return inside is not None and (issubclass(kind, _SETS) or any(has_sets(part) for _, part in inside(value)))


_SMALL = frozenset({int, float, bool, type(None)})
_SETS = (set, frozenset)
_SIZED = (str, bytes, bytearray, list, tuple, dict, *_SETS)


def _too_deep(top: Part) -> PayloadNotJson:
    deep = next(part for part in top.walk() if part.depth == DEPTH and _inside(type(part.value)))
    seen: dict[int, Part] = {}
    for outer in deep.path():
        first = seen.setdefault(id(outer.value), outer)
        if first is not outer:
            return PayloadNotJson(outer.place(), f"is {first.place()} again, without end: hand over a value that ends")
    return PayloadNotJson(deep.place(), f"lies deeper than {DEPTH} levels: make it flatter, or hand over where it is")


# ---- what JSON or a database cannot hold -----------------------------------------------------------------------------


def first_fault(top: Part) -> PayloadNotJson | None:
    """The first part that JSON or one of the databases cannot hold."""
    for part in top.walk():
        fault = _fault(part.value) or (_fault(part.key) if part.parent else None)
        if fault:
            return PayloadNotJson(part.place(), fault)
    return None


def _fault(value: object) -> str | None:
    if isinstance(value, str) and (found := UNKEEPABLE.search(value)):
        name = "the character NUL" if found[0] == "\0" else "a lone surrogate, half a character"
        return f"{shown(value)} (str) holds {name}, which databases refuse: take it out"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value!r} (float) is not a number in JSON: hand over None or a text instead"
    if isinstance(value, int) and value.bit_length() > 14_000:  # what Python still reads: 4,300 digits
        return "an int of more than 4,300 digits cannot be read back: hand it over as a text"
    return None


def described(value: object) -> str:
    """A value and its type, as an error text has them."""
    return f"{shown(value, 40)} ({type(value).__name__})"


# ---- what came back different ----------------------------------------------------------------------------------------


def same(value: Any, back: Any) -> bool:
    """Whether `back`, which was read from the JSON of `value`, can stand for it in all its parts."""
    kind = type(value)
    if kind is not type(back) and not _stands_for(value, type(back)):
        return False
    inside = None if kind in _SMALL or issubclass(kind, _SETS) else _inside(kind)
    if inside is None:
        # between two zones, == says no in the hour that one of them has twice
        return value.isoformat() == back.isoformat() if issubclass(kind, datetime) else bool(value == back)
    mine, theirs = list(inside(value)), dict(inside(back))
    return len(mine) == len(theirs) and all(key in theirs and same(part, theirs[key]) for key, part in mine)


def first_difference(part: Part, back: Any) -> tuple[Part, Any]:
    """The first part that is not the same, and what it has become: `LOST` if its key is gone."""
    if not isinstance(back, _SETS) and (type(part.value) is type(back) or _stands_for(part.value, type(back))):
        theirs = {inner.key: inner.value for inner in Part(back, None).parts()}
        for inner in part.parts():
            other = theirs.get(inner.key, LOST)
            if other is LOST or not same(inner.value, other):
                return (inner, LOST) if other is LOST else first_difference(inner, other)
    return part, back


def difference(part: Part, back: Any) -> PayloadNotJson:
    """The error for a part that would come back as `back`."""
    if back is LOST:
        problem = f"the key {described(part.key)} would not come back from JSON: {REMEDY}"
    elif type(part.value) is type(back) and type(back).__eq__ is _IDENTITY:
        problem = f"{described(back)} has no __eq__, so nobody can tell if it comes back the same: give its class one"
    else:
        problem = f"{described(part.value)} would come back from JSON as {described(back)}: {REMEDY}"
    return PayloadNotJson(part.place(), _fault(part.value) or problem)


LOST: Final = object()
_IDENTITY: Any = object.__eq__


def _stands_for(value: object, other: type) -> bool:
    """A subclass of a builtin is that builtin to its reader. A 1 is not a True, nor a number one of an enum's."""
    if isinstance(value, bool | Enum):
        return False
    return (isinstance(value, other) and other.__module__ in ("builtins", "datetime")) or (
        type(value) is int and other is float
    )
