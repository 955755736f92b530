"""`rota worker`: fires what is due and runs it, until a signal stops it, or `--once`."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from threading import Thread
from time import gmtime

import click

from rota import duration
from rota.app import App
from rota.cli.asked import Asked, wherever
from rota.cli.opening import working
from rota.cli.processes import end_with_supervisor, supervise
from rota.cli.signals import LEFT, End, Ends, heard
from rota.cli.tables import printable
from rota.engine.options import WorkerOptions
from rota.engine.worker import Worker
from rota.errors import DurationInvalid, QueueUnknown
from rota.events import HandlerStuck
from rota.settings import Settings

AT_ONCE = 2.0  # seconds that a second signal takes to give back what runs


def _at_least(least: timedelta) -> Callable[[click.Context, click.Parameter, str], timedelta]:
    """Reads an option's `1h30m`."""

    def read(ctx: click.Context, param: click.Parameter, value: str) -> timedelta:  # noqa: ARG001
        try:
            span = duration.parse(value)
        except DurationInvalid as error:
            raise click.BadParameter(str(error)) from error
        if span < least:
            raise click.BadParameter(f"{value} is less than {duration.render(least)}")
        return span

    return read


@click.command()
@click.option("--once", is_flag=True, help="Check what is due, run one batch, and exit.")
@click.option("--queue", "queues", metavar="NAME", multiple=True, help="Run only this queue's; may be repeated.")
@click.option("--processes", type=click.IntRange(min=1), help="This many workers, started again where one ends.")
@click.option("--supervised", is_flag=True, hidden=True)
@click.option("--concurrency", type=click.IntRange(min=1), help="How many at a time; else as the queues say.")
@click.option(
    "--poll-interval",
    metavar="DURATION",
    callback=_at_least(timedelta(seconds=1)),
    default="60s",
    show_default=True,
    help="How long it sleeps at most.",
)
@click.option("--poll-only", is_flag=True, help="Do not watch for what other processes write.")
@click.option(
    "--shutdown-timeout",
    metavar="DURATION",
    callback=_at_least(timedelta(0)),
    default="30s",
    show_default=True,
    help="How long a stop waits for what runs.",
)
@click.option("-v", "--verbose", is_flag=True, help="Log each fire and each run, too.")
@wherever
@click.pass_obj
def worker(
    asked: Asked,
    verbose: bool,
    once: bool,
    queues: tuple[str, ...],
    processes: int | None,
    supervised: bool,
    concurrency: int | None,
    poll_interval: timedelta,
    poll_only: bool,
    shutdown_timeout: timedelta,
) -> None:
    """Fire what is due, and run it, until SIGTERM or Ctrl-C: then it takes no more, and lets what runs end.

    A second signal ends it at once; what ran is given back.
    """
    options = WorkerOptions(
        queues=queues,
        concurrency=concurrency,
        poll_interval=poll_interval,
        poll_only=poll_only,
        shutdown_timeout=shutdown_timeout,
    )
    if once and processes is not None:
        raise click.UsageError("give --once or --processes, one of the two")
    with heard() as ends:
        _log_to_stderr(verbose)
        if processes is not None:
            _check(asked, options)
            supervise(asked, processes, options, ends, verbose=verbose)
            return
        if supervised:
            end_with_supervisor(ends)
        with working(asked) as app:
            app.on(HandlerStuck, lambda event: ends.put(_stuck(event)))
            (_work_once if once else _work)(_registered(app, options), ends, shutdown_timeout)


def _work(working: Worker, ends: Ends, patience: timedelta) -> None:
    ends.at_once = lambda: _abandoned(working)
    working.start()
    end = ends.wait()
    _stop(working, end, patience)
    if isinstance(end, Exception):
        raise end


def _work_once(working: Worker, ends: Ends, patience: timedelta) -> None:
    ends.at_once = lambda: _abandoned(working)
    Thread(target=_batch, args=(working, ends), name="rota-once", daemon=True).start()
    end = ends.wait()
    _stop(working, end, patience)
    if isinstance(end, Exception):
        raise end
    if not isinstance(end, signal.Signals):
        click.echo(f"processed {end} executions")


def _batch(working: Worker, ends: Ends) -> None:
    try:
        ends.put(working.once())
    except Exception as error:  # noqa: BLE001 - the main thread raises it again
        ends.put(error)


def _abandoned(working: Worker) -> str:
    given_back = working.abandon(AT_ONCE)
    return LEFT if given_back is None else f"{given_back} given back"


def _stuck(event: HandlerStuck) -> click.ClickException:
    """A thread cannot be ended, but its process can: whoever supervises it starts another one."""
    what = f"the handler of run {event.run_id} ({event.job}) does not return"
    return click.ClickException(f"{what}; this process ends, so that another can take its place")


def _stop(working: Worker, end: End, patience: timedelta) -> None:
    if isinstance(end, signal.Signals):
        running = working.holding
        waits = f"; {running} still running, for up to {duration.render(patience)}" if running else ""
        _say(f"stopping ({end.name}){waits}")
    given_back = working.stop()
    if isinstance(end, signal.Signals):
        _say(f"stopped, {given_back} given back")


# ---- the start -----------------------------------------------------------------------------------------------------


def _check(asked: Asked, options: WorkerOptions) -> None:
    """What would fail in every process, and again and again, fails here once."""
    with working(asked) as app:
        _registered(app, options).stop()


def _registered(app: App, options: WorkerOptions) -> Worker:
    try:
        made = app.worker(options)
    except QueueUnknown as error:
        raise click.UsageError(str(error), click.get_current_context()) from error
    _say(f"queues {_queues(made, options)} ({Settings.load().env})")
    return made


def _queues(made: Worker, options: WorkerOptions) -> str:
    """`default:4 emails:2`; where they share one number, it stands behind: `default emails, 8 in all`."""
    if options.concurrency is not None and len(made.queues) > 1:
        return f"{' '.join(map(printable, made.queues))}, {options.concurrency} in all"
    return " ".join(f"{printable(name)}:{capacity}" for name, capacity in made.queues.items()) or "none"


def _say(line: str) -> None:
    click.echo(line)
    sys.stdout.flush()


def _log_to_stderr(verbose: bool) -> None:
    """Nothing of it where the app has set up logging itself."""
    if logging.getLogger().handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S"))
    logging.getLogger().addHandler(handler)
    logging.getLogger("rota").setLevel(logging.DEBUG if verbose else logging.INFO)


class _Line(logging.Formatter):
    """A line of the log; its time is UTC, as everywhere."""

    converter = staticmethod(gmtime)
