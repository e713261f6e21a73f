"""Files of releases of cumulative windows, of one group or several: one JSON document, and a table.

The table has a row a threshold and day, of several groups below their names.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.formats.document import receipt_document, receipt_from
from anonhist.formats.files import FileKind, as_text
from anonhist.formats.tables import Table, csv_text, write_parquet
from anonhist.formats.untrusted import (
    check_codecs,
    check_version,
    document_text,
    holds,
    mapping,
    open_parquet,
    optional,
    parse_json,
    refuse_damage,
    text,
    whole,
)
from anonhist.mechanisms.window_release import WINDOW_MECHANISMS
from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from anonhist.formats.tables import Columns
    from anonhist.mechanisms.window_mechanism import WindowMechanism
    from anonhist.profiles.grouped import Group

NAME = "cumulative-release"
FORMAT = f"anonhist/{NAME}"
METADATA_KEY = FORMAT.encode()
NUMBERS = ("values", "lows", "highs")
SHARED = ("library_version", "guarantee", "mechanism", "reason", "order_key", "thresholds", "days", "receipt")


def to_cumulative_document(release: CumulativeRelease) -> dict[str, Any]:
    """Return everything a release of cumulative windows says, as JSON values: of the numbers, a list a threshold.

    ``guarantee`` says it to people; it follows from the mechanism.
    """
    return {"format": FORMAT, "version": 1, **shared_document(release), **numbers_document(release)}


def shared_document(release: CumulativeRelease) -> dict[str, Any]:
    """Return what releases of several groups share."""
    return {
        "library_version": release.library_version,
        "guarantee": release.guarantee.sentence,
        "mechanism": {"name": release.mechanism.name, "parameters": dict(release.mechanism.parameters)},
        "reason": release.reason,
        "order_key": release.order_key,
        "thresholds": list(release.thresholds),
        "days": list(release.days),
        "receipt": optional(receipt_document, release.receipt),
    }


def numbers_document(release: CumulativeRelease) -> dict[str, Any]:
    """Return the numbers, of each a list a threshold."""
    return {name: getattr(release, name).tolist() for name in NUMBERS}


def cumulative_release_text(release: CumulativeRelease) -> str:
    """Return the JSON file of a release of cumulative windows."""
    return document_text(to_cumulative_document(release))


def from_cumulative_document(document: object) -> CumulativeRelease:
    """Rebuild a release of cumulative windows, refusing whatever it cannot be."""
    check_version(document, FORMAT)
    top = mapping(document, {"format", "version", *SHARED, *NUMBERS}, "a release of cumulative windows")
    return next(releases_from(top, [top]))


def releases_from(shared: Mapping[str, Any], each_with: Iterable[Mapping[str, Any]]) -> Iterator[CumulativeRelease]:
    """Rebuild releases from what they share, and the numbers of each."""
    if not isinstance(shared["days"], list):
        raise DataError("its days must be a list")
    days = tuple(text(day, "a day") for day in shared["days"])
    given: dict[str, Any] = {
        "thresholds": whole(shared["thresholds"], "its thresholds").tolist(),
        "days": days,
        "mechanism": _mechanism(shared["mechanism"]),
        "reason": text(shared["reason"], "the reason"),
        "library_version": text(shared["library_version"], "the library version"),
        "order_key": None if shared["order_key"] is None else text(shared["order_key"], "the order key"),
    }
    try:
        given["receipt"] = optional(receipt_from, shared["receipt"])
    except UsageError as error:
        raise DataError(str(error).removesuffix(".")) from None
    for own in each_with:
        try:
            release = CumulativeRelease(**given | {name: _table(own[name], len(days), name) for name in NUMBERS})
        except UsageError as error:
            raise DataError(str(error).removesuffix(".")) from None
        if shared["guarantee"] != release.guarantee.sentence:
            raise DataError("the sentence of the guarantee is not what the guarantee says")
        yield release


def _mechanism(value: object) -> WindowMechanism:
    made_by = mapping(value, {"name", "parameters"}, "the mechanism")
    name = text(made_by["name"], "the mechanism's name")
    if name not in WINDOW_MECHANISMS:
        raise DataError(f"the mechanism must be one of {', '.join(WINDOW_MECHANISMS)}")
    if not isinstance(made_by["parameters"], dict):
        raise DataError("the mechanism's parameters must be an object")
    try:
        return WINDOW_MECHANISMS[name].from_parameters(made_by["parameters"])
    except UsageError as error:
        raise DataError(f"of the parameters of the mechanism: {str(error).removesuffix('.')}") from None


def _table(value: object, days: int, what: str) -> NDArray[np.int64]:
    if not isinstance(value, list) or not value:
        raise DataError(f"{what} must have a list for each threshold")
    rows = [whole(row, what) for row in value]
    if any(row.size != days for row in rows):
        raise DataError(f"{what} must have a number for each day")
    return np.stack(rows)


def columns_of(release: CumulativeRelease) -> Columns:
    """Return the columns: one day after the other for the first threshold, then for the next."""
    return {
        "k": np.repeat(np.array(release.thresholds, dtype=np.int64), len(release.days)),
        "day": [*release.days] * len(release.thresholds),
        "value": release.values.ravel(),
        "low": release.lows.ravel(),
        "high": release.highs.ravel(),
    }


TABLE = Table(columns_of, metadata=lambda release: {METADATA_KEY: json.dumps(to_cumulative_document(release))})


def _from_parquet(content: bytes) -> CumulativeRelease:
    with refuse_damage():
        file = open_parquet(content)
        document = (file.schema_arrow.metadata or {}).get(METADATA_KEY)
        if document is None:
            raise DataError("it is a Parquet file, but not one of a release of cumulative windows")
        release = from_cumulative_document(parse_json(document))
        check_codecs(content)
        # Tools that filter a table keep its metadata: the two must still say the same.
        expected = {name: list(column) for name, column in columns_of(release).items()}
        is_same = file.schema_arrow.names == list(expected) and holds(file, expected)
    if not is_same:
        raise DataError("its rows are not those that were released; they were changed later")
    return release


FILES = FileKind(
    NAME,
    {".csv": as_text(csv_text), ".json": as_text(cumulative_release_text), ".parquet": write_parquet},
    {".json": from_cumulative_document, ".parquet": _from_parquet},
)


GROUPED_NAME = "grouped-cumulative-release"
GROUPED_FORMAT = f"anonhist/{GROUPED_NAME}"
GROUPED_METADATA_KEY = GROUPED_FORMAT.encode()


def to_grouped_cumulative_document(release: GroupedCumulativeRelease) -> dict[str, Any]:
    """Return everything a release of cumulative windows of groups says, as JSON values.

    What groups share is said once, as in the document of one; ``groups`` has the numbers of each.
    """
    return {
        "format": GROUPED_FORMAT,
        "version": 1,
        **shared_document(release.first),
        "by": list(release.by),
        "groups": [{"group": list(group), **numbers_document(each)} for group, each in release.items()],
    }


def grouped_cumulative_release_text(release: GroupedCumulativeRelease) -> str:
    """Return the JSON file of a release of cumulative windows of groups."""
    return document_text(to_grouped_cumulative_document(release))


def from_grouped_cumulative_document(document: object) -> GroupedCumulativeRelease:
    """Rebuild a release of cumulative windows of groups, refusing whatever it cannot be."""
    names = {"format", "version", "by", "groups", *SHARED}
    check_version(document, GROUPED_FORMAT)
    top = mapping(document, names, "a release of cumulative windows of groups")
    if not isinstance(top["by"], list) or not isinstance(top["groups"], list):
        raise DataError("its grouping columns and its groups must be lists")
    by = tuple(text(name, "a grouping column") for name in top["by"])
    fields = [mapping(each, {"group", *NUMBERS}, "a group") for each in top["groups"]]
    groups = [_group(each["group"]) for each in fields]
    if len(set(groups)) < len(groups):
        raise DataError("a group is listed twice")
    try:
        return GroupedCumulativeRelease(by, dict(zip(groups, releases_from(top, fields), strict=True)))
    except UsageError as error:
        raise DataError(str(error).removesuffix(".")) from None


def _group(value: object) -> Group:
    if not isinstance(value, list):
        raise DataError("the names of a group must be a list")
    return tuple(None if name is None else text(name, "the name of a group") for name in value)


def _columns(release: GroupedCumulativeRelease) -> Columns:
    """Return the columns of all groups, one below the other: the grouping columns, then those of a release."""
    tables = [columns_of(each) for each in release.values()]
    own: dict[str, Any] = {name: [value for table in tables for value in table[name]] for name in tables[0]}
    own |= {name: np.array(column) for name, column in own.items() if name != "day"}
    if set(release.by) & own.keys():
        raise UsageError(
            f"A grouping column is named as a column of the table ({', '.join(own)}): rename it in the data."
        )
    size = len(release.thresholds) * len(release.days)
    names = {
        column: [group[at] or "" for group in release for _ in range(size)] for at, column in enumerate(release.by)
    }
    return names | own


GROUPED_TABLE = Table(
    _columns, metadata=lambda release: {GROUPED_METADATA_KEY: json.dumps(to_grouped_cumulative_document(release))}
)


def _groups_from_parquet(content: bytes) -> GroupedCumulativeRelease:
    with refuse_damage():
        file = open_parquet(content)
        document = (file.schema_arrow.metadata or {}).get(GROUPED_METADATA_KEY)
        if document is None:
            raise DataError("it is a Parquet file, but not one of a release of cumulative windows of groups")
        release = from_grouped_cumulative_document(parse_json(document))
        check_codecs(content)
        # Tools that filter a table keep its metadata: the two must still say the same.
        expected = {name: list(column) for name, column in _columns(release).items()}
        is_same = file.schema_arrow.names == list(expected) and holds(file, expected)
    if not is_same:
        raise DataError("its rows are not those that were released; they were changed later")
    return release


GROUPED_FILES = FileKind(
    GROUPED_NAME,
    {".csv": as_text(csv_text), ".json": as_text(grouped_cumulative_release_text), ".parquet": write_parquet},
    {".json": from_grouped_cumulative_document, ".parquet": _groups_from_parquet},
)
