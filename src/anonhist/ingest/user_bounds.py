"""Which rows of each user count: those that come first by a column, or else a systematic sample of them.

If a user has T rows, more than the m that are kept, number them 1 … T in the order of their groups and days, if any,
and of their labels, and keep row r if (r·m + S) mod T < m. These are exactly m rows, as evenly spread as can be, and
for a uniform start S in 0 … T − 1 each is kept with probability m/T. S is the first 48 bits of the MD5 of a key and the
user (and the group, if a user's rows are bounded in each), modulo T, and so uniform up to T/2⁴⁸. Which rows count
depends on that user's rows and on the key, which is drawn independently of the data, and on nothing else: see
docs/proofs/users.md. Rows that tie in the order are equal, so no row is hashed, and this takes at most three times as
long as a grouping by user and label.

Source: Madow and Madow 1944; Cochran 1977, chapter 8 (number of rows no multiple of the sample's size).

DuckDB and Spark have two plans each, which keep the same rows and differ in time and memory alone. DuckDB, in one query
that reads its input once: *pairs* takes running sums over counts of equal rows, and is chosen if that halves the rows
of one in sixty-four users, picked by a hash; *rows* numbers them one by one. Spark: *lists* collects each user's rows
in memory; *windows* sorts, which can spill, for whole buckets of users (by a hash without a key) that have many rows in
all. PostgreSQL has *pairs* alone, in one sorted order. SQLite has no hash, and windows take it long: its rows are
streamed into DuckDB (see :func:`~anonhist.ingest.sqlite_values.in_duckdb`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import md5
from typing import Any

from anonhist.ingest.naming import NAMED, RANKS, is_sqlite
from anonhist.ingest.plain_types import is_spark
from anonhist.ingest.random_order import (
    HASH,
    HEX_DIGITS,
    add_hash,
    bytes_of_digits,
    check_hashes,
    md5_of_ibis,
    number_of_bytes,
    number_of_ibis,
    random_key,
)
from anonhist.ingest.sqlite_values import in_duckdb
from anonhist.ingest.warehouses import (
    engine_function,
    engine_of,
    has_utf8,
    is_postgresql,
    with_bytes,
    with_query_name,
    with_utf8,
)

# Of the 2^64 values of a hash, one in 64.
_LOW_HASHES = 1 << 58
# A plan that is not used gets no rows. DuckDB would keep the rows of the other a second time unless told not to.
_QUERY = """
    WITH read AS MATERIALIZED (SELECT * FROM {rows}),
    chosen AS MATERIALIZED (
        SELECT coalesce(2 * count(*) < sum(items), false) AS by_pairs
        FROM (SELECT count(*) AS items FROM read WHERE hash({within}) < {low_hashes} GROUP BY {row})
    ),
    pairs AS MATERIALIZED (SELECT *, count(*) AS items FROM read WHERE (SELECT by_pairs FROM chosen) GROUP BY ALL),
    single AS NOT MATERIALIZED (SELECT * FROM read WHERE NOT (SELECT by_pairs FROM chosen)),
    above_by_pairs AS MATERIALIZED (
        SELECT {within}, sum(items)::BIGINT AS total, {start} % sum(items)::BIGINT AS start
        FROM pairs GROUP BY {within} HAVING sum(items) > {most}
    ),
    above AS MATERIALIZED (
        SELECT {within}, count(*) AS total, {start} % count(*) AS start
        FROM single GROUP BY {within} HAVING count(*) > {most}
    ),
    summed AS (
        SELECT *, (sum(items) OVER (PARTITION BY {within} ORDER BY {order} ROWS UNBOUNDED PRECEDING))::BIGINT AS last
        FROM pairs JOIN above_by_pairs USING ({within}) WHERE total <= {largest}
    ),
    numbered AS (
        SELECT *, row_number() OVER (PARTITION BY {within} ORDER BY {order}) AS number
        FROM single JOIN above USING ({within}) WHERE total <= {largest}
    ),
    sampled AS (
        SELECT *, (last * {most} + start) // total - ((last - items) * {most} + start) // total AS kept FROM summed
    ),
    counted AS (
        SELECT {kept}, {items} AS kept FROM sampled
        UNION ALL SELECT {kept}, items FROM pairs ANTI JOIN above_by_pairs USING ({within})
    )
    SELECT {kept} FROM counted, range(kept)
    UNION ALL SELECT {kept} FROM numbered WHERE (number * {most} + start) % total < {most}{or_named}
    UNION ALL SELECT {kept} FROM single ANTI JOIN above USING ({within})
