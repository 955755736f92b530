"""What every command can be told: where the app and the database are, and whether tracebacks are wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(slots=True)
class Asked:
    """The options that may stand before or after a command's name; the later one counts."""

    app: str | None = None
    database: str | None = None
    debug: bool = False
    worker: tuple[str, ...] = ("-m", "rota", "worker")
    """What Python is given to run one more worker like this one."""


def wherever(command: F) -> F:
    """Give a command `--app`, `--database` and `--debug`."""
    return _app(_database(debuggable(command)))


def debuggable(command: F) -> F:
    """Give a command `--debug`."""
    return _debug(command)


def as_json(command: F) -> F:
    """Give a command `--json`, its argument `json`."""
    return click.option("--json", "json", is_flag=True, help="As JSON, for programs.")(command)


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value is not None and value is not False:  # an empty URL is a mistake of its own, and not "none given"
        setattr(ctx.ensure_object(Asked), str(param.name), value)


_app = click.option(
    "--app", metavar="MODULE:NAME", expose_value=False, callback=_keep, help="The app; else ROTA_APP or pyproject.toml."
)
_database = click.option(
    "--database",
    metavar="URL",
    expose_value=False,
    callback=_keep,
    help="The database; else the app's, ROTA_DATABASE_URL, pyproject.toml or sqlite:///rota.db.",
)
_debug = click.option("--debug", is_flag=True, expose_value=False, callback=_keep, help="Show tracebacks of errors.")
