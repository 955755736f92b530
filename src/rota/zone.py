"""A time zone by its name: `Europe/Berlin`, or a fixed offset such as `+02:00`."""

from __future__ import annotations

import pkgutil
import re
from datetime import timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from rota.errors import ZoneUnknown

_OFFSET = re.compile(r"([+-])([01][0-9]|2[0-3]):([0-5][0-9])")
_THIS_MACHINE = ("localtime", "posixrules")
"""Files beside the zones that mean something else on every machine."""


@lru_cache(maxsize=1024)
def parse(name: str) -> tzinfo:
    """The zone of that name: an IANA name in its exact case (old aliases too), or an offset from UTC, `+HH:MM`.

    Zone data come from the system, else from the tzdata package; the environment's TZ plays no part.
    Raises `ZoneUnknown` for everything else: abbreviations such as PST, blanks, paths, files that are no zones.
    Never falls back to another zone.
    """
    if not isinstance(name, str):
        raise ZoneUnknown(name)
    offset = _OFFSET.fullmatch(name)
    if offset:
        return _fixed(*offset.groups())
    if not _is_iana(name):
        raise ZoneUnknown(name)
    return ZoneInfo(name)


def _fixed(sign: str, hours: str, minutes: str) -> tzinfo:
    size = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-size if sign == "-" else size)


def _is_iana(name: str) -> bool:
    """Asks lists of names, not the file system: that would take `europe/berlin` on some machines, and paths on all."""
    return name in _names() or (name not in _THIS_MACHINE and name in available_timezones())


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    """Those in the tzdata package. The system can know newer ones, but to find them takes a walk over its files."""
    return frozenset((pkgutil.get_data("tzdata", "zones") or b"").decode().split())
