"""Pages: the fenced blocks of a Markdown file, and how each kind is run."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGES = ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]

_BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^```", re.MULTILINE)
KINDS = {"python", "console", "sql", "toml", "text"}


@dataclass(frozen=True)
class Block:
    """A fenced block. One with a title is a file of that name."""

    page: str
    line: int
    kind: str
    title: str | None
    text: str


@dataclass(frozen=True)
class Command:
    """A line after `$ `, and the output that the page shows below it."""

    line: int
    words: tuple[str, ...]
    shown: tuple[str, ...]


def blocks_of(page: str) -> list[Block]:
    text = (ROOT / page).read_text()
    found = [
        Block(page, text.count("\n", 0, match.start()) + 2, match[1], match[2], match[3])
        for match in _BLOCK.finditer(text)
    ]
    assert len(_FENCE.findall(text)) == 2 * len(found), f"{page}: a block that is not read; give each a language"
    assert {block.kind for block in found} <= KINDS
    return found


def pages_with(kind: str) -> list[str]:
    """The pages that have such blocks."""
    return [page for page in PAGES if any(block.kind == kind for block in blocks_of(page))]


def commands_of(block: Block) -> list[Command]:
    commands: list[Command] = []
    for number, line in enumerate(block.text.splitlines(), block.line):
        if line.startswith("$ "):
            commands.append(Command(number, tuple(shlex.split(line[2:])), ()))
        else:
            assert commands, f"{block.page}:{number}: output before any command"
            last = commands[-1]
            commands[-1] = Command(last.line, last.words, (*last.shown, line))
    return commands