"""


def sample_of_duckdb(rows: Any, name: str, bound: UserBound, kept: list[str], largest: int) -> Any:
    """Return the sample of a relation of DuckDB, with each user's name in the column ``name``.

    ``largest`` is how many rows of a user can be numbered.
    """
    within, order = _quoted(bound.within), _quoted([*bound.places, "label"])
    # If names tell users apart, all rows of a user have the same name.
    first_name = '"user"' if name == "user" else f'min("{name}")'
    names = " || chr(10) || ".join([first_name, *within[1:]])
    # No table of the data has this name.
    held = f"rows_{random_key()}"
    query = _QUERY.format(
        rows=held,
        within=", ".join(within),
        low_hashes=_LOW_HASHES,
        row=", ".join(dict.fromkeys([*within, *order])),
        start=f"('0x' || left(md5('{bound.key} ' || {names}), {HEX_DIGITS}))::BIGINT",
        order=", ".join(f"{each} ASC NULLS FIRST" for each in order),
        kept=", ".join(_quoted(kept)),
        items=f"greatest(kept, 1 - {NAMED})" if NAMED in kept else "kept",
        or_named=f" OR {NAMED} = 0" if NAMED in kept else "",
        most=bound.most,
        largest=largest // bound.most,
    )
    return rows.query(held, query)


def _quoted(names: Any) -> list[str]:
    return [f'"{name}"' for name in names]


# 2^18 short labels take some 30 MB. Up to 10^10 rows, few buckets of evenly spread users have more.
LONGEST_LIST = 1 << 18
_BUCKETS = 1 << 16
_BUCKET = f"xxhash64(`user`) & {_BUCKETS - 1}"
# A query can name so many.
_MOST_NAMED = 1000


def sample_of_spark(rows: Any, name: str, bound: UserBound, kept: list[str], largest: int) -> Any:
    """Return the sample of a DataFrame of Spark, with each user's name in the column ``name``.

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
    fields = _backquoted(dict.fromkeys([*bound.places, "label", *kept]))
    # Structures are sorted by their fields in turn, and collected where a label is null; labels alone are faster.
    only_labels = len(fields) == 1 and not bound.null_labels
    row = "label" if only_labels else f"struct({', '.join(fields)})"
    rows = rows.selectExpr(*_backquoted(dict.fromkeys([*bound.within, name])), f"{row} AS row")
    # Said so that sessions of both kinds take it, here and by a connection.
    aggregates = {"row": "collect_list"} | ({} if name == "user" else {name: "min"})
    first_name = "user" if name == "user" else f"min({name})"
    listed = rows.groupBy(*bound.within).agg(aggregates)
    listed = listed.selectExpr(
        *_backquoted(bound.within[1:]), f"`{first_name}` AS first_name", "`collect_list(row)` AS listed"
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
    within, ordered = (", ".join(_backquoted(each)) for each in (bound.within, [*bound.places, "label"]))
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
    named = ", char(10), ".join(["first_name", *_backquoted(bound.within[1:])])
    return f"CAST(conv(substr(md5(concat('{bound.key} ', {named})), 1, {HEX_DIGITS}), 16, 10) AS BIGINT)"


def _backquoted(names: Any) -> list[str]:
    return [f"`{name}`" for name in names]


#: The column of how many equal rows a row stands for, where an engine's sample has one.
TIMES = "times"


def sample_of_postgresql(rows: Any, name: str, bound: UserBound, kept: list[str], largest: int) -> Any:
    """Return the sample of a table of PostgreSQL, with each user's name in the column ``name``.

    Of equal rows it has one, with their number in :data:`TIMES`. ``largest`` is how many rows of a user can be
    numbered. Equal rows are counted, and sums run over the counts of users with too many. The server keeps what both
    halves of the query ask for, so the table is read once.
    """
    import ibis
    import narwhals as nw

    keys = dict.fromkeys([*bound.within, *bound.places, "label", *kept])
    names = {} if name in keys else {name: nw.col(name).min()}
    order = [*bound.places, "label"]
    pairs = with_bytes(rows, order).group_by(*keys).agg(items=nw.len(), **names)
    if not has_utf8(rows.to_native()):
        pairs, order = with_utf8(pairs, order), [f"{each}_bytes" for each in order]
    native = pairs.to_native()
    whole = ibis.window(group_by=bound.within, preceding=None, following=None)

    def running(pairs: Any) -> Any:
        ordered = [ibis.asc(pairs[each], nulls_first=True) for each in order]
        return ibis.window(group_by=bound.within, order_by=ordered, preceding=None, following=0)

    # Sums are decimals there, and quotients floats, unless functions of its whole numbers are called.
    as_whole, quotient = (engine_function(each, *["int64"] * many) for each, many in (("int8", 2), ("int8div", 3)))
    counted = native.mutate(
        total=as_whole(native.items.sum().over(whole)),
        **{each: native[each].min().over(whole) for each in names},
    )
    few, many = counted.filter(counted.total <= bound.most), counted.filter(counted.total > bound.most)
    summed = many.mutate(last=as_whole(many.items.sum().over(running(many))))
    # Formed once for each user, at the first row, and passed on by a window.
    text = f"{bound.key} " + summed[name]
    for each in bound.within[1:]:
        text = text + "\n" + summed[each]
    is_first = summed["last"] == summed["items"]
    hashed = summed.mutate(**{HASH: is_first.ifelse(bytes_of_digits(md5_of_ibis("postgres")(text)), None)})
    started = hashed.mutate(start=number_of_bytes(hashed[HASH]).max().over(running(hashed)))
    items, last, total = started["items"], started["last"], started["total"]
    before, after = (quotient(end * bound.most + started["start"] % total, total) for end in (last - items, last))
    times = (total <= largest // bound.most).ifelse(after - before, 0)
    if NAMED in kept:
        times = (started[NAMED] == 0).ifelse(items, times)
    sampled = started.mutate(**{TIMES: times}).filter(ibis._[TIMES] > 0)
    columns = [*kept, TIMES]
    return nw.from_native(few.mutate(**{TIMES: few["items"]}).select(*columns).union(sampled.select(*columns)))


# Of a user with so many rows that products would pass 2^62, 9·10^17 where five of each count, none does.
_LARGEST = 1 << 62
_START, _TOTAL, _NUMBER = "start", "total", "number"


def sample_of_users(rows: Any, bound: UserBound, kept: list[str]) -> Any:
    """Return the rows of users with no more than may count, and a systematic sample of the rows of each other user.

    ``rows`` has the columns ``user``, ``user_name``, ``label``, ``one`` and what the bound names. If ``named`` is one
    of the columns ``kept``, rows where it is 0 are all returned, to be refused.
    """
    import narwhals as nw

    check_hashes(rows)
    # If names tell users apart, there is no second column of names. Otherwise, one value may be written in two ways,
    # such as 1.5 and 1.50: the first of its names is hashed for all rows of a user.
    is_name = rows.collect_schema()["user"] == nw.String
    rows, name = (rows.drop("user_name"), "user") if is_name else (rows, "user_name")
    if rows.implementation.is_duckdb():
        return nw.from_native(sample_of_duckdb(rows.drop("one").to_native(), name, bound, kept, _LARGEST))
    if is_spark(rows):
        return nw.from_native(sample_of_spark(rows.drop("one").to_native(), name, bound, kept, _LARGEST))
    if is_sqlite(rows) and (held := in_duckdb(rows.drop("one"))) is not None:
        return nw.from_native(sample_of_duckdb(held, name, bound, kept, _LARGEST))
    if is_postgresql(rows):
        return sample_of_postgresql(rows, name, bound, kept, _LARGEST)
    one, order = nw.col("one"), [*bound.places, "label"]
    names = [name, *bound.within[1:]]
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


@dataclass(frozen=True)
class UserBound:
    """How many rows of each user count, and what decides which.

    Rows are counted within the columns ``within``: the user, and the group where each of a user's is bounded.
    ``places`` are the columns of a row's group and day; ``hashed`` is hashed as the label, where hashes decide between
    rows that tie. ``carried`` are columns that follow from the places.
    """

    most: int
    key: str
    within: tuple[str, ...] = ("user",)
    places: tuple[str, ...] = ()
    hashed: str = "label"
    null_labels: bool = True
    carried: tuple[str, ...] = ()


def bounded_users(rows: Any, bound: UserBound) -> Any:
    """Return the rows (label, named, …) of each user that count.

    ``rows`` has the columns of :func:`sample_of_users`, perhaps ``named`` and ranks (:data:`RANKS`); no user is null,
    nor a place. With ranks, those count that come first by them; ties: rows without a name first, then by keyed hashes.
    """
    names = rows.collect_schema().names()
    kept = ["label", *([NAMED] if NAMED in names else []), *bound.places, *bound.carried]
    ranks = [name for name in RANKS if name in names]
    if not ranks:
        return sample_of_users(rows, bound, kept)
    then = [name for name in (NAMED, HASH) if name in (*names, HASH)]
    return _first_rows(rows, bound, ranks, then).select(*kept)


def _first_rows(rows: Any, bound: UserBound, ranks: list[str], then: list[str]) -> Any:
    """Return the rows that a running count of equal rows, and one of all rows of a user, say come first.

    Equal rows are numbered by their ranks: their hashed numbers then do not depend on the order of the table. Numbers
    are sums of ones: a running count of labels would leave null labels uncounted, and so unbounded.
    """
    import narwhals as nw

    number = nw.col("one").cum_sum()
    equal = number.over("user", *bound.places, "label", order_by=ranks)
    hashed = add_hash(rows.with_columns(occurrence=equal.cast(nw.Int64)), bound.key, of=bound.hashed)
    # Rows with equal hashes are ordered by what was hashed.
    ranked = hashed.with_columns(rank=number.over(*bound.within, order_by=[*ranks, *then, *bound.places, "label"]))
    return with_query_name(ranked, "ranked_rows").filter(nw.col("rank") <= bound.most)
