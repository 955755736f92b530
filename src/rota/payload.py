"""Payload: typed input and results as JSON, and back. What a handler gets is what was handed in, or it is refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from inspect import Parameter
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rota import places
from rota.errors import PayloadError, PayloadMismatch, PayloadNotJson, PayloadTooLarge, shown
from rota.places import LIMIT, REMEDY, UNKEEPABLE, Part, described

if TYPE_CHECKING:  # imported late below: `rota next` and its like do without pydantic
    from pydantic import TypeAdapter, ValidationError

__all__ = ["LIMIT", "Codec", "readable"]

T = TypeVar("T")


class Codec(Generic[T]):
    """One type's way to JSON and back.

    Args:
        annotation: whatever a handler's parameter may say: a builtin, a dataclass, a pydantic model, an enum, a
            TypedDict, a union, `Any`, None. A missing annotation (`inspect.Parameter.empty`) means `Any`.

    Nothing is converted: a str where an int is declared is an error. Safe to use from several threads.

    >>> Codec(dict[str, int]).encode({"b": 1, "a": 2})
    '{"a":2,"b":1}'
    """

    def __init__(self, annotation: Any) -> None:
        self.annotation = Any if annotation is Parameter.empty else annotation
        self._built: TypeAdapter[T] | None = None

    def __repr__(self) -> str:
        return f"Codec({self.annotation!r})"

    def encode(self, value: object, what: str = "input") -> str:
        """`value` as canonical JSON text: the same value gives the same text, in every process.

        Args:
            value: what to keep.
            what: how errors call it; places are written from there, as in `input.rows[0].n`.

        Raises:
            PayloadMismatch: it does not fit the type.
            PayloadNotJson: it would not come back from JSON as it is, or a database could not hold it.
            PayloadTooLarge: it takes more than `LIMIT` bytes.
        """
        top = Part(value, what)
        places.survey(top)
        text, data = self._write(top)
        if "\\u0000" in text and (fault := places.first_fault(Part(data, what))):
            raise fault
        self._compare(top, text)
        return text

    def decode(self, text: str, what: str = "input") -> T:
        """The value that `text` stands for.

        Args:
            text: JSON, as `encode` wrote it.
            what: how errors call it.

        Raises:
            PayloadMismatch: it does not fit the type; the error lists every problem with its place.
            PayloadNotJson: the text is not JSON.
        """
        from pydantic import ValidationError

        if "NaN" in text or "Infinity" in text:
            _plain(text, what)  # pydantic's parser takes them for numbers; JSON does not
        try:
            return self._adapter(what).validate_json(text, strict=True)
        except ValidationError as error:
            raise _unreadable(text, what, error) from error

    def parse(self, text: str, what: str = "input") -> str:
        """JSON that a person typed, checked, as canonical text. A key that is unknown, or there twice, is an error.

        Args:
            text: JSON, such as `{"n": 1}`.
            what: how errors call it.

        Raises:
            PayloadMismatch, PayloadNotJson, PayloadTooLarge: as `encode` and `decode` do.
        """
        if len(text) > LIMIT:
            raise PayloadTooLarge(what, len(text), LIMIT, at_least=True)
        canonical = self.encode(self.decode(text, what), what)
        unknown = list(_unknown(Part(_plain(text, what), what), json.loads(canonical)))
        if unknown:
            raise PayloadMismatch(what, unknown)
        return canonical

    def _adapter(self, what: str) -> TypeAdapter[T]:
        if self._built is None:
            with _building:
                self._built = self._built or _build(self.annotation, what)
        return self._built

    def _write(self, top: Part) -> tuple[str, Any]:
        """The value's text, and the data it was written from."""
        adapter, data = self._adapter(top.key), None
        try:
            data = adapter.dump_python(top.value, mode="json", by_alias=True, round_trip=True, warnings=False)
            if places.has_sets(top.value):
                _sort_sets(top, data)
            text = _canonical(data)
            size = len(text) if text.isascii() else len(text.encode())
        except PayloadError:
            raise
        except (ValueError, TypeError, RecursionError) as error:  # pydantic's errors of writing are ValueErrors
            raise self._refusal(top, data, error) from error
        if size > LIMIT:
            raise PayloadTooLarge(top.key, size, LIMIT)
        return text, data

    def _refusal(self, top: Part, data: Any, error: Exception) -> PayloadError:
        """Why a value could not be written, with the place."""
        fault = places.first_fault(top) or places.first_fault(Part(data, top.key))
        return fault or self._misfit(top) or _unwritable(top) or PayloadNotJson(top.key, f"{error}: {REMEDY}")

    def _compare(self, top: Part, text: str) -> None:
        """Raise unless `text` gives the value back."""
        try:
            back = self.decode(text, top.key)
        except PayloadMismatch as error:
            raise self._misfit(top) or error from error
        if not places.same(top.value, back):
            part, other = places.first_difference(top, back)
            misfit = self._misfit(top) if type(part.value) is not type(other) else None
            raise misfit or places.difference(part, other)

    def _misfit(self, top: Part) -> PayloadMismatch | None:
        """What pydantic says of the value itself: nearer to what was handed in than what it says of its JSON."""
        from pydantic import ValidationError

        try:
            self._adapter(top.key).validate_python(top.value, strict=True)
        except ValidationError as error:
            return _mismatch(top, error)
        return None


