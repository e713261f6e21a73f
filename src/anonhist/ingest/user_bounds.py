"""Which rows of each user count: the first of them in an order, on whatever engine holds them.

There are two plans for the same rows. Every engine has the first, by windows: number the equal rows of each user, hash
them with their numbers, and number all rows of each user in the order of their hashes. It sorts all rows twice and
hashes each. Where most users have few rows that is wasted: a user who has no more than are kept keeps all of them. So
the second plan, on engines that can expand a row into several, groups equal rows, which numbers them without sorting,
and hashes the rows of users alone who have too many. DuckDB sorts no others either, and Spark sends them once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonhist.ingest.naming import NAMED, is_spark
from anonhist.ingest.random_order import HASH, add_hash, random_key, text_to_hash, text_to_hash_in_spark

# Rows are read once: standard input allows no more, and a text takes longer to read than to hold.
_FIRST = """
    WITH input AS MATERIALIZED (FROM {input}),
    above AS MATERIALIZED (SELECT {within} FROM input GROUP BY {within} HAVING count(*) > {most}),
    grouped AS (SELECT *, count(*) AS items FROM input SEMI JOIN above USING ({within}) GROUP BY ALL),
    numbered AS (SELECT *, unnest(range(1, items + 1)) AS occurrence FROM grouped),
    hashed AS (SELECT *, md5({text}) AS hash FROM numbered)
    SELECT {kept} FROM input ANTI JOIN above USING ({within})
    UNION ALL
    SELECT {kept} FROM hashed QUALIFY row_number() OVER (PARTITION BY {within} ORDER BY {order}) <= {most}
"""


_BLOCK = 1 << 16


@dataclass(frozen=True)
class UserBound:
    """How many rows of each user count, and in which order they come.

    Attributes
    ----------
    most
        How many rows.
    key
        The key of the random order.
    within
        The columns within which rows are counted: the user, and the group where each of a user's is bounded.
    places
        The columns that say where a row is, besides its label: its group and its day, as far as there are such.
    hashed
        The column that is hashed as the label.
    """

    most: int
    key: str
    within: tuple[str, ...] = ("user",)
    places: tuple[str, ...] = ()
    hashed: str = "label"


def first_rows(rows: Any, bound: UserBound) -> Any:
    """Return the rows (label, named, …) of each user that come first.

    Parameters
    ----------
    rows
        A Narwhals table with the columns ``user``, ``user_name``, ``label`` and ``one``, the columns that the bound
        names, and perhaps ``named`` and ``rank_by``. No user is null, nor a place.
    bound
        How many, and of which order: ``rank_by`` if it is there, rows without a name, and the keyed hash of a row and
        the number that it has among the equal rows of its user.

    Returns
    -------
    rows
        Their labels, whether they have names if that is known, and their places.
    """
    names = rows.collect_schema().names()
    kept = ["label", *([NAMED] if NAMED in names else []), *bound.places]
    order = [name for name in ("rank_by", NAMED, HASH, *bound.places, "label") if name in (*names, HASH)]
    if "rank_by" not in names and rows.implementation.is_duckdb():
        return _by_duckdb(*_once(rows), bound, kept, order)
    if "rank_by" not in names and is_spark(rows):
        return _by_spark(*_once(rows), bound, order).select(*kept)
    return _by_windows(rows, bound, order).select(*kept)


def _once(rows: Any) -> tuple[Any, str]:
    """Return rows without the name of a user beside the user where both are the same text, and who has the name."""
    import narwhals as nw

    if rows.collect_schema()["user"] == nw.String:
        return rows.drop("one", "user_name").to_native(), "user"
    return rows.drop("one").to_native(), "user_name"


def _by_windows(rows: Any, bound: UserBound, order: list[str]) -> Any:
    """Return the rows that a running count of equal rows, and one of all rows of a user, say come first.

    Equal rows are numbered by ``rank_by`` where there is one: their numbers then do not depend on the order of the
    table. Numbers are sums of ones: a running count of labels would leave null labels uncounted, and so unbounded.
    """
    import narwhals as nw

    number = nw.col("one").cum_sum()
    by = "rank_by" if "rank_by" in order else "label"
    equal = number.over("user", *bound.places, "label", order_by=by)
    hashed = add_hash(rows.with_columns(occurrence=equal.cast(nw.Int64)), bound.key, of=bound.hashed)
    ranked = hashed.with_columns(rank=number.over(*bound.within, order_by=order))
    return ranked.filter(nw.col("rank") <= bound.most)


def _by_duckdb(native: Any, name: str, bound: UserBound, kept: list[str], order: list[str]) -> Any:
    """Return the rows of users who have few, and those that come first of all others, whose equal rows are grouped."""
    import narwhals as nw

    within, ordered, columns = (_quoted(names) for names in (bound.within, order, kept))
    text = text_to_hash(bound.key, of=bound.hashed, user=name)
    # No table of the data has this name.
    rows = f"rows_{random_key()}"
    query = _FIRST.format(input=rows, within=within, order=ordered, kept=columns, text=text, most=bound.most)
    return nw.from_native(native.query(rows, query))


def _by_spark(native: Any, name: str, bound: UserBound, order: list[str]) -> Any:
    """Send each user's rows to one place once, and group, number, hash and sort them there."""
    import narwhals as nw

    within, ordered = (", ".join(f"`{name}`" for name in names) for names in (bound.within, order))
    grouped = native.repartition(*bound.within).groupBy(*native.columns).count()
    above = grouped.selectExpr("*", f"sum(count) OVER (PARTITION BY {within}) > {bound.most} AS is_above")
    # In two steps, for Spark holds each list in memory: one user with a billion equal rows must not decide for all.
    blocks = above.selectExpr("*", f"explode(sequence(0L, (count - 1) div {_BLOCK})) AS block")
    last = f"least(count, (block + 1) * {_BLOCK})"
    numbered = blocks.selectExpr("*", f"explode(sequence(block * {_BLOCK} + 1, {last})) AS occurrence")
    # To hash the rows of users who have few would change nothing.
    text = text_to_hash_in_spark(bound.key, of=bound.hashed, user=name)
    hashed = numbered.selectExpr("*", f"if(is_above, md5({text}), '') AS {HASH}")
    ranked = hashed.selectExpr("*", f"row_number() OVER (PARTITION BY {within} ORDER BY {ordered}) AS rank")
    return nw.from_native(ranked.filter(f"rank <= {bound.most}"))


def _quoted(names: Any) -> str:
    return ", ".join(f'"{name}"' for name in names)
