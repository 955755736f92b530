"""`examples/in_fastapi.py`, served by uvicorn as its head says."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.cli.terminal import Started
from tests.docs.pages import ROOT

LIMIT = 30  # seconds to wait for an answer


def ask(url: str, method: str = "GET") -> tuple[int, Any]:
    with urlopen(Request(url, method=method), timeout=LIMIT) as answer:
        return answer.status, json.load(answer)


def test_who_signs_is_greeted_by_the_worker_inside(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "uvicorn", "examples.in_fastapi:api", "--port", "0"]
    place = {**os.environ, "ROTA_DATABASE_URL": f"sqlite:///{tmp_path / 'rota.db'}"}
    with subprocess.Popen(command, cwd=ROOT, env=place, stdout=-1, stderr=subprocess.STDOUT, text=True) as process:
        try:
            server = Started(process)
            found = re.search(r"http://\S+", server.until("running on"))
            assert found
            assert ask(f"{found[0]}/guests/Ada", "POST") == (201, {"run": 1})
            server.until("Welcome, Ada!")
            assert ask(f"{found[0]}/guests/Grace", "POST") == (201, {"run": 2})
            server.until("Welcome, Grace!")
            assert set(ask(f"{found[0]}/schedules")[1]) == {"tidy", "rota/prune"}
            server.send(signal.SIGTERM)
            server.until("Application shutdown complete")
        finally:
            process.kill()

    with closing(sqlite3.connect(tmp_path / "rota.db")) as connection:
        assert connection.execute("select name from guests order by id").fetchall() == [("Ada",), ("Grace",)]
        assert connection.execute("select count(*) from rota_workers").fetchall() == [(0,)]
