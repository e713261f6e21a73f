"""The systematic sample of users' rows (see :mod:`~anonhist.ingest.systematic`) as Spark draws it fastest.

Two plans draw the same rows. *Lists*: each user's rows are collected, sorted, and picked by their number; MD5 is
computed once a user. But a list is held in memory whole. *Windows*: rows are sorted and numbered, which spills to disk
where a user has more rows than fit in memory; MD5 is computed once a row, and where users have a dozen rows it takes a
third longer. So users who may have many rows go through windows: all of a bucket of users (by a hash without a key)
that has many rows in all, which a first pass over the users finds. Which way a user goes decides about time and memory,
and not about which rows are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.ingest.hash_of_ibis import HEX_DIGITS
from anonhist.ingest.naming import NAMED

if TYPE_CHECKING:
    from anonhist.ingest.user_bounds import UserBound

# 2^18 short labels take some 30 MB. Up to 10^10 rows, few buckets of evenly spread users have more.
LONGEST_LIST = 1 << 18
_BUCKETS = 1 << 16
_BUCKET = f"xxhash64(`user`) & {_BUCKETS - 1}"
# A query can name so many.
_MOST_NAMED = 1000


def sample_of_spark(rows: Any, name: str, bound: UserBound, kept: list[str], largest: int) -> Any:
    """Return the sample of a DataFrame of Spark: its rows, and a name in the column ``name`` for each user.

    ``largest`` is how many rows of a user can be numbered.
    """
    crowded = _crowded_buckets(rows)
    if not crowded:
        return _by_lists(rows, name, bound, kept)
    if len(crowded) > _MOST_NAMED:
        return _by_windows(rows, name, bound, kept, largest)
    is_crowded = f"({_BUCKET}) IN ({', '.join(map(str, crowded))})"
    others = _by_lists(rows.where(f"NOT ({is_crowded})"), name, bound, kept)
    return others.unionByName(_by_windows(rows.where(is_crowded), name, bound, kept, largest))


def _crowded_buckets(rows: Any) -> list[int]:
    counted = rows.selectExpr(f"{_BUCKET} AS bucket").groupBy("bucket").count().where(f"count > {LONGEST_LIST}")
    return sorted(row.bucket for row in counted.select("bucket").collect())


def _by_lists(rows: Any, name: str, bound: UserBound, kept: list[str]) -> Any:
    """Collect each user's rows, and pick those that are kept from them."""
    fields = _quoted([*bound.places, "label", *(each for each in kept if each == NAMED)])
    # Structures are sorted by their fields in turn, and collected where a label is null; labels alone are faster.
    only_labels = len(fields) == 1 and not bound.null_labels
    row = "label" if only_labels else f"struct({', '.join(fields)})"
    rows = rows.selectExpr(*_quoted(dict.fromkeys([*bound.within, name])), f"{row} AS row")
    # Said so that sessions of both kinds take it, here and by a connection.
    aggregates = {"row": "collect_list"} | ({} if name == "user" else {name: "min"})
    first_name = "user" if name == "user" else f"min({name})"
    listed = rows.groupBy(*bound.within).agg(aggregates)
    listed = listed.selectExpr(
        *_quoted(bound.within[1:]), f"`{first_name}` AS first_name", "`collect_list(row)` AS listed"
    )
    many = f"size(listed) > {bound.most}"
    # Formed here, once for each user, and not in the function that picks rows.
    started = listed.selectExpr(
        f"CASE WHEN {many} THEN sort_array(listed) ELSE listed END AS listed",
        f"CASE WHEN {many} THEN {_start(bound)} % size(listed) END AS start",
    )
    is_kept = f"(CAST(number + 1 AS BIGINT) * {bound.most} + start) % size(listed) < {bound.most}"
    if NAMED in kept:
        is_kept = f"{is_kept} OR row.{NAMED} = 0"
    picked = f"CASE WHEN {many} THEN filter(listed, (row, number) -> {is_kept}) ELSE listed END"
    return started.selectExpr(f"explode({picked}) AS label" if only_labels else f"inline({picked})").select(*kept)


def _by_windows(rows: Any, name: str, bound: UserBound, kept: list[str], largest: int) -> Any:
    """Sort the rows, and keep those whose numbers, among all of their user, are in the sample."""
    within, ordered = (", ".join(_quoted(each)) for each in (bound.within, [*bound.places, "label"]))
    window = f"PARTITION BY {within} ORDER BY {ordered}"
    whole = f"{window} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
    numbered = rows.selectExpr(
        "*",
        f"CAST(row_number() OVER ({window}) AS BIGINT) AS number",
        f"count(*) OVER ({whole}) AS total",
        *([] if name == "user" else [f"min(`{name}`) OVER ({whole}) AS first_name"]),
    )
    numbered = numbered.withColumnRenamed("user", "first_name") if name == "user" else numbered
    fits = f"total <= {largest // bound.most}"
    # Spark may form the products of rows of which it is not asked.
    product = f"CASE WHEN total > {bound.most} AND {fits} THEN number * {bound.most} + {_start(bound)} % total END"
    is_kept = f"total <= {bound.most} OR ({product}) % total < {bound.most}"
    if NAMED in kept:
        is_kept = f"{is_kept} OR {NAMED} = 0"
    return numbered.where(is_kept).select(*kept)


def _start(bound: UserBound) -> str:
    """Return the first digits of the MD5 of the key and a user, as a number in Spark's SQL."""
    named = ", char(10), ".join(["first_name", *_quoted(bound.within[1:])])
    return f"CAST(conv(substr(md5(concat('{bound.key} ', {named})), 1, {HEX_DIGITS}), 16, 10) AS BIGINT)"


def _quoted(names: Any) -> list[str]:
    return [f"`{name}`" for name in names]
