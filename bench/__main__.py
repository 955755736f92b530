"""`python -m bench [SUBJECT]`: speed beside rivals, measured in the same run. Without a subject, all of them."""

from __future__ import annotations

import sys
from importlib import import_module

SUBJECTS = {
    "cron": "the next slot of a cron expression, beside cronsim and croniter",
    "schedules": "registering and firing on SQLite, beside APScheduler 3",
}
"""Each is a module of this package with a `main(arguments)`."""


def main(arguments: list[str]) -> int:
    subject, rest = (arguments[0], arguments[1:]) if arguments else (None, [])
    if subject is not None and subject not in SUBJECTS:
        print(*(f"{name:12} {about}" for name, about in SUBJECTS.items()), sep="\n")
        return 0 if subject in ("-h", "--help") else 2
    for name in [subject] if subject else SUBJECTS:
        import_module(f"bench.{name}").main(rest)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
