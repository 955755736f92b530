"""How commands end: exit codes, texts without tracebacks, and nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import pytest

from rota.cli import COMMANDS
from rota.cli import rota as root
from tests.cli.shop import report
from tests.cli.terminal import PATIENCE, REPOSITORY, SHOP, Terminal

LOOKING = [("schedules",), ("stats",), ("job", "list"), ("job", "execution", "list"), ("schedules", "show", "x")]
STEERING = [("schedules", verb, "x") for verb in ("--pause", "--resume", "--trigger")]


# ---- help and usage ------------------------------------------------------------------------------------------------


def groups(command: click.Command, name: str = "rota") -> Iterator[tuple[str, click.Group]]:
    if isinstance(command, click.Group):
        yield name, command
        for inner in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), inner)
            assert found is not None
            yield from groups(found, f"{name} {inner}")


def test_every_command_is_there_and_described_alike() -> None:
    for name, group in groups(root):
        for inner, (_, line) in group.known.items():  # type: ignore[attr-defined]
            command = group.get_command(click.Context(group), inner)
            assert command is not None, f"{name} {inner}"
            assert command.name == inner, f"{name} {inner}"
            assert line.endswith("."), line
            assert command.help, f"{name} {inner}"


def test_help_lists_the_commands(terminal: Terminal) -> None:
    for args in ((), ("--help",), ("-h",)):
        said = terminal.rota(*args)
        assert said.exit_code == (0 if args else 2)
        assert all(line in said.stdout for _, line in COMMANDS.values())
        assert "Exit codes: 0 done, 1 failed, 2 wrong usage." in said.stdout


def test_the_version(terminal: Terminal) -> None:
    assert terminal.rota("--version").stdout.startswith("rota ")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("schedule",), "there is no command 'schedule'; did you mean 'schedules'?"),
        (("schedules", "shwo", "x"), "there is no command 'shwo'; did you mean 'show'?"),
        (("job", "exec", "lst"), "there is no command 'lst'; did you mean 'list'?"),
        (("xyzzy",), "there is no command 'xyzzy'"),
        (("stats", "--jsn"), "--jsn"),
        (("db", "sql", "--dialect", "mysql"), "'mysql' is not one of"),
    ],
)
def test_wrong_usage_says_what_was_meant(terminal: Terminal, args: tuple[str, ...], said: str) -> None:
    result = terminal.rota(*args)

    assert (result.exit_code, result.stdout) == (2, "")
    usage, text, *more = result.stderr.splitlines()
    assert usage.startswith("Usage: rota ")
    assert text.startswith(f"rota: {said}") or said in text
    assert not more


# ---- which database ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("args", LOOKING + STEERING)
def test_looking_and_steering_make_no_database(terminal: Terminal, args: tuple[str, ...]) -> None:
    result = terminal.rota(*args)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"rota: no rota database at {terminal.url}: run `rota db migrate`\n"
    assert list(terminal.folder.iterdir()) == []


@pytest.mark.parametrize("args", LOOKING + STEERING)
def test_they_make_no_tables_in_a_foreign_one(terminal: Terminal, args: tuple[str, ...]) -> None:
    terminal.sql("create table mine (it text)")

    assert terminal.rota(*args).exit_code == 1
    assert terminal.sql("select name from sqlite_master") == [("mine",)]


@pytest.mark.parametrize("args", [*LOOKING, *STEERING, ("db", "migrate")])
@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "database '': give a URL"),
        ("rota.db", "database 'rota.db': give a URL"),
        ("mysql://here/rota", "database 'mysql://here/rota': give a URL"),
        ("sqlite://", "needs a file"),
        ("sqlite:///no/such/rota.db", "there is no folder"),
        ("sqlite:///.", "is a folder"),
    ],
)
def test_what_is_no_database(terminal: Terminal, args: tuple[str, ...], url: str, said: str) -> None:
    result = terminal.rota(*args, "--database", url)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("rota: database ")
    assert said in result.stderr
    assert list(terminal.folder.iterdir()) == []


@pytest.mark.parametrize("args", [*LOOKING, *STEERING, ("db", "migrate"), ("worker", "--app", SHOP)])
def test_a_file_that_is_none(terminal: Terminal, args: tuple[str, ...]) -> None:
    path = terminal.folder / "rota.db"
    path.write_text("a letter to my aunt\n" * 100)

    result = terminal.rota(*args)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"rota: database {terminal.url}: it is not a sound SQLite database")
    assert path.read_text() == "a letter to my aunt\n" * 100


@pytest.mark.parametrize("args", [*LOOKING, *STEERING, ("db", "migrate"), ("worker", "--app", SHOP)])
def test_a_newer_database(shop: Terminal, args: tuple[str, ...]) -> None:
    shop.sql("insert into rota_migrations values (99, '2026-01-01T00:00:00.000000Z')")
    before = shop.sql("select * from rota_schedules")

    result = shop.rota(*args)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"rota: database {shop.url} has schema version 99, and this build knows")
    assert shop.sql("select * from rota_schedules") == before


AS_A_GUEST = """
import os, sys
from contextlib import redirect_stderr, redirect_stdout
from rota.cli import rota

def run(args):
    try:
        rota(args)
    except SystemExit as end:
        return end.code

spare, *args = sys.argv[1:]
with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
    run([*args, "--database", spare])  # loads the code, which a guest may not be able to read
    run(["worker", "--once", "--database", spare, "--app", "tests.cli.shop:app"])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
