"""Django's connection inside `atomic()`: it is Django that commits, rolls back and closes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import make_url

import rota
from rota.errors import ConnectionUnusable

django = pytest.importorskip("django")


@pytest.fixture
def theirs(app: rota.App, sql: Any) -> Iterator[Any]:
    """Django's default connection, to the app's own database."""
    from django.conf import settings
    from django.db import connections

    sql("create table config (key text)")
    if not settings.configured:
        settings.configure(USE_TZ=True, TIME_ZONE="Asia/Tokyo")
        django.setup()
    connections.settings = connections.configure_settings({"default": database(app.url)})
    if hasattr(connections._connections, "default"):
        del connections["default"]
    yield connections["default"]
    connections["default"].close()


def database(url: str) -> dict[str, Any]:
    """As `DATABASES` names it."""
    place = make_url(url)
    engine = "sqlite3" if place.drivername == "sqlite" else "postgresql"
    known = {"NAME": place.database, "USER": place.username, "HOST": place.host, "PORT": place.port}
    return {"ENGINE": f"django.db.backends.{engine}", **{name: value for name, value in known.items() if value}}


class RollBack(Exception):
    """What ends a block without a commit."""


def test_c16_a_commit_makes_both_and_a_rollback_neither(app: rota.App, report: Any, theirs: Any, sql: Any) -> None:
    from django.db import transaction

    def roll_back() -> None:
        with transaction.atomic():
            theirs.cursor().execute("insert into config values ('gone')")
            app.within(theirs).schedule(report, "@daily", "day", id="gone")
            raise RollBack

    with pytest.raises(RollBack):
        roll_back()
    assert sql("select id from rota_schedules") == sql("select key from config") == []
    with transaction.atomic():
        theirs.cursor().execute("insert into config values ('kept')")
        app.within(theirs).schedule(report, "@daily", "day", id="kept")
        assert sql("select id from rota_schedules") == []
    assert sql("select id from rota_schedules") == sql("select key from config") == [("kept",)]


def test_every_verb_and_a_savepoint(app: rota.App, report: Any, theirs: Any, sql: Any) -> None:
    from django.db import transaction

    app.schedule(report, "@daily", "day", id="daily")
    with transaction.atomic():
        within = app.within(theirs)
        within.pause("daily")
        run = within.trigger("daily")
        assert within.trigger("daily").id == run.id
        savepoint = transaction.savepoint()
        within.enqueue(report, "taken back")
        transaction.savepoint_rollback(savepoint)
        within.resume("daily")
        assert within.get("daily").enabled
        assert len(within.enqueue_many(report, ["a", "b"])) == 2
        assert within.cancel(run.id).state == "cancelled"
        assert within.list()[0].next_run_at == app.get("daily").next_run_at
        assert within.stats().schedules == 1
    assert sql("select count(*) from rota_runs") == [(3,)]


def test_outside_atomic_it_is_refused(app: rota.App, report: Any, theirs: Any) -> None:
    with pytest.raises(ConnectionUnusable, match="begin a transaction first"):
        app.within(theirs).schedule(report, "@daily", "day", id="never")
    assert app.list() == []
