"""The cases from the field: kinds a (parsing), b (next fire), c (zones, clock changes) and n1 (intervals), exactly."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

import pytest

from rota.cadence import Cadence
from rota.cron import DESCRIPTORS
from rota.errors import CadenceInvalid, CadenceNeverComes, InstantNaive, RotaError, ZoneUnknown
from tests.time.helpers import CASES, at, python, said

PLACES = ("minute", "hour", "day-of-month", "month", "day-of-week")


def listed(case: str, key: str) -> list[str]:
    return [text for text in CASES[case]["input"][key] if text != "0 0 ? * MON"]  # `?` is ours: design 6.11


def refusal(text: str) -> str:
    begun = time.perf_counter()
    with pytest.raises(CadenceInvalid) as caught:
        Cadence.parse(text)
    assert time.perf_counter() - begun < 1
    return str(caught.value)


def place_of(text: str, message: str) -> str:
    """The field that the message names: its own problem comes after the quoted text."""
    return message.removeprefix(f"cadence {text!r}: ").split(" ")[0]


# ---- a: parsing ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["RW-a1", "RW-a2", "RW-a3", "RW-a5"])
def test_accepted(case: str) -> None:
    for text in listed(case, "accept"):
        assert Cadence.parse(text).next_after(at("2026-01-01T00:00Z")), text


@pytest.mark.parametrize("text", listed("RW-a1", "reject"))
def test_a1_names_field_and_step(text: str) -> None:
    message = refusal(text)
    assert place_of(text, message) == ("hour" if text.startswith("0 ") else "minute")
    assert "step" in message


@pytest.mark.parametrize(("text", "same"), list(CASES["RW-a1"]["input"]["either_reject_or_same_as"].items()))
def test_a1_a_step_past_the_field_selects_its_first_value(text: str, same: str) -> None:
    start = at("2026-01-01T00:00Z")
    assert Cadence.parse(text).upcoming(start, 50) == Cadence.parse(same).upcoming(start, 50)


def test_a1_a_step_to_the_last_value() -> None:
    assert minutes("*/59 * * * *") == {0, 59}


@pytest.mark.parametrize("text", listed("RW-a2", "reject"))
def test_a2_names_field_and_range(text: str) -> None:
    bad = next(
        place for place, part in enumerate(text.split()) if part not in ("*", "0", "1") or (place, part) in ZEROS
    )
    message = refusal(text)
    assert place_of(text, message) == PLACES[bad]
    assert ("0-59", "0-23", "1-31", "1-12", "0-7")[bad] in message


ZEROS = {(2, "0"), (3, "0")}


def test_a3_the_order_of_a_list_does_not_matter() -> None:
    assert minutes("30,1-5,*/20 * * * *") == {0, 1, 2, 3, 4, 5, 20, 30, 40}
    assert minutes("5,5,5 * * * *") == {5}


@pytest.mark.parametrize("text", listed("RW-a3", "reject"))
def test_a3_names_field_and_quotes_the_bad_part(text: str) -> None:
    message = refusal(text)
    place = PLACES.index(place_of(text, message))
    assert place == (3 if "MON" in text else 4 if "JAN" in text else 0)
    assert any(f"{PLACES[place]} {item!r}: " in message for item in text.split()[place].split(","))


@pytest.mark.parametrize("text", CASES["RW-a4"]["input"]["specs"])
def test_a4_backwards_ranges_are_refused_with_the_way_to_write_them(text: str) -> None:
    assert Cadence.parse(remedied(text)).next_after(at("2026-01-01T00:00Z"))


@pytest.mark.parametrize(
    ("name", "remedy"), [("A", "0 22-23,0-2 * * *"), ("B", "0 0 * * FRI-SAT,SUN-MON"), ("C", "0 0 1 DEC,JAN-FEB *")]
)
def test_a4_the_remedy_means_what_was_meant(name: str, remedy: str) -> None:
    question = CASES["RW-a4"]["input"]["if_wrapping"][name]
    assert remedied(question["spec"]) == remedy
    slots = Cadence.parse(remedy).upcoming(at(question["strictly_after"]), question["next"])
    assert [said(slot) for slot in slots] == CASES["RW-a4"]["expected"]["or_wraps_to"][name]


def remedied(text: str) -> str:
    """`text` with its bad field put as the error says to write it."""
    message = refusal(text)
    parts = text.split()
    written = re.search(r"runs backwards: write '([^']+,[^']+)'", message)
    assert written
    parts[PLACES.index(place_of(text, message))] = written[1]
    return " ".join(parts)


@pytest.mark.parametrize("text", listed("RW-a5", "reject"))
def test_a5_foreign_texts_are_refused(text: str) -> None:
    message = refusal(text)
    if len(text.split()) == 6:
        assert "no seconds field" in message
    if len(text.split()) == 7:
        assert "no year field" in message


def test_a5_question_mark_is_star() -> None:
    start = at("2026-01-01T00:00Z")
    mondays = Cadence.parse("0 0 * * MON").upcoming(start, 9)
    assert Cadence.parse("0 0 ? * MON").upcoming(start, 9) == mondays
    assert Cadence.parse("0 0 13 ? ?").upcoming(start, 9) == Cadence.parse("0 0 13 * *").upcoming(start, 9)


def minutes(text: str) -> set[int]:
    return {slot.minute for slot in Cadence.parse(text).upcoming(at("2026-01-01T00:00Z"), 120)}


# ---- b and c: the next slots ---------------------------------------------------------------------------------------


def questions() -> Iterator[object]:
    for case in CASES.values():
        if case["kind"] in "abc" and isinstance(case["expected"], dict):
            for name, question in case["input"].items():
                expected = case["expected"].get(name)
                if isinstance(question, dict) and "spec" in question and expected:
                    yield pytest.param(question, expected, id=f"{case['id']}-{name}")


@pytest.mark.parametrize(("question", "expected"), list(questions()))
def test_next_slots(question: dict[str, object], expected: list[str] | str) -> None:
    text, after = str(question["spec"]), at(str(question["strictly_after"]))
    if str(expected).startswith("error"):
        with pytest.raises(CadenceNeverComes):
            Cadence.parse(text)
        return
    if text == "5/15 * * * *":
        assert minutes(text) == {5, 20, 35, 50}
        return
    cadence = Cadence.parse(text, tz=str(question["tz"]))
    slots = cadence.upcoming(after, len(expected))
    assert [said(slot) for slot in slots] == expected
    assert cadence.last_before(slots[-1] + timedelta(microseconds=1)) == slots[-1]
    for earlier, later in pairwise(slots):
        assert cadence.last_before(later) == earlier


def test_every_question_was_asked() -> None:
    assert len(list(questions())) == 68


# ---- c8: names of zones --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES["RW-c8"]["input"]["accept"])
def test_c8_accepted(name: str) -> None:
    assert Cadence.parse("@daily", tz=name).zone_name == name


@pytest.mark.parametrize("name", [name for name in CASES["RW-c8"]["input"]["reject"] if name != "+02:00"])
def test_c8_refused(name: str) -> None:
    name = "a" * 5000 if name == "a repeated 5000 times" else name
    with pytest.raises(ZoneUnknown):
        Cadence.parse("@daily", tz=name)


def test_c8_offsets_are_ours() -> None:
    assert said(Cadence.parse("@daily", tz="+02:00").next_after(at("2026-07-01T00:00Z"))) == "2026-07-01T22:00:00Z"


def test_c8_aliases_are_their_zones() -> None:
    start = at("2026-01-01T00:00Z")
    for alias, name in [("US/Eastern", "America/New_York"), ("Asia/Calcutta", "Asia/Kolkata")]:
        assert Cadence.parse("0 9 * * *", alias).upcoming(start, 400) == Cadence.parse("0 9 * * *", name).upcoming(
            start, 400
        )


def test_c8_without_the_system_s_zone_files(tmp_path: object) -> None:
    names = CASES["RW-c8"]["input"]["accept"]
    code = f"""
