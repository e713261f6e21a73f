"""Texts of Spark, equal only if they are the same, whatever collation their columns have (Spark 4 and later)."""

from __future__ import annotations

from typing import Any


def without_collations_in_spark(table: Any) -> Any:
    """Return a Narwhals table of Spark whose texts are compared as they are written.

    Under some collations "de" and "DE" are equal: one row could then give the labels of others another name, and two
    users would be bounded as one. Names of columns must be such that Spark reads them.
    """
    import narwhals as nw

    native = table.to_native()
    collated = {field.name for field in native.schema.fields if " collate " in field.dataType.simpleString().lower()}
    if not collated:
        return table
    quoted = {name: f"`{name}`" for name in native.columns}
    plain = {name: f"collate({column}, 'UTF8_BINARY') AS {column}" for name, column in quoted.items()}
    return nw.from_native(native.selectExpr(*(plain[name] if name in collated else quoted[name] for name in quoted)))
