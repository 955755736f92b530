"""`rota queues`: what it lists, and what it does."""

from __future__ import annotations

import json

import pytest

from tests.cli.terminal import Terminal


def test_they_are_listed_with_their_limits_and_what_stands_in_them(shop: Terminal) -> None:
    shop.rota("queues", "limit", "default", "--max-running", "9")
    heading, row = shop.rota("queues").stdout.splitlines()
    assert heading.split() == ["QUEUE", "CONCURRENCY", "MAX_RUNNING", "PAUSED", "WAITING", "QUEUED", "RUNNING"]
    assert row.split() == ["default", "4", "9", "no", "0", "0", "0"]
    assert json.loads(shop.rota("queues", "--json").stdout) == [
        {"name": "default", "concurrency": 4, "max_running": 9, "paused": False}
    ]


def test_each_verb_says_what_the_queue_allows_now(shop: Terminal) -> None:
    said = [
        shop.rota("queues", *words).stdout
        for words in (
            ("limit", "default", "--concurrency", "8", "--max-running", "20"),
            ("--pause", "default"),
            ("--resume", "default"),
            ("limit", "default", "--max-running", "0"),
        )
    ]
    assert said == [
        "default: 8 a worker, 20 over all workers\n",
        "default: 8 a worker, 20 over all workers, paused\n",
        "default: 8 a worker, 20 over all workers\n",
        "default: 8 a worker\n",
    ]
    verbs = shop.sql("select via, verb from rota_audit where subject = 'queue default' order by id")
    assert verbs == [("cli", "limit"), ("cli", "pause"), ("cli", "resume"), ("cli", "limit")]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--pause", "mail"), 1, "no queue has the name 'mail'; there are: default"),
        (("limit", "default"), 2, "give --concurrency, --max-running or both"),
        (("limit", "default", "--concurrency", "0"), 1, "concurrency=0: give a whole number from 1"),
        (("--pause", "default", "--resume", "default"), 2, "give one of --pause, --resume and limit"),
    ],
)
def test_what_cannot_be_meant(shop: Terminal, words: tuple[str, ...], code: int, told: str) -> None:
    result = shop.run("queues", *words)
    assert result.returncode == code
    assert told in result.stderr
