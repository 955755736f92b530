"""Typed values: they come back equal, or the error says where, what and how to do better."""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap
from collections import OrderedDict, defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from threading import Barrier
from typing import Any, Literal, NamedTuple, NotRequired
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, RootModel, computed_field
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic_core import core_schema
from typing_extensions import TypedDict

from rota.errors import PayloadError, PayloadMismatch, PayloadNotJson
from rota.payload import Codec


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


@dataclass
class Period:
    name: str
    n: int = 1
    at: datetime | None = None
    share: float = 0.5
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Cell:
    row: int
    column: int


@dataclass
class Tree:
    value: int
    children: list[Tree] = field(default_factory=list)


class Point(NamedTuple):
    x: int
    y: float = 0.0


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Order(BaseModel):
    id: UUID
    rows: list[Cell]
    total: Decimal
    shipped: bool = Field(default=False, alias="isShipped")
    labels: set[str] = Field(default=set(), alias="labelSet")

    model_config = ConfigDict(populate_by_name=True)

    @computed_field
    def size(self) -> int:
        return len(self.rows)


class Names(RootModel[dict[int, str]]):
    pass


@pydantic_dataclass
class Checked:
    n: int = Field(gt=0)


BERLIN = ZoneInfo("Europe/Berlin")
ID = UUID("12345678-1234-5678-1234-567812345678")

TYPED: list[tuple[Any, Any]] = [
    (int, 5),
    (int, 10**40),
    (str, "ünï 😀"),
    (bool, True),
    (float, 0.1),
    (float, -0.0),
    (None, None),
    (int | str, "5"),
    (int | str, 5),
    (Period | None, None),
    (Literal["day", "week"], "day"),
    (bytes, b"text"),
    (Decimal, Decimal("1.10")),
    (datetime, datetime(2026, 1, 1, 12, 30, 0, 5)),
    (datetime, datetime(2026, 1, 1, tzinfo=UTC)),
    (datetime, datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN)),
    (datetime, datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=BERLIN)),
    (date, date(2026, 1, 1)),
    (time, time(1, 2, 3)),
    (timedelta, timedelta(days=-1, microseconds=3)),
    (UUID, ID),
    (Path, Path("/tmp/x")),
    (Colour, Colour.RED),
    (Level, Level.HIGH),
    (tuple[int, int], (1, 2)),
    (tuple[str, ...], ("a", "b")),
    (set[str], {"b", "a"}),
    (frozenset[int], frozenset({10, 9})),
    (set[frozenset[int]], {frozenset({3, 1}), frozenset({2})}),
    (set[Cell], {Cell(2, 1), Cell(1, 2)}),
    (dict[int, str], {1: "a", 2: "b"}),
    (dict[UUID, int], {ID: 1}),
    (dict[date, list[Cell]], {date(2026, 1, 1): [Cell(1, 2)]}),
    (deque[int], deque([1, 2])),
    (Point, Point(1, 2.5)),
    (list[Point], [Point(1)]),
    (Movie, {"title": "Metropolis", "year": 1927}),
    (Movie, {"title": "Metropolis"}),
    (Period, Period("hour", 3, datetime(2026, 1, 1, tzinfo=UTC), 1.5, frozenset({"b", "a"}))),
    (Tree, Tree(1, [Tree(2), Tree(3, [Tree(4)])])),
    (Order, Order(id=ID, rows=[Cell(1, 2)], total=Decimal("9.90"), isShipped=True, labelSet={"y", "x"})),
    (Names, Names({1: "a"})),
    (Checked, Checked(1)),
    (dict[str, Any], {"a": [1, 1.0, True, None, "x", {"b": []}]}),
    (inspect.Parameter.empty, {"a": [1]}),
    (object, [1, "a"]),
]


@pytest.mark.parametrize(("annotation", "value"), TYPED)
def test_a_typed_value_comes_back_equal(annotation: Any, value: Any) -> None:
    codec = Codec[Any](annotation)
    text = codec.encode(value)
    back = codec.decode(text)
    assert type(back) is type(value)
    assert back == value or back.isoformat() == value.isoformat()
    assert codec.encode(back) == text
    assert codec.parse(text) == text


def test_the_text_is_canonical() -> None:
    assert Codec[Any](Any).encode({"b": [1, 2.0], "a": "é"}) == '{"a":"é","b":[1,2.0]}'
    assert Codec[float](float).encode(5) == Codec[float](float).encode(5.0) == "5.0"
    assert Codec[Any](set[int]).encode({10, 9, 1}) == "[1,10,9]"
    assert '"labelSet":["x","y","z"]' in Codec[Order](Order).encode(
        Order(id=ID, rows=[], total=Decimal(1), labelSet={"z", "y", "x"})
    )


