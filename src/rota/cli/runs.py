"""`rota job execution`: the runs, the newest first, and everything about one."""

from __future__ import annotations

from typing import Any, get_args

import click

from rota.cli.asked import Asked, as_json, wherever
from rota.cli.lazy import LazyGroup
from rota.cli.opening import looking
from rota.cli.tables import decoded, fields_of, listing, pretty, print_json, table
from rota.errors import RunNotFound
from rota.run import Run, State
from rota.store import logs, runs
from rota.store.logs import LogLine

COLUMNS = ("ID", "NAME", "JOB", "STATE", "QUEUE", "ATTEMPT", "RUN_AFTER", "STARTED_AT", "FINISHED_AT")
STATES = get_args(State)
LOG_COLUMNS = ("AT", "ATTEMPT", "LEVEL", "LOGGER", "MESSAGE")


@click.group(
    cls=LazyGroup,
    commands={
        "list": ("rota.cli.runs:list_runs", "The executions, the newest first."),
        "show": ("rota.cli.runs:show", "Everything about one execution."),
        "run": ("rota.cli.executions:run", "Make one run of a job."),
        "cancel": ("rota.cli.executions:cancel", "End a run that is not wanted."),
        "retry": ("rota.cli.executions:retry", "Make a failed run anew."),
    },
)
def execution() -> None:
    """The executions of jobs."""


@click.command("list")
@click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True, help="How many at most.")
@click.option("--state", type=click.Choice(STATES), help="Only those of this state.")
@click.option("--schedule", "schedule_id", metavar="ID", help="Only those of this schedule.")
@as_json
@wherever
@click.pass_obj
def list_runs(asked: Asked, limit: int, state: State | None, schedule_id: str | None, json: bool) -> None:
    """The executions, the newest first. NAME is the schedule that fired it, ATTEMPT which of how many."""
    with looking(asked) as app, app.home().store.read() as connection:
        found = runs.latest(connection, limit, state=state, schedule_id=schedule_id)
    if json:
        print_json(list(map(decoded, found)))
    else:
        table(COLUMNS, map(_row, found))


def _row(run: Run) -> tuple[object, ...]:
    who = (run.id, run.schedule_id, run.job, run.state, run.queue)
    return (*who, _attempt(run), run.run_after, run.started_at, run.finished_at)


def _attempt(run: Run) -> str:
    """Attempts that came to nothing through no fault of the handler do not count against the limit."""
    return f"{run.attempt - run.lost}/{run.max_attempts}"


# ---- one -----------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("run_id", metavar="ID", type=click.IntRange(1, 2**63 - 1))
@as_json
@wherever
@click.pass_obj
def show(asked: Asked, run_id: int, json: bool) -> None:
    """Everything about one execution: input, output, error, the attempts that failed, and what it logged."""
    with looking(asked) as app, app.home().store.read() as connection:
        run = runs.get(connection, run_id)
        attempts = runs.attempts_of(connection, run_id)
        logged = logs.of(connection, run_id)
    if run is None:
        raise RunNotFound(run_id)
    if json:
        print_json(decoded(run) | {"attempts": attempts, "logs": logged})
    else:
        _print(run, attempts, logged)


def _print(run: Run, attempts: list[dict[str, Any]], logged: list[LogLine]) -> None:
    listing(fields_of(run) | {"input": pretty(run.input), "output": pretty(run.output)})
    for kept in attempts:
        click.echo(f"\nattempt {kept.pop('attempt')}")
        kept.pop("run_id")
        listing(kept)
    if logged:
        click.echo("\nlog")
        table(LOG_COLUMNS, ((line.at, line.attempt, line.level, line.logger, line.message) for line in logged))
