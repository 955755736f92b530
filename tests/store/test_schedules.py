"""Schedules as the scanner sees them: what is due, in which order, and when the next one will be."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rota.fire import Fire
from rota.schedule import Schedule
from rota.store import Store, fires, schedules
from rota.terms import Terms
from tests.store.conftest import HOUR, MINUTE, NOW, SECOND, undone
from tests.store.rows import schedule

many = settings(
    max_examples=80, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


slots = st.none() | st.sampled_from([NOW + n * SECOND for n in (-3600, -60, -1, 0, 1, 60)])
rows = st.lists(
    st.fixed_dictionaries(
        {
            "enabled": st.sampled_from([True, True, False]),
            "retired": st.sampled_from([False, False, True]),
            "next_run_at": slots,
            "not_before": slots,
            "consecutive_failures": st.sampled_from([0, 0, 1, 10]),
            "last_error": st.sampled_from([None, None, "it says why"]),
        }
    ),
    max_size=8,
)


def named(found: Sequence[dict[str, Any]]) -> list[Schedule]:
    return [schedule("zyxwvuts"[n], **row) for n, row in enumerate(found)]


def live(found: Sequence[Schedule]) -> list[Schedule]:
    return [s for s in found if s.enabled and not s.retired and s.next_run_at is not None]


def in_order(found: Sequence[Schedule]) -> list[str]:
    return [s.id for s in sorted(found, key=lambda s: (s.next_run_at or datetime.max, s.id))]


@many
@given(found=rows, limit=st.integers(1, 4))
def test_due_is_what_may_fire_the_longest_due_first(kept_store: Store, found: list[Any], limit: int) -> None:
    given_rows = named(found)
    with undone(kept_store) as connection:
        schedules.add(connection, given_rows)
        expected = in_order([s for s in given_rows if s.may_fire(NOW)])
        assert [item.schedule.id for item in schedules.due(connection, NOW, limit)] == expected[:limit]
        due = {item.schedule.id: item.schedule for item in schedules.due(connection, NOW, 100)}
    assert due == {s.id: s for s in given_rows if s.id in expected}


@many
@given(found=rows)
def test_next_due_is_the_earliest_moment_at_which_one_may_fire(kept_store: Store, found: list[Any]) -> None:
    given_rows = named(found)
    with undone(kept_store) as connection:
        schedules.add(connection, given_rows)
        moments = [max(filter(None, (s.next_run_at, s.not_before))) for s in live(given_rows)]
        assert schedules.next_due(connection) == min(moments, default=None)


@many
@given(found=rows)
def test_counts(kept_store: Store, found: list[Any]) -> None:
    given_rows = named(found)
    due = [s for s in live(given_rows) if s.is_due(NOW)]
    with undone(kept_store) as connection:
        schedules.add(connection, given_rows)
        counts = schedules.counts(connection, NOW)
    assert counts.all == len(given_rows)
    assert counts.enabled == sum(s.enabled and not s.retired for s in given_rows)
    assert counts.due == len(due)
    assert counts.failing == sum(s.consecutive_failures > 0 for s in given_rows)
    assert counts.refused == sum(s.last_error is not None and s.consecutive_failures == 0 for s in due)
    assert counts.longest_due == min((s.next_run_at for s in due if s.next_run_at), default=None)


@many
@given(found=rows, limit=st.integers(1, 3))
def test_ahead_walks_through_what_is_still_to_come(kept_store: Store, found: list[Any], limit: int) -> None:
    given_rows = named(found)
    with undone(kept_store) as connection:
        schedules.add(connection, given_rows)
        seen: list[str] = []
        while page := schedules.ahead(connection, NOW, seen[-1] if seen else "", limit):
            assert len(page) <= limit
            seen += [s.id for s in page]
    to_come = [s for s in given_rows if any(at is not None and at > NOW for at in (s.next_run_at, s.not_before))]
    assert seen == sorted(s.id for s in to_come)  # paused and retired ones too


@many
@given(found=rows)
def test_a_row_comes_back_as_it_went_in_and_the_finished_are_listed_last(kept_store: Store, found: list[Any]) -> None:
    given_rows = named(found)
    with undone(kept_store) as connection:
        schedules.add(connection, given_rows)
        listed = schedules.listing(connection)
        assert schedules.by_id(connection, [s.id for s in given_rows] + ["nobody"]) == {s.id: s for s in given_rows}
    far = NOW + timedelta(days=1)
    assert listed == sorted(given_rows, key=lambda s: (s.next_run_at or far, s.id))


def test_a_due_one_comes_with_its_early_fire_and_its_job_s_terms(store: Store) -> None:
    with store.begin() as connection:
        schedules.add(connection, [schedule("a", next_run_at=NOW), schedule("b", next_run_at=NOW, job="unknown")])
        fires.record(connection, [Fire("a", NOW, 7, 1, "trigger", NOW - HOUR, None)])
        connection.exec_driver_sql(
            "insert into rota_jobs (name, kind, queue, timeout, max_attempts, retry, enabled, retired) "
            "values ('tick', 'step', 'bulk', 1.5, 3, '{}', false, true)"
        )
        a, b = schedules.due(connection, NOW, 10)
        assert schedules.locked(connection, "a") == a
        assert schedules.locked(connection, "nobody") is None
    assert (a.run_id, b.run_id, b.terms) == (7, None, None)
    assert a.terms == Terms("tick", "step", "bulk", 3, "{}", 1.5 * SECOND)
    assert a.barred == "retired"


def test_the_fires_of_several_spans_at_once(store: Store) -> None:
    """Both ends included; one schedule's fires are not another's."""
    made = [Fire(who, NOW + n * MINUTE, n, 1, "scan", NOW, None) for who in "ab" for n in range(5)]
    with store.begin() as connection:
        fires.record(connection, made)
        spans = [("a", NOW + MINUTE, NOW + 3 * MINUTE), ("b", NOW + 4 * MINUTE, NOW + HOUR), ("c", NOW, NOW + HOUR)]
        found = fires.between(connection, spans)
        assert {who: sorted(some) for who, some in found.items()} == {
            "a": [NOW + n * MINUTE for n in (1, 2, 3)],
            "b": [NOW + 4 * MINUTE],
        }
        assert fires.run_of(connection, "a", NOW + 2 * MINUTE) == 2
        assert fires.run_of(connection, "a", NOW + 2 * MINUTE + SECOND) is None