def test_the_text_is_the_same_in_every_process() -> None:
    program = textwrap.dedent("""
        from dataclasses import dataclass
        from rota.payload import Codec

        @dataclass
        class Mail:
            to: set[str]
            groups: dict[str, list[frozenset[str]]]

        names = [f"name {n}" for n in range(50)]
        print(Codec(Mail).encode(Mail(set(names), {"a": [frozenset(names)]})))
    """)
    texts = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True, timeout=60
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1


def test_subclasses_of_builtins_come_back_as_what_was_declared() -> None:
    class Name(str):
        __slots__ = ()

    counts: defaultdict[str, int] = defaultdict(int, {"a": 1})
    assert Codec[Any](dict[str, int]).decode(Codec[Any](dict[str, int]).encode(counts)) == counts
    assert Codec[Any](Any).encode(OrderedDict(b=1, a=Name("x"))) == '{"a":"x","b":1}'


def refused(annotation: Any, value: object) -> PayloadError:
    with pytest.raises(PayloadError) as caught:
        Codec[Any](annotation).encode(value)
    return caught.value


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        (int, "5", "input: should be a valid integer (got '5' (str))"),
        (int, True, "input: should be a valid integer"),
        (int, 5.0, "input: should be a valid integer"),
        (str, 5, "input: should be a valid string (got 5 (int))"),
        (float, "0.5", "input: should be a valid number"),
        (None, 5, "input: should be None"),
        (int | str, 1.5, "input: should be a valid integer (got 1.5 (float)); input: should be a valid string"),
        (list[int], [1, "2", "3"], "input[1]: should be a valid integer (got '2' (str)); input[2]: should be"),
        (dict[str, int], {"a b": "1"}, "input['a b']: should be a valid integer"),
        (dict[int, str], {"x": "a"}, "input.x: should be a valid integer"),
        (Literal["day", "week"], "year", "input: should be 'day' or 'week'"),
        (Colour, "red", "input: should be an instance of Colour"),
        (datetime, "2026-01-01", "input: should be a valid datetime"),
        (Period, {"name": "hour"}, "input: should be an instance of Period"),
        (Period, None, "input: should be an instance of Period"),
        (Period, Period("hour", "3"), "input.n: should be a valid integer (got '3' (str))"),  # type: ignore[arg-type]
        (Period, Period(None), "input.name: should be a valid string (got None (NoneType))"),  # type: ignore[arg-type]
        (list[Cell], [Cell(1, 2), Cell(1, "x")], "input[1].column: should be a valid integer"),  # type: ignore[arg-type]
        (Movie, {"year": 1927}, "input.title: Field required"),
        (Order, Order.model_construct(id=ID, rows=[], total=1.5), "input.total"),
    ],
)
def test_what_does_not_fit_is_an_error_with_its_place(annotation: Any, value: object, text: str) -> None:
    error = refused(annotation, value)
    assert text in str(error)


@pytest.mark.parametrize(
    ("annotation", "value", "place", "kinds"),
    [
        (Period, Period("hour", True), "input.n", ("bool", "int")),
        (Period, Period("hour", tags={"a"}), "input.tags", ("set", "frozenset")),  # type: ignore[arg-type]
        (Period, Period("hour", at="2026-01-01T00:00:00"), "input.at", ("str", "datetime")),  # type: ignore[arg-type]
        (Any, Period("hour"), "input", ("Period", "dict")),
        (Any, {"level": Level.HIGH}, "input.level", ("Level", "int")),
        (Any, [{"c": Colour.RED}], "input[0].c", ("Colour", "str")),
        (dict[str, Any], {"p": Point(1)}, "input.p", ("Point", "list")),
        (bytes, b"\xff", "input", ("bytes",)),
    ],
)
def test_what_would_come_back_as_another_type_names_both_and_the_remedy(
    annotation: Any, value: object, place: str, kinds: tuple[str, ...]
) -> None:
    error = refused(annotation, value)
    assert type(error) is PayloadNotJson
    assert str(error).startswith(f"{place}: ")
    assert all(f"({kind})" in str(error) for kind in kinds)
    assert "annotate it with a type that says so, or convert it" in str(error)


def test_a_subclass_with_more_in_it_is_refused() -> None:
    @dataclass
    class Detailed(Period):
        detail: str = ""

    class BigOrder(Order):
        gift: bool = False

    assert "(Detailed) would come back from JSON as Period" in str(refused(Period, Detailed("hour", detail="x")))
    assert "BigOrder" in str(refused(Order, BigOrder(id=ID, rows=[], total=Decimal(1), gift=True)))


