"""Terms: what a job says of its runs. A process can read them from the job's row, without having its code."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Terms:
    """What a run takes from its job when it is made, and keeps."""

    job: str
    kind: str
    queue: str
    max_attempts: int
    retry: str
    """The delays of its `Retry`, as JSON text."""
    timeout: timedelta | None
