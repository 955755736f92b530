"""`rota schedules`: list them, show one, and pause, resume or trigger it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import click

from rota.app import App
from rota.cli.asked import Asked, as_json, wherever
from rota.cli.lazy import LazyGroup
from rota.cli.opening import author, looking
from rota.cli.slots import in_zone
from rota.cli.tables import decoded, fields_of, instant, listing, pretty, print_json, printable, table
from rota.errors import RotaError
from rota.fire import Fire
from rota.miss import Miss
from rota.schedule import Schedule
from rota.store import audit, fires, misses, runs
from rota.store.audit import Entry

COLUMNS = ("ID", "KIND", "SPEC", "LOCATION", "NEXT_RUN_AT", "LAST_RUN_ID", "FAILURES", "ENABLED", "LAST_ERROR")
UPCOMING = 5  # slots that `show` shows
LATEST, HISTORY = 10, 1000  # fires, and misses, that it shows: without and with --history


@click.group(
    cls=LazyGroup,
    commands={"show": ("rota.cli.schedules:show", "Everything about one schedule.")},
    invoke_without_command=True,
)
@wherever
@as_json
@click.option("--pause", metavar="ID", multiple=True, help="Keep it from firing until it is resumed.")
@click.option("--resume", metavar="ID", multiple=True, help="Let it fire again, from its next slot on.")
@click.option("--trigger", metavar="ID", multiple=True, help="Fire its pending slot now.")
@click.pass_context
def schedules(
    ctx: click.Context, json: bool, pause: tuple[str, ...], resume: tuple[str, ...], trigger: tuple[str, ...]
) -> None:
    """List the schedules, the next one due first; or pause, resume or trigger one."""
    verbs = ((_pause, pause), (_resume, resume), (_trigger, trigger))
    wanted = [(verb, given) for verb, given in verbs if given]
    if len(wanted) + (ctx.invoked_subcommand is not None) > 1:
        raise click.UsageError("give one of --pause, --resume, --trigger and show", ctx)
    if ctx.invoked_subcommand is not None:
        return
    with looking(ctx.obj) as app:
        if not wanted:
            _list(app, json)
        for verb, ids in wanted:
            for schedule_id in ids:
                done = verb(app, schedule_id)
                print_json(done.row) if json else click.echo(printable(done.said))


def _list(app: App, json: bool) -> None:
    found = app.list()
    if json:
        print_json(found)
    else:
        table(COLUMNS, map(_row, found))


def _row(s: Schedule) -> tuple[object, ...]:
    enabled = "retired" if s.retired else s.enabled
    spec = (s.id, s.kind, s.cron_spec, s.location)
    return (*spec, s.next_run_at, s.last_run_id, s.consecutive_failures, enabled, s.last_error)


# ---- verbs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Done:
    """What a verb did: for people, and for programs."""

    said: str
    row: object


def _pause(app: App, schedule_id: str) -> Done:
    with app.transaction(author()) as tx:
        before = tx.get(schedule_id)
        tx.pause(schedule_id)
        after = tx.get(schedule_id)
    return Done(f"paused {schedule_id}" if before.enabled else f"{schedule_id} was paused already", after)


def _resume(app: App, schedule_id: str) -> Done:
    with app.transaction(author()) as tx:
        before = tx.get(schedule_id)
        tx.resume(schedule_id)
        after = tx.get(schedule_id)
    following = instant(after.next_run_at) if after.next_run_at else "no slot, it is finished"
    did = f"{schedule_id} was not paused" if before.enabled else f"resumed {schedule_id}"
    return Done(f"{did}; next: {following}", after)


def _trigger(app: App, schedule_id: str) -> Done:
    slot = app.get(schedule_id).next_run_at  # as it stood before anyone waited for a lock
    with app.home().store.read() as connection:
        fired = None if slot is None else fires.run_of(connection, schedule_id, slot)
    with app.transaction(author()) as tx:
        run = tx.trigger(schedule_id, slot=slot)
    did = "was triggered already" if run.id == fired else "triggered"
    of = f" of the slot {instant(run.scheduled_for)}" if run.scheduled_for else ""
    return Done(f"{schedule_id} {did}: run {run.id}{of} is {run.state}", run)


# ---- one -----------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("schedule_id", metavar="ID")
@click.option("--history", is_flag=True, help="More of its fires and misses, and who changed it.")
@as_json
@wherever
@click.pass_obj
def show(asked: Asked, schedule_id: str, history: bool, json: bool) -> None:
    """Everything about one schedule: what it means, its next slots, its last fires and misses."""
    with looking(asked) as app:
        account = _account(app, schedule_id, history)
    (_print_json if json else _print)(account)


@dataclass(frozen=True, slots=True)
class Account:
    """All there is to say of a schedule."""

    schedule: Schedule
    means: str
    slots: list[datetime]
    used_up: int | None
    """The run that its next slot was given already, by an early trigger."""
    fires: list[Fire]
    states: Mapping[int, str]
    misses: list[Miss]
    changes: list[Entry]


def _account(app: App, schedule_id: str, history: bool) -> Account:
    schedule = app.get(schedule_id)
    means, slots = _meaning(schedule, app.home().clock.now())
    limit = HISTORY if history else LATEST
    with app.home().store.read() as connection:
        fired = fires.latest(connection, schedule_id, limit)
        return Account(
            schedule=schedule,
            means=means,
            slots=slots,
            used_up=fires.run_of(connection, schedule_id, slots[0]) if slots else None,
            fires=fired,
            states=runs.states(connection, (fire.run_id for fire in fired)),
            misses=misses.latest(connection, schedule_id, limit),
            changes=audit.latest(connection, schedule_id, limit) if history else [],
        )


def _meaning(schedule: Schedule, now: datetime) -> tuple[str, list[datetime]]:
    """Its cadence in words, and its next slots: the pending one, then what comes after now."""
    slot = schedule.next_run_at
    pending = [] if slot is None else [slot]
    try:
        cadence = schedule.cadence
    except RotaError as error:  # someone wrote what is no cadence into the row
        return str(error), pending
    following = cadence.upcoming(max(slot, now), UPCOMING - 1) if slot else []
    return cadence.explain(), pending + following


def _print(account: Account) -> None:
    schedule = account.schedule
    listing({"id": schedule.id, "means": account.means} | fields_of(schedule) | {"input": pretty(schedule.input)})
    _section(f"next slots{_but(schedule)}")
    for slot in account.slots:
        used_up = account.used_up is not None and slot == account.slots[0]
        note = f"  fired early, as run {account.used_up}" if used_up else ""
        click.echo(f"  {in_zone(slot, schedule.location)}{note}")
    _tell("fires", ("SLOT", "ORIGIN", "FIRED_AT", "RUN", "STATE"), [_fire_row(f, account) for f in account.fires])
    _tell("misses", ("FIRST_SLOT", "LAST_SLOT", "SLOTS", "REASON", "DETAIL"), list(map(_miss_row, account.misses)))
    _tell("changes", ("AT", "VERB", "VERSION", "VIA", "ACTOR"), list(map(_change_row, account.changes)))


def _but(schedule: Schedule) -> str:
    """Why they will not be fired, if so."""
    if schedule.retired:
        return " (retired: none fires before it is declared again)"
    if schedule.next_run_at is None:
        return " (finished: there is none)"
    return "" if schedule.enabled else " (paused: none fires before it is resumed)"


def _section(title: str) -> None:
    click.echo(f"\n{title}")


def _tell(title: str, headings: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    if rows:
        _section(title)
        table(headings, rows)


def _fire_row(fire: Fire, account: Account) -> tuple[object, ...]:
    return fire.scheduled_for, fire.origin, fire.fired_at, fire.run_id, account.states.get(fire.run_id, "pruned")


def _miss_row(miss: Miss) -> tuple[object, ...]:
    return miss.first_slot, miss.last_slot, miss.slots or "over 1,000", miss.reason, miss.detail


def _change_row(entry: Entry) -> tuple[object, ...]:
    return entry.at, entry.verb, entry.version, entry.via, entry.actor


def _print_json(account: Account) -> None:
    fired = [decoded(fire) | {"state": account.states.get(fire.run_id)} for fire in account.fires]
    print_json(
        decoded(account.schedule)
        | {"means": account.means, "next_slots": account.slots, "next_slot_fired_as": account.used_up}
        | {"fires": fired, "misses": account.misses, "changes": account.changes}
    )
