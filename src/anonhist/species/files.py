"""Comparisons of sites as tables and as files."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from anonhist.formats.files import FileKind, as_text
from anonhist.formats.tables import Table, csv_text
from anonhist.formats.untrusted import document_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.species.comparison import SiteComparison

FORMAT = "anonhist/site-comparison"
_NONE = "none: not private"
_TEXTS = ("site", "base", "kind")
_NUMBERS = (
    *("size", "coverage", "coverage_low", "coverage_high"),
    *("value", "standard_error", "low", "high"),
)


def _columns(comparison: SiteComparison) -> Mapping[str, Any]:
    """Return a row for each Hill number; an asymptote has no size, and at order 0 no upper end."""
    rows = comparison.estimates
    numbers = {name: np.array([getattr(row, name) for row in rows], dtype=np.float64) for name in _NUMBERS}
    for name in ("size", "high"):
        numbers[name] = np.where(np.isinf(numbers[name]), np.nan, numbers[name])
    return {
        **{name: [getattr(row, name) for row in rows] for name in _TEXTS},
        "order": np.array([row.order for row in rows], dtype=np.int64),
        **numbers,
        "level": np.full(len(rows), comparison.level),
        "guarantee": [_NONE] * len(rows),
    }


COMPARISON_TABLE = Table(_columns)


def comparison_document(comparison: SiteComparison) -> dict[str, Any]:
    """Return the content of a comparison as JSON values."""
    from anonhist.version import __version__

    return {
        "format": FORMAT,
        "version": 1,
        "library_version": __version__,
        "guarantee": _NONE,
        "data": comparison.data,
        "level": comparison.level,
        "bootstraps": comparison.bootstraps,
        "warnings": list(comparison.warnings),
        "sites": [{**vars(site), "first": list(site.first)} for site in comparison.sites],
        "estimates": [
            {
                name: None if isinstance(value, float) and not math.isfinite(value) else value
                for name, value in vars(row).items()
            }
            for row in comparison.estimates
        ],
    }


COMPARISON_FILES: FileKind[Never] = FileKind(
    "site-comparison",
    {".csv": as_text(csv_text), ".json": as_text(lambda value: document_text(comparison_document(value)))},
)
