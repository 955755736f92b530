"""The databases of these walks are in memory where the system has such files: durability is not their matter."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest

MEMORY = "/dev/shm"


@pytest.fixture(scope="package", autouse=True)
def in_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    tmp_path_factory.getbasetemp()  # found before, so that it stays where it belongs
    former = tempfile.tempdir
    if os.access(MEMORY, os.W_OK):
        tempfile.tempdir = MEMORY
    yield
    tempfile.tempdir = former
