"""MD5 as 32 lower-case hexadecimal digits, and these as a number, on each engine of Ibis that has been checked for it.

The functions of that name differ: some return text, some bytes, and some take bytes.
"""

from __future__ import annotations

from hashlib import md5
from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError
from anonhist.ingest.warehouses import engine_function

if TYPE_CHECKING:
    from collections.abc import Callable

HEX_DIGITS = 12
# What to call on a text, innermost first, with the types that each takes and returns.
_TEXT = (("md5", "string", "string"),)
_FUNCTIONS = {
    "athena": (
        ("to_utf8", "string", "binary"),
        ("md5", "binary", "binary"),
        ("to_hex", "binary", "string"),
        ("lower", "string", "string"),
    ),
    "bigquery": (("md5", "string", "binary"), ("to_hex", "binary", "string")),
    "clickhouse": (("MD5", "string", "binary"), ("hex", "binary", "string"), ("lower", "string", "string")),
    "databricks": _TEXT,
    "duckdb": _TEXT,
    "postgres": _TEXT,
    "pyspark": _TEXT,
    "snowflake": _TEXT,
}
_FUNCTIONS["trino"] = _FUNCTIONS["athena"]


def md5_of_ibis(engine: str) -> Callable[[Any], Any]:
    """Return the function from a column of text to the digits of its hashes.

    Parameters
    ----------
    engine
        What Ibis calls the engine. SQLite has no such function, and takes Python's.

    Raises
    ------
    UsageError
        If nobody has checked how the engine hashes.

    Examples
    --------
    >>> import ibis
    >>> names = ibis.table({"name": "string"}, name="users")
    >>> print(ibis.to_sql(names.select(hash=md5_of_ibis("bigquery")(names.name)), dialect="bigquery"))
    SELECT
      TO_HEX(MD5(`t0`.`name`)) AS `hash`
    FROM `users` AS `t0`
    """
    from ibis import udf

    if engine == "sqlite":
        python: Callable[[Any], Any] = udf.scalar.python(
            _digest, name="anonhist_md5", signature=(("string",), "string")
        )
        return python
    if engine not in _FUNCTIONS:
        known = ", ".join(sorted({*_FUNCTIONS, "sqlite"}))
        raise UsageError(
            f"Users are bounded by hashes, which are known on these engines of Ibis: {known}; on {engine}, export the "
            "table to a Parquet file and read that."
        )

    def digits(text: Any) -> Any:
        for name, taken, returned in _FUNCTIONS[engine]:
            text = engine_function(name, taken, returned)(text)
        return text

    return digits


def number_of_ibis(engine: str, digits: Any) -> Any:
    """Return the number that the first twelve of some hexadecimal digits are, on an engine whose hashes are known.

    Examples
    --------
    >>> import ibis
    >>> hashes = ibis.table({"hash": "string"}, name="hashes")
    >>> "FROM_BASE(" in ibis.to_sql(number_of_ibis("trino", hashes.hash), dialect="trino")
    True
    """
    return _NUMBERS[engine](digits.left(HEX_DIGITS))


def _of_bases(digits: Any) -> Any:
    return engine_function("from_base", "string", "int64", "int64")(digits, 16)


def _of_prefix(digits: Any) -> Any:
    return ("0x" + digits).cast("int64")


def _of_conversion(digits: Any) -> Any:
    from ibis import udf

    conv = udf.scalar.builtin(lambda text, base, other: (text, base, other), name="conv", signature=_CONV)
    return conv(digits, 16, 10).cast("int64")


def _of_clickhouse(digits: Any) -> Any:
    turned = engine_function("reverse", "binary", "binary")(engine_function("unhex", "string", "binary")(digits))
    return engine_function("reinterpretAsInt64", "binary", "int64")(turned)


def _of_postgres(digits: Any) -> Any:
    data = engine_function("decode", "string", "string", "binary")(digits, "hex")
    byte, large = engine_function("get_byte", "binary", "int32", "int32"), engine_function("int8", "int32", "int64")
    first, *others = (large(byte(data, at)) * 256 ** (HEX_DIGITS // 2 - 1 - at) for at in range(HEX_DIGITS // 2))
    return sum(others, first)


def _of_snowflake(digits: Any) -> Any:
    return engine_function("to_number", "string", "string", "int64")(digits, "X" * HEX_DIGITS)


def _of_sqlite(digits: Any) -> Any:
    from ibis import udf

    return udf.scalar.python(_number, name="anonhist_number", signature=(("string",), "int64"))(digits)


_CONV = (("string", "int32", "int32"), "string")
_NUMBERS = {
    "athena": _of_bases,
    "bigquery": _of_prefix,
    "clickhouse": _of_clickhouse,
    "databricks": _of_conversion,
    "duckdb": _of_prefix,
    "postgres": _of_postgres,
    "pyspark": _of_conversion,
    "snowflake": _of_snowflake,
    "sqlite": _of_sqlite,
    "trino": _of_bases,
}


def _number(digits: str) -> int:
    return int(digits, 16)


def _digest(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()
