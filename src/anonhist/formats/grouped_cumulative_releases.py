"""Files of cumulative windows of groups: one JSON document, and a table with the grouping columns first.

Version 2 brought the receipt: where the release was charged.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.formats.cumulative_releases import (
    NUMBERS,
    check_receipt,
    columns_of,
    numbers_document,
    releases_from,
    shared_document,
    shared_names,
)
from anonhist.formats.fields import check_version, mapping, text
from anonhist.formats.file_kind import FileKind
from anonhist.formats.json_text import document_text, parse_json
from anonhist.formats.parquet_content import check_codecs, open_parquet, refuse_damage
from anonhist.formats.tables import Table
from anonhist.releases.cumulative import GroupedCumulativeRelease

if TYPE_CHECKING:
    from anonhist.formats.tables import Columns
    from anonhist.profiles.grouped import Group

NAME = "grouped-cumulative-release"
FORMAT, VERSION = f"anonhist.{NAME}", 2
METADATA_KEY = FORMAT.encode()


def to_grouped_cumulative_document(release: GroupedCumulativeRelease) -> dict[str, Any]:
    """Return everything a release of cumulative windows of groups says, as JSON values.

    What groups share is said once, as in the document of one; ``groups`` has the numbers of each.
    """
    return {
        "format": FORMAT,
        "version": 1 if release.receipt is None else VERSION,
        **shared_document(release.first),
        "by": list(release.by),
        "groups": [{"group": list(group), **numbers_document(each)} for group, each in release.items()],
    }


def grouped_cumulative_release_text(release: GroupedCumulativeRelease) -> str:
    """Return the JSON file of a release of cumulative windows of groups."""
    return document_text(to_grouped_cumulative_document(release))


def from_grouped_cumulative_document(document: object) -> GroupedCumulativeRelease:
    """Rebuild a release of cumulative windows of groups, refusing whatever it cannot be.

    Raises
    ------
    DataError
        With what is wrong in one clause.
    """
    top = mapping(document, {"by", "groups", *shared_names(document)}, "a release of cumulative windows of groups")
    check_receipt(top, check_version(top, FORMAT, VERSION, oldest=1))
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


TABLE = Table(_columns, metadata=lambda release: {METADATA_KEY: json.dumps(to_grouped_cumulative_document(release))})


def _from_parquet(content: bytes) -> GroupedCumulativeRelease:
    with refuse_damage():
        document = (open_parquet(content).schema_arrow.metadata or {}).get(METADATA_KEY)
        if document is None:
            raise DataError("it is a Parquet file, but not one of a release of cumulative windows of groups")
        release = from_grouped_cumulative_document(parse_json(document))
        check_codecs(content)
        table = open_parquet(content).read()
        # Tools that filter a table keep its metadata: the two must still say the same.
        expected = {name: list(column) for name, column in _columns(release).items()}
        is_same = table.column_names == list(expected) and table.to_pydict() == expected
    if not is_same:
        raise DataError("its rows are not those that were released; they were changed later")
    return release


FILES = FileKind(NAME, {".json": from_grouped_cumulative_document, ".parquet": _from_parquet})
