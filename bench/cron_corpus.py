"""About 190 five-field expressions of the kinds people write, in no engine's own syntax; zones and clock changes.

Weekdays have names, because engines number them differently; a few numbers are kept on purpose.
"""

from __future__ import annotations


def corpus() -> list[str]:
    """Each expression once, in the same order every time."""
    out = ["* * * * *"]
    out += [f"*/{n} * * * *" for n in (2, 3, 5, 6, 7, 10, 12, 15, 20, 30, 45)]
    out += [f"{m} * * * *" for m in (0, 1, 7, 15, 29, 30, 45, 59)]
    out += [f"{a},{b} * * * *" for a, b in ((0, 30), (5, 35), (15, 45), (1, 59))]
    out += [f"{m} */{h} * * *" for m in (0, 15, 30) for h in (2, 3, 4, 6, 8, 12)]
    out += [f"{m} {h} * * *" for m in (0, 15, 30) for h in (0, 1, 2, 3, 4, 6, 9, 12, 17, 23)]
    out += [f"*/{s} {a}-{b} * * *" for s in (5, 10, 15, 20) for a, b in ((0, 5), (1, 3), (8, 18), (9, 17))]
    out += [f"{m} {h} * * mon-fri" for m in (0, 30) for h in (2, 6, 7, 8, 9, 17, 18)]
    out += [
        f"{m} {h} * * {d}"
        for m, h, d in (
            (0, 0, "sun"),
            (0, 2, "sun"),
            (30, 2, "sun"),
            (30, 1, "sun"),
            (0, 3, "sun"),
            (0, 4, "mon"),
            (15, 5, "tue"),
            (45, 22, "fri"),
            (0, 6, "mon,wed,fri"),
            (0, 7, "tue,thu"),
            (30, 2, "sat,sun"),
        )
    ]
    out += [
        f"{m} {h} {d} * *"
        for m, h, d in (
            (0, 0, "1"),
            (0, 2, "1"),
            (30, 3, "1"),
            (0, 0, "15"),
            (0, 0, "1,15"),
            (0, 12, "28"),
            (0, 0, "29"),
            (0, 0, "30"),
            (0, 0, "31"),
            (30, 2, "8-14"),
            (0, 3, "*/2"),
            (0, 4, "*/5"),
            (0, 5, "*/10"),
            (0, 1, "1-7"),
            (0, 9, "1-5"),
        )
    ]
    out += [f"0 0 1 {m} *" for m in ("1", "4", "7", "10", "jan", "*/2", "*/3", "*/6", "1,7", "mar-may")]
    out += [
        "0 0 29 2 *",
        "0 0 29 feb *",
        "0 12 31 12 *",
        "59 23 31 dec *",
        "30 2 29 3 *",
        "30 2 8 3 *",
        "30 1 1 11 *",
        "30 1 25 10 *",
        "0 0 25 12 *",
        "0 0 4 7 *",
    ]
    out += [
        "0 0 13 * fri",
        "0 0 1 * mon",
        "0 9 1-7 * mon",
        "30 2 15 * sun",
        "0 6 1,15 * wed",
        "0 0 1-7 1 sat",
        "0 12 */2 * tue",
    ]  # both day fields
    out += ["0 0 * * 0", "0 0 * * 1", "0 0 * * 6", "0 0 * * 1-5", "0 9 * * 1,3,5", "0 9 * * 7"]  # numbered weekdays
    out += [
        "0-30/5 * * * *",
        "5-55/10 * * * *",
        "0,10,20,30,40,50 * * * *",
        "0-5 14 * * *",
        "*/15 0-4 * * *",
        "0 8-18/2 * * *",
        "15,45 6-9,16-19 * * *",
        "0 0,12 * * *",
        "0 1,13 * * *",
        "23 0-20/2 * * *",
        "5 4 * * sun",
        "0 22 * * 1-5",
        "5 0 * 8 *",
        "15 14 1 * *",
        "0 2 * * *",
        "59 1 * * *",
        "1 3 * * *",
        "30 0 * * *",
        "30 23 * * *",
        "0 0 * * *",
        "*/30 1-3 * * *",
        "*/10 2 * * *",
        "*/1 2 * * *",
        "0 */1 * * *",
        "30 */1 * * *",
        "10 2-3 * * *",
        "*/20 1 * * sun",
        "*/20 2 * * sun",
        "45 23 * * sat",
    ]
    return list(dict.fromkeys(out))


def daily(number: int) -> str:
    """One that comes once a day; 1,440 of them differ."""
    return f"{number % 60} {number // 60 % 24} * * *"


ZONES = (
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "Asia/Kolkata",
    "America/Santiago",
    "Africa/Casablanca",
    "Asia/Tokyo",
)

WINDOWS = (
    ("America/New_York", "2026-03-07T12:00", 2),
    ("America/New_York", "2026-10-31T12:00", 2),
    ("Europe/Berlin", "2026-03-28T12:00", 2),
    ("Europe/Berlin", "2026-10-24T12:00", 2),
    ("Australia/Lord_Howe", "2026-04-04T06:00", 2),
    ("Australia/Lord_Howe", "2026-10-03T06:00", 2),
    ("America/Santiago", "2026-04-04T12:00", 2),
    ("America/Santiago", "2026-09-05T12:00", 2),
    ("Africa/Casablanca", "2026-02-14T12:00", 2),
    ("Africa/Casablanca", "2026-03-21T12:00", 2),
    ("UTC", "2026-01-31T12:00", 2),
)
"""(zone, start in UTC, days): a clock change in the middle, but for the last."""
