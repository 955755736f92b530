"""`rota worker`: fires what is due and runs it, until a signal stops it, or `--once`."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from queue import SimpleQueue
from threading import Thread
from time import gmtime
from types import FrameType

import click

from rota import duration
from rota.app import App
from rota.cli.asked import Asked, wherever
from rota.cli.opening import working
from rota.cli.tables import printable
from rota.engine.worker import Worker, WorkerOptions
from rota.errors import DurationInvalid, QueueUnknown
from rota.settings import Settings


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
@wherever
@click.pass_obj
def worker(
    asked: Asked,
    once: bool,
    queues: tuple[str, ...],
    concurrency: int | None,
    poll_interval: timedelta,
    poll_only: bool,
    shutdown_timeout: timedelta,
) -> None:
    """Fire what is due, and run it, until SIGTERM or Ctrl-C: then it takes no more, and lets what runs end.

    A second signal ends it at once; what ran is given to another worker when its lease has run out.
    """
    options = WorkerOptions(
        queues=queues,
        concurrency=concurrency,
        poll_interval=poll_interval,
        poll_only=poll_only,
        shutdown_timeout=shutdown_timeout,
    )
    with working(asked) as app, _signals() as ends:
        _log_to_stderr(asked)
        (_work_once if once else _work)(_registered(app, options), ends, shutdown_timeout)


End = signal.Signals | int | Exception
"""Why the main thread stops waiting: a signal, a batch that is done (how many), or what went wrong with it."""


def _work(working: Worker, ends: SimpleQueue[End], patience: timedelta) -> None:
    working.start()
    end = ends.get()
    _stop(working, end, patience)


def _work_once(working: Worker, ends: SimpleQueue[End], patience: timedelta) -> None:
    Thread(target=_batch, args=(working, ends), name="rota-once", daemon=True).start()
    end = ends.get()
    _stop(working, end, patience)
    if isinstance(end, Exception):
        raise end
    if not isinstance(end, signal.Signals):
        click.echo(f"processed {end} executions")


def _batch(working: Worker, ends: SimpleQueue[End]) -> None:
    try:
        ends.put(working.once())
    except Exception as error:  # noqa: BLE001 - the main thread raises it again
        ends.put(error)


def _stop(working: Worker, end: End, patience: timedelta) -> None:
    if isinstance(end, signal.Signals):
        running = working.holding
        waits = f"; {running} still running, for up to {duration.render(patience)}" if running else ""
        _say(f"stopping ({end.name}){waits}")
    given_back = working.stop()
    if isinstance(end, signal.Signals):
        _say(f"stopped, {given_back} given back")


# ---- the start -----------------------------------------------------------------------------------------------------


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


def _log_to_stderr(asked: Asked) -> None:
    """Nothing of it where the app has set up logging itself."""
    if logging.getLogger().handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S"))
    logging.getLogger().addHandler(handler)
    logging.getLogger("rota").setLevel(logging.DEBUG if asked.debug else logging.INFO)


class _Line(logging.Formatter):
    """A line of the log; its time is UTC, as everywhere."""

    converter = staticmethod(gmtime)


# ---- signals -------------------------------------------------------------------------------------------------------


@contextmanager
def _signals() -> Iterator[SimpleQueue[End]]:
    """Where SIGTERM and SIGINT arrive, without a thread that polls; a second one ends the process at once."""
    heard = _Heard()
    former = {number: signal.signal(number, heard) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield heard.ends
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


class _Heard:
    """A handler may come in the middle of anything, so it takes no lock: SimpleQueue.put is made for that."""

    def __init__(self) -> None:
        self.ends: SimpleQueue[End] = SimpleQueue()
        self._stopping = False

    def __call__(self, number: int, _: FrameType | None) -> None:
        if self._stopping:
            os.write(2, b"rota: ended at once; what ran is given back when its lease has run out\n")
            os._exit(1)
        self._stopping = True
        self.ends.put(signal.Signals(number))
