"""Dates in English and in another language: the blocks change places."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

# Day first and month first, with and without a weekday, as CLDR patterns.
ENGLISH_FORMATS = (
    "EEEE, d MMMM y",
    "EEEE, MMMM d, y",
    "EEE, d MMM y",
    "d MMMM y",
    "MMMM d, y",
)
LANGUAGES = ("zh", "de")


def date_pairs(
    dates: Iterable[date],
    language: str = "zh",
    formats: Sequence[str] = ENGLISH_FORMATS,
) -> list[tuple[str, str]]:
    """Write dates in English, the formats in turn, and in full in another language.

    Args:
        dates: any dates; date i has the format i modulo their number.
        language: "zh", Chinese, or "de", German.
        formats: CLDR patterns of the English form; E stands for the weekday.

    Returns:
        pairs: the English date, and CLDR's full form in the other language; without
        the weekday where the English has none.

    Raises:
        ValueError: another language, no format, or the package babel is missing.

    Source: Unicode CLDR through the package babel 2.19.0 (BSD-3-Clause).
    Lesson: notebooks/12_translation.ipynb

    >>> date_pairs([date(2021, 5, 3)], "zh")
    [('Monday, 3 May 2021', '2021年5月3日星期一')]
    """
    if language not in LANGUAGES:
        raise ValueError(f"language was {language!r}; choose one of {LANGUAGES}")
    if not formats:
        raise ValueError("formats was empty; pass at least one CLDR pattern")
    format_date = _format_date()
    pairs = []
    for i, day in enumerate(dates):
        pattern = formats[i % len(formats)]
        length = "full" if "E" in pattern else "long"
        english = format_date(day, pattern, locale="en")
        pairs.append((english, format_date(day, length, locale=language)))
    return pairs


def days(first: int = 1900, last: int = 2099) -> list[date]:
    """List every day of some years, in order.

    Args:
        first: the first year.
        last: the last year, included.

    Returns:
        the days, about 73,000 for two centuries.

    Raises:
        ValueError: a year is outside 1 to 9998, or last comes before first.

    Source: Python's datetime: the Gregorian calendar, extended to all years.
    Lesson: notebooks/12_translation.ipynb

    >>> len(days(2023, 2024))
    731
    """
    if not 1 <= first <= last <= 9998:
        raise ValueError(
            f"the years were {first} to {last}; pass years from 1 to 9998, in order"
        )
    start = date(first, 1, 1)
    n_days = (date(last + 1, 1, 1) - start).days
    return [start + timedelta(i) for i in range(n_days)]


def _format_date():
    try:
        from babel.dates import (
            format_date,
        )  # late: only these functions need the package
    except ModuleNotFoundError:
        raise ValueError(
            "the package babel is not installed, and it knows the forms of dates: run "
            "'python -m pip install babel==2.19.0'"
        ) from None
    return format_date
