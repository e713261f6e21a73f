"""A release as a table: one row per released count, every number with its uncertainty."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.formats.document import to_document

if TYPE_CHECKING:
    import pyarrow as pa

    from anonhist.releases import Release

_NORMAL_95 = 1.959963984540054


def columns(release: Release) -> dict[str, Any]:
    """Return the columns of a release: count, prevalence and k+ with standard errors and 95 % intervals."""
    profile, error = release.profile, release.error
    at = np.maximum(np.searchsorted(error.levels, profile.counts, side="right") - 1, 0)
    k_plus = profile.cumulative_prevalence(profile.counts)
    table: dict[str, Any] = {"count": profile.counts, "prevalence": profile.prevalences}
    for name, value, errors in (
        ("prevalence", profile.prevalences, error.prevalence_errors),
        ("k_plus", k_plus, error.k_plus_errors),
    ):
        spread = errors[at] if errors.size else np.zeros(0)
        table |= {
            name: value,
            f"{name}_standard_error": spread,
            f"{name}_low": np.maximum(0.0, value - _NORMAL_95 * spread),
            f"{name}_high": value + _NORMAL_95 * spread,
        }
    return table


def csv_text(release: Release) -> str:
    """Return the table of a release as CSV text: a header line, then a line per released count, ascending.

    Errors are written with six digits; counts and prevalences are exact.
    """
    table = columns(release)
    lines = [",".join(table)]
    lines.extend(
        ",".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in row)
        for row in zip(*(values.tolist() for values in table.values()), strict=True)
    )
    return "\n".join(lines) + "\n"


def to_arrow(release: Release) -> pa.Table:
    """Return the table of a release as an Arrow table; the whole release document is in its schema's metadata."""
    import pyarrow as pa

    table = pa.table(columns(release))
    return table.replace_schema_metadata({"anonhist.release": json.dumps(to_document(release))})
