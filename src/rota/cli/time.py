"""`rota next`: what a cadence means, and when it comes next. It opens no database, and loads nothing for one."""

from __future__ import annotations

from datetime import datetime

import click

from rota.cadence import Cadence
from rota.cli.asked import as_json, debuggable
from rota.cli.slots import in_zone
from rota.cli.tables import print_json, printable
from rota.clock import SystemClock


def _instant(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime:  # noqa: ARG001
    if value is None:
        return SystemClock().now()
    try:
        instant = datetime.fromisoformat(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is no instant: write it as 2026-08-03T10:00:00Z") from error
    if instant.tzinfo is None:
        raise click.BadParameter(f"{value!r} has no time zone: write it as 2026-08-03T10:00:00Z")
    return instant


@click.command("next")
@click.argument("cadence")
@click.option("--tz", default="UTC", show_default=True, help="An IANA name, or an offset such as +02:00.")
@click.option("-n", "count", type=click.IntRange(1, 1000), default=5, show_default=True, help="How many slots.")
@click.option("--after", metavar="INSTANT", callback=_instant, help="The slots after then, not after now.")
@as_json
@debuggable
def next_slots(cadence: str, tz: str, count: int, after: datetime, json: bool) -> None:
    """What CADENCE means, and when it comes next: "30 2 * * *", @daily, "@every 1h30m"."""
    found = Cadence.parse(cadence, tz, after)  # `after` is where an interval counts from, as if registered then
    slots = found.upcoming(after, count)
    if json:
        said = {"cadence": found.text, "tz": found.zone_name, "means": found.explain(), "slots": slots}
        print_json(said)
        return
    click.echo(printable(found.explain()))
    for slot in slots:
        click.echo(in_zone(slot, found.zone_name))
