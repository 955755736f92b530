"""`examples/in_django`, and with it `manage.py rota_worker`: real processes, in a folder of the test."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import click
import pytest

from rota.cli.worker import worker
from tests.cli.terminal import PATIENCE, Started
from tests.docs.pages import ROOT

SUBSCRIBE = """
from django.test import Client
print(Client().post("/subscribe", {"email": "ada@example.org"}, headers={"host": "localhost"}).status_code)
"""
CALL = """
from django.core.management import call_command
call_command("rota_worker", "--once", queues=["default"], concurrency=2)
"""


class Project:
    """The project of the example, its data in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        known = {name: value for name, value in os.environ.items() if not name.startswith(("ROTA_", "DJANGO_"))}
        self._place: dict[str, Any] = {
            "cwd": ROOT / "examples/in_django",
            "env": {**known, "NEWSLETTER_DATA": str(folder), "PYTHONWARNINGS": "error", "COLUMNS": "200"},
        }

    def manage(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(_line(args), capture_output=True, text=True, timeout=PATIENCE, **self._place)

    @contextmanager
    def started(self, *args: str) -> Iterator[Started]:
        with subprocess.Popen(_line(args), stdout=-1, stderr=subprocess.STDOUT, text=True, **self._place) as process:
            try:
                yield Started(process)
            finally:
                process.kill()

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.folder / "newsletter.db")) as connection:
            return connection.execute(statement).fetchall()


def _line(args: tuple[str, ...]) -> list[str]:
    return [sys.executable, "manage.py", *args]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_who_subscribes_is_welcomed_by_the_worker(project: Project) -> None:
    assert project.manage("migrate", "--run-syncdb").returncode == 0
    first = project.manage("rota_worker", "--once")
    assert (first.returncode, first.stdout) == (0, "queues default:4 (production)\nprocessed 0 executions\n")
    assert project.sql("select id from rota_schedules where source = 'code'") == [("daily-digest",)]

    assert project.manage("shell", "-c", SUBSCRIBE).stdout.endswith("201\n")
    assert project.sql("select job, input, state from rota_runs") == [("welcome", "1", "queued")]

    second = project.manage("rota_worker", "--once", "-v", "2")
    assert (second.returncode, second.stdout) == (0, "queues default:4 (production)\nprocessed 1 executions\n")
    assert "DEBUG rota: run 1 (welcome): succeeded" in second.stderr
    assert project.sql("select email from newsletter_subscriber where welcomed_at is not null") == [
        ("ada@example.org",)
    ]


@pytest.mark.parametrize("options", [(), ("--processes", "1", "--shutdown-timeout", "1h")])
def test_it_works_until_a_signal_comes(project: Project, options: tuple[str, ...]) -> None:
    """A process under a supervisor is `manage.py rota_worker` again: else it would not find the app."""
    with project.started("rota_worker", "--poll-interval", "30s", *options) as command:
        command.until("queues default:4")
        command.send(signal.SIGTERM)
        command.until("stopping (SIGTERM)")
        command.until("stopped")
        assert command.code() == 0
    assert project.sql("select count(*) from rota_workers") == [(0,)]


def test_its_options_are_those_of_rota_worker(project: Project) -> None:
    shown = project.manage("rota_worker", "--help").stdout
    for option in worker.params:
        assert isinstance(option, click.Option)
        assert (max(option.opts, key=len) in shown) != option.hidden
    assert "[default: 60s]" in shown


def test_call_command_takes_them_as_arguments(project: Project) -> None:
    called = project.manage("shell", "-c", CALL)
    assert called.stdout.endswith("queues default:2 (production)\nprocessed 0 executions\n"), called.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--queue", "nope"], "rota: no queue has the name 'nope'; there are: default"),
        (["--once", "--processes", "2"], "rota: give --once or --processes, one of the two"),
        (["--app", "newsletter.jobs:nothing"], "'newsletter.jobs:nothing' is not there"),
    ],
)
def test_what_makes_no_sense_is_refused(project: Project, options: list[str], said: str) -> None:
    refused = project.manage("rota_worker", *options)
    assert refused.returncode == (1 if "--app" in options else 2)
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr
