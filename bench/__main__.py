"""`python -m bench [SUBJECT [SIZE [REPEATS]]]`: speed beside rivals, measured in the same run; or all of it.

All but cron is about SQLite, flushed at each commit; the databases are in the folder for temporary files.
"""

from __future__ import annotations

import sys
from importlib import import_module

SUBJECTS = {
    "cron": "the next slot of a cron expression, beside cronsim and croniter",
    "register": "registering schedules, beside APScheduler 3",
    "firing": "firing many schedules that are due at one instant, beside APScheduler 3",
    "idle": "what a worker costs while nothing is due, beside APScheduler 3",
    "enqueue": "enqueueing runs, one by one and in bulk, beside Huey",
    "drain": "working off a full queue, beside Huey",
    "latency": "from enqueueing to starting in another process, beside Huey",
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
