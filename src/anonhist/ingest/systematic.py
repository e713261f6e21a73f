"""A systematic sample of the rows of each user who has too many, which every engine draws alike.

Of a user with T rows, more than the m that are kept, number the rows 1 … T in the order of their groups and days, where
there are such, and of their labels, and keep row r if (r·m + S) mod T < m. These are exactly m rows, as evenly spread
as can be, and over a uniform start S in 0 … T − 1 each row has the same chance, m/T: a label is kept in proportion to
its rows. S is the first 48 bits of the MD5 of a key and the user (and the group, where a user's rows are bounded in
each), modulo T, and so uniform but for T/2⁴⁸. Which rows count depends on the rows of that user and on the key, which
is drawn independently of the data, and on nothing else. (Proof: docs/proofs/users.md.)

Rows that tie in that order are equal, and it does not matter which of them is number r. So they need not be told apart,
and no row is hashed. That is why this takes at most three times what a grouping by user and label does; a keyed random
order of all rows, in which equal rows have hashes of their own, took up to nine times.

Source: W. G. Madow and L. H. Madow, "On the theory of systematic sampling, I", Annals of Mathematical Statistics 15(1),
1944: the case in which the number of rows is no multiple of the sample's size, as in chapter 8 of W. G. Cochran,
"Sampling Techniques", 1977.
"""

from __future__ import annotations

from functools import cache
from hashlib import md5
from typing import TYPE_CHECKING, Any

from anonhist.ingest.hash_of_ibis import HEX_DIGITS, md5_of_ibis, number_of_ibis
from anonhist.ingest.naming import NAMED, is_spark
from anonhist.ingest.random_order import HASH, check_hashes
from anonhist.ingest.systematic_of_duckdb import sample_of_duckdb
from anonhist.ingest.systematic_of_spark import sample_of_spark
from anonhist.ingest.warehouses import engine_of, with_bytes, with_query_name

if TYPE_CHECKING:
    from anonhist.ingest.user_bounds import UserBound

# Of a user with so many rows that products would pass 2^62, 9·10^17 where five of each count, none does.
_LARGEST = 1 << 62
_START, _TOTAL, _NUMBER = "start", "total", "number"


def sample_of_users(rows: Any, bound: UserBound, kept: list[str]) -> Any:
    """Return the rows of users with no more than may count, and a systematic sample of the rows of each other user.

    Parameters
    ----------
    rows
        A Narwhals table with the columns ``user``, ``user_name``, ``label`` and ``one``, and what the bound names.
    bound
        How many rows of each user count.
    kept
        The columns to return. If ``named`` is one of them, rows where it is 0 are all returned, to be refused.

    Raises
    ------
    UsageError
        If no hash is known on the engine that holds the rows.
    """
    import narwhals as nw

    check_hashes(rows)
    # Where users are told apart by their names, there is no second column of them. Elsewhere one value may be written
    # in two ways, such as 1.5 and 1.50: the first of its names is hashed for all rows of a user.
    is_name = rows.collect_schema()["user"] == nw.String
    rows, name = (rows.drop("user_name"), "user") if is_name else (rows, "user_name")
    if rows.implementation.is_duckdb():
        return nw.from_native(sample_of_duckdb(rows.drop("one").to_native(), name, bound, kept, _LARGEST))
    if is_spark(rows):
        return nw.from_native(sample_of_spark(rows.drop("one").to_native(), name, bound, kept, _LARGEST))
    rows, order = with_bytes(rows, [*bound.places, "label"])
    one, names = nw.col("one"), [name, *bound.within[1:]]
    numbered = rows.with_columns(
        one.cum_sum().over(*bound.within, order_by=order).cast(nw.Int64).alias(_NUMBER),
        one.sum().over(*bound.within).cast(nw.Int64).alias(_TOTAL),
        nw.col(name) if is_name else nw.col(name).min().over(*bound.within),
    )
    numbered = (_with_start_of_ibis if rows.implementation.is_ibis() else _with_start)(numbered, names, bound)
    number, total, start = (nw.col(each) for each in (_NUMBER, _TOTAL, _START))
    fits = total <= _LARGEST // bound.most
    # Engines may form the products of rows of which they are not asked.
    product = nw.when((total > bound.most) & fits).then(number).otherwise(nw.lit(0)) * bound.most
    is_kept = (total <= bound.most) | (fits & ((product + start % total) % total < bound.most))
    if NAMED in kept:
        is_kept = is_kept | (nw.col(NAMED) == 0)
    return numbered.filter(is_kept).select(*kept)


def _with_start_of_ibis(rows: Any, names: list[str], bound: UserBound) -> Any:
    import narwhals as nw

    native = with_query_name(rows, "numbered_rows").to_native()
    engine, text = engine_of(rows), bound.key + " " + native[names[0]]
    for name in names[1:]:
        text = text + "\n" + native[name]
    hashed = native.mutate(**{HASH: (native[_TOTAL] > bound.most).ifelse(md5_of_ibis(engine)(text), None)})
    return nw.from_native(hashed.mutate(**{_START: number_of_ibis(engine, hashed[HASH])}))


def _with_start(rows: Any, names: list[str], bound: UserBound) -> Any:
    """Return rows in memory with their starts."""
    import narwhals as nw

    @cache
    def start_of(*name: str) -> int:
        # Python's texts may hold halves of characters, which UTF-8 has no place for.
        text = f"{bound.key} " + "\n".join(name)
        return int(md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:HEX_DIGITS], 16)

    held = rows.collect() if hasattr(rows, "collect") else rows
    columns = (held[name].to_list() for name in (_TOTAL, *names))
    starts = [start_of(*name) if total > bound.most else 0 for total, *name in zip(*columns, strict=True)]
    return held.with_columns(nw.new_series(_START, starts, nw.Int64, backend=held.implementation))