from datetime import UTC, datetime
import zoneinfo
from rota.cadence import Cadence
assert zoneinfo.TZPATH == ({str(tmp_path)!r},), zoneinfo.TZPATH
for name in {names!r}:
    print(Cadence.parse("30 9 * * *", tz=name).next_after(datetime(2026, 3, 7, tzinfo=UTC)).isoformat())
"""
    slim = python(code, PYTHONTZPATH=str(tmp_path)).split()
    start = at("2026-03-07T00:00Z")
    full = [Cadence.parse("30 9 * * *", tz=name).next_after(start) for name in names]
    assert slim == [slot.isoformat() for slot in full if slot]


# ---- c9 and n1: intervals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tz", "case", "name"),
    [
        ("@every 168h", "Europe/Brussels", "RW-c9", "A"),
        ("@every 24h", "America/New_York", "RW-c9", "B"),
        ("@every 2h", "America/New_York", "RW-c9", "C"),
        ("@every 7m", "UTC", "RW-n1", "E_grid"),
    ],
)
def test_intervals_are_elapsed_time(text: str, tz: str, case: str, name: str) -> None:
    question, expected = CASES[case]["input"][name], CASES[case]["expected"][name]
    cadence = Cadence.parse(text, tz=tz, anchor=at(question["anchor"].split(" (")[0]))
    assert [said(slot) for slot in cadence.upcoming(at(question["after"]), len(expected))] == expected


def test_c9_an_interval_across_the_process_s_own_clock_change() -> None:
    question = CASES["RW-c9"]["input"]["D"]
    code = f"""
