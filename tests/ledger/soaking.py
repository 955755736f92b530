"""The long form of a state machine: other walks for as long as one likes, each repeatable from the seed it prints."""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter
from typing import ClassVar

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

QUICK = settings(
    deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
PATIENT = settings(
    QUICK,
    max_examples=100,
    stateful_step_count=80,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)


class Counted(RuleBasedStateMachine):
    """A state machine that counts what it saw."""

    counts: ClassVar[Counter[str]] = Counter()


def soak(machine: type[Counted]) -> None:
    """ROTA_SOAK_SECONDS (60) of walks; ROTA_SOAK_SEED repeats them."""
    number = int(os.environ.get("ROTA_SOAK_SEED", random.SystemRandom().randrange(2**32)))
    until = time.monotonic() + float(os.environ.get("ROTA_SOAK_SECONDS", "60"))
    machine.counts = counts = Counter[str]()
    rounds = 0
    while time.monotonic() < until:
        sys.stdout.write(f"\nseed {number + rounds}\n")
        walker = seed(number + rounds)(type(machine.__name__, (machine,), {}))
        run_state_machine_as_test(walker, settings=PATIENT)
        rounds += 1
    sys.stdout.write(f"seed {number}, {rounds} rounds: {dict(counts)}\n")