sys.exit(run(args))
"""


@pytest.fixture
def read_only() -> Iterator[Terminal]:
    """A rota in a folder that others may enter, and no one but root may write in."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        terminal = Terminal(folder)
        assert terminal.rota("worker", "--once", "--app", SHOP).exit_code == 0
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        yield terminal
        folder.chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="this system has no users to be")
@pytest.mark.parametrize("args", [*STEERING, ("worker", "--once", "--app", SHOP)])
def test_a_database_that_is_read_only(read_only: Terminal, tmp_path: Path, args: tuple[str, ...]) -> None:
    before = {path: path.read_bytes() for path in read_only.folder.iterdir()}

    environ = {**os.environ, "ROTA_DATABASE_URL": read_only.url, "PYTHONPATH": str(REPOSITORY)}
    line = [sys.executable, "-c", AS_A_GUEST, f"sqlite:///{tmp_path / 'spare.db'}", *args]
    result = subprocess.run(line, capture_output=True, text=True, env=environ, cwd=read_only.folder, timeout=PATIENCE)

    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(f"rota: database {read_only.url} is read-only: give this user write access")
    assert result.stderr.count("\n") == 1
    assert {path: path.read_bytes() for path in read_only.folder.iterdir()} == before


# ---- which app -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("", "'' is no place of an app"),
        ("shop", "'shop' is no place of an app"),
        ("tests.cli.shop:nothing", "'tests.cli.shop:nothing' is not there"),
        ("tests.cli.shop:report", "'tests.cli.shop:report' is no rota.App"),
        ("no_such_shop:app", "'no_such_shop:app': there is no module no_such_shop"),
    ],
)
@pytest.mark.parametrize("args", [("worker",), ("schedules",), ("db", "migrate")])
def test_an_app_that_is_none(terminal: Terminal, args: tuple[str, ...], place: str, said: str) -> None:
    result = terminal.rota(*args, "--app", place)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"rota: {said}: name the app as module:attribute")
    assert list(terminal.folder.iterdir()) == []


def test_an_app_that_is_broken_is_told_with_its_line(terminal: Terminal) -> None:
    (terminal.folder / "broken.py").write_text("import rota\n\napp = rota.Ap()\n")

    result = terminal.run("schedules", "--app", "broken:app")

    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("rota: unexpected AttributeError: module 'rota' has no attribute 'Ap'")
    assert result.stderr.endswith("broken.py, line 3); --debug or ROTA_DEBUG=1 shows the traceback\n")


def test_the_app_says_its_database_and_an_option_outdoes_it(terminal: Terminal) -> None:
    (terminal.folder / "own.py").write_text("import rota\n\napp = rota.App('sqlite:///own.db')\n")

    assert terminal.run("db", "migrate", "--app", "own:app").stdout == "sqlite:///own.db: made, applied version 1\n"
    assert terminal.run("--app", "own:app", "stats").returncode == 0
    assert "no rota database" in terminal.run("stats", "--app", "own:app", "--database", "sqlite:///it.db").stderr


def test_the_settings_say_it_where_nothing_else_does(terminal: Terminal) -> None:
    terminal.environ["ROTA_DATABASE_URL"] = None
    (terminal.folder / "pyproject.toml").write_text('[tool.rota]\ndatabase_url = "sqlite:///said.db"\n')

    assert terminal.rota("db", "migrate").stdout == "sqlite:///said.db: made, applied version 1\n"
    (terminal.folder / "pyproject.toml").write_text("[tool.rota]\ndatabase = 1\n")
    assert "no such setting" in terminal.rota("stats").stderr


# ---- how it ends ---------------------------------------------------------------------------------------------------


def test_a_traceback_is_for_those_who_ask(shop: Terminal) -> None:
    shop.sql("alter table rota_runs rename to elsewhere")

    plain, asked = shop.run("stats"), shop.run("stats", "--debug")
    shop.environ["ROTA_DEBUG"] = "1"

    assert (plain.returncode, asked.returncode) == (1, 1)
    assert plain.stderr.startswith("rota: unexpected ")
    assert plain.stderr.count("\n") == 1
    assert "Traceback" in asked.stderr
    assert "Traceback" in shop.run("stats").stderr


def test_a_reader_that_has_had_enough_is_no_trouble(shop: Terminal) -> None:
    with shop.app() as app, app.transaction() as tx:
        for number in range(300):
            tx.schedule(report, "@yearly", "year", id=f"s{number}")
    shop.sql("update rota_schedules set last_error = ?", "x" * 10_000)

    with shop.piped("schedules") as process:
        assert process.stdout.read(10) == "ID        "
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


def test_an_interrupted_command_says_nothing(terminal: Terminal) -> None:
    """It is interrupted while it writes to a pipe that nobody reads."""
    with terminal.piped("next", "* * * * *", "-n", "1000", "--tz", "America/Argentina/Buenos_Aires") as process:
        assert process.stdout.read(2) == "ev"
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.stderr.read().strip() == ""
    assert process.returncode in (0, 130)


def test_a_stream_that_cannot_take_a_character_gets_its_escape(shop: Terminal) -> None:
    shop.environ["PYTHONIOENCODING"] = "latin-1"
    shop.sql("update rota_schedules set last_error = ?", "日報")

    assert r"\u65e5\u5831" in shop.run("schedules").stdout
