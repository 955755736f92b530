"""How a command ends: 0 done, 1 failed, 2 wrong usage; an error is one text on stderr, and no traceback."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import click

from rota.cli.asked import Asked
from rota.errors import RotaError

DONE, FAILED, INTERRUPTED = 0, 1, 130  # wrong usage is click's, 2
_OURS = str(Path(__file__).parents[1])


def ending(command: Callable[[], object], asked: Asked) -> int:
    """Run the command; returns the exit code, once what went wrong is told."""
    _show_what_it_can()
    try:
        code = command()
        sys.stdout.flush()
    except BrokenPipeError:
        _read_no_further()
        return FAILED
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        return _told(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, its traceback is for those who ask for it
        if asked.debug:
            traceback.print_exception(error)
        _say(_worded(error) if isinstance(error, RotaError) else _unexpected(error))
        return FAILED
    return code if isinstance(code, int) else DONE


def _told(error: click.ClickException) -> int:
    if isinstance(error, click.UsageError) and error.ctx is not None:
        click.echo(error.ctx.get_usage(), err=True)
    _say(error.format_message())
    return error.exit_code


def _say(text: str) -> None:
    click.echo(f"rota: {text}", err=True)


def _worded(error: RotaError) -> str:
    """Its text, after what it is about."""
    return ": ".join([*getattr(error, "__notes__", ()), str(error)])


def _unexpected(error: Exception) -> str:
    """What it is, and where: a mistake in the app's module has to be found without its traceback, too."""
    text = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    return f"unexpected {text}{_place(error)}; --debug or ROTA_DEBUG=1 shows the traceback"


def _place(error: Exception) -> str:
    """The innermost line that is not rota's own."""
    if isinstance(error, SyntaxError):
        return f" ({error.filename}, line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    others = [frame for frame in frames if not frame.filename.startswith((_OURS, "<"))]
    frame = (others or frames)[-1]
    return f" ({frame.filename}, line {frame.lineno})"


def _show_what_it_can() -> None:
    """A terminal or a pipe that cannot take a character gets its escape: no name is worth a crash."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _read_no_further() -> None:
    """Whoever reads has had enough (`rota schedules | head -1`): the rest goes nowhere, and nobody complains."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
