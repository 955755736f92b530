"""The command line. Here: which commands there are, and what becomes of an error. One file a noun has the rest."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import click

from rota import __version__
from rota.cli.asked import Asked, wherever
from rota.cli.ending import ending
from rota.cli.lazy import LazyGroup

COMMANDS = {
    "schedules": ("rota.cli.schedules:schedules", "List the schedules; pause, resume, trigger or show one."),
    "job": ("rota.cli.jobs:job", "List the jobs, and their executions."),
    "queues": ("rota.cli.queues:queues", "List the queues; pause, resume or limit one."),
    "worker": ("rota.cli.worker:worker", "Fire what is due, and run it, until it is stopped."),
    "stats": ("rota.cli.stats:stats", "How the rota stands now."),
    "check": ("rota.cli.checks:check_all", "Say what is wrong, with its remedy."),
    "next": ("rota.cli.time:next_slots", "What a cadence means, and when it comes next."),
    "db": ("rota.cli.database:db", "Make the database, or bring it up to date."),
}


class Rota(LazyGroup):
    """The root: it alone decides how the process ends."""

    def main(self, *args: Any, **options: Any) -> NoReturn:
        asked = Asked(debug=os.environ.get("ROTA_DEBUG", "0") not in ("", "0"))
        options |= {"prog_name": "rota", "standalone_mode": False, "obj": asked}
        sys.exit(ending(lambda: super(Rota, self).main(*args, **options), asked))


@click.group(
    cls=Rota,
    commands=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage.",
)
@click.version_option(__version__, prog_name="rota", message="%(prog)s %(version)s")
@wherever
def rota() -> None:
    """A durable scheduler: what should happen, when, and what became of it."""


def main() -> NoReturn:
    """The `rota` command."""
    rota()
    raise AssertionError("it has exited")
