"""A release as a table, a row per released count, and files of releases read back."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.formats.document import FORMAT, from_document, to_document
from anonhist.formats.tables import Table, document_files
from anonhist.formats.untrusted import batches
from anonhist.kinds import KINDS
from anonhist.properties.estimate import Holds

if TYPE_CHECKING:
    import pyarrow.parquet as pq
    from numpy.typing import NDArray

    from anonhist.releases import Release

_COLUMNS = ("count", "prevalence")


def columns(release: Release) -> dict[str, NDArray[Any]]:
    """Return the columns of a release, each of shape (t,), ascending in the count.

    ``count`` r and ``prevalence`` φ_r come first. ``k_plus`` is φ_{r+}. Both have a standard error
    (``…_standard_error``) and the whole ends of a 95 % interval (``…_low``, cut at 0, and ``…_high``), in labels.

    Where zeros are released, the first row is that of count 0. Its ``k_plus`` is how many labels there are in all, of
    which no error was kept: that and the ends of its interval are NaN.
    So is all of which there is no interval: it was not simulated, or runs of the mechanism on its release err too
    little.
    """
    profile, error = release.profile, release.error
    counts, prevalences = counts_and_prevalences(release)
    k_plus = profile.cumulative_prevalence(profile.counts)
    unknown: NDArray[Any] = np.full(len(profile), np.nan)
    prevalence_errors, k_plus_errors, lows, highs, least, most = (unknown,) * 6
    if error.simulations:
        at = np.searchsorted(error.levels, profile.counts)  # every released count is a level
        prevalence_errors = error.prevalence_errors[at] if error.has_prevalence_intervals else unknown
        k_plus_errors = error.k_plus_errors[at] if error.has_k_plus_intervals else unknown
    if error.has_k_plus_intervals:
        lows, highs = error.k_plus_interval(profile, profile.counts)
    if error.has_prevalence_intervals:
        least, most = error.prevalence_interval(profile, profile.counts)
    if release.zeros is not None:
        k_plus = np.append(release.zeros + profile.num_labels, k_plus)
        zeros = release.prevalence(0)
        prevalence_errors = np.append(zeros.standard_error, prevalence_errors)
        ends = (np.nan, np.nan) if zeros.statement.holds is Holds.NONE else zeros.interval
        least, most = (np.append(end, side) for end, side in zip(ends, (least, most), strict=True))
        k_plus_errors, lows, highs = (np.append(np.nan, each) for each in (k_plus_errors, lows, highs))
    table: dict[str, NDArray[Any]] = {"count": counts}
    for name, value, errors, (low, high) in (
        ("prevalence", prevalences, prevalence_errors, (least, most)),
        ("k_plus", k_plus, k_plus_errors, (lows, highs)),
    ):
        table |= {name: value, f"{name}_standard_error": errors, f"{name}_low": low, f"{name}_high": high}
    return table


def counts_and_prevalences(release: Release) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the released counts and how many labels have each: 0 is one of them where zeros are released."""
    counts, prevalences = release.profile.counts, release.profile.prevalences
    if release.zeros is None:
        return counts, prevalences
    return np.append(np.int64(0), counts), np.append(np.int64(release.zeros), prevalences)


def _rounded(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.4f}".rstrip("0").rstrip(".")


TABLE = Table(
    columns,
    lambda _: {
        f"{number}_{what}": _rounded
        for number in ("prevalence", "k_plus")
        for what in ("standard_error", "low", "high")
    },
    lambda release: {FORMAT.encode(): json.dumps(to_document(release))},
)


def _is_same(file: pq.ParquetFile, release: Release) -> bool:
    return _holds(file, dict(zip(_COLUMNS, counts_and_prevalences(release), strict=True)))


def _holds(file: pq.ParquetFile, expected: dict[str, NDArray[np.int64]]) -> bool:
    """Return whether these columns are in the file; of others, or of more rows, nothing is unpacked."""
    import pyarrow as pa

    schema, rows = file.schema_arrow, len(expected[_COLUMNS[0]])
    if any(schema.names.count(name) != 1 or schema.field(name).type != pa.int64() for name in expected):
        return False
    if file.metadata.num_rows != rows:
        return False
    seen = 0
    for batch in batches(file, list(expected)):
        end = seen + batch.num_rows
        for name, column in expected.items():
            found = batch.column(name)
            if found.null_count or not np.array_equal(found.to_numpy(), column[seen:end]):
                return False
        seen = end
    return True


def is_table_of_release(path: str) -> bool:
    """Return whether a Parquet file says that it holds a release of any kind; only its schema is read."""
    if not path.lower().endswith(".parquet") or not Path(path).is_file():
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = pq.read_schema(path).metadata or {}
    except (pa.ArrowException, OSError, ValueError):
        return False
    return any(kind.format.encode() in found for kind in KINDS.values() if kind.released and kind.format)


FILES = document_files("release", "a release", to_document, from_document, _is_same)
read_release = FILES.read
