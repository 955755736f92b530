"""A disk without room: a clear error, nothing lost that was committed, and on it goes once there is room."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import rota
from rota.errors import DatabaseUnreachable


@contextmanager
def no_file_grows_beyond(size: int) -> Iterator[None]:
    """To SQLite a file that cannot grow is a disk that is full."""
    former, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, former[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
def test_a_full_disk(app: rota.App, report: Any, sql: Any) -> None:
    first = app.enqueue(report, "kept")
    path = Path(app.url.removeprefix("sqlite:///"))
    with no_file_grows_beyond(Path(f"{path}-wal").stat().st_size + 4096):
        with pytest.raises(DatabaseUnreachable, match="look at the disk"):
            app.enqueue_many(report, ["x" * 1000] * 500)
        assert app.stats().queues[0].queued == 1
    assert sql("select id from rota_runs") == [(first.id,)]
    assert len(app.enqueue_many(report, ["x" * 1000] * 500)) == 500
    assert sql("pragma integrity_check") == [("ok",)]
