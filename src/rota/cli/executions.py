"""`rota job execution run|cancel|retry`: the verbs of runs."""

from __future__ import annotations

import click

from rota.cli.asked import Asked, as_json, wherever
from rota.cli.opening import author, looking
from rota.cli.tables import decoded, print_json, printable
from rota.run import Run

_id = click.argument("run_id", metavar="ID", type=click.IntRange(1, 2**63 - 1))


@click.command()
@click.argument("job", metavar="JOB")
@click.option("--input", "--payload", "input_text", metavar="JSON", help="Its input, as JSON: '\"day\"', '{\"n\": 1}'.")
@click.option("--idempotency-key", "key", metavar="KEY", help="A run of this job that has it already is shown instead.")
@as_json
@wherever
@click.pass_obj
def run(asked: Asked, job: str, input_text: str | None, key: str | None, json: bool) -> None:
    """Make one run of a job, outside any schedule."""
    with looking(asked) as app:
        with app.transaction(author()) as tx:
            made = tx.enqueue_text(job, input_text, idempotency_key=key)
        _say(made, f"run {made.id} of {made.job} is {made.state}", json)


@click.command()
@_id
@as_json
@wherever
@click.pass_obj
def cancel(asked: Asked, run_id: int, json: bool) -> None:
    """End a run: at once where it waits; one that runs is asked to."""
    with looking(asked) as app:
        with app.transaction(author()) as tx:
            ended = tx.cancel(run_id)
        told = "was asked to end" if ended.state == "running" else "is cancelled"
        _say(ended, f"run {ended.id} of {ended.job} {told}", json)


@click.command()
@_id
@click.option(
    "--idempotency-key", "key", metavar="KEY", required=True, help="A new one: it keeps this from happening twice."
)
@as_json
@wherever
@click.pass_obj
def retry(asked: Asked, run_id: int, key: str, json: bool) -> None:
    """Make a new run with the job and the input of a failed one."""
    with looking(asked) as app:
        with app.transaction(author()) as tx:
            made = tx.retry(run_id, idempotency_key=key)
        _say(made, f"run {made.id} of {made.job} is {made.state}, in place of run {run_id}", json)


def _say(run: Run, line: str, json: bool) -> None:
    print_json(decoded(run)) if json else click.echo(printable(line))
