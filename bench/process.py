"""A process that is measured, beside the one that measures it."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

REPOSITORY = Path(__file__).parents[1]
LIMIT = 120.0  # seconds to wait for anything
GLANCE = 0.002  # seconds between two looks


class Process:
    """Python with these arguments, started in `folder`; `bench` can be imported there."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._output = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            stdout=self._output,
            stderr=self._output,
        )

    def until(self, there: Callable[[], bool]) -> float:
        """Wait until it has come to that; returns the time at which it was seen."""
        patience = time.monotonic() + LIMIT
        while not there():
            self._check(patience)
            time.sleep(GLANCE)
        return time.time()

    def cost(self) -> tuple[float, float]:
        """The seconds of processor time that it has had, and the MiB of memory that it holds; Linux knows them."""
        self._check()
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        clock = ~self._process.pid << 3 | 2  # how Linux numbers the clocks of processes
        return time.clock_gettime(clock), pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def _check(self, patience: float = math.inf) -> None:
        if self._process.poll() is not None or time.monotonic() > patience:
            self._output.seek(0)
            raise RuntimeError(f"it ended, or took over {LIMIT:g} s; it said:\n{self._output.read()}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(LIMIT)
        self._output.close()
