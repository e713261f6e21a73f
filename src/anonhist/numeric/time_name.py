"""Names of times and durations: equal ones may be written in several ways, and are named in one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_PER_SECOND = 10**9


def time_name(value: datetime | timedelta) -> str:
    """Return a time as Python writes it, one with a zone as the same time of UTC; and a duration as its seconds.

    Examples
    --------
    >>> berlin = datetime.fromisoformat("2026-11-23T00:30:00.5+01:00")
    >>> time_name(berlin), time_name(berlin.replace(tzinfo=None))
    ('2026-11-22 23:30:00.500000', '2026-11-23 00:30:00.500000')
    >>> time_name(timedelta(days=1)), time_name(-timedelta(milliseconds=1500)), time_name(timedelta(0))
    ('86400', '-1.5', '0')
    """
    if isinstance(value, timedelta):
        return _seconds(value)
    if value.tzinfo is None:
        return str(value)
    try:
        return str(value.astimezone(UTC).replace(tzinfo=None))
    except OverflowError:
        # In the year before 1, or after 9999.
        return str(value)


def _seconds(value: timedelta) -> str:
    micros = (value.days * 86_400 + value.seconds) * 10**6 + value.microseconds
    # Those of pandas have nanoseconds, too.
    nanos = micros * 1000 + getattr(value, "nanoseconds", 0)
    whole, rest = divmod(abs(nanos), _PER_SECOND)
    fraction = f".{rest:09}".rstrip("0") if rest else ""
    return f"{'-' if nanos < 0 else ''}{whole}{fraction}"
