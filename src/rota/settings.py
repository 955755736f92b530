"""Settings: file < environment < arguments. A source gives only the keys it has; defaults are applied once, last."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, get_args

from rota import duration
from rota.errors import DurationInvalid, SettingInvalid

Environment = Literal["production", "staging", "local", "testing"]

_VARIABLES = {
    "app": "ROTA_APP",
    "database_url": "ROTA_DATABASE_URL",
    "listen_url": "ROTA_LISTEN_URL",
    "env": "ROTA_ENV",
    "keep_runs": "ROTA_KEEP_RUNS",
    "keep_fires": "ROTA_KEEP_FIRES",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `[tool.rota]` in pyproject.toml, the environment and the command line say.

    Args:
        app: where the app is, `module:attribute`.
        database_url: its database.
        listen_url: where workers listen, for one that is reached through PgBouncer: its database, directly.
        env: `production` unless said otherwise.
        keep_runs: for how long runs are kept once they ended, as `168h`.
        keep_fires: for how long fires and misses are kept, by their slot.
    """

    app: str | None = None
    database_url: str = "sqlite:///rota.db"
    listen_url: str | None = None
    env: Environment = "production"
    keep_runs: timedelta = timedelta(days=7)
    keep_fires: timedelta = timedelta(days=400)

    @classmethod
    def load(
        cls,
        given: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> Settings:
        """Read them all; `given` are arguments, and those that are None say nothing.

        Raises:
            SettingInvalid: a file that cannot be read, a key that no one knows, or a value that makes no sense.
        """
        found = _from_file((folder or Path.cwd()) / "pyproject.toml")
        found |= _from_environment(os.environ if environ is None else environ)
        found |= {key: value for key, value in (given or {}).items() if value is not None}
        for key in ("keep_runs", "keep_fires"):
            if key in found:
                found[key] = _duration(key, found[key])
        return cls(**found)

    def __post_init__(self) -> None:
        if self.env not in get_args(Environment):
            raise SettingInvalid("env", self.env, f"give one of {', '.join(get_args(Environment))}")


def _duration(key: str, text: object) -> timedelta:
    try:
        return duration.parse(text)  # type: ignore[arg-type]
    except DurationInvalid as error:
        raise SettingInvalid(key, text, f"give a length of time such as '168h' ({error})") from error


def _from_file(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():
            return {}
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {}).get("rota", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingInvalid("pyproject.toml", str(path), f"it cannot be read: {error}") from error
    for key, value in table.items():
        _check(f"{path}: [tool.rota] {key}", key, value)
    return dict(table)


def _check(place: str, key: str, value: object) -> None:
    if key not in _VARIABLES:
        raise SettingInvalid(place, value, f"no such setting; there are: {', '.join(_VARIABLES)}")
    if not isinstance(value, str):
        raise SettingInvalid(place, value, "give a text, in quotes")


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    return {key: environ[variable] for key, variable in _VARIABLES.items() if environ.get(variable)}
