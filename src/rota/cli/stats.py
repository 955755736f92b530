"""`rota stats`: how the rota stands now."""

from __future__ import annotations

from dataclasses import asdict

import click

from rota.cli.asked import Asked, as_json, wherever
from rota.cli.opening import looking
from rota.cli.tables import print_json, printable
from rota.stats import QueueStats, Stats


@click.command()
@as_json
@wherever
@click.pass_obj
def stats(asked: Asked, json: bool) -> None:
    """How the rota stands now: what is due, what waits, what fails."""
    with looking(asked) as app:
        found = app.stats()
    if json:
        print_json(asdict(found))
    else:
        _print(found)


def _print(found: Stats) -> None:
    health = found.health
    click.echo(f"schedules: {found.schedules} ({found.enabled} enabled, {found.due} due)")
    click.echo(f"failing schedules: {health.failing_schedules}")
    click.echo(f"refused schedules: {health.refused_schedules}")
    click.echo(f"longest overdue: {health.overdue_seconds:.0f} s")
    click.echo(f"workers: {found.workers}")
    for queue in found.queues:
        click.echo(_line(queue))


def _line(queue: QueueStats) -> str:
    return f"queue {printable(queue.name)}: {queue.waiting} waiting, {queue.queued} queued, {queue.running} running"
