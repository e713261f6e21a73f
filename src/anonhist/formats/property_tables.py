"""Estimates, statistics of degrees and curves as tables: a row an estimate, or a point of a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.formats.tables import Table, ten_digits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anonhist.formats.tables import Columns
    from anonhist.properties.curve import Curve
    from anonhist.properties.estimate import Estimate


def _estimates(found: Sequence[Estimate]) -> Columns:
    """Return a row an estimate; value ± error is said only where no bias is left out."""
    return {
        "value": np.array([each.value for each in found], float),
        "standard_error": np.array([np.nan if each.statement.reason else each.standard_error for each in found], float),
        "low": np.array([each.interval[0] for each in found], float),
        "high": np.array([each.interval[1] for each in found], float),
        "level": np.array([each.level for each in found], float),
        "says": [each.statement.holds.value for each in found],
        "reason": [each.statement.reason for each in found],
        "unit": [each.unit for each in found],
        "method": [each.method for each in found],
        "assumes": [each.assumes for each in found],
        "parts": ["; ".join(f"{cause}: {error:.6g}" for cause, error in each.parts) for each in found],
        "warnings": [" ".join(each.warnings) for each in found],
        "guarantee": ["none: not private" if each.guarantee is None else str(each.guarantee) for each in found],
    }


def _named(column: str, found: Iterable[tuple[str, Estimate]]) -> Columns:
    names, estimates = zip(*found, strict=True)
    return {column: names, **_estimates(estimates)}


def _points(curve: Curve) -> Columns:
    """Return every point, what its ends hold, and its error by cause, which of data is of sampling alone."""
    says, reason = "chance alone" if curve.bias else "interval", curve.bias
    if curve.why_unknown:
        says, reason = "no interval", curve.why_unknown
    parts, unknown = dict(curve.parts), np.full(len(curve), np.nan)
    # Of data there is no privacy noise; of a release that was not simulated nobody knows how much there is.
    noise = np.zeros(len(curve)) if curve.guarantee is None else unknown
    return {
        curve.x_name: curve.x,
        curve.value_name: curve.value,
        "low": curve.low,
        "high": curve.high,
        "kind": curve.kinds,
        "says": [says] * len(curve),
        "reason": [reason] * len(curve),
        # Where nothing is known, an error of chance would be taken for one of all.
        "standard_error": unknown if curve.why_unknown else curve.standard_error,
        "sampling_error": parts.get("sampling", curve.standard_error),
        "privacy_noise_error": parts.get("privacy noise", noise),
    }


def _whole(x: float) -> str:
    return f"{x:.0f}" if x.is_integer() else ten_digits(x)


ESTIMATE_TABLE = Table(lambda estimate: _estimates([estimate]))
ESTIMATES_TABLE = Table(lambda found: _named("property", found))
DEGREES_TABLE = Table(lambda statistics: _named("statistic", statistics.by_name()))
CURVE_TABLE = Table(_points, lambda curve: {curve.x_name: _whole})