def readable(text: str) -> str:
    """An error or log text as both databases can keep it: NUL and lone surrogates replaced by U+FFFD.

    >>> readable("caf" + chr(0))
    'caf�'
    """
    return UNKEEPABLE.sub("\N{REPLACEMENT CHARACTER}", text)


_building = RLock()  # pydantic builds nested types in place: one at a time

_canonical = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False
).encode


def _build(annotation: Any, what: str) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError

    try:
        adapter = TypeAdapter(annotation)
        adapter.validator.title  # noqa: B018 - a type with names that nobody has defined yet raises here
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        reason = str(error).partition("\n")[0].partition(", then call `.rebuild()`")[0]
        raise PayloadNotJson(what, f"its type {shown(annotation)} has no form in JSON: {reason}") from error
    return adapter


# ---- writing ---------------------------------------------------------------------------------------------------------


def _sort_sets(part: Part, data: Any) -> None:
    """Sort, in place, each list in `data` that was written from a set: sets have another order in each process."""
    if isinstance(data, list | dict):
        for inner, written in zip(part.parts(), _written(part, data), strict=False):
            _sort_sets(inner, written)
    if isinstance(part.value, set | frozenset):
        if data is None:
            raise PayloadNotJson(part.place(), "a set that is written under another name: hand over a sorted list")
        if isinstance(data, list):
            data.sort(key=_canonical)


def _written(part: Part, data: list[Any] | dict[str, Any]) -> Iterable[Any]:
    """What became of the parts, in their order."""
    if isinstance(data, list):
        return data
    if isinstance(part.value, dict):
        return data.values()
    known = getattr(type(part.value), "__pydantic_fields__", {})
    names = [getattr(known.get(inner.key), "serialization_alias", None) or inner.key for inner in part.parts()]
    return [data.get(name) for name in names]


def _unwritable(top: Part) -> PayloadNotJson | None:
    """The first part that pydantic has no way to write: its own error names no place."""
    from pydantic_core import to_jsonable_python

    for part in top.walk():
        if not part.parts():
            try:
                to_jsonable_python(part.value)
            except (ValueError, RecursionError):
                return PayloadNotJson(part.place(), f"{described(part.value)} has no form in JSON: {REMEDY}")
    return None


# ---- reading ---------------------------------------------------------------------------------------------------------


def _plain(text: str, what: str) -> Any:
    """JSON text as dicts and lists, and nothing that only looks like JSON."""
    try:
        return json.loads(text, parse_constant=_not_a_number, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError) as error:
        raise PayloadNotJson(what, f"in {shown(text)}, {error}: {_WRITE_IT}") from error


_WRITE_IT = """write it as in {"n": 1, "name": "x"}, with text in double quotes"""


def _not_a_number(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for key, value in pairs:
        if key in held:
            raise ValueError(f"the key {shown(key)} is there twice")
        held[key] = value
    return held


def _unknown(top: Part, kept: Any) -> Iterator[tuple[str, str]]:
    """The keys a person typed that the type left out, with their places."""
    stack = [(top, kept)]
    while stack:
        part, kept = stack.pop()
        if type(kept) is not type(part.value):  # written in another form, such as a duration: it was all read
            continue
        theirs = {inner.key: inner.value for inner in Part(kept, None).parts()}
        for inner in part.parts():
            if inner.key in theirs:
                stack.append((inner, theirs[inner.key]))
            elif isinstance(kept, dict):
                yield inner.place(), f"this key is not known; known here: {', '.join(theirs) or 'none'}"


def _unreadable(text: str, what: str, error: ValidationError) -> PayloadError:
    reasons = {found["type"]: found["msg"] for found in error.errors(include_url=False)}
    if reason := reasons.get("json_invalid") or reasons.get("string_unicode"):
        reason = reason.removeprefix("Invalid JSON: ").removeprefix("Input ")
        return PayloadNotJson(what, f"{shown(text)} is not JSON ({reason}): {_WRITE_IT}")
    return _mismatch(Part(json.loads(text), what), error)


def _mismatch(top: Part, error: ValidationError) -> PayloadMismatch:
    """Every problem that pydantic found, with its place."""
    problems, more = [], error.error_count() - 20
    for found in error.errors(include_url=False)[:20]:
        missing = found["type"].startswith("missing")
        part = _find(top, found["loc"])
        if missing:
            part = Part(None, found["loc"][-1], part)
        got = "" if missing else f" (got {described(found['input'])})"
        problems.append((part.place(), found["msg"].removeprefix("Input ") + got))
    return PayloadMismatch(top.key, [*problems, ("and", f"{more:,} more problems")] if more > 0 else problems)


def _find(part: Part, steps: tuple[int | str, ...]) -> Part:
    """The part that pydantic's steps lead to. Some steps name a branch of a union, not a place."""
    for step in steps:
        part = next((inner for inner in part.parts() if inner.key == step), part)
    return part
