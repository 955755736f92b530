"""`rota check`: everything that is wrong, or looks so, with its remedy."""

from __future__ import annotations

import click

from rota.checks import Problem, check
from rota.cli.asked import Asked, as_json, wherever
from rota.cli.ending import DONE, FAILED
from rota.cli.opening import looking
from rota.cli.tables import fields_of, print_json, printable
from rota.clock import SystemClock


@click.command("check")
@as_json
@wherever
@click.pass_obj
def check_all(asked: Asked, json: bool) -> int:
    """Say everything that is wrong, or looks so, with its remedy. It fails where something is wrong."""
    with looking(asked) as app, app.home().store.read() as connection:
        found = check(connection, app.home().clock.now(), SystemClock().now())
    if json:
        print_json([fields_of(problem) for problem in found])
    else:
        _print(found)
    return FAILED if any(problem.level == "error" for problem in found) else DONE


def _print(found: list[Problem]) -> None:
    for problem in found:
        click.echo(printable(f"{problem.level}: {problem.place}: {problem.text}; {problem.remedy}"))
    if not found:
        click.echo("nothing is wrong")
