"""One field of a cron expression: its text → its sorted values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from rota.errors import shown

STARS = ("*", "?")
"""What stands for every value. `?` is Quartz's way to write `*`."""


class FieldError(ValueError):
    """What is wrong with a field. `cron.parse` catches it and says in which text."""


@dataclass(frozen=True, slots=True)
class Field:
    """A place in the expression, the values it can hold, and their names, the first of which means `low`."""

    place: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    def values(self, text: str) -> tuple[int, ...]:
        """The values `text` stands for, sorted. Raises `FieldError`, which names the field, the part, the remedy."""
        return tuple(sorted({value for item in text.split(",") for value in self._item(item)}))

    def _item(self, item: str) -> range:
        body, slash, step = item.partition("/")
        stride = self._step(step, item) if slash else 1
        if body in STARS:
            return range(self.low, self.high + 1, stride)
        left, dash, right = body.partition("-")
        first = self._number(left, item)
        if not dash:
            return range(first, self.high + 1, stride) if slash else range(first, first + 1)
        last = self._number(right, item)
        if first > last:
            self._refuse_backwards(item, (left, right), (first, last), stride)
        return range(first, last + 1, stride)

    def _step(self, text: str, item: str) -> int:
        if not _is_digits(text):
            self._refuse(item, f"the step after '/' is {shown(text)}: write a whole number from 1, as in '*/5'")
        if int(text) == 0:
            self._refuse(item, "the step after '/' is 0: write a whole number from 1, as in '*/5'")
        return int(text)

    def _number(self, text: str, item: str) -> int:
        if text.isascii() and text.upper() in self.names:
            return self.low + self.names.index(text.upper())
        if not _is_digits(text):
            self._refuse(item, self._why_no_number(text, item))
        if not self.low <= int(text) <= self.high:
            self._refuse(item, f"{int(text)} is outside {self.low}-{self.high}")
        return int(text)

    def _why_no_number(self, text: str, item: str) -> str:
        letters = re.sub(r"[0-9()/-]", "", item.upper())
        remedy = _FOREIGN.get("#" if "#" in item else letters)
        if remedy:
            return remedy
        if not item:
            return "there is nothing before, between or after the commas: take the extra comma out"
        if not text:
            return self._why_nothing(item)
        short = text[:3].upper()
        if text.isalpha() and short in self.names:
            return f"names have three letters: write {short}"
        named = f" or a name {self.names[0]}-{self.names[-1]}" if self.names else ""
        return f"{shown(text)} is not a number {self.low}-{self.high}{named}"

    def _why_nothing(self, item: str) -> str:
        if item.startswith("/"):
            return f"a step needs something before it: write '*{item}'"
        return f"a range needs a number {self.low}-{self.high} on both sides of '-'"

    def _refuse_backwards(self, item: str, ends: tuple[str, str], bounds: tuple[int, int], stride: int) -> NoReturn:
        (left, right), (first, last) = ends, bounds
        if stride == 1:
            top, bottom = (self.names[-1], self.names[0]) if left.upper() in self.names else (self.high, self.low)
            remedy = f"{_range(left, str(top))},{_range(str(bottom), right)}"
        else:
            count = len(self.names) or self.high - self.low + 1
            turn = range(first, last + count + 1, stride)
            remedy = ",".join(str((value - self.low) % count + self.low) for value in turn)
        self._refuse(item, f"the range runs backwards: write '{remedy}'")

    def _refuse(self, item: str, problem: str) -> NoReturn:
        raise FieldError(f"{self.place} {shown(item, 40)}: {problem}")


def begins_with_star(text: str) -> bool:
    """Whether cron's rules take the field as unrestricted: they look at its first character only."""
    return text.startswith(STARS)


def _is_digits(text: str) -> bool:
    return 0 < len(text) <= 9 and text.isascii() and text.isdigit()


def _range(left: str, right: str) -> str:
    return left if left.upper() == right.upper() else f"{left}-{right}"


_FOREIGN = {
    "#": "# (the nth weekday) is not offered: for the second Monday write '*/100,8-14' as day-of-month "
    "and 'MON' as day-of-week",
    "L": "L (the last one) is not offered: write the days, as in '28-31', and let the job look whether it is the last",
    "W": "W (the nearest working day) is not offered: write the days and let the job look which one it is",
    "LW": "LW (the last working day) is not offered: write '26-31' and let the job look whether it is the last",
    "H": "H (a hashed value) is not offered: choose a number",
}

MINUTE = Field("minute", 0, 59)
HOUR = Field("hour", 0, 23)
DAY = Field("day-of-month", 1, 31)
MONTH = Field("month", 1, 12, ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"))
WEEKDAY = Field("day-of-week", 0, 7, ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"))
FIELDS = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)
"""The five, in the order in which an expression has them. In day-of-week 7 is Sunday, as 0 is."""
