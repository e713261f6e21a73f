"""What mechanisms were found to err as a table: a row for each mechanism, budget and metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.formats.tables import Table
from anonhist.privacy import short_decimal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anonhist.formats.tables import Columns
    from anonhist.mechanisms.comparison.rows import Comparison


def _columns(comparison: Comparison) -> Columns:
    rows = comparison.rows
    return {
        "mechanism": [row.mechanism for row in rows],
        "epsilon": np.array([float(row.epsilon) for row in rows]),
        "metric": [row.metric for row in rows],
        "mean": np.array([row.mean for row in rows]),
        "standard_error": np.array([row.standard_error for row in rows]),
        "repeats": np.array([row.repeats for row in rows]),
    }


def _texts(comparison: Comparison) -> Mapping[str, Callable[[float], str]]:
    exact = {float(row.epsilon): short_decimal(row.epsilon) for row in comparison.rows}
    return {"epsilon": exact.__getitem__, "standard_error": "{:.6g}".format}


TABLE = Table(_columns, _texts)
