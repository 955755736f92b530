"""Author: who does something, and by which door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Via = Literal["cli", "code", "file", "studio"]


@dataclass(frozen=True, slots=True)
class Author:
    """What `rota_audit` keeps of whoever changed something."""

    via: Via = "code"
    actor: str | None = None
