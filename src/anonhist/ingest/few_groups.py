"""In how many groups a user or a label counts: those whose keyed hashes with it come first."""

from __future__ import annotations

from typing import Any

from anonhist.ingest.grouping import GROUP
from anonhist.ingest.naming import NAMED
from anonhist.ingest.random_order import HASH, add_hash
from anonhist.ingest.warehouses import with_query_name


def in_few_groups_of_users(rows: Any, most: int, key: str) -> Any:
    """Return the rows in at most so many groups of each user: those whose hashes with the user come first."""
    import narwhals as nw

    rows = add_hash(with_query_name(rows, "rows_in_groups").with_columns(occurrence=nw.lit(0)), key, of=GROUP)
    rows = _ranked(rows, "user")
    names = [name for name in rows.collect_schema().names() if name not in ("occurrence", "group_rank", HASH)]
    is_kept = nw.col("group_rank") <= most
    # What has no name is refused, whatever groups are chosen.
    return rows.filter(is_kept | (nw.col(NAMED) == 0) if NAMED in names else is_kept).select(names)


def _ranked(rows: Any, *within: str) -> Any:
    """Return the rows with the place of their group, ``group_rank``, by its hash.

    With their names, no two groups are equal in this order, whatever their hashes are.
    """
    import narwhals as nw

    if not rows.implementation.is_ibis():
        hashed = nw.concat_str(nw.col(HASH), nw.col(GROUP))
        return rows.with_columns(group_rank=hashed.rank("dense").over(*within))
    import ibis

    # Ibis gives ClickHouse a frame of rows, in which it ranks rows that tie apart, unless one of a range is asked for.
    native = rows.to_native()
    order = native[HASH] + native[GROUP]
    window = ibis.range_window(preceding=None, following=0, group_by=within, order_by=order)
    return nw.from_native(native.mutate(group_rank=ibis.dense_rank().over(window) + 1))


def few_groups_of_users(pairs: Any, most: int, key: str) -> Any:
    """Return at most so many pairs (user, group) of each user, chosen by the same hashes."""
    import narwhals as nw

    return _first(add_hash(pairs.with_columns(occurrence=nw.lit(0)), key, of=GROUP), "user", most)


def in_few_groups_of_labels(counted: Any, most: int, key: str, *, first: Any = None) -> Any:
    """Return the rows (group, label, count) in at most so many groups of each label, chosen by hashes of both.

    Those that fulfil ``first`` come before all others.
    """
    import narwhals as nw

    hashed = add_hash(_named_labels(counted), key, of=GROUP)
    if first is not None:
        hashed = hashed.with_columns(nw.when(first).then(nw.lit("")).otherwise(nw.col(HASH)).alias(HASH))
    return _first(hashed, ("user_name", "occurrence"), most)


def rows_in_few_groups_of_labels(counted: Any, most: int, key: str, *, first: Any = None) -> Any:
    """Return the rows (group, day, label, count) in at most so many groups of each label, on whatever days.

    The groups are those of :func:`in_few_groups_of_labels`. Rows that fulfil ``first`` are all there.
    """
    import narwhals as nw

    ranked = _ranked(add_hash(_named_labels(counted), key, of=GROUP), "user_name", "occurrence")
    is_kept = nw.col("group_rank") <= most
    return ranked.filter(is_kept if first is None else is_kept | first)


def _named_labels(counted: Any) -> Any:
    """Return rows with labels in the place of users, as hashes need them."""
    import narwhals as nw

    label = nw.col("label")
    # A missing label is one label, which some engines do not compare.
    return counted.with_columns(
        user_name=nw.when(label.is_null()).then(nw.lit("")).otherwise(label),
        occurrence=nw.when(label.is_null()).then(nw.lit(0)).otherwise(nw.lit(1)),
    )


def _first(rows: Any, of: str | tuple[str, ...], most: int) -> Any:
    import narwhals as nw

    over = (of,) if isinstance(of, str) else of
    ranked = rows.with_columns(one=nw.lit(1)).with_columns(
        rank=nw.col("one").cum_sum().over(*over, order_by=[HASH, GROUP])
    )
    return ranked.filter(nw.col("rank") <= most)
