"""A random order of rows, which every engine computes alike: that of MD5 hashes under a random key.

It decides between rows of a user that tie in a column to order by, which rows of a user a part keeps, and in which
groups a user or a label counts. The i-th of a user's rows with one label has the hash of (key, i, user, label), so the
order depends on the rows of that user and on the key, which is drawn independently of the data, and on nothing else.
Privacy needs no secure hash: any fixed order would do. MD5 is what all engines have, and its hashes look random, so
that each row has the same chance to be kept. Engines of Ibis differ in MD5 (text or bytes): each is checked.
"""

from __future__ import annotations

from hashlib import md5
from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError
from anonhist.ingest.plain_types import is_spark
from anonhist.ingest.warehouses import engine_function, has_utf8, utf8_of_postgres
from anonhist.privacy import parse_order_key
from anonhist.randomness import SystemSource

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
    """Return the function from a column of text to the 32 lower-case digits of its MD5; refuse an engine not checked.

    ``engine`` is what Ibis calls it. SQLite has no such function, and takes Python's.
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
        if engine == "postgres" and not has_utf8(text):
            return engine_function("md5", "binary", "string")(utf8_of_postgres(text))
        for name, taken, returned in _FUNCTIONS[engine]:
            text = engine_function(name, taken, returned)(text)
        return text

    return digits


def number_of_ibis(engine: str, digits: Any) -> Any:
    """Return the number that the first twelve of some hexadecimal digits are, on an engine whose hashes are known."""
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
    return number_of_bytes(bytes_of_digits(digits))


def bytes_of_digits(digits: Any) -> Any:
    """Return the bytes that hexadecimal digits are, on PostgreSQL."""
    return engine_function("decode", "string", "string", "binary")(digits, "hex")


def number_of_bytes(data: Any) -> Any:
    """Return the number that the first six bytes are, on PostgreSQL, which forms ``data`` anew for each of them."""
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


HASH = "hash"


def random_key() -> str:
    """Draw a key of 128 bits, as 32 hexadecimal digits."""
    return "".join(f"{word:016x}" for word in SystemSource().words(2).tolist())


_OF_USERS = "`order_key` chooses which items of a user count, so it requires `user` and `max_per_user`."
KEY_OF_GROUPS = "`order_key` chooses items or groups, so it requires `user` or `max_groups_per_label`."


def key_where(given: str | None, *, needed: bool, refused: str = _OF_USERS) -> str | None:
    """Return the key that was given, else a new one; where none is needed None, and one that is given is refused."""
    if not needed:
        if given is not None:
            raise UsageError(refused)
        return None
    return random_key() if given is None else parse_order_key(given)


def add_hash(rows: Any, key: str, *, of: str = "label") -> Any:
    """Return the rows with a column ``hash`` of 32 hexadecimal digits, by which to order those of each user.

    ``rows`` has the texts ``user_name`` and ``label`` (or ``of``; it may be null), and the whole number ``occurrence``.
    The hash is that of ``{key}{occurrence} {user}``, a line feed, and ``={label}``, or nothing where there is no label,
    in UTF-8. Of one user no two such texts are the same. Two users may share one if a name holds a line feed: then a
    row of each has the same place in the order, which is a matter of theirs alone.
    """
    check_hashes(rows)
    kind = rows.implementation
    if kind.is_duckdb() or kind.is_ibis():
        return _in_sql(rows, key, of)
    return _in_spark(rows, key, of) if is_spark(rows) else _in_memory(rows, key, of)


def check_hashes(rows: Any) -> None:
    """Refuse a Narwhals table on an engine of which no hash is known."""
    kind = rows.implementation
    if kind.is_duckdb() or kind.is_ibis() or kind.is_polars() or kind.is_pandas_like() or is_spark(rows):
        return
    raise UsageError(
        "Users are bounded in files, databases and tables of DuckDB, pandas, Polars, PyArrow, Ibis and Spark: turn "
        "this table into one of these, or write it to a Parquet file."
    )


def _in_sql(rows: Any, key: str, of: str) -> Any:
    import narwhals as nw

    native = rows.to_native()
    if rows.implementation.is_duckdb():
        text = f"concat('{key}', occurrence, ' ', \"user_name\", chr(10), '=' || \"{of}\")"
        return nw.from_native(native.project(f"*, md5({text}) AS {HASH}"))
    number, label = native["occurrence"].cast("string"), native[of]
    text = key + number + " " + native["user_name"] + "\n" + label.isnull().ifelse("", "=" + label)
    return nw.from_native(native.mutate(**{HASH: md5_of_ibis(native.get_backend().name)(text)}))


def _in_spark(rows: Any, key: str, of: str) -> Any:
    import narwhals as nw

    text = f"concat('{key}', occurrence, ' ', `user_name`, char(10), coalesce(concat('=', `{of}`), ''))"
    return nw.from_native(rows.to_native().selectExpr("*", f"md5({text}) AS {HASH}"))


def _in_memory(rows: Any, key: str, of: str) -> Any:
    import narwhals as nw

    held = rows.collect() if hasattr(rows, "collect") else rows
    columns = (held[name].to_list() for name in ("occurrence", "user_name", of))
    # A missing label is None, NaN or another value that is no text.
    texts = (
        f"{key}{number} {user}\n={label}" if isinstance(label, str) else f"{key}{number} {user}\n"
        for number, user, label in zip(*columns, strict=True)
    )
    # Python's texts may hold halves of characters, which UTF-8 has no place for.
    hashes = [md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest() for text in texts]
    return held.with_columns(nw.new_series(HASH, hashes, nw.String, backend=held.implementation))
