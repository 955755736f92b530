"""Opening what a command is about: the app with its jobs, or the database alone."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager

import click

from rota.app import App
from rota.author import Author
from rota.cli.asked import Asked
from rota.errors.base import hidden
from rota.finding import find_app
from rota.home import Home
from rota.settings import Settings
from rota.store import is_there


@contextmanager
def looking(asked: Asked) -> Iterator[App]:
    """For commands that look or steer: an app over a database that is there already. Its jobs may be unknown."""
    app = _nearest(asked)
    if not is_there(app.url):
        raise click.ClickException(f"no rota database at {hidden(app.url)}: run `rota db migrate`")
    try:
        yield app
    finally:
        app.close()


@contextmanager
def working(asked: Asked) -> Iterator[App]:
    """For commands that run jobs: the app, in its database or in the one that was asked for."""
    app = find_app(asked.app)
    try:
        if asked.database is None:
            yield app
        else:
            with _moved(app, asked.database):
                yield app
    finally:
        app.close()


def database_url(asked: Asked) -> str:
    """The database that is meant: `--database`, else the app's where one is named, else that of the settings."""
    return _nearest(asked).url


def author() -> Author:
    """Who is at the command line."""
    return Author("cli", _user())


def _nearest(asked: Asked) -> App:
    """An app that is named and cannot be imported is an error: the default database may well be another one."""
    if asked.database is not None:
        return App(asked.database)
    if asked.app is not None or Settings.load().app is not None:
        return find_app(asked.app)
    return App()


@contextmanager
def _moved(app: App, url: str) -> Iterator[None]:
    home = Home.at(url)
    try:
        with app.housed(home):
            yield
    finally:
        home.store.close()


def _user() -> str | None:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container that runs under a number has no names
        return None
