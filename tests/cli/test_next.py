"""`rota next`: what a cadence means, and when it comes next."""

from __future__ import annotations

import json
import sys
from subprocess import run

import pytest

from tests.cli.terminal import Terminal


def test_its_meaning_and_its_slots(terminal: Terminal) -> None:
    result = terminal.rota("next", "30 2 * * *", "--tz", "America/New_York", "-n", "2", "--after", "2026-03-07T12:00Z")

    assert result.stdout.splitlines() == [
        "at 02:30 every day (America/New_York)",
        "2026-03-08T07:00:00Z  Sun 2026-03-08 03:00:00-04:00 America/New_York",
        "2026-03-09T06:30:00Z  Mon 2026-03-09 02:30:00-04:00 America/New_York",
    ]


def test_in_utc_there_is_one_time(terminal: Terminal) -> None:
    said = terminal.rota("next", "@daily", "-n", "1", "--after", "2026-08-03T09:00:00+02:00").stdout

    assert said == "at 00:00 every day\n2026-08-04T00:00:00Z  Tue\n"


def test_an_interval_counts_from_then(terminal: Terminal) -> None:
    said = terminal.rota("next", "@every 1h30m", "-n", "2", "--after", "2026-08-03T09:00Z").stdout

    assert said.splitlines()[1:] == ["2026-08-03T10:30:00Z  Mon", "2026-08-03T12:00:00Z  Mon"]


def test_left_to_itself_it_shows_the_next_five_from_now(terminal: Terminal) -> None:
    assert len(terminal.rota("next", "* * * * *").stdout.splitlines()) == 6


def test_as_json(terminal: Terminal) -> None:
    said = terminal.rota("next", " 0  9 * * * ", "--tz", "+02:00", "-n", "1", "--after", "2026-08-03T09:00Z", "--json")

    assert json.loads(said.stdout) == {
        "cadence": "0 9 * * *",
        "tz": "+02:00",
        "means": "at 09:00 every day (+02:00)",
        "slots": ["2026-08-04T07:00:00Z"],
    }


@pytest.mark.parametrize(
    ("cadence", "said"),
    [
        ("0 0 0 * * *", "six fields|6 fields"),
        ("CRON_TZ=UTC 0 0 * * *", "zone"),
        ("60 * * * *", "60"),
        ("0 0 30 2 *", "never comes"),
        ("MONDAY", "1 field"),
        ("", "0 fields"),
        ("٣ * * * *", "not a number"),
        ("0," * 5000 + "0 * * * *", "over 1,000 characters"),
        ("@reboot", "on_start"),
        ("@every 10", "@every"),
    ],
)
def test_what_is_no_cadence_fails_with_the_reason(terminal: Terminal, cadence: str, said: str) -> None:
    result = terminal.rota("next", cadence)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("rota: cadence ")
    assert any(words in result.stderr for words in said.split("|"))
    assert result.stderr.count("\n") == 1
    assert len(result.stderr) < 400


def test_an_unknown_zone_fails(terminal: Terminal) -> None:
    result = terminal.rota("next", "@daily", "--tz", "Mars/Base")

    assert result.exit_code == 1
    assert result.stderr.startswith("rota: time zone 'Mars/Base' is not known")


@pytest.mark.parametrize(
    "args", [(), ("@daily", "-n", "0"), ("@daily", "-n", "x"), ("@daily", "--after", "noon"), ("@daily", "more")]
)
def test_wrong_usage(terminal: Terminal, args: tuple[str, ...]) -> None:
    result = terminal.rota("next", *args)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "rota: " in result.stderr


def test_a_naive_instant_is_refused(terminal: Terminal) -> None:
    assert "has no time zone" in terminal.rota("next", "@daily", "--after", "2026-08-03T09:00").stderr


@pytest.mark.parametrize("args", [["next", "@daily"], ["--help"], ["--version"], ["nope"]])
def test_it_loads_nothing_for_a_database(args: list[str]) -> None:
    script = f"""
import sys
from rota.cli import rota
try:
    rota({args!r})
except SystemExit:
    print("loaded", sorted({{"sqlalchemy", "pydantic", "rich", "yaml"}} & set(sys.modules)))
"""
    assert "loaded []\n" in run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
