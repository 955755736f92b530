"""`manage.py rota_worker`: `rota worker` inside a Django project. Its options are those of the click command."""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from rota.cli.asked import Asked
from rota.cli.ending import ending
from rota.cli.worker import worker

NAME = "rota_worker"


class Command(BaseCommand):
    """The app is that of `--app` or ROTA_APP, else of the setting ROTA_APP."""

    help = "Fire what is due, and run it, until SIGTERM or Ctrl-C: then it takes no more, and lets what runs end."

    def add_arguments(self, parser: CommandParser) -> None:
        for option in _options():
            parser.add_argument(_long(option), dest=option.name, help=_help(option), **_shape(option))

    def handle(self, *_: Any, **options: Any) -> None:
        options["app"] = options["app"] or os.environ.get("ROTA_APP") or getattr(settings, "ROTA_APP", None)
        options["verbose"] = options["verbose"] or options["verbosity"] > 1  # `-v` is Django's own
        asked = Asked(worker=_another(options))
        line = list(_line(options))
        code = ending(lambda: worker.main(line, f"manage.py {NAME}", standalone_mode=False, obj=asked), asked)
        if code:
            sys.exit(code)


def _options() -> list[click.Option]:
    return [option for option in worker.params if isinstance(option, click.Option)]


def _long(option: click.Option) -> str:
    return next(name for name in option.opts if name.startswith("--"))


def _shape(option: click.Option) -> dict[str, Any]:
    if option.is_flag:
        return {"action": "store_true"}
    return {"metavar": option.metavar or "N", "action": "append" if option.multiple else "store"}


def _help(option: click.Option) -> str:
    """What click says of it, which knows the default."""
    record = option.get_help_record(click.Context(worker))
    return SUPPRESS if record is None else record[1].replace("%", "%%")


def _line(options: dict[str, Any]) -> Iterator[str]:
    """The options as they stand on a command line."""
    for option in _options():
        given = options[str(option.name)]
        if given is None or given is False:
            continue
        for value in given if option.multiple else [given]:
            yield _long(option)
            if not option.is_flag:
                yield str(value)


def _another(options: dict[str, Any]) -> tuple[str, ...]:
    """Django, and the project, have to be set up in a worker's own process, too. The settings it takes from ours."""
    script = Path(sys.argv[0])
    manage = ("-m", "django") if script.name == "__main__.py" else (str(script),)
    path = options["pythonpath"]
    return (*manage, NAME, *(() if path is None else ("--pythonpath", path)))
