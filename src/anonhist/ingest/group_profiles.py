"""The profile of each group, from one query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.ingest.group_counts import check_counted, counts_of_groups, prevalences_of_groups
from anonhist.ingest.grouping import GROUP, Grouping
from anonhist.ingest.naming import NAMED, check_named
from anonhist.ingest.query import Columns, bounded_rows, events_query, fetch
from anonhist.ingest.record_batches import record_batches, whole_column
from anonhist.profiles import Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from anonhist.privacy import PrivacyUnit

_ROWS = 2**16
_QUERIES: dict[str, Callable[[Any, Columns], Any]] = {
    "events": events_query,
    "counts": counts_of_groups,
    "prevalences": prevalences_of_groups,
}


def group_batches(table: Any, columns: Columns) -> Iterator[Any]:
    """Return checked Arrow batches with the columns ``group``, ``count`` and ``prevalence``, of labels that count."""
    import pyarrow as pa

    for batch in record_batches(_QUERIES[columns.rows](table, columns), _ROWS):
        if NAMED in batch.schema.names:
            check_named(all(batch.column(NAMED).to_pylist()))
        if columns.rows != "events":
            check_counted(batch, columns)
        is_kept = [columns.keep_null or not is_null for is_null in batch.column("is_null").to_pylist()]
        yield batch if all(is_kept) else batch.filter(pa.array(is_kept, pa.bool_()))


def group_profiles(
    table: Any, columns: Columns, grouping: Grouping, unit: PrivacyUnit, key: str | None
) -> dict[tuple[str | None, ...], Profile]:
    """Run the query, and return a profile for each group that is released."""
    place = {grouping.key_of(group): at for at, group in enumerate(grouping.groups)}
    places, counts, prevalences = [], [], []
    for batch in group_batches(table, columns):
        coded = batch.column(GROUP).dictionary_encode()
        codes = np.array([place[key] for key in coded.dictionary.to_pylist()], dtype=np.int64)
        places.append(codes[whole_column(coded.indices)])
        counts.append(whole_column(batch.column("count")))
        prevalences.append(whole_column(batch.column("prevalence")))
    at, count, prevalence = (
        np.concatenate([np.zeros(0, dtype=np.int64), *each]) for each in (places, counts, prevalences)
    )
    order = np.lexsort((count, at))
    ends = np.searchsorted(at[order], np.arange(len(place) + 1))
    return {
        group: _merged(count[order[first:last]], prevalence[order[first:last]], unit, key)
        for group, first, last in zip(grouping.groups, ends[:-1], ends[1:], strict=True)
    }


def _merged(counts: NDArray[np.int64], prevalences: NDArray[np.int64], unit: PrivacyUnit, key: str | None) -> Profile:
    """Return the profile of counts, ascending, which labels and a missing one may share."""
    levels, first = np.unique(counts, return_index=True)
    return Profile(levels, np.add.reduceat(prevalences, first) if first.size else prevalences, unit=unit, order_key=key)


def labels_of_several(table: Any, columns: Columns) -> int:
    """Return how many labels are in more than one group, of rows that count."""
    import narwhals as nw

    rows = bounded_rows(table, columns)
    rows = rows.filter(nw.col("count") > 0) if columns.rows == "counts" else rows
    rows = rows.select(GROUP, "label").filter(~nw.col("label").is_null())
    pairs = rows.group_by("label", GROUP).agg(items=nw.len())
    labels = pairs.group_by("label").agg(groups=nw.len()).filter(nw.col("groups") > 1)
    ((shared,),) = fetch(labels.select(shared=nw.len()))
    return int(shared)
