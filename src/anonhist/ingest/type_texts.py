"""Text of decimals, times and durations as Python writes it, whatever the engine adds or leaves out."""

from __future__ import annotations

from typing import Any

# Of YYYY-MM-DD HH:MM:SS, and with milliseconds, microseconds or nanoseconds.
_SECONDS, _MILLIS, _MICROS, _NANOS = 19, 23, 26, 29
_STEPS = {"ms": 10**3, "us": 10**6, "ns": 10**9}
# The seconds from 1970 to the years 0 and 10,000.
_FOUR_DIGITS = (-62_167_219_200, 253_402_300_800)


def without_zeros(text: Any) -> Any:
    """Return texts of decimals without zeros at their end, and without a point before nothing: 1.50 as 1.5, 2.00 as 2.

    What is no decimal, such as PostgreSQL's Infinity, stays as it is.
    """
    import narwhals as nw

    trimmed = text.str.replace_all(r"\.?0+$", "")
    return nw.when(text.str.contains(r"\.[0-9]+$")).then(trimmed).otherwise(text)


def time_text(table: Any, name: str) -> Any:
    """Return the text of times: with six digits of a second's fraction, or nine, and without one that is zero.

    Times with a zone are written in UTC. Those of most engines are there already: see
    :mod:`~anonhist.ingest.plain_types`.
    """
    import narwhals as nw

    kind, column = table.collect_schema()[name], nw.col(name)
    if table.implementation.is_polars():
        if kind.time_zone is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return _cut(column, kind.time_unit)
    text = column.cast(nw.String)
    if table.implementation.is_duckdb():
        return _padded(text, kind.time_unit)
    has_fraction = text.str.slice(_SECONDS, 1) == nw.lit(".")
    # Cut rather than matched: patterns take several times as long.
    nine = nw.concat_str(text, nw.lit("0" * 8)).str.slice(0, _NANOS)
    six = nine.str.slice(0, _MICROS)
    written = nw.when(six.str.slice(_SECONDS) == nw.lit(".000000")).then(text.str.slice(0, _SECONDS)).otherwise(six)
    if kind.time_unit == "ns":
        written = nw.when(nine.str.slice(_MICROS) == nw.lit("000")).then(written).otherwise(nine)
    # Texts of years that have more digits, or lie before the first, are left as they are.
    return nw.when(has_fraction).then(written).otherwise(text)


def _cut(column: Any, unit: Any) -> Any:
    """Return the text of times of Polars, which writes all digits of their unit, without what is zero.

    Numbers say what that is: to look into the texts takes longer than to write them.
    """
    import narwhals as nw

    text, steps, count = column.cast(nw.String), _STEPS[unit], column.dt.timestamp(unit)
    written = nw.concat_str(text, nw.lit("000")) if unit == "ms" else text
    if unit == "ns":
        written = nw.when(count % 1_000 == 0).then(text.str.slice(0, _MICROS)).otherwise(text)
    written = nw.when(count % steps == 0).then(text.str.slice(0, _SECONDS)).otherwise(written)
    if unit == "ns":
        # Such times are of the years 1677 to 2262.
        return written
    first, end = (seconds * steps for seconds in _FOUR_DIGITS)
    return nw.when((count >= first) & (count < end)).then(written).otherwise(text)


def _padded(text: Any, unit: Any) -> Any:
    """Return the text of times of DuckDB with the zeros that it leaves out at the end.

    It writes a time anew for each branch that it takes: few are taken for most times.
    """
    import narwhals as nw

    length = text.str.len_chars()
    zeros = nw.concat_str(text, nw.lit("0" * 8), ignore_nulls=True)
    padded = zeros.str.slice(0, _MICROS)
    is_short = (length > _SECONDS) & (length < _MICROS)
    if unit == "ns":
        padded = nw.when(length > _MICROS).then(zeros.str.slice(0, _NANOS)).otherwise(padded)
        is_short = is_short | (length > _MICROS) & (length < _NANOS)
    # Texts of years that have more digits, or lie before the first, are left as they are.
    has_fraction = text.str.slice(_SECONDS, 1) == nw.lit(".")
    written = nw.when(is_short).then(nw.when(has_fraction).then(padded).otherwise(text)).otherwise(text)
    if unit == "ms":
        three = nw.concat_str(text, nw.lit("000"), ignore_nulls=True)
        written = nw.when((length == _MILLIS) & has_fraction).then(three).otherwise(written)
    return written


def clock_text(table: Any, name: str) -> Any:
    """Return the text of times of day, with six digits of a second's fraction or nine, and without one that is zero."""
    import narwhals as nw

    if table.implementation.is_duckdb():
        text = nw.col(name).cast(nw.String)
        padded = nw.concat_str(text, nw.lit("0" * 5)).str.slice(0, len("HH:MM:SS.ffffff"))
        return nw.when(text.str.contains(".", literal=True)).then(padded).otherwise(text)
    if not table.implementation.is_polars():
        return nw.col(name).cast(nw.String)
    nine = nw.col(name).dt.to_string("%H:%M:%S%.9f")
    six = nw.when(nine.str.slice(15) == nw.lit("000")).then(nine.str.slice(0, 15)).otherwise(nine)
    return nw.when(nine.str.slice(8) == nw.lit(".000000000")).then(nine.str.slice(0, 8)).otherwise(six)


def seconds_text(table: Any, name: str) -> Any:
    """Return durations as numbers of seconds, as :func:`~anonhist.numeric.value_name.time_name` does."""
    import narwhals as nw

    durations = nw.col(name).dt
    is_nano = table.collect_schema()[name].time_unit == "ns"
    digits, count = (9, durations.total_nanoseconds()) if is_nano else (6, durations.total_microseconds())
    size = count.abs()
    sign = nw.when(count < 0).then(nw.lit("-")).otherwise(nw.lit(""))
    fraction = (size % 10**digits).cast(nw.String).str.zfill(digits)
    return without_zeros(nw.concat_str(sign, (size // 10**digits).cast(nw.String), nw.lit("."), fraction))
