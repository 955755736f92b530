"""`rota schedules`: listing, showing and steering."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from tests.cli.terminal import Terminal


def test_they_are_listed_the_next_one_due_first(shop: Terminal) -> None:
    with shop.app() as app:
        from tests.cli.shop import till

        app.schedule(till, "@yearly", id="sweep")
        app.schedule(till, "@every 1h30m", id="soon")

    lines = shop.rota("schedules").stdout.splitlines()

    assert lines[0].split() == [
        *("ID", "KIND", "SPEC", "LOCATION", "NEXT_RUN_AT", "LAST_RUN_ID", "FAILURES", "ENABLED", "LAST_ERROR")
    ]
    assert sorted(line.split()[0] for line in lines[1:]) == ["daily-report", "soon", "sweep"]
    due = [row[0] for row in shop.sql("select id from rota_schedules order by next_run_at")]
    assert [line.split()[0] for line in lines[1:]] == due


def test_a_row_has_everything_in_its_place(shop: Terminal) -> None:
    shop.sql("update rota_schedules set next_run_at = '2026-08-03T10:00:00.000000Z', last_run_id = 7")
    shop.sql("update rota_schedules set consecutive_failures = 2, last_error = 'no room'")

    heading, row = shop.rota("schedules").stdout.splitlines()

    spans = [*(heading.index(name) for name in heading.split()), None]
    cells = [row[start:end].strip() for start, end in pairwise(spans)]
    assert cells == [
        *("daily-report", "step", "0 9 * * 1-5", "Europe/Berlin", "2026-08-03T10:00:00Z", "7", "2", "yes", "no room")
    ]


def test_off_a_terminal_nothing_is_cut(shop: Terminal) -> None:
    error = "x" * 300
    shop.sql("update rota_schedules set last_error = ?", error)

    assert error in shop.rota("schedules").stdout


def test_what_a_terminal_would_obey_is_shown(shop: Terminal) -> None:
    shop.sql("update rota_schedules set last_error = ?", "one\ntwo \x1b[31m [red]")

    (_, row) = shop.rota("schedules").stdout.splitlines()

    assert row.endswith(r"one two \x1b[31m [red]")


def test_columns_stay_aligned_beside_wide_characters(shop: Terminal) -> None:
    with shop.app() as app:
        from tests.cli.shop import till

        app.schedule(till, "@yearly", id="日報")

    heading, *rows = shop.rota("schedules").stdout.replace("日報", "four").splitlines()

    assert {row[heading.index("KIND") :].split()[0] for row in rows} == {"step", "action"}


def test_json_has_every_field(shop: Terminal) -> None:
    (row,) = json.loads(shop.rota("schedules", "--json").stdout)

    columns = {name for _, name, *_ in shop.sql("pragma table_info(rota_schedules)")}
    assert row.keys() == columns
    assert (row["id"], row["input"], row["options"], row["enabled"]) == ("daily-report", "day", {}, True)
    assert row["next_run_at"].endswith("Z")


def test_without_any_there_are_only_headings(terminal: Terminal) -> None:
    terminal.rota("db", "migrate")

    assert terminal.rota("schedules").stdout.split()[0] == "ID"
    assert len(terminal.rota("schedules").stdout.splitlines()) == 1
    assert terminal.rota("schedules", "--json").stdout == "[]\n"


# ---- steering ------------------------------------------------------------------------------------------------------


def test_pausing_and_resuming_say_what_they_did(shop: Terminal) -> None:
    (slot,) = shop.sql("select substr(next_run_at, 1, 19) || 'Z' from rota_schedules")[0]

    assert shop.rota("schedules", "--pause", "daily-report").stdout == "paused daily-report\n"
    assert shop.rota("schedules", "--pause", "daily-report").stdout == "daily-report was paused already\n"
    assert shop.rota("schedules", "--resume", "daily-report").stdout == f"resumed daily-report; next: {slot}\n"
    assert shop.rota("schedules", "--resume", "daily-report").stdout == f"daily-report was not paused; next: {slot}\n"


def test_a_trigger_says_which_run_and_twice_is_as_once(shop: Terminal) -> None:
    (slot,) = shop.sql("select substr(next_run_at, 1, 19) || 'Z' from rota_schedules")[0]

    said = shop.rota("schedules", "--trigger", "daily-report").stdout

    assert said == f"daily-report triggered: run 1 of the slot {slot} is queued\n"
    again = shop.rota("schedules", "--trigger", "daily-report").stdout
    assert again == said.replace("triggered", "was triggered already")
    assert shop.sql("select count(*) from rota_runs") == [(1,)]


def test_what_is_done_can_be_had_as_json(shop: Terminal) -> None:
    assert json.loads(shop.rota("schedules", "--pause", "daily-report", "--json").stdout)["enabled"] is False
    assert json.loads(shop.rota("schedules", "--trigger", "daily-report", "--json").stdout)["state"] == "queued"


def test_it_is_written_down_who_did_it(shop: Terminal) -> None:
    for verb in ("--pause", "--resume", "--trigger"):
        assert shop.rota("schedules", verb, "daily-report").exit_code == 0

    done = shop.sql("select verb, via, actor is not null from rota_audit where subject = 'daily-report' order by id")
    assert done == [("register", "code", 0), ("pause", "cli", 1), ("resume", "cli", 1), ("trigger", "cli", 1)]


@pytest.mark.parametrize("verb", ["--pause", "--resume", "--trigger"])
def test_an_unknown_id_fails(shop: Terminal, verb: str) -> None:
    result = shop.rota("schedules", verb, "nope")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "rota: no schedule has the id 'nope' (`rota schedules` lists them)\n"


def test_an_empty_id_is_not_no_id(shop: Terminal) -> None:
    assert shop.rota("schedules", "--pause", "").stderr.startswith("rota: no schedule has the id ''")


@pytest.mark.parametrize("args", [("--resume", "b"), ("show", "b")])
def test_one_thing_at_a_time(shop: Terminal, args: tuple[str, ...]) -> None:
    result = shop.rota("schedules", "--pause", "daily-report", *args)

    assert result.exit_code == 2
    assert "rota: give one of --pause, --resume, --trigger and show" in result.stderr
    assert shop.sql("select enabled from rota_schedules") == [(1,)]


def test_steering_needs_no_code_of_the_app(shop: Terminal) -> None:
    assert shop.rota("schedules", "--database", shop.url, "--trigger", "daily-report").exit_code == 0

    elsewhere = Terminal(shop.folder)  # where no app is named
    assert elsewhere.rota("schedules", "--pause", "daily-report").exit_code == 0


# ---- one -----------------------------------------------------------------------------------------------------------


def test_show_tells_what_it_means_and_when_it_comes(shop: Terminal) -> None:
    shop.sql("update rota_schedules set next_run_at = '2100-01-01T08:00:00.000000Z'")

    said = shop.rota("schedules", "show", "daily-report").stdout

    assert "at 09:00, Monday to Friday (Europe/Berlin)" in said
    assert "  2100-01-01T08:00:00Z  Fri 2100-01-01 09:00:00+01:00 Europe/Berlin\n" in said
    assert "  2100-01-07T08:00:00Z  Thu" in said
    assert "2100-01-08" not in said


def test_show_has_every_column(shop: Terminal) -> None:
    said = shop.rota("schedules", "show", "daily-report").stdout

    names = [line.split()[0] for line in said.split("\n\n")[0].splitlines()]
    columns = [name for _, name, *_ in shop.sql("pragma table_info(rota_schedules)")]
    assert sorted(names) == sorted([*columns, "means"])


def test_show_tells_of_fires_and_misses(shop: Terminal) -> None:
    shop.make_due("daily-report")
    shop.rota("schedules", "--trigger", "daily-report")

    said = shop.rota("schedules", "show", "daily-report").stdout

    fire = next(line for line in said.splitlines() if "trigger" in line).split()
    assert (fire[0], fire[1], fire[3], fire[4]) == ("2024-01-08T08:00:00Z", "trigger", "1", "queued")
    miss = next(line for line in said.splitlines() if " late " in line).split()
    assert miss[0] == "2024-01-09T08:00:00Z"
    assert "changes" not in said
    assert "trigger   1        cli" in shop.rota("schedules", "show", "daily-report", "--history").stdout


def test_show_tells_of_a_slot_that_is_used_up_and_of_a_pause(shop: Terminal) -> None:
    shop.rota("schedules", "--trigger", "daily-report")
    shop.rota("schedules", "--pause", "daily-report")

    said = shop.rota("schedules", "show", "daily-report").stdout

    assert "Europe/Berlin  fired early, as run 1\n" in said
    assert "next slots (paused: none fires before it is resumed)" in said


def test_show_as_json(shop: Terminal) -> None:
    shop.rota("schedules", "--trigger", "daily-report")

    shown = json.loads(shop.rota("schedules", "show", "daily-report", "--json", "--history").stdout)

    assert shown["means"] == "at 09:00, Monday to Friday (Europe/Berlin)"
    assert len(shown["next_slots"]) == 5
    assert [(fire["run_id"], fire["state"]) for fire in shown["fires"]] == [(1, "queued")]
    assert [change["verb"] for change in shown["changes"]] == ["trigger", "register"]


def test_show_of_a_finished_one_and_of_an_unreadable_one(shop: Terminal) -> None:
    shop.sql("update rota_schedules set next_run_at = null")
    assert "next slots (finished: there is none)\n" in shop.rota("schedules", "show", "daily-report").stdout

    shop.sql("update rota_schedules set cron_spec = 'whenever', location = 'Mars/Base', input = '{'")
    said = shop.rota("schedules", "show", "daily-report")
    assert said.exit_code == 0
    assert "means                 time zone 'Mars/Base' is not known" in said.stdout
    assert shop.rota("schedules", "show", "daily-report", "--json").exit_code == 0


def test_show_of_an_unknown_one_fails(shop: Terminal) -> None:
    assert shop.rota("schedules", "show", "nope").exit_code == 1
