from __future__ import annotations

import pytest
from hypothesis import given

from rota.cadence import Cadence
from rota.errors import CadenceNeverComes
from tests.time.helpers import at
from tests.time.test_oracle import expressions

MEANINGS = {
    "* * * * *": "every minute",
    "*/15 * * * *": "every 15 minutes",
    "0,15,30,45 * * * *": "every 15 minutes",
    "*/7 * * * *": "every 7 minutes from minute 0 to 56 of every hour",
    "0 * * * *": "every hour",
    "@hourly": "every hour",
    "17 * * * *": "at minute 17 of every hour",
    "5,35 * * * *": "at minutes 5 and 35 of every hour",
    "1-5,30 * * * *": "at minutes 1 to 5 and 30 of every hour",
    "0 */2 * * *": "every 2 hours",
    "0 */2 * * MON": "every 2 hours on Mondays",
    "30 */2 * * *": "every 2 hours from 00:30 every day",
    "*/15 8-18 * * MON-FRI": "every 15 minutes from 08:00 to 18:45, Monday to Friday",
    "15,45 6-9,16-19 * * *": "at minutes 15 and 45 of the hours 06 to 09 and 16 to 19 every day",
    "30 2 * * *": "at 02:30 every day",
    "@daily": "at 00:00 every day",
    "0 1,13 * * *": "at 01:00 and 13:00 every day",
    "5 0 * 8 *": "at 00:05 every day in August",
    "0 9 * * 7": "at 09:00 on Sundays",
    "@weekly": "at 00:00 on Sundays",
    "30 2 * * sun,SAT": "at 02:30 on Saturdays and Sundays",
    "0 9 * 1,7 5-7": "at 09:00, Friday to Sunday in January and July",
    "0 0 1,15 * *": "at 00:00 on the 1st and 15th of the month",
    "0 0 2,3,22,23,31 * *": "at 00:00 on the 2nd, 3rd, 22nd, 23rd and 31st of the month",
    "0 0 11-13,21 * *": "at 00:00 on days 11-13 and 21 of the month",
    "0 0 */5 * *": "at 00:00 on every 5th day from the 1st to the 31st of the month",
    "@yearly": "at 00:00 on the 1st of January",
    "0 8 */100,1-7 * MON": "at 08:00 on days 1-7 of the month, if that is a Monday",
    "0 0 13 * FRI": "at 00:00 on the 13th of the month or on a Friday",
    "0 0 30 2 MON,WED": "at 00:00 on the 30th or on a Monday or Wednesday, in February",
    "0 0 1-31 * 4": "at 00:00 every day",
    "0 0 4 * 0-7": "at 00:00 every day",
    "@every 1h30m": "every 1 hour 30 minutes",
    "@every 24h": "every 24 hours",
    "@every 60s": "every minute",
    "@every 1s": "every second",
}


@pytest.mark.parametrize(("text", "meaning"), list(MEANINGS.items()))
def test_meaning(text: str, meaning: str) -> None:
    assert Cadence.parse(text).explain() == meaning


def test_zone_is_said_unless_it_is_utc() -> None:
    assert Cadence.parse("30 2 * * *", "America/New_York").explain() == "at 02:30 every day (America/New_York)"
    assert Cadence.parse("30 2 * * *", "+02:00").explain() == "at 02:30 every day (+02:00)"


def test_an_interval_says_since_when_it_counts() -> None:
    cadence = Cadence.parse("@every 5m", "Asia/Tokyo", at("2026-03-01T09:00:07Z"))
    assert cadence.explain() == "every 5 minutes, counted from 2026-03-01 09:00:07 UTC"


@given(expressions)
def test_every_expression_has_words(text: str) -> None:
    try:
        words = Cadence.parse(text).explain()
    except CadenceNeverComes:
        return
    assert words.startswith(("at ", "every "))
    assert "  " not in words
    assert " ," not in words
