"""The public face is typed: wrong inputs, missing ones and unregistered functions are errors before anything runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

CALLS = Path(__file__).parent / "calls.py"
ROOT = Path(__file__).parents[2]


def test_what_mypy_takes_and_what_it_refuses():
    lines = CALLS.read_text().splitlines()
    wanted = {number for number, line in enumerate(lines, 1) if "# refused" in line}
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", ".mypy_cache/calls"]
    found = subprocess.run([*command, str(CALLS)], capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)
    refused = {int(number) for number in re.findall(r"calls\.py:(\d+): error", found.stdout)}
    assert refused == wanted, found.stdout + found.stderr
