"""`rota worker --processes N`: a supervisor, and N workers under it."""

from __future__ import annotations

import os
import signal
import sys
from datetime import timedelta
from threading import Thread

import click

from rota import duration, log
from rota.cli.asked import Asked
from rota.cli.signals import LEFT, Ends
from rota.clock import SystemClock
from rota.engine.options import WorkerOptions
from rota.engine.supervisor import Supervisor
from rota.events import Events

LAST_WORDS = timedelta(seconds=5)  # what a worker has to give runs back, once its own timeout is over


def supervise(asked: Asked, processes: int, options: WorkerOptions, ends: Ends, *, verbose: bool) -> None:
    """Keep that many workers running until a signal comes; then stop them all."""
    bus = Events()
    log.subscribe(bus)
    grace = (options.shutdown_timeout + LAST_WORDS).total_seconds()
    supervisor = Supervisor(_command(asked, options, verbose), processes, grace, SystemClock(), bus.emit)
    ends.at_once = lambda: _killed(supervisor)
    supervisor.start()
    click.echo(f"{processes} workers")
    end = ends.wait()
    if isinstance(end, signal.Signals):
        click.echo(f"stopping ({end.name}) {processes} workers")
    supervisor.stop()
    click.echo("stopped")


def end_with_supervisor(ends: Ends) -> None:
    """For a worker under a supervisor: stop when it is gone. Its end of the pipe closes however it died."""

    def wait() -> None:
        while os.read(0, 1024):
            pass
        ends.put(signal.SIGTERM)

    Thread(target=wait, name="rota-supervisor-gone", daemon=True).start()


def _command(asked: Asked, options: WorkerOptions, verbose: bool) -> list[str]:
    """The same command for one worker."""
    command = [sys.executable, *asked.worker, "--supervised"]
    command += ["--poll-interval", duration.render(options.poll_interval)]
    command += ["--shutdown-timeout", duration.render(options.shutdown_timeout)]
    command += [part for queue in options.queues for part in ("--queue", queue)]
    if options.concurrency is not None:
        command += ["--concurrency", str(options.concurrency)]
    if options.poll_only:
        command.append("--poll-only")
    if verbose:
        command.append("--verbose")
    for name, value in (("--app", asked.app), ("--database", asked.database)):
        command += [] if value is None else [name, value]
    return [*command, "--debug"] if asked.debug else command


def _killed(supervisor: Supervisor) -> str:
    supervisor.signal_kill()
    return LEFT
