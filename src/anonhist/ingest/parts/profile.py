"""Parts into a profile: few are merged in the order of their keys, many are added up by the engine."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.ingest.engine import connect, followed, translate_failures
from anonhist.ingest.locations import escape_pattern
from anonhist.ingest.parts.files import all_rows, open_parts, reading_rows
from anonhist.ingest.parts.rows import KEY_BYTES, bounded, together
from anonhist.ingest.query import check_sums, check_users

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anonhist.ingest.engine import EngineLimits
    from anonhist.ingest.parts.files import PartFile
    from anonhist.ingest.parts.rows import PartDocument, Rows

Pairs = list[tuple[int, int]]
# Of two or three parts, such as a total and a day, a merge takes a third of the time; of many of one size, the engine.
FEW = 3
_SETTLED = {"header": True, "keep_null": False, "count_users": False}


def refuse_settled(**given: Any) -> None:
    """Refuse keywords of :func:`read_profile` that were settled when the parts were counted."""
    for name, value in given.items():
        if value is not None and value != _SETTLED.get(name):
            raise UsageError(f"Parts are counted already, and `{name}` applies to events: leave it out.")


def check_bound(max_per_user: Any) -> int | None:
    """Return how many items of each user are asked for, None for as many as there are, or refuse it."""
    return check_users(None if max_per_user is None else "user", max_per_user, None, count_users=False)


class Parts:
    """Parts that are added up: what they hold together is public, and known before any row is read.

    ``max_per_user`` is at most the least bound of the parts, and must be given where their bounds differ.
    """

    def __init__(self, source: Any, max_per_user: int | None) -> None:
        self._files: list[PartFile] = open_parts(source)
        self.document: PartDocument = together(each.document for each in self._files)
        held = self.document.max_per_user
        bounds = {each.document.max_per_user for each in self._files}
        if max_per_user is not None and held is None:
            raise UsageError(
                "These parts hold counts of labels and no users, so the items of a user cannot be bounded: count the "
                "events again with `user` and `max_per_user`."
            )
        if max_per_user is None and len(bounds) > 1:
            raise UsageError(
                f"These parts keep different numbers of items of each user: give `max_per_user`, at most {held}."
            )
        if max_per_user is not None and held is not None and max_per_user > held:
            raise UsageError(f"These parts keep {held} items of each user: `max_per_user` can be at most {held}.")
        self.max_per_user = held if max_per_user is None else max_per_user

    def pairs(self, limits: EngineLimits, progress: Callable[[float], None] | None) -> Pairs:
        """Return (count, prevalence) of all parts together: private; refuse damaged rows and over 2^63 − 1 items."""
        follow = followed(progress)
        with translate_failures("A part"), connect(limits=limits) as connection:
            follow.attach(connection)
            with follow:
                if len(self._files) <= FEW:
                    return self._merged(connection)
                users = self.max_per_user
                pairs = self._of_labels(connection) if users is None else self._of_users(connection, users)
                for each in self._files:
                    each.check_unchanged()
                return pairs

    def _merged(self, connection: Any) -> Pairs:
        """Read few parts in the order of their keys, which is checked as rows come: so each label is there once."""
        with ExitStack() as stack:
            runs = [stack.enter_context(reading_rows(each)) for each in self._files]
            rows = all_rows(self.document, [rows for _, rows in runs])
            if self.max_per_user is not None:
                return _pairs_of_items(connection, bounded(rows, self.max_per_user))
            missing = sum(count for count, _ in runs)
            return [*_prevalences(rows), *([(missing, 1)] if missing else [])]

    def _of_labels(self, connection: Any) -> Pairs:
        """Have the engine add up equal labels, wherever they are."""
        of_label = """sum("count") AS items, min(coalesce("count", 0)) AS least, sum("count" // 4294967296) AS size"""
        added = self._relation(connection).aggregate(of_label, "label")
        found = added.aggregate("items, count(*), min(least), max(size)", "items").fetchall()
        if any(least < 1 for _, _, least, _ in found):
            error = DataError("One of these parts is damaged: count the events of each again.")
            error.may_tell_rows = True
            raise error
        check_sums([(items, size) for items, _, _, size in found])
        return [(int(items), int(labels)) for items, labels, _, _ in found]

    def _of_users(self, connection: Any, most: int) -> Pairs:
        """Have the engine keep the first rows of each user, wherever they are."""
        user = f"user_item[1:{KEY_BYTES}]"
        place = f"row_number() OVER (PARTITION BY {user} ORDER BY user_item, label)"
        ranked = self._relation(connection).project(f"label, {place} AS place")
        return _pairs_of_labels(ranked.filter(f"place <= {most:d}"))

    def _relation(self, connection: Any) -> Any:
        return connection.read_parquet([escape_pattern(each.path) for each in self._files], hive_partitioning=False)


def _pairs_of_items(connection: Any, rows: Iterator[Rows]) -> Pairs:
    """Return how many labels have each number of rows, of rows that come in batches."""
    import pyarrow as pa

    first = next(rows, None)
    if first is None:
        return []
    schema = pa.schema([("label", first.values.type)])
    labels = (pa.RecordBatch.from_arrays([each.values], schema=schema) for each in chain([first], rows))
    return _pairs_of_labels(connection.from_arrow(pa.RecordBatchReader.from_batches(schema, labels)))


def _pairs_of_labels(rows: Any) -> Pairs:
    """Return how many labels have each number of rows, of rows that the engine has."""
    counted = rows.aggregate("label, count(*) AS items", "label").aggregate("items, count(*)", "items")
    return [(int(items), int(labels)) for items, labels in counted.fetchall()]


def _prevalences(rows: Iterator[Rows]) -> Pairs:
    """Return how many labels have each count, of rows in which each label is once."""
    counts, labels = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for batch in rows:
        some, many = np.unique(batch.values.to_numpy(), return_counts=True)
        counts, where = np.unique(np.concatenate([counts, some]), return_inverse=True)
        added = np.zeros(len(counts), dtype=np.int64)
        np.add.at(added, where, np.concatenate([labels, many]))
        labels = added
    return list(zip(counts.tolist(), labels.tolist(), strict=True))