from datetime import datetime
from rota.cadence import Cadence
cadence = Cadence.parse("@every 30s", anchor=datetime.fromisoformat({question["anchor"]!r}))
for slot in cadence.upcoming(datetime.fromisoformat({question["run_from"]!r}), 5):
    print(slot.strftime("%Y-%m-%dT%H:%M:%SZ"))
"""
    assert python(code, TZ=question["process_TZ"]).split() == CASES["RW-c9"]["expected"]["D"]["fires"]


@pytest.mark.parametrize("process_zone", CASES["RW-c9"]["input"]["E"]["process_TZ"])
def test_c9_a_naive_start_is_an_error_everywhere(process_zone: str) -> None:
    code = """
from datetime import datetime
from rota.cadence import Cadence
try:
    Cadence.parse("@every 1h", tz="Europe/London", anchor=datetime(2026, 7, 1, 9))
except ValueError as problem:
    print(problem)
"""
    assert python(code, TZ=process_zone).startswith("anchor datetime.datetime(2026, 7, 1, 9, 0) has no time zone")
    with pytest.raises(InstantNaive):
        Cadence.parse("@daily").next_after(at("2026-07-01T09:00Z").replace(tzinfo=None))


@pytest.mark.parametrize(
    "length", ["0 s", "0s", "-5 s", "-5s", "-0 s", "-0s", "NaN", "infinity", "1e12 days", "ten minutes", "true"]
)
def test_n1_intervals_that_cannot_be_meant(length: str) -> None:
    assert re.search("units (are )?h, m and s|whole seconds, one or more", refusal(f"@every {length}"))


@pytest.mark.parametrize("length", ["1 month", "1month", "1 year", "6 months", "1 business day", "7d", "7 days"])
def test_n1_calendar_lengths_are_refused_clearly(length: str) -> None:
    assert "for calendar days and months five cron fields" in refusal(f"@every {length}")


def test_n1_a_long_interval_keeps_its_length() -> None:
    anchor = at("2026-07-01T12:00Z")
    assert Cadence.parse("@every 720h", anchor=anchor).next_after(anchor) == anchor + timedelta(days=30)


def test_every_refusal_is_an_error_of_rota_and_a_value_error() -> None:
    assert issubclass(CadenceInvalid, RotaError)
    assert issubclass(CadenceNeverComes, ValueError)
    assert set(DESCRIPTORS) == {text for text in CASES["RW-a5"]["input"]["accept"] if text.startswith("@")}
