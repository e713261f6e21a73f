"""The query, written once for every engine: bound each user, count each label, count the counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Columns:
    """Which columns to read, and how users are bounded: public choices."""

    label: str
    user: str | None = None
    max_per_user: int | None = None
    order_by: str | None = None
    keep_null: bool = False


def events_query(table: Any, columns: Columns) -> Any:
    """Return the lazy query (count, is_null, prevalence) over a table with one row per event.

    Rows without a user go first, whatever else they hold. A user's rows are ranked by label (or by ``order_by``, then
    label), a choice that depends on that user's rows alone, and the first ``max_per_user`` are kept. The rank is a
    running sum of ones: a running count of labels would leave null labels uncounted, and so unbounded.
    """
    import narwhals as nw

    label = nw.col(columns.label)
    selected: dict[str, nw.Expr] = {"label": nw.when(~label.is_null()).then(label.cast(nw.String))}
    if columns.user is not None:
        selected["user"] = nw.col(columns.user)
        if columns.order_by is not None:
            selected["rank_by"] = nw.col(columns.order_by)
    rows = table.select(**selected)
    if columns.user is not None:
        rows = rows.filter(~nw.col("user").is_null())
        if not columns.keep_null:
            rows = rows.filter(~nw.col("label").is_null())
        order = ["label"] if columns.order_by is None else ["rank_by", "label"]
        rank = nw.col("one").cum_sum().over("user", order_by=order)
        rows = rows.with_columns(one=nw.lit(1)).with_columns(rank=rank).filter(nw.col("rank") <= columns.max_per_user)
    counted = rows.with_columns(is_null=nw.col("label").is_null()).group_by("label", "is_null").agg(count=nw.len())
    return counted.group_by("count", "is_null").agg(prevalence=nw.len())


def counts_query(table: Any) -> Any:
    """Return the lazy query (count, prevalence) over a table (label, count): equal labels are added up."""
    import narwhals as nw

    whole = table.select(label=nw.col("label"), count=nw.col("count").cast(nw.Int64))
    counted = whole.group_by("label").agg(count=nw.col("count").sum())
    return counted.group_by("count").agg(prevalence=nw.len())


def invalid_numbers(table: Any, names: list[str]) -> Any:
    """Return a one-row lazy query: how many values of each column are no whole number from 1 to 2^63 − 1."""
    import narwhals as nw

    checks = {}
    schema = table.collect_schema()
    for name in names:
        column = nw.col(name)
        kind = schema[name]
        if kind.is_integer():
            good = (column >= 1) & (column <= LARGEST)
        elif kind.is_float():
            good = (column >= 1) & (column <= 2**53) & (column == column.round(0))
        else:
            digits = column.cast(nw.String).str.strip_chars(" ")
            short = digits.str.contains("^0*[1-9][0-9]{0,17}$")
            # Nineteen digits compare as text like numbers.
            good = short | (digits.str.contains("^[1-9][0-9]{18}$") & (digits <= str(LARGEST)))
        checks[name] = (~good | column.is_null()).cast(nw.Int64).sum()
    return table.select(**checks)


def dropped_query(table: Any, columns: Columns) -> Any:
    """Return a one-row lazy query: rows in all, and rows without a user."""
    import narwhals as nw

    missing = nw.col(columns.user or columns.label).is_null().cast(nw.Int64)
    return table.select(missing=missing).select(rows=nw.len(), missing=nw.col("missing").sum())


def fetch(query: Any) -> list[tuple[Any, ...]]:
    """Run a query once and return its rows as tuples."""
    native = query.to_native()
    if type(native).__name__ == "DuckDBPyRelation":
        # A relation runs anew at each fetch, so there is only one.
        return list(native.fetchall())
    collected = query.collect() if hasattr(query, "collect") else query
    return [tuple(row) for row in collected.rows()]


def require(names: list[str], wanted: str, *, role: str) -> None:
    """Refuse a column that is not there, naming those that are: names are schema, not data."""
    if wanted not in names:
        message = f"There is no column {wanted!r} to use as {role}; the columns are {', '.join(map(repr, names))}."
        raise DataError(message)


def profile_pairs(
    rows: list[tuple[Any, ...]], *, keep_null: bool, notify: Callable[[str], None] | None
) -> list[tuple[int, int]]:
    """Split the rows of :func:`events_query` into the profile and what was left out."""
    kept = [(int(count), int(prevalence)) for count, is_null, prevalence in rows if keep_null or not is_null]
    if not keep_null and notify is not None:
        left_out = sum(int(count) * int(prevalence) for count, is_null, prevalence in rows if is_null)
        if left_out:
            notify(f"{left_out:,} rows without a label were left out (--keep-null counts them as one label).")
    return kept


def check_users(user: str | None, max_per_user: int | None, order_by: str | None) -> None:
    """Refuse half of a user bound."""
    if (user is None) != (max_per_user is None):
        raise UsageError(
            "user and max_per_user belong together: name the user column and say how many items of a user may count"
            " (--user COLUMN --max-per-user M)."
        )
    if max_per_user is not None and (isinstance(max_per_user, bool) or max_per_user < 1):
        message = f"max_per_user must be a whole number of at least 1, not {max_per_user!r}."
        raise UsageError(message)
    if order_by is not None and user is None:
        raise UsageError("order_by chooses which items of a user count, so it needs user and max_per_user.")
