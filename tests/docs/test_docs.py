"""What the README and the pages show is run, Python, SQL and commands; and what they say is there is there."""

from __future__ import annotations

import ast
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Timer
from types import ModuleType

import pytest

import rota
from tests.docs.pages import PAGES, ROOT, Command, blocks_of, commands_of, pages_with
from tests.test_shape import FLOOR_OF, MODULES

WAIT = 30  # seconds, after which a command hangs


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working directory, and no settings but those of the page."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in os.environ if name.startswith("ROTA_")]:
        monkeypatch.delenv(name)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


# ---- python ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", pages_with("python"))
def test_the_python_of_a_page_runs(page: str, place: Path):
    """Its blocks are one program: they share their names."""
    blocks = [block for block in blocks_of(page) if block.kind == "python"]
    module = ModuleType("page")
    sys.modules["page"] = module
    try:
        for block in blocks:
            if block.title:
                (place / block.title).write_text(block.text)
            code = compile("\n" * (block.line - 1) + block.text, str(ROOT / page), "exec", dont_inherit=True)
            exec(code, module.__dict__)
    finally:
        del sys.modules["page"]
        for value in list(module.__dict__.values()):
            if isinstance(value, rota.App):
                value.close()


# ---- commands -------------------------------------------------------------------------------------------------------

NOT_RUN = {
    "make demo": "tests/docs/test_demo.py runs what it runs",
    "make test": "it is this",
    "uvicorn": "it serves until it is stopped; tests/docs/test_in_fastapi.py runs it",
    "curl": "the server is that of tests/docs/test_in_fastapi.py",
    "python manage.py": "the page has no project; tests/docs/test_in_django.py runs it on one",
    "pip install": "it would change the environment",
    "rota job execution": "the page has no app; tests/cli/test_run_verbs.py runs them on one",
}


@pytest.mark.parametrize("page", pages_with("console"))
def test_the_commands_of_a_page_run(page: str, place: Path):
    """Each `$ rota …` and `$ pytest …`, one after the other, beside the files that the page shows."""
    blocks = blocks_of(page)
    commands = [command for block in blocks if block.kind == "console" for command in commands_of(block)]
    for block in blocks:
        if block.title:
            (place / block.title).write_text(block.text)
    environment = {**os.environ, "PYTHONPATH": str(place), "COLUMNS": "200"}
    for command in commands:
        if _reason_not_to_run(command):
            continue
        if command.words[0] == "export":
            name, _, value = command.words[1].partition("=")
            environment[name] = value
        else:
            _check(page, command, environment)


def _check(page: str, command: Command, environment: dict[str, str]) -> None:
    where = f"{page}:{command.line}: {' '.join(command.words)}"
    code, output = _run(command, environment)
    assert code == 0, f"{where}\n{output}"
    lines = [set(line.split()) for line in output.splitlines()]
    for shown in command.shown:
        assert any(set(shown.split()) <= line for line in lines), f"{where} does not show {shown!r}\n{output}"


def _run(command: Command, environment: dict[str, str]) -> tuple[int, str]:
    program, *rest = command.words
    assert program in ("rota", "pytest"), f"{program} is neither run here nor has it a reason in NOT_RUN"
    words = [sys.executable, "-m", program, *rest]
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as made:
        assert made.stdout is not None
        too_long = Timer(WAIT, made.kill)
        too_long.start()
        lines = []
        for line in made.stdout:
            lines.append(line)
            if line.startswith("queues ") and "--once" not in rest:
                made.send_signal(signal.SIGINT)  # a worker that runs until it is told to stop
        too_long.cancel()
    return made.returncode, "".join(lines)


def _reason_not_to_run(command: Command) -> str | None:
    text = " ".join(command.words)
    return next((reason for begin, reason in NOT_RUN.items() if text.startswith(begin)), None)


# ---- sql ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", pages_with("sql"))
def test_the_sql_of_a_page_runs(page: str, tmp_path: Path):
    app = rota.App(f"sqlite:///{tmp_path / 'rota.db'}")
    app.list()
    app.close()
    with closing(sqlite3.connect(tmp_path / "rota.db")) as connection:
        for block in blocks_of(page):
            if block.kind == "sql":
                connection.executescript(block.text)


# ---- what is said to be there ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str):
    text = (ROOT / page).read_text()
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]+)?\)", text):
        path = (ROOT / page).parent / target if target else ROOT / page
        assert path.exists(), f"{page} links to {target}"
        if anchor:
            assert anchor[1:] in _anchors(path), f"{page} links to {target}{anchor}"


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_navigation_has_every_page():
    shown = re.findall(r"^  - \w+: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert sorted(f"docs/{name}" for name in shown) == sorted(page for page in PAGES if page.startswith("docs/"))


def test_the_log_lines_are_those_of_the_code():
    """docs/operations.md lists what log.py words, each with `…` for what differs."""
    table = (ROOT / "docs/operations.md").read_text().partition("## The log")[2].partition("##")[0]
    said = set(re.findall(r"^\| [A-Z]+ \| `(.*?)`", table, re.MULTILINE))
    texts = [
        node.value for node in ast.walk(ast.parse(MODULES["rota.log"].read_text())) if isinstance(node, ast.Constant)
    ]
    worded = {re.sub(r"%[sd]|%\.\df", "…", text) for text in texts if isinstance(text, str) and "%" in text}
    assert worded <= said
    assert {line for line in said - worded if not line.startswith("database ")} == set()  # store/gate has that one


def test_the_picture_of_the_package_is_true():
    """docs/architecture.md has every file of the package, on its floor, and none that is not there."""
    picture = (ROOT / "docs/architecture.md").read_text().partition("```text\n")[2].partition("```")[0]
    said: dict[str, int] = {}
    folder = ""
    for line in picture.splitlines():
        found = re.fullmatch(r"( ?\d+)  (  )?([\w/]+(?:, \w+)*)(?:  .*)?", line)
        assert found, f"docs/architecture.md: this line is not understood: {line!r}"
        floor, inside, names = int(found[1]), found[2], found[3].split(", ")
        folder = folder if inside else names[0]
        said |= {f"{folder}{name}" if inside else name: floor for name in names}
    assert said == _rooms()


def _rooms() -> dict[str, int]:
    """`store/` and `store/runs`, each with its floor."""
    folders = {path.parent for path in MODULES.values() if path.name == "__init__.py"}
    there = {module.removeprefix("rota."): path for module, path in MODULES.items() if module != "rota"}
    there = {module: path for module, path in there.items() if path.stat().st_size}  # empty ones only make a package
    there.pop("__main__", None)  # `python -m rota`, and nothing else
    return {
        f"{name.replace('.', '/')}{'/' * (path.parent in folders and path.name == '__init__.py')}": FLOOR_OF[
            name.partition(".")[0]
        ]
        for name, path in there.items()
    }
