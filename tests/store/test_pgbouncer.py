"""By way of PgBouncer in transaction mode: everything works, and who listens goes around it."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from rota.store import open_store
from tests.conftest import asked
from tests.race.test_processes import ENQUEUE
from tests.race.workers import Site, check_account
from tests.servers.pgbouncer import bouncing
from tests.store.conftest import NOW

UNPREPARED = "?prepare_threshold=none"  # what a PgBouncer before 1.21 needs


@pytest.fixture
def direct(postgres_url: str) -> str:
    open_store(postgres_url, NOW, migrating=True).close()
    return postgres_url


def test_a_worker_that_listens_around_it(direct: str, tmp_path: Path) -> None:
    with bouncing(direct, tmp_path) as pooled, Site(tmp_path, pooled + UNPREPARED) as site:
        (tmp_path / "go").write_text("")
        site.environ["ROTA_LISTEN_URL"] = direct
        worker = site.worker("--poll-interval", "1h")
        worker.until("queues")
        site.said(ENQUEUE)
        worker.until("attempt 1 began")
        assert worker.end() == 0
        assert not [line for line in worker.lines if "lost the connection" in line]


def test_workers_that_poll(direct: str, tmp_path: Path) -> None:
    with bouncing(direct, tmp_path) as pooled, Site(tmp_path, pooled + UNPREPARED) as site:
        site.schedules(10)
        workers = [site.worker("--poll-only", "--poll-interval", "1s") for _ in range(2)]
        for worker in workers:
            worker.until("queues")
        site.url = direct
        for _ in range(200):
            if asked(direct, "select count(*) from rota_schedule_fires")[0][0] >= 30:
                break
            Event().wait(0.05)
        for worker in workers:
            assert worker.end() == 0
        asked(direct, "update rota_schedules set enabled = false")
        assert check_account(site)["fires"] >= 30
