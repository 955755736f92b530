"""What holds for every value: it comes back, one text each, and no error that is not ours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rota.errors import PayloadError
from rota.payload import LIMIT, Codec, readable

anything = Codec[Any](Any)
no_deadline = settings(deadline=None)  # the first example imports pydantic, and CI machines are shared

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
jsonable = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=30)


def shape(value: Any) -> Any:
    """A value with its types, so that 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return type(value).__name__, repr(value)


@no_deadline
@given(jsonable)
def test_what_json_can_hold_comes_back_as_it_was(value: Any) -> None:
    text = anything.encode(value)
    assert shape(anything.decode(text)) == shape(value)
    assert shape(json.loads(text)) == shape(value)
    assert anything.parse(text) == text


@no_deadline
@given(st.dictionaries(texts, jsonable), st.randoms(use_true_random=False))
def test_the_text_does_not_depend_on_the_order_of_keys(value: dict[str, Any], random: Any) -> None:
    items = list(value.items())
    random.shuffle(items)
    assert anything.encode(dict(items)) == anything.encode(value)


@no_deadline
@given(jsonable, jsonable)
def test_different_values_have_different_texts(one: Any, other: Any) -> None:
    assert (anything.encode(one) == anything.encode(other)) == (shape(one) == shape(other))


def text_or_refusal(codec: Codec[Any], value: object) -> str | PayloadError:
    try:
        return codec.encode(value)
    except PayloadError as error:
        return error


odd = st.text() | st.floats() | st.binary() | st.datetimes() | st.decimals() | st.just(object()) | st.complex_numbers()
keys = st.text() | st.integers() | st.none() | st.booleans() | st.tuples(st.integers())
mixed = st.recursive(
    scalars | odd,
    lambda inner: st.lists(inner) | st.dictionaries(keys, inner) | st.tuples(inner) | st.sets(keys),
    max_leaves=10,
)


@no_deadline
@given(mixed)
def test_any_value_comes_back_as_it_was_or_is_refused_by_us(value: Any) -> None:
    text = text_or_refusal(anything, value)
    if isinstance(text, PayloadError):
        assert str(text).startswith("input")
        return
    assert shape(anything.decode(text)) == shape(value)
    assert len(text.encode()) <= LIMIT


@no_deadline
@given(st.text())
def test_any_text_is_read_or_refused_by_us(text: str) -> None:
    try:
        canonical = anything.parse(text)
    except PayloadError:
        return
    assert anything.parse(canonical) == canonical


@no_deadline
@given(st.text())
def test_readable_text_can_be_kept(text: str) -> None:
    kept = readable(text)
    assert "\0" not in kept
    assert len(kept) == len(text)
    assert kept.encode().decode() == kept
    assert readable(kept) == kept


@dataclass
class Everything:
    at: datetime
    day: date
    wait: timedelta
    amount: Decimal
    ratio: float
    pair: tuple[int, str]
    tags: set[str]
    names: dict[int, str]
    rest: Any


everything = st.builds(
    Everything,
    at=st.datetimes(timezones=st.just(UTC) | st.none() | st.timezones()),
    day=st.dates(),
    wait=st.timedeltas(),
    amount=st.decimals(allow_nan=False, allow_infinity=False),
    ratio=st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53),
    pair=st.tuples(st.integers(), texts),
    tags=st.sets(texts),
    names=st.dictionaries(st.integers(), texts),
    rest=jsonable,
)


@no_deadline
@given(everything)
def test_a_typed_value_comes_back_or_is_refused_by_us(value: Everything) -> None:
    codec = Codec[Everything](Everything)
    text = text_or_refusal(codec, value)
    if isinstance(text, PayloadError):  # offsets with seconds, durations over pydantic's limit
        assert str(text).startswith(("input.at: ", "input.wait: "))
        return
    back = codec.decode(text)
    assert back.at.isoformat() == value.at.isoformat()
    assert (back.day, back.wait, back.amount, back.ratio) == (value.day, value.wait, value.amount, value.ratio)
    assert (back.pair, back.tags, back.names) == (value.pair, value.tags, value.names)
    assert shape(back.rest) == shape(value.rest)
    assert codec.encode(back) == text
