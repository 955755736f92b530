"""Runs: made in order and once a key, claimed by priority and age, settled by whoever still has the token."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, text

from rota.claim import LOST_LIMIT, SUSPECT, Claim, Failed, Lost, Outcome, Succeeded, settled
from rota.retry import Retry
from rota.run import NewRun, Run
from rota.store import Store, claims, runs
from tests.store.conftest import MINUTE, NOW, SECOND, undone
from tests.store.rows import alive

many = settings(
    max_examples=50, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
RETRY = Retry(4, initial_delay=10 * SECOND, max_delay=25 * SECOND).text


def new(job: str = "tick", **changes: Any) -> NewRun:
    made = NewRun(
        job=job,
        kind="step",
        queue="default",
        input="null",
        max_attempts=1,
        retry=RETRY,
        timeout=None,
        run_after=NOW,
        created_at=NOW,
    )
    return replace(made, **changes)


def claim(connection: Connection, worker: str = "w", limit: int = 100, now: datetime = NOW) -> list[Claim]:
    alive(connection, worker)
    return claims.claim(connection, worker, "default", ["tick", "tock"], limit, now)


def settle(
    connection: Connection, held: Claim, outcome: Outcome, now: datetime = NOW, worker: str = "w"
) -> set[tuple[int, int]]:
    return claims.settle(connection, worker, [settled(held, outcome, now)], now)


def got(connection: Connection, run_id: int) -> Run:
    run = runs.get(connection, run_id)
    assert run is not None
    return run


# ---- making --------------------------------------------------------------------------------------------------------


@many
@given(batches=st.lists(st.lists(st.tuples(st.sampled_from(["tick", "tock"]), st.none() | st.sampled_from("abc")))))
def test_ids_come_in_the_order_asked_and_once_a_key(kept_store: Store, batches: list[list[tuple[str, Any]]]) -> None:
    known: dict[tuple[str, str], int] = {}
    newest = 0
    with undone(kept_store) as connection:
        for asked in batches:
            ids = runs.add(connection, [new(job, idempotency_key=key) for job, key in asked])
            for (job, key), run_id in zip(asked, ids, strict=True):
                known_id = known.get((job, key))
                assert known_id == run_id if known_id is not None else run_id > newest
                newest = max(newest, run_id)
                known |= {(job, key): run_id} if key is not None else {}
                assert (got(connection, run_id).job, got(connection, run_id).idempotency_key) == (job, key)


def test_two_thousand_in_one_batch(store: Store) -> None:
    keys = [None if n % 3 else f"key {n}" for n in range(2000)]
    with store.begin() as connection:
        ids = runs.add(connection, [new(input=str(n), idempotency_key=key) for n, key in enumerate(keys)])
        assert [got(connection, run_id).input for run_id in ids] == [str(n) for n in range(2000)]
        assert len(set(ids)) == 2000
        again = runs.add(connection, [new(input='"other"', idempotency_key=key) for key in keys if key is not None])
        assert again == [run_id for run_id, key in zip(ids, keys, strict=True) if key is not None]


def test_an_id_is_never_used_twice(store: Store) -> None:
    with store.begin() as connection:
        (first,) = runs.add(connection, [new()])
        connection.exec_driver_sql("delete from rota_runs")
        (second,) = runs.add(connection, [new()])
    assert second > first


# ---- claiming ------------------------------------------------------------------------------------------------------

pending = st.builds(
    new,
    st.sampled_from(["tick", "tick", "tock", "another's"]),
    priority=st.integers(-2, 2),
    queue=st.sampled_from(["default", "default", "bulk"]),
    run_after=st.sampled_from([NOW - MINUTE, NOW - SECOND, NOW, NOW + SECOND]),
)


@many
@given(asked=st.lists(pending, max_size=12), limit=st.integers(0, 8))
def test_the_highest_priority_goes_first_then_the_oldest(kept_store: Store, asked: list[NewRun], limit: int) -> None:
    with undone(kept_store) as connection:
        ids = runs.add(connection, asked)
        mine = [
            (-run.priority, run.run_after, run_id)
            for run, run_id in zip(asked, ids, strict=True)
            if run.queue == "default" and run.job != "another's" and run.run_after <= NOW
        ]
        expected = [run_id for _, _, run_id in sorted(mine)]
        assert [held.id for held in claim(connection, limit=limit)] == expected[:limit]
        assert [held.id for held in claim(connection, worker="other")] == expected[limit:]
        assert {held.id for held in claims.held_by(connection, "w")} == set(expected[:limit])


def test_a_suspect_is_taken_alone_and_beside_it_only_what_was_never_lost(store: Store) -> None:
    with store.begin() as connection:
        ids = runs.add(connection, [new() for _ in range(7)])
        for run_id, lost in zip(ids, [0, SUSPECT, 1, SUSPECT + 1, 0, 2, 0], strict=True):
            connection.exec_driver_sql(f"update rota_runs set lost = {lost} where id = {run_id}")
        alive(connection, "w")

        def take(lost: int, limit: int = 100) -> list[int]:
            taken = claims.claim(connection, "w", "default", ["tick"], limit, NOW, lost=lost)
            return [ids.index(held.id) for held in taken]

        assert take(lost=LOST_LIMIT, limit=1) == [1]
        assert take(lost=0, limit=2) == [0, 4]  # beside the one that it has
        assert take(lost=SUSPECT - 1, limit=2) == [2, 5]
        assert take(lost=LOST_LIMIT) == [3, 6]


def test_a_claim_is_counted_and_bears_its_worker(store: Store) -> None:
    with store.begin() as connection:
        (run_id,) = runs.add(connection, [new(timeout=90 * SECOND, scheduled_for=NOW, schedule_id="a")])
        (held,) = claim(connection, now=NOW + SECOND)
        run = got(connection, run_id)
        assert claims.ready(connection, ["default", "bulk"], ["tick"]) == ()
    assert (run.state, run.attempt, run.locked_by, run.started_at) == ("running", 1, "w", NOW + SECOND)
    assert (held.id, held.attempt, held.timeout, held.started_at) == (run_id, 1, 90 * SECOND, NOW + SECOND)
    assert (held.schedule_id, held.scheduled_for) == ("a", NOW)


def test_what_waits_is_queued_when_its_time_has_come(store: Store) -> None:
    with store.begin() as connection:
        ids = runs.add(connection, [new(run_after=NOW + n * MINUTE) for n in range(4)])
        connection.execute(text("update rota_runs set waiting_on = 1 where id = :id"), {"id": ids[1]})
        assert runs.next_waiting(connection) == NOW + 2 * MINUTE
        assert claims.promote(connection, NOW + 2 * MINUTE - timedelta.resolution) == 0
        assert claims.promote(connection, NOW + 2 * MINUTE) == 1
        assert [got(connection, run_id).state for run_id in ids] == ["queued", "waiting", "queued", "waiting"]
        assert runs.next_waiting(connection) == NOW + 3 * MINUTE


def test_only_queues_with_something_for_these_jobs_are_ready(store: Store) -> None:
    with store.begin() as connection:
        runs.add(connection, [new(queue="bulk"), new("another's"), new(queue="slow", run_after=NOW + SECOND)])
        assert claims.ready(connection, ["default", "bulk", "slow"], ["tick"]) == ("bulk",)
        assert claims.ready(connection, ["default", "bulk"], []) == ()


# ---- settling ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stale", ["attempt", "worker", "settled"])
def test_a_stale_token_touches_nothing(store: Store, stale: str) -> None:
    with store.begin() as connection:
        (run_id,) = runs.add(connection, [new(max_attempts=3)])
        (held,) = claim(connection)
        if stale == "attempt":
            settle(connection, held, Lost("given back"))
            claim(connection)
        elif stale == "settled":
            settle(connection, held, Succeeded("1"))
        before, kept = got(connection, run_id), runs.attempts_of(connection, run_id)
        other = "other" if stale == "worker" else "w"
        for outcome in [Succeeded("2"), Failed("late"), Lost("late")]:
            assert settle(connection, held, outcome, NOW + MINUTE, worker=other) == set()
        assert (got(connection, run_id), runs.attempts_of(connection, run_id)) == (before, kept)


def test_of_a_batch_only_the_stale_ones_are_left(store: Store) -> None:
    with store.begin() as connection:
        ids = runs.add(connection, [new() for _ in range(6)])
        held = claim(connection)
        stale = [replace(one, attempt=7) if n % 2 else one for n, one in enumerate(held)]
        outcomes = [settled(one, Succeeded(str(n)), NOW) for n, one in enumerate(stale)]
        assert claims.settle(connection, "w", outcomes, NOW) == {(ids[0], 1), (ids[2], 1), (ids[4], 1)}
        assert [got(connection, run_id).output for run_id in ids] == ["0", None, "2", None, "4", None]


def test_an_old_attempt_beside_the_one_that_counts(store: Store) -> None:
    """Given back while its handler went on, and claimed again by the same worker: both may end in one batch."""
    with store.begin() as connection:
        (run_id,) = runs.add(connection, [new()])
        (old,) = claim(connection)
        settle(connection, old, Lost("given back"))
        (held,) = claim(connection)
        batch = [settled(old, Failed("too late"), NOW), settled(held, Succeeded("2"), NOW)]
        assert claims.settle(connection, "w", batch, NOW) == {(run_id, 2)}
        run, kept = got(connection, run_id), runs.attempts_of(connection, run_id)
    assert (run.state, run.output, run.lost, run.failures) == ("succeeded", "2", 1, 0)
    assert [(row["attempt"], row["outcome"]) for row in kept] == [(1, "lost")]


def test_failures_wait_twice_as_long_each_time_and_then_it_is_over(store: Store) -> None:
    now, waits = NOW, []
    with store.begin() as connection:
        (run_id,) = runs.add(connection, [new(max_attempts=4)])
        for attempt in range(1, 5):
            (held,) = claim(connection, now=now)
            assert settle(connection, held, Failed(f"error {attempt}"), now) == {(run_id, attempt)}
            run = got(connection, run_id)
            if run.state == "waiting":
                waits.append(run.run_after - now)
                now = run.run_after
                assert claims.promote(connection, now) == 1
        kept = runs.attempts_of(connection, run_id)
    assert waits == [10 * SECOND, 20 * SECOND, 25 * SECOND]
    assert (run.state, run.attempt, run.failures, run.error, run.finished_at) == ("failed", 4, 4, "error 4", now)
    assert [(row["attempt"], row["outcome"], row["error"], row["worker"]) for row in kept] == [
        (attempt, "failed", f"error {attempt}", "w") for attempt in range(1, 5)
    ]


def test_a_final_failure_is_not_tried_again(store: Store) -> None:
    with store.begin() as connection:
        (run_id,) = runs.add(connection, [new(max_attempts=4)])
        settle(connection, claim(connection)[0], Failed("its input cannot be read", final=True))
        assert got(connection, run_id).state == "failed"


def test_a_lost_attempt_is_free_up_to_a_limit(store: Store) -> None:
    with store.begin() as connection:
        (run_id,) = runs.add(connection, [new()])
        for lost in range(1, LOST_LIMIT + 1):
            settle(connection, claim(connection)[0], Lost("its worker died"))
            run = got(connection, run_id)
            assert (run.state, run.lost, run.failures, run.locked_by) == ("queued", lost, 0, None)
        settle(connection, claim(connection)[0], Lost("its worker died"))
        run, kept = got(connection, run_id), runs.attempts_of(connection, run_id)
    assert (run.state, run.lost, run.failures) == ("failed", LOST_LIMIT + 1, 0)
    assert run.error == "given up after 6 attempts that never ended: its worker died"
    assert [row["outcome"] for row in kept] == ["lost"] * (LOST_LIMIT + 1)


def test_lost_and_failed_attempts_are_counted_apart(store: Store) -> None:
    now = NOW
    with store.begin() as connection:
        (run_id,) = runs.add(connection, [new(max_attempts=2)])
        for outcome in [Lost("died"), Failed("first"), Lost("died"), Succeeded("7")]:
            settle(connection, claim(connection, now=now)[0], outcome, now)
            now = max(now, got(connection, run_id).run_after)
            claims.promote(connection, now)
        run = got(connection, run_id)
    assert (run.state, run.attempt, run.lost, run.failures, run.output, run.error) == ("succeeded", 4, 2, 1, "7", None)


def test_counts_are_of_what_is_unfinished(store: Store) -> None:
    with store.begin() as connection:
        runs.add(connection, [new(), new(), new(), new(queue="bulk"), new(run_after=NOW + SECOND)])
        first, second = claim(connection, limit=2)
        settle(connection, first, Succeeded("1"))
        assert runs.unfinished_counts(connection) == {
            ("bulk", "queued"): 1,
            ("default", "queued"): 1,
            ("default", "running"): 1,
            ("default", "waiting"): 1,
        }
        assert runs.states(connection, [first.id, second.id, 999]) == {first.id: "succeeded", second.id: "running"}
