"""The statements of every pass are found by an index, however many rows are registered and finished."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import Connection, event

from rota.store import Store, claims, fires, open_store, runs, schedules
from rota.store.batch import rows
from tests.conftest import fresh_postgres
from tests.store.conftest import NOW
from tests.store.rows import alive

MANY = 20_000


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def full_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Many schedules, one in a hundred of them due, many finished runs and few others; its statistics are fresh."""
    if request.param == "sqlite":
        with closing(open_store(f"sqlite:///{tmp_path_factory.mktemp('full') / 'rota.db'}", NOW)) as store:
            fill(store)
            yield store
    else:
        with fresh_postgres(request) as url, closing(open_store(url, NOW)) as store:
            fill(store)
            yield store


def fill(store: Store) -> None:
    with store.begin() as connection:
        for statement in rows_of(connection.dialect.name):
            connection.exec_driver_sql(statement)
        alive(connection, "w")
    with store.begin() as connection:
        connection.exec_driver_sql("analyze")


_INSTANT = {
    "sqlite": "strftime('%Y-%m-%dT%H:%M:%S.000000Z', '2026-08-03 09:00:00', {} || ' minutes')",
    "postgresql": "timestamptz '2026-08-03 09:00:00Z' + {} * interval '1 minute'",
}
_SERIES = {
    "sqlite": "(with recursive s(n) as (select 1 union all select n + 1 from s where n < {}) select n from s)",
    "postgresql": "generate_series(1, {}) s(n)",
}


def rows_of(dialect: str) -> list[str]:
    """The statements that fill it, in that database's words; in a run of forty one is queued."""
    at, many = _INSTANT[dialect], _SERIES[dialect].format(MANY)
    queued, past, zero = "n - n / 40 * 40 = 0", at.format("-n"), at.format(0)
    return [
        f"""insert into rota_schedules (id, source, kind, job, job_name, cron_spec, location, enabled, retired, options,
            version, consecutive_failures, next_run_at, created_at, updated_at)
            select 's' || n, 'code', 'step', 'tick', 'tick', '* * * * *', 'UTC', true, false, '{{}}',
            1, 0, {at.format("(n - 200)")}, {zero}, {zero} from {many}""",
        f"""insert into rota_runs (job, kind, queue, state, max_attempts, retry, run_after, created_at, finished_at,
            schedule_id, scheduled_for)
            select 'tick', 'step', 'default', case when {queued} then 'queued' else 'succeeded' end, 1, '{{}}', {past},
            {past}, case when {queued} then null else {past} end, 's' || n, {past} from {many}""",
        """insert into rota_schedule_fires (schedule_id, scheduled_for, run_id, version, origin, fired_at)
            select schedule_id, scheduled_for, id, 1, 'scan', scheduled_for from rota_runs""",
    ]


_JOBS = rows([("tick",)])
PASS: dict[str, tuple[Any, dict[str, Any]]] = {
    "due": (schedules._due, {"now": NOW, "limit": 500}),
    "next due": (schedules._next_due, {}),
    "claim": (claims._claim, {"worker": "w", "line": "default", "limit": 100, "now": NOW, "at_most": 5, **_JOBS}),
    "ready": (claims._ready_of, {"line": "default", **_JOBS}),
    "any suspect": (claims._any_suspect, {"line": "default"}),
    "promote": (claims._promote, {"now": NOW}),
    "next waiting": (runs._next_waiting, {}),
    "held": (claims._held, {"worker": "w"}),
    "cancel requested": (claims._asked_to_stop, {"worker": "w"}),
    "runs by key": (runs._keyed, rows([("tick", "k")])),
    "run of": (fires._run_of, {"id": "s1", "slot": NOW}),
}


@pytest.mark.parametrize("name", PASS)
def test_a_pass_reads_no_table_from_end_to_end(full_store: Store, name: str) -> None:
    statement, values = PASS[name]
    with full_store.begin() as connection:
        found = plan_of(connection, statement, values)
    walked = [line for line in found if any(f"{word} rota_{table}" in line for word in WALKS for table in BIG)]
    assert [line for line in walked if "USING" not in line] == [], "\n".join(found)


WALKS = ("SCAN", "Seq Scan on")
BIG = ("schedules", "runs", "schedule_fires")


def plan_of(connection: Connection, statement: Any, values: dict[str, Any]) -> list[str]:
    words = "EXPLAIN QUERY PLAN" if connection.dialect.name == "sqlite" else "EXPLAIN"
    event.listen(
        connection, "before_cursor_execute", lambda _1, _2, sql, given, *_: (f"{words} {sql}", given), retval=True
    )
    return [str(row[-1]) for row in connection.execute(statement, values).cursor.fetchall()]
