"""Errors of instants, durations, zones and cadences."""

from __future__ import annotations

from rota.errors.base import RotaError, shown


class TimeError(RotaError, ValueError):
    """An instant, a duration, a zone or a cadence that cannot be meant."""


class CadenceInvalid(TimeError):
    """A cadence's text that is not five fields, a descriptor or an interval."""

    def __init__(self, text: object, problem: str) -> None:
        super().__init__(f"cadence {shown(text)}: {problem}")
        self.text, self.problem = text, problem


class CadenceNeverComes(TimeError):
    """A cadence that is well formed, but that no date in the calendar matches."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"cadence {shown(text)} never comes: no date has that day, month and weekday (look at the day fields)"
        )


class ZoneUnknown(TimeError):
    """A time zone that is neither an IANA name nor a fixed offset."""

    def __init__(self, name: object) -> None:
        super().__init__(
            f"time zone {shown(name)} is not known: give an IANA name such as 'Europe/Berlin', "
            "or an offset such as '+02:00'"
        )


class DurationInvalid(TimeError):
    """A duration that is not written as `1h30m`, or out of bounds."""

    def __init__(self, text: object, problem: str = "write it with the units h, m and s, such as '1h30m'") -> None:
        super().__init__(f"duration {shown(text)}: {problem}")


class InstantNaive(TimeError):
    """A datetime without a time zone."""

    def __init__(self, value: object, name: str = "instant") -> None:
        super().__init__(
            f"{name} {shown(value)} has no time zone: give an aware datetime, such as one with tzinfo=timezone.utc"
        )
