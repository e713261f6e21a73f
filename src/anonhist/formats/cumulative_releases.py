"""Files of releases of cumulative windows, with groups or without: one JSON document, and a table.

The table has a row a threshold and day, of several groups below their names.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.formats.document import how_made, made_by, receipt_document
from anonhist.formats.grouped_releases import name_columns, new_group
from anonhist.formats.tables import Table, document_files
from anonhist.formats.untrusted import (
    check_version,
    holds,
    mapping,
    optional,
    text,
    whole,
)
from anonhist.mechanisms.window_release import WINDOW_MECHANISMS
from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease, in_groups

if TYPE_CHECKING:
    import pyarrow.parquet as pq
    from numpy.typing import NDArray

    from anonhist.formats.tables import Columns
    from anonhist.mechanisms.window_mechanism import WindowMechanism
    from anonhist.profiles.grouped import Group
    from anonhist.releases.cumulative import Windows

NAME = "cumulative-release"
FORMAT = f"anonhist/{NAME}"
_NUMBERS = ("values", "lows", "highs")
_FIELDS = {"format", "version", "library_version", "guarantee", "mechanism", "reason", "order_key", "thresholds"}
_FIELDS |= {"days", "receipt", "by", "groups"}


def to_cumulative_document(release: Windows) -> dict[str, Any]:
    """Return everything a release of cumulative windows says, as JSON values.

    What groups share is said once; ``groups`` has the numbers of each, of each number a list a threshold. Where there
    are no groups, ``by`` has no column, and ``groups`` the one group of no names. ``guarantee`` says it to people; it
    follows from the mechanism.
    """
    grouped = in_groups(release)
    return {
        "format": FORMAT,
        "version": 1,
        "library_version": grouped.library_version,
        "guarantee": grouped.guarantee.sentence,
        "mechanism": {"name": grouped.mechanism.name, "parameters": dict(grouped.mechanism.parameters)},
        "reason": grouped.reason,
        "order_key": grouped.order_key,
        "thresholds": list(grouped.thresholds),
        "days": list(grouped.days),
        "receipt": optional(receipt_document, grouped.receipt),
        "by": list(grouped.by),
        "groups": [
            {"group": list(group), **{name: getattr(each, name).tolist() for name in _NUMBERS}}
            for group, each in grouped.items()
        ],
    }


def from_cumulative_document(document: object) -> Windows:
    """Rebuild a release of cumulative windows, refusing whatever it cannot be."""
    check_version(document, FORMAT)
    top = mapping(document, _FIELDS, "a release of cumulative windows")
    if not all(isinstance(top[name], list) for name in ("days", "by", "groups")):
        raise DataError("its days, its grouping columns and its groups must be lists")
    by = tuple(text(name, "a grouping column") for name in top["by"])
    days = tuple(text(day, "a day") for day in top["days"])
    shared: dict[str, Any] = {
        "thresholds": whole(top["thresholds"], "its thresholds").tolist(),
        "days": days,
        "mechanism": _mechanism(top["mechanism"]),
    }
    releases: dict[Group, CumulativeRelease] = {}
    try:
        shared |= how_made(top)
        for each in top["groups"]:
            own = mapping(each, {"group", *_NUMBERS}, "a group")
            group = new_group(own["group"], releases)
            numbers = {name: _table(own[name], len(days), name) for name in _NUMBERS}
            releases[group] = CumulativeRelease(**shared | numbers)
        found = GroupedCumulativeRelease(by, releases)
    except UsageError as error:
        raise DataError(str(error).removesuffix(".")) from None
    if top["guarantee"] != found.guarantee.sentence:
        raise DataError("the sentence of the guarantee is not what the guarantee says")
    return found if by else found.first


def _mechanism(value: object) -> WindowMechanism:
    name, parameters = made_by(value)
    if name not in WINDOW_MECHANISMS:
        raise DataError(f"the mechanism must be one of {', '.join(WINDOW_MECHANISMS)}")
    try:
        return WINDOW_MECHANISMS[name].from_parameters(parameters)
    except UsageError as error:
        raise DataError(f"of the parameters of the mechanism: {str(error).removesuffix('.')}") from None


def _table(value: object, days: int, what: str) -> NDArray[np.int64]:
    if not isinstance(value, list) or not value:
        raise DataError(f"{what} must have a list for each threshold")
    rows = [whole(row, what) for row in value]
    if any(row.size != days for row in rows):
        raise DataError(f"{what} must have a number for each day")
    return np.stack(rows)


def _columns(release: Windows) -> Columns:
    """Return the names of groups, if there are any, and one day after the other for each threshold."""
    grouped = in_groups(release)
    thresholds, days = grouped.thresholds, grouped.days
    size = len(thresholds) * len(days)
    own: dict[str, Any] = {
        "k": np.tile(np.repeat(np.array(thresholds, dtype=np.int64), len(days)), len(grouped)),
        "day": [*days] * (len(thresholds) * len(grouped)),
    }
    for column, name in zip(("value", "low", "high"), _NUMBERS, strict=True):
        own[column] = np.concatenate([getattr(each, name).ravel() for each in grouped.values()])
    return name_columns(grouped.by, dict.fromkeys(grouped, size), own) | own


TABLE = Table(_columns, metadata=lambda release: {FORMAT.encode(): json.dumps(to_cumulative_document(release))})


def _is_same(file: pq.ParquetFile, release: Windows) -> bool:
    expected = {name: list(column) for name, column in _columns(release).items()}
    return file.schema_arrow.names == list(expected) and holds(file, expected)


FILES = document_files(
    NAME, "a release of cumulative windows", to_cumulative_document, from_cumulative_document, _is_same
)
