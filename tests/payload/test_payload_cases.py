"""Field cases RW-k1 and RW-k3: what other schedulers stored and could not read back."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from rota.errors import PayloadNotJson, PayloadTooLarge
from rota.payload import LIMIT, Codec, readable

anything = Codec[Any](Any)


def refusal(value: object) -> str:
    with pytest.raises(PayloadNotJson) as caught:
        anything.encode(value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"q": "a\0b"}, "input.q"),
        ({"k\0": 1}, r"input['k\x00']"),
        ({"deep": [{"x": ["\0"]}]}, "input.deep[0].x[0]"),
        ({"deep": {"k\0": {}}}, r"input.deep['k\x00']"),
        ("\0", "input"),
    ],
)
def test_rw_k1_nul_is_refused_with_its_place(value: object, place: str) -> None:
    text = refusal(value)
    assert text.startswith(f"{place}: ")
    assert "NUL" in text
    assert "take it out" in text


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"s": "\ud800"}, "input.s"),
        ({"s": ["ok", "\ud83d\ude00"]}, "input.s[1]"),  # two halves that were never joined
        ({"\udfff": 1}, r"input['\udfff']"),
        ("\ud800", "input"),
    ],
)
def test_rw_k1_a_lone_surrogate_is_refused_with_its_place(value: object, place: str) -> None:
    text = refusal(value)
    assert text.startswith(f"{place}: ")
    assert "surrogate" in text
    assert "take it out" in text


def test_rw_k1_a_typed_input_is_held_to_the_same() -> None:
    @dataclass
    class Search:
        words: list[str]

    with pytest.raises(PayloadNotJson, match=r"^input\.words\[1\]: .*NUL"):
        Codec[Search](Search).encode(Search(["a", "\0"]))
    with pytest.raises(PayloadNotJson, match=r"^result\.words\[0\]: .*surrogate"):
        Codec[Search](Search).encode(Search(["\ud800"]), what="result")


def test_rw_k1_text_that_only_looks_like_nul_is_kept() -> None:
    for value in ("\\u0000", "\\\\u0000", '"\\u0000"'):
        assert anything.decode(anything.encode(value)) == value


def test_rw_k1_error_and_log_texts_are_made_readable() -> None:
    assert readable("plain, ünï, 😀") == "plain, ünï, 😀"
    assert readable("a\0b\ud800c\udfff") == "a\ufffdb\ufffdc\ufffd"


@pytest.mark.parametrize(
    ("value", "place", "kind"),
    [
        ({"t": datetime(2026, 1, 1)}, "input.t", "datetime"),
        ({"d": Decimal("1.1")}, "input.d", "Decimal"),
        ({"s": {1, 2}}, "input.s", "set"),
        ({"b": b"x"}, "input.b", "bytes"),
        ({"b": b"\xff"}, "input.b", "bytes"),
        ({"n": float("nan")}, "input.n", "float"),
        ({"i": float("inf")}, "input.i", "float"),
        ({"i": [1, -float("inf")]}, "input.i[1]", "float"),
        ({1: "a"}, "input[1]", "int"),
        ({"a": {None: "a"}}, "input.a[None]", "NoneType"),
        ({"a": {1: "a", "1": "b"}}, "input.a[1]", "int"),
        ({"a": {True: "a"}}, "input.a[True]", "bool"),
        ((1, 2), "input", "tuple"),
        ({"rows": [{"at": (1, 2)}]}, "input.rows[0].at", "tuple"),
        ({"o": object()}, "input.o", "object"),
        ({"o": [1, print]}, "input.o[1]", "builtin_function_or_method"),
        ({"n": 10**5000}, "input.n", "int"),
    ],
)
def test_rw_k3_what_would_not_come_back_is_refused(value: object, place: str, kind: str) -> None:
    text = refusal(value)
    assert text.startswith(f"{place}: ")
    assert kind in text
    assert "annotate it" in text or "hand" in text


def test_rw_k3_a_value_that_contains_itself() -> None:
    ring: dict[str, Any] = {"a": 1}
    ring["me"] = [ring]
    text = refusal(ring)
    assert text == "input.me[0]: is input again, without end: hand over a value that ends"
    inner: list[Any] = []
    inner.append(inner)
    assert refusal({"x": inner}).startswith("input.x[0]: is input.x again")


def test_rw_k3_ten_thousand_levels() -> None:
    nested: Any = 1
    for _ in range(10_000):
        nested = [nested]
    text = refusal(nested)
    assert text.startswith("input[0][0]")
    assert "deeper than 100 levels" in text
    assert len(text) < 200
    with pytest.raises(PayloadNotJson, match="recursion limit"):
        anything.decode("[" * 10_000 + "]" * 10_000)
    with pytest.raises(PayloadNotJson, match="recursion limit"):
        anything.parse('{"a":' * 10_000 + "1" + "}" * 10_000)


def test_rw_k3_a_hundred_levels_are_kept_and_one_more_is_not() -> None:
    nested: Any = 1
    for _ in range(100):
        nested = [nested]
    assert anything.decode(anything.encode(nested)) == nested
    assert "deeper than 100 levels" in refusal([nested])


def test_rw_k3_nine_thousand_bytes() -> None:
    assert anything.decode(anything.encode("x" * 9_000)) == "x" * 9_000


@pytest.mark.parametrize("wrap", [lambda blob: blob, lambda blob: {"a": [1, {"blob": blob}]}])
def test_rw_k3_sixty_megabytes_are_refused_at_once(wrap: Any) -> None:
    value = wrap("x" * 60_000_000)
    tracemalloc.start()
    try:
        began = time.perf_counter()
        with pytest.raises(PayloadTooLarge) as caught:
            anything.encode(value)
        assert time.perf_counter() - began < 2
        assert tracemalloc.get_traced_memory()[1] < 10_000_000  # not one copy
    finally:
        tracemalloc.stop()
    assert "input is at least 60,000,0" in str(caught.value)
    assert "1,048,576 is the limit: keep the data in a file or a table" in str(caught.value)


def test_the_limit_is_on_bytes_of_the_whole_text() -> None:
    assert len(anything.encode("x" * (LIMIT - 2))) == LIMIT
    for value in ("x" * (LIMIT - 1), "é" * (LIMIT // 2), ["x" * (LIMIT // 2)] * 2, list(range(1_000)) * 400):
        with pytest.raises(PayloadTooLarge, match="the limit: keep the data"):
            anything.encode(value)
    with pytest.raises(PayloadTooLarge):
        anything.parse('"' + "x" * LIMIT + '"')


def test_many_shared_parts_take_no_time() -> None:
    @dataclass
    class Pair:
        left: Any
        right: Any

    value: Any = None
    for _ in range(60):  # 60 objects, 2**60 paths
        value = Pair(value, value)
    with pytest.raises(PayloadTooLarge):
        Codec[Pair](Pair).encode(value)
