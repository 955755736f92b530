"""A PgBouncer in front of a PostgreSQL server, in transaction mode; one from Debian's packages."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import psycopg
from sqlalchemy.engine import make_url

from tests.servers.fixtures import missing
from tests.servers.postgres import _free_port

TRIES = 100


@contextmanager
def bouncing(url: str, folder: Path) -> Iterator[str]:
    """The URL of the same database, by way of a pooler."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        missing("no PgBouncer here: install pgbouncer")
    server, port = make_url(url), _free_port()
    config = folder / "pgbouncer.ini"
    config.write_text(
        f"[databases]\n{server.database} = host={server.host} port={server.port} user={server.username}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\npool_mode = transaction\n"
        f"unix_socket_dir =\ndefault_pool_size = 4\n"
    )
    config.chmod(0o644)
    user = "postgres" if os.geteuid() == 0 else None  # it refuses to be root
    log = folder / "pgbouncer.log"
    with config.open() as given, log.open("w") as said:  # in a folder that that user may not be allowed to enter
        command = [program, f"/dev/fd/{given.fileno()}"]
        process = subprocess.Popen(command, user=user, pass_fds=[given.fileno()], stdout=said, stderr=said)
    try:
        bounced = server.set(port=port).render_as_string(hide_password=False)
        assert _answers(bounced), log.read_text()
        yield bounced
    finally:
        process.terminate()
        process.wait(10)


def _answers(url: str) -> bool:
    pause = Event()
    for _ in range(TRIES):
        try:
            psycopg.connect(url, prepare_threshold=None, connect_timeout=2).close()
        except psycopg.OperationalError:
            pause.wait(0.05)
        else:
            return True
    return False
