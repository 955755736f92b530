"""`rota queues`: list them, pause or resume one, and say how many of its runs may run at a time."""

from __future__ import annotations

from collections.abc import Callable

import click

from rota.app import App
from rota.cli.asked import Asked, as_json, wherever
from rota.cli.lazy import LazyGroup
from rota.cli.opening import author, looking
from rota.cli.tables import print_json, printable, table
from rota.queue import Queue
from rota.stats import QueueStats
from rota.verbs.transaction import Transaction

COLUMNS = ("QUEUE", "CONCURRENCY", "MAX_RUNNING", "PAUSED", "WAITING", "QUEUED", "RUNNING")


@click.group(
    cls=LazyGroup,
    commands={"limit": ("rota.cli.queues:limit", "Say how many of its runs may run at a time.")},
    invoke_without_command=True,
)
@wherever
@as_json
@click.option("--pause", metavar="QUEUE", multiple=True, help="Let its runs wait until it is resumed.")
@click.option("--resume", metavar="QUEUE", multiple=True, help="Let its runs be started again.")
@click.pass_context
def queues(ctx: click.Context, json: bool, pause: tuple[str, ...], resume: tuple[str, ...]) -> None:
    """List the queues, or pause or resume one."""
    if bool(pause) + bool(resume) + (ctx.invoked_subcommand is not None) > 1:
        raise click.UsageError("give one of --pause, --resume and limit", ctx)
    if ctx.invoked_subcommand is not None:
        return
    with looking(ctx.obj) as app:
        if not pause and not resume:
            _list(app, json)
        else:
            _steer(app, lambda tx: [tx.pause_queue(n) for n in pause] + [tx.resume_queue(n) for n in resume], json)


@click.command()
@click.argument("queue")
@click.option("--concurrency", type=int, help="In each worker, 1 or more.")
@click.option("--max-running", type=int, help="Over all workers, 1 or more; 0 takes the limit away.")
@as_json
@wherever
@click.pass_obj
def limit(asked: Asked, queue: str, concurrency: int | None, max_running: int | None, json: bool) -> None:
    """Say how many runs of QUEUE may run at a time; running workers heed it at their next pass."""
    if concurrency is None and max_running is None:
        raise click.UsageError("give --concurrency, --max-running or both")
    with looking(asked) as app:
        _steer(app, lambda tx: [tx.limit_queue(queue, concurrency=concurrency, max_running=max_running)], json)


def _steer(app: App, verbs: Callable[[Transaction], list[Queue]], json: bool) -> None:
    """All of them, or none."""
    with app.transaction(author()) as tx:
        changed = verbs(tx)
    for queue in changed:
        print_json(queue) if json else click.echo(printable(_said(queue)))


def _said(queue: Queue) -> str:
    most = "" if queue.max_running is None else f", {queue.max_running} over all workers"
    return f"{queue.name}: {queue.concurrency} a worker{most}{', paused' if queue.paused else ''}"


def _list(app: App, json: bool) -> None:
    found, counted = app.queues(), {queue.name: queue for queue in app.stats().queues}
    if json:
        print_json(found)
    else:
        table(COLUMNS, (_row(queue, counted[queue.name]) for queue in found))


def _row(queue: Queue, counted: QueueStats) -> tuple[object, ...]:
    limits = (queue.concurrency, queue.max_running, queue.paused)
    return (queue.name, *limits, counted.waiting, counted.queued, counted.running)
