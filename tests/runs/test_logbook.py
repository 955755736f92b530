"""What a handler logs is kept with its run, up to a bound."""

from __future__ import annotations

import logging
from datetime import timedelta
from uuid import uuid4

import rota
from rota.store import logs

logger = logging.getLogger("shop")


def lines_of(env, run: rota.Run) -> list[tuple[int, str, str, str]]:
    with env.store.read() as connection:
        return [(line.seq, line.level, line.logger, line.message) for line in logs.of(connection, run.id)]


def test_lines_of_plain_and_async_handlers(env, app):
    @app.action()
    def plain() -> None:
        logger.warning("sold %d of %s", 3, "apples")

    @app.action()
    async def coroutine() -> None:
        logger.error("out of pears")

    first, second = app.enqueue(plain), app.enqueue(coroutine)
    env.run_until_idle()
    assert lines_of(env, first) == [(1, "WARNING", "shop", "sold 3 of apples")]
    assert lines_of(env, second) == [(1, "ERROR", "shop", "out of pears")]


def test_each_attempt_has_its_own(env, app):
    @app.action(retry=rota.Retry(2, initial_delay=timedelta(0)))
    def twice() -> None:
        logger.warning("attempt %d", rota.current_run().attempt)
        if rota.current_run().attempt == 1:
            raise ValueError("not yet")

    run = app.enqueue(twice)
    env.run_until_idle()
    assert [(seq, message) for seq, _, _, message in lines_of(env, run)] == [(1, "attempt 1"), (1, "attempt 2")]


def test_ten_megabytes_are_cut(env, app):
    @app.action()
    def talkative() -> None:
        for _ in range(5000):
            logger.warning("x" * 2000)

    run = app.enqueue(talkative)
    env.run_until_idle()
    kept = lines_of(env, run)
    assert sum(len(message) for *_, message in kept) <= 256 * 1024 + 100
    assert kept[-1][3] == f"{5000 - (len(kept) - 1):,} more lines were dropped"
    assert env.runs()[0].state == "succeeded"


def test_many_lines_are_cut(env, app):
    @app.action()
    def counting() -> None:
        for number in range(1500):
            logger.warning("%d", number)

    run = app.enqueue(counting)
    env.run_until_idle()
    assert len(lines_of(env, run)) == 1000
    assert lines_of(env, run)[-1][3] == "501 more lines were dropped"


def test_what_databases_refuse_is_replaced(env, app):
    quiet = logging.getLogger(f"shop.quiet.{uuid4().hex}")  # pytest itself listens to one that it knows
    quiet.propagate = False  # a test runner cannot show it either, nor can a terminal
    quiet.addHandler(logging.NullHandler())

    @app.action()
    def rude() -> None:
        quiet.warning("a\x00b\ud800c")

    run = app.enqueue(rude)
    env.run_until_idle()
    assert lines_of(env, run)[0][3] == "a�b�c"


def test_nothing_is_kept_outside_a_handler(env, app, report):
    logger.warning("nobody's")
    run = app.enqueue(report, "x")
    env.run_until_idle()
    assert lines_of(env, run) == []


def test_of_many_attempts_the_newest_lines_are_kept(env, app):
    """A run keeps a thousand lines in all; the oldest attempts go, and the last one is whole."""

    @app.action(retry=rota.Retry(5, initial_delay=timedelta(0)))
    def chatty() -> None:
        for number in range(400):
            logger.warning("%d", number)
        raise ValueError("again")

    first, other = app.enqueue(chatty), app.enqueue(chatty)
    env.run_until_idle()
    with env.store.read() as connection:
        for run in (first, other):
            kept = [line.attempt for line in logs.of(connection, run.id)]
            assert kept == [4] * 400 + [5] * 400
