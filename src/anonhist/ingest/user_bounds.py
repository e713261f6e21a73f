"""Which rows of each user count: those that come first by a column, or else a systematic sample of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonhist.ingest.by_value import RANKS
from anonhist.ingest.naming import NAMED
from anonhist.ingest.random_order import HASH, add_hash
from anonhist.ingest.systematic import sample_of_users


@dataclass(frozen=True)
class UserBound:
    """How many rows of each user count, and what decides which.

    Attributes
    ----------
    most
        How many rows.
    key
        The key of all hashes.
    within
        The columns within which rows are counted: the user, and the group where each of a user's is bounded.
    places
        The columns that say where a row is, besides its label: its group and its day, as far as there are such.
    hashed
        The column that is hashed as the label, where hashes decide between rows that tie.
    null_labels
        Whether a label may be null.
    """

    most: int
    key: str
    within: tuple[str, ...] = ("user",)
    places: tuple[str, ...] = ()
    hashed: str = "label"
    null_labels: bool = True


def bounded_users(rows: Any, bound: UserBound) -> Any:
    """Return the rows (label, named, …) of each user that count.

    Parameters
    ----------
    rows
        A Narwhals table with the columns ``user``, ``user_name``, ``label`` and ``one``, the columns that the bound
        names, and perhaps ``named`` and ranks (:data:`RANKS`). No user is null, nor a place.
    bound
        How many count. With ranks, those that come first by them; of rows that tie, those without a name come
        first, and then keyed hashes decide.

    Returns
    -------
    rows
        Their labels, whether they have names if that is known, and their places.
    """
    names = rows.collect_schema().names()
    kept = ["label", *([NAMED] if NAMED in names else []), *bound.places]
    ranks = [name for name in RANKS if name in names]
    if not ranks:
        return sample_of_users(rows, bound, kept)
    then = [name for name in (NAMED, HASH) if name in (*names, HASH)]
    return _first_rows(rows, bound, ranks, then).select(*kept)


def _first_rows(rows: Any, bound: UserBound, ranks: list[str], then: list[str]) -> Any:
    """Return the rows that a running count of equal rows, and one of all rows of a user, say come first.

    Equal rows are numbered by their ranks: their numbers, which are hashed, then do not depend on the order of the
    table. Numbers are sums of ones: a running count of labels would leave null labels uncounted, and so unbounded.
    """
    import narwhals as nw

    number = nw.col("one").cum_sum()
    equal = number.over("user", *bound.places, "label", order_by=ranks)
    hashed = add_hash(rows.with_columns(occurrence=equal.cast(nw.Int64)), bound.key, of=bound.hashed)
    # Hashes that are equal are told apart by what was hashed.
    ranked = hashed.with_columns(rank=number.over(*bound.within, order_by=[*ranks, *then, *bound.places, "label"]))
    return ranked.filter(nw.col("rank") <= bound.most)
