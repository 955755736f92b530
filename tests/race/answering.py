"""Says how long verbs took, at the most, from when it starts until its input is closed: `python -m …`."""

from __future__ import annotations

import json
import sys
import time
from threading import Event, Thread

from tests.race.ticks import app


def main() -> None:
    over = Event()
    Thread(target=end, args=(over,), daemon=True).start()
    verbs = {"stats": app.stats, "pause": lambda: app.pause("idle"), "resume": lambda: app.resume("idle")}
    longest = dict.fromkeys(verbs, 0.0)
    while not over.wait(0.05):
        for name, verb in verbs.items():
            began = time.perf_counter()
            verb()
            longest[name] = max(longest[name], time.perf_counter() - began)
    print(json.dumps(longest), flush=True)  # noqa: T201


def end(over: Event) -> None:
    sys.stdin.read()
    over.set()


if __name__ == "__main__":
    main()
