"""Comparisons, plans and recommendations as tables: the attributes of their rows."""

from __future__ import annotations

from fractions import Fraction
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import UsageError
from anonhist.formats.tables import Table
from anonhist.privacy import short_decimal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anonhist.formats.tables import Columns


def _table(texts: Callable[[Any], Mapping[str, Callable[[float], str]]] = lambda _: {}, **attributes: str) -> Table:
    """Return the table of values with ``rows``, which has a column for each of these attributes of a row."""

    def columns(value: Any) -> Columns:
        return {name: _column(list(map(attrgetter(attribute), value.rows))) for name, attribute in attributes.items()}

    return Table(columns, texts)


def _column(values: list[Any]) -> Any:
    if values and isinstance(values[0], str):
        return values
    return np.array([float(each) if isinstance(each, Fraction) else each for each in values])


def _exact_epsilons(value: Any) -> Mapping[str, Callable[[float], str]]:
    return {"epsilon": {float(row.epsilon): short_decimal(row.epsilon) for row in value.rows}.__getitem__}


COMPARISON_TABLE = _table(
    lambda comparison: {**_exact_epsilons(comparison), "standard_error": "{:.6g}".format},
    mechanism="mechanism",
    epsilon="epsilon",
    metric="metric",
    mean="mean",
    standard_error="standard_error",
    repeats="repeats",
)
PLAN_TABLE = _table(
    _exact_epsilons,
    epsilon="epsilon",
    mechanism="mechanism",
    items="items",
    sorted_l1="sorted_l1.value",
    standard_error="sorted_l1.standard_error",
    relative_error="relative_error",
)


def _group_plan_columns(planned: Any) -> Columns:
    """Return a column for each grouping column, then the numbers."""
    names = {column: [row.group[at] or "" for row in planned.rows] for at, column in enumerate(planned.by)}
    if taken := names.keys() & _GROUP_PLAN.keys():
        raise UsageError(f"A grouping column is named as a column of the table, {min(taken)}: rename it.")
    return names | {name: _column(list(map(attrgetter(of), planned.rows))) for name, of in _GROUP_PLAN.items()}


_GROUP_PLAN = {
    "items": "items",
    "sorted_l1": "sorted_l1.value",
    "standard_error": "sorted_l1.standard_error",
    "relative_error": "relative_error",
    "mostly_noise": "mostly_noise",
}
GROUP_PLAN_TABLE = Table(_group_plan_columns)
SURVEYS_TABLE = _table(
    mechanism="mechanism",
    standard_error="standard_error",
    mean_squared_error="mean_squared_error",
    report_bytes="report_bytes",
    decode_cost="decode_cost",
    note="note",
)
BUCKETS_TABLE = _table(
    buckets="buckets",
    load="load",
    bytes="size",
    labels_error="labels_error",
    prevalences_error="prevalences_error",
    prevalences_error_uncertainty="uncertainty",
)
