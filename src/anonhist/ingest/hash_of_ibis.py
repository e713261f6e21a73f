"""MD5 as 32 lower-case hexadecimal digits, on each engine that Ibis writes SQL for and this has been checked for.

The functions of that name differ: some return text, some bytes, and some take bytes.
"""

from __future__ import annotations

from hashlib import md5
from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError
from anonhist.ingest.warehouses import engine_function

if TYPE_CHECKING:
    from collections.abc import Callable

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


def _digest(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()
