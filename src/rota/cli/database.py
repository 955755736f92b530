"""`rota db`: make the database or bring it up to date, and its schema as SQL."""

from __future__ import annotations

import click

from rota.cli.asked import Asked, debuggable, wherever
from rota.cli.lazy import LazyGroup
from rota.cli.opening import database_url
from rota.clock import SystemClock
from rota.errors.base import hidden
from rota.store import is_there, migrate, open_store


@click.group(
    cls=LazyGroup,
    commands={
        "migrate": ("rota.cli.database:migrate_database", "Make the database, or bring it up to date."),
        "sql": ("rota.cli.database:sql", "Print the schema, for those who run migrations of their own."),
    },
)
def db() -> None:
    """The database."""


@click.command("migrate")
@wherever
@click.pass_obj
def migrate_database(asked: Asked) -> None:
    """Make the database, or bring it up to date; harmless where it is."""
    url, now = database_url(asked), SystemClock().now()
    made = "brought up to date" if is_there(url) else "made"
    store = open_store(url, now, migrating=True)  # which migrates, and notes `now` with what it applied
    try:
        with store.read() as connection:
            found = migrate.applied(connection)
    finally:
        store.close()
    applied = [str(version) for version, at in found if at == now]
    if applied:
        click.echo(f"{hidden(url)}: {made}, applied version{'s' * (len(applied) > 1)} {', '.join(applied)}")
    else:
        click.echo(f"{hidden(url)}: up to date, version {found[-1][0]}")


@click.command()
@click.option(
    "--dialect", type=click.Choice(["sqlite", "postgresql"]), default="sqlite", show_default=True, help="Of which kind."
)
@debuggable
def sql(dialect: str) -> None:
    """Print the whole schema as SQL, for those who run migrations of their own."""
    click.echo(migrate.ddl(dialect, SystemClock().now()), nl=False)
