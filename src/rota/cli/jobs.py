"""`rota job`: the jobs that any worker has said it can run, and their executions."""

from __future__ import annotations

import click

from rota.cli.asked import Asked, as_json, wherever
from rota.cli.lazy import LazyGroup
from rota.cli.opening import looking
from rota.cli.tables import decoded, fields_of, listing, print_json, table
from rota.engine import pruner
from rota.errors import JobUnknown
from rota.store import jobs, schedules
from rota.store.jobs import JobRow

COLUMNS = ("APP", "JOB", "STATUS", "SOURCE", "QUEUE", "TIMEOUT", "LABEL")


@click.group(
    cls=LazyGroup,
    commands={
        "list": ("rota.cli.jobs:list_jobs", "The jobs, by name."),
        "show": ("rota.cli.jobs:show", "Everything about one job."),
        "execution": ("rota.cli.runs:execution", "List the executions of jobs; show, run, cancel or retry one."),
    },
    aliases={"exec": "execution"},
)
def job() -> None:
    """The jobs that any worker has said it can run, and their executions."""


@click.command("list")
@as_json
@wherever
@click.pass_obj
def list_jobs(asked: Asked, json: bool) -> None:
    """The jobs, by name."""
    with looking(asked) as app, app.home().store.read() as connection:
        found = jobs.listing(connection)
    if json:
        print_json([decoded(row) | {"status": _status(row), "source": _source(row)} for row in found])
    else:
        table(COLUMNS, map(_row, found))


def _row(row: JobRow) -> tuple[object, ...]:
    return row.app, row.name, _status(row), _source(row), row.queue, row.timeout, row.label


def _source(row: JobRow) -> str:
    return "system" if row.name == pruner.NAME else "code"


def _status(row: JobRow) -> str:
    if row.retired:
        return "retired"
    return "active" if row.enabled else "disabled"


# ---- one -----------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("name", metavar="JOB")
@as_json
@wherever
@click.pass_obj
def show(asked: Asked, name: str, json: bool) -> None:
    """Everything about one job: its terms, and the schedules that start it."""
    with looking(asked) as app, app.home().store.read() as connection:
        row = jobs.get(connection, name)
        ids = [schedule.id for schedule in schedules.listing(connection) if schedule.job == name]
    if row is None:
        raise JobUnknown(name)
    if json:
        print_json(decoded(row) | {"status": _status(row), "source": _source(row), "schedules": ids})
    else:
        listing(fields_of(row) | {"status": _status(row), "schedules": ", ".join(ids)})
