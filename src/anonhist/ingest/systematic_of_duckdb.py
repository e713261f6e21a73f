"""The systematic sample of users' rows (see :mod:`~anonhist.ingest.systematic`) as DuckDB draws it fastest.

Two plans draw the same rows, in one query. *Pairs*: equal rows of a user are counted, and a running sum over the pairs
(user, label) of users above the bound says which of their rows are kept. *Rows*: the rows of users above the bound are
numbered one by one. Pairs are faster if most rows have an equal one, rows otherwise: so pairs are counted if that
halves the rows of one in sixty-four users, chosen by a hash. Which plan is used decides about time, and not about which
rows are kept.

All is read once: standard input allows no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.ingest.hash_of_ibis import HEX_DIGITS
from anonhist.ingest.naming import NAMED
from anonhist.ingest.random_order import random_key

if TYPE_CHECKING:
    from anonhist.ingest.user_bounds import UserBound

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
    """Return the sample of a relation of DuckDB: its rows, and a name in the column ``name`` for each user.

    ``largest`` is how many rows of a user can be numbered.
    """
    within, order = _quoted(bound.within), _quoted([*bound.places, "label"])
    # Where users are told apart by their names, all rows of one have the same.
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