def test_a_private_attribute_that_would_be_lost_is_refused() -> None:
    class Secret(BaseModel):
        n: int
        _token: str = PrivateAttr("none")

    secret = Secret(n=1)
    assert Codec[Secret](Secret).encode(secret) == '{"n":1}'
    secret._token = "x"
    assert str(refused(Secret, secret)).startswith("input._token: 'x' (str) would come back from JSON as 'none'")


class Money:
    """A class of the user's own, without __eq__."""

    def __init__(self, cents: int) -> None:
        self.cents = cents

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> core_schema.CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(lambda money: money.cents)
        return core_schema.no_info_after_validator_function(cls, core_schema.int_schema(), serialization=written)


class ComparableMoney(Money):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComparableMoney) and self.cents == other.cents

    __hash__ = None  # type: ignore[assignment]


def test_a_class_without_eq_is_refused_and_told_so() -> None:
    error = refused(dict[str, Money], {"price": Money(5)})
    assert str(error).startswith("input.price: ")
    assert "has no __eq__" in str(error)
    assert "give its class one" in str(error)
    assert Codec[Any](ComparableMoney).encode(ComparableMoney(5)) == "5"


def test_a_type_without_a_form_in_json_is_named() -> None:
    class Plain:
        pass

    assert "Plain" in str(refused(Plain, Plain()))
    assert "its type 'Missing' has no form in JSON" in str(refused("Missing", 1))


def test_the_name_of_the_payload_is_used() -> None:
    with pytest.raises(PayloadMismatch, match=r"^result does not fit its type: result\[0\]: "):
        Codec[Any](list[int]).encode(["x"], what="result")
    with pytest.raises(PayloadMismatch, match=r"^payload does not fit its type: payload\.name: "):
        Codec[Any](Period).decode('{"name": 1}', what="payload")


def test_decode_lists_every_problem_with_its_place() -> None:
    with pytest.raises(PayloadMismatch) as caught:
        Codec[Period](Period).decode('{"n":"3","at":"noon","tags":["a",1]}')
    text = str(caught.value)
    for place in ("input.name: Field required", "input.n: ", "input.at: ", "input.tags[1]: "):
        assert place in text
    with pytest.raises(PayloadMismatch, match=r"input\[19\]: .*; and: 80 more problems$"):
        Codec[Any](list[int]).decode(str(["x"] * 100).replace("'", '"'))


@pytest.mark.parametrize(
    "text", ["", "{", "{a:1}", "[1,]", "NaN", "[Infinity]", "'a'", '"\ud800"', '"\\ud800"', "hello"]
)
def test_text_that_is_not_json(text: str) -> None:
    for read in (Codec[Any](Any).decode, Codec[Any](Any).parse):
        with pytest.raises(PayloadNotJson, match=r"^input: .*write it as in \{"):
            read(text)
    assert Codec[Any](Any).decode('"NaN, Infinity"') == "NaN, Infinity"


def test_parse_gives_canonical_text_with_defaults() -> None:
    typed = '{ "name" : "hour", "share": 2 }'
    assert Codec[Any](Period).parse(typed) == Codec[Any](Period).encode(Period("hour", share=2))
    assert Codec[Any](Any).parse(' {"b":1, "a":"\\u00e9"}') == '{"a":"é","b":1}'


def test_parse_refuses_what_a_person_mistyped() -> None:
    parse = Codec[Any](list[Period]).parse
    with pytest.raises(PayloadMismatch, match=r"input\[0\]\.tag: this key is not known; known here: at, n, name"):
        parse('[{"name": "hour", "tag": []}]')
    with pytest.raises(PayloadNotJson, match="the key 'name' is there twice"):
        parse('[{"name": "hour", "name": "day"}]')
    with pytest.raises(PayloadNotJson, match=r"^input\[0\]: inf \(float\) is not a number in JSON"):
        Codec[Any](Any).parse("[1e400]")
    with pytest.raises(PayloadNotJson, match="NUL"):
        Codec[Any](Any).parse('"\\u0000"')


def test_many_threads_may_be_the_first_to_use_it() -> None:
    codec, barrier = Codec[Tree](Tree), Barrier(8)

    def encode(n: int) -> str:
        barrier.wait(timeout=10)
        return codec.encode(Tree(n))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(encode, range(8))) == [f'{{"children":[],"value":{n}}}' for n in range(8)]


def test_importing_does_without_pydantic() -> None:
    program = "import sys, rota.payload; rota.payload.Codec(int); assert not any('pydantic' in m for m in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
