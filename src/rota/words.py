"""What a cadence means, in English, read off its values: two texts that mean the same read the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from rota.cron import Cron

_LISTED = 6
"""So many times of day are listed, each by itself; where there are more, their rule is given."""
_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS: tuple[str, ...] = ("January", "February", "March", "April", "May", "June")
_MONTHS += ("July", "August", "September", "October", "November", "December")


def of_cron(cron: Cron, zone_name: str = "UTC") -> str:
    """`30 2 * * *` → "at 02:30 every day"; a zone other than UTC follows in parentheses."""
    zone = "" if zone_name == "UTC" else f" ({zone_name})"
    return f"{_time(cron)}{_days(cron)}{zone}"


def of_interval(span: timedelta, anchor: datetime | None = None) -> str:
    """`@every 1h30m` → "every 1 hour 30 minutes", and since when it counts."""
    minutes, seconds = divmod(span // timedelta(seconds=1), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "hour"), (minutes, "minute"), (seconds, "second")]
    counted = [_counted(number, unit) for number, unit in parts if number]
    since = f", counted from {anchor:%Y-%m-%d %H:%M:%S} UTC" if anchor else ""
    return f"every {counted[0].removeprefix('1 ') if len(counted) == 1 else ' '.join(counted)}{since}"


# ---- the time of day -----------------------------------------------------------------------------------------------


def _time(cron: Cron) -> str:
    return _round_the_clock(cron) or _from_to(cron.times) or _listed(cron.times) or _by_hour(cron)


def _round_the_clock(cron: Cron) -> str:
    """Where the same step leads through the whole day and over midnight."""
    times = cron.times
    step = _step(times)
    if len(times) <= 3 or times[0] + 1440 - times[-1] != step or (times[0] and step <= 60):
        return ""
    return f"every {_length(step)}" + (f" from {_clock(times[0])}" if times[0] else "")


def _from_to(times: Sequence[int]) -> str:
    """Where the same step leads from one time of day to another."""
    step = _step(times)
    if len(times) <= 3 or not step or times[-1] - times[0] > 1440 - 2 * step:
        return ""
    return f"every {_length(step)} from {_clock(times[0])} to {_clock(times[-1])}"


def _listed(times: Sequence[int]) -> str:
    return f"at {_join(map(_clock, times))}" if len(times) <= _LISTED else ""


def _by_hour(cron: Cron) -> str:
    hours = (
        "every hour" if _every_hour(cron) else f"the hours {_runs([f'{hour:02}' for hour in cron.hours], cron.hours)}"
    )
    return f"{_minutes(cron.minutes)} of {hours}"


def _minutes(minutes: Sequence[int]) -> str:
    step = _step(minutes)
    if len(minutes) > 3 and step:
        whole = minutes[0] == 0 and minutes[-1] + step == 60
        return f"every {_length(step)}" + ("" if whole else f" from minute {minutes[0]} to {minutes[-1]}")
    return f"at minute{'s' * (len(minutes) > 1)} {_runs([str(minute) for minute in minutes], minutes)}"


def _every_hour(cron: Cron) -> bool:
    return len(cron.hours) == 24


def _all_day_long(cron: Cron) -> bool:
    return _every_hour(cron) or (cron.times[0] == 0 and bool(_round_the_clock(cron)))


# ---- the days ------------------------------------------------------------------------------------------------------


def _days(cron: Cron) -> str:
    any_date, any_weekday = len(cron.days) == 31, len(cron.weekdays) == 7
    months = "" if len(cron.months) == 12 else _join(_MONTHS[month - 1] for month in cron.months)
    within = f" in {months}" if months else ""
    of = f" of {months or 'the month'}"
    if (any_date and any_weekday) or (not cron.both_days and (any_date or any_weekday)):
        return ("" if _all_day_long(cron) else " every day") + within
    if any_date:
        return _on_weekdays(cron.weekdays) + within
    if any_weekday:
        return f" on {_dates(cron.days)}{of}"
    if cron.both_days:
        return f" on {_dates(cron.days)}{of}, if that is {_a_weekday(cron.weekdays)}"
    return (
        f" on {_dates(cron.days)}{'' if months else of} or on {_a_weekday(cron.weekdays)}{',' * bool(months)}{within}"
    )


def _on_weekdays(weekdays: Sequence[int]) -> str:
    names = _from_monday(weekdays)
    first, last = _WEEKDAYS.index(names[0]), _WEEKDAYS.index(names[-1])
    if len(names) > 2 and (last - first) % 7 == len(names) - 1:
        return f", {names[0]} to {names[-1]}"
    return f" on {_join(f'{name}s' for name in names)}"


def _a_weekday(weekdays: Sequence[int]) -> str:
    return f"a {_join(_from_monday(weekdays), 'or')}"


def _from_monday(weekdays: Sequence[int]) -> list[str]:
    return [_WEEKDAYS[weekday] for weekday in sorted(weekdays, key=lambda weekday: (weekday - 1) % 7)]


def _dates(days: Sequence[int]) -> str:
    step = _step(days)
    if len(days) > 4 and step > 1:
        return f"every {_ordinal(step)} day from the {_ordinal(days[0])} to the {_ordinal(days[-1])}"
    runs = _runs([str(day) for day in days], days, "-")
    return f"days {runs}" if "-" in runs else f"the {_join(map(_ordinal, days))}"


# ---- numbers -------------------------------------------------------------------------------------------------------


def _step(values: Sequence[int]) -> int:
    """By how much each value is above the one before, if that is always the same; else 0."""
    steps = {later - earlier for earlier, later in pairwise(values)}
    return steps.pop() if len(steps) == 1 else 0


def _runs(texts: Sequence[str], values: Sequence[int], to: str = " to ") -> str:
    """The texts of the values, with three or more that follow each other drawn together: 1 to 5, 9 and 10."""
    runs: list[list[int]] = []
    for index, value in enumerate(values):
        if runs and value == values[runs[-1][-1]] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    drawn = [[texts[run[0]] + to + texts[run[-1]]] if len(run) > 2 else [texts[index] for index in run] for run in runs]
    return _join(text for run in drawn for text in run)


def _length(minutes: int) -> str:
    number, unit = (minutes // 60, "hour") if minutes % 60 == 0 else (minutes, "minute")
    return _counted(number, unit).removeprefix("1 ")


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'s' * (number != 1)}"


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def _ordinal(number: int) -> str:
    ending = "th" if number // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _join(texts: Iterable[str], last: str = "and") -> str:
    *most, end = texts
    return f"{', '.join(most)} {last} {end}" if most else end
