from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota import duration
from rota.errors import DurationInvalid


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5m", 300),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("90m", 5400),
        ("1h0m0s", 3600),
        ("0s", 0),
        ("0.1s", 0.1),
        ("876600h", 36_525 * 86_400),
        ("007m", 420),
        ("5m1h", 3900),
    ],
)
def test_parse(text: str, seconds: float) -> None:
    assert duration.parse(text) == timedelta(seconds=seconds)


def test_decimals_are_exact() -> None:
    assert duration.parse("0.000001s") == timedelta.resolution
    assert duration.parse("0.3333333h") == timedelta(microseconds=1_199_999_880)
    assert duration.parse("2562.047788015h") == timedelta(microseconds=9_223_372_036_854)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "5", "m", "h1", "5 m", " 5m", "5m ", "5m\n", "1h 30m", "-5m", "+5m", "-0s", "1,5h", "1.h", ".5h"),
        *("5M", "1d", "1w", "5ms", "5us", "5min", "1e3s", "NaN", "inf", "infinity", "nans", "0x5m", "1_0m", "five m"),
        *("٣m", "１m", "5m5", "1..5h", "1.5.5h", "876601h", "9" * 30 + "h", "1s" * 5000, "PT5M"),
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(DurationInvalid, match="duration "):
        duration.parse(text)


def test_finer_than_a_microsecond_is_refused_not_rounded() -> None:
    with pytest.raises(DurationInvalid, match="finer than a microsecond"):
        duration.parse("0.0000001s")


def test_no_text_is_refused() -> None:
    with pytest.raises(DurationInvalid):
        duration.parse(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(hours=1, minutes=30), "1h30m"),
        (timedelta(days=1, seconds=5), "24h5s"),
        (timedelta(seconds=1.5), "1.5s"),
        (timedelta(seconds=10), "10s"),
        (timedelta(0), "0s"),
        (timedelta(microseconds=1), "0.000001s"),
        (timedelta(minutes=-5), "-5m"),
    ],
)
def test_render(span: timedelta, text: str) -> None:
    assert duration.render(span) == text


@given(st.timedeltas(timedelta(0), duration.LONGEST))
def test_what_is_rendered_is_parsed_back(span: timedelta) -> None:
    assert duration.parse(duration.render(span)) == span
