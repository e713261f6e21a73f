"""Files of releases of groups: one JSON document, version 1, and a table with the grouping columns first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.formats.document import from_document, to_document
from anonhist.formats.fields import check_version, file_wording, mapping, text
from anonhist.formats.file_kind import FileKind
from anonhist.formats.json_text import document_text, parse_json
from anonhist.formats.parquet_content import check_codecs, open_parquet, refuse_damage
from anonhist.formats.reading import TABLE as RELEASE_TABLE
from anonhist.formats.reading import columns as release_columns
from anonhist.formats.tables import Table
from anonhist.privacy import parse_epsilon
from anonhist.releases.grouped import GroupedRelease

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from anonhist.formats.tables import Columns
    from anonhist.profiles.grouped import Group

NAME = "grouped-release"
FORMAT, VERSION = f"anonhist.{NAME}", 1
METADATA_KEY = FORMAT.encode()
# What a release of one group has of its own.
_OWN = ("profile", "error", "items", "zeros")
_MOST_GROUPS = 10**6
_SPENT = ("epsilon", "delta")


def to_grouped_document(release: GroupedRelease) -> dict[str, Any]:
    """Return everything a release of groups says, as JSON values.

    ``release`` has what the releases of all groups share, as :func:`~anonhist.formats.document.to_document` writes it;
    ``groups`` has the rest of each. ``guarantee`` says, to people, what holds for all groups together; it follows from
    the others.
    """
    documents = {group: to_document(each) for group, each in release.items()}
    version = max(each["version"] for each in documents.values())
    first = next(iter(documents.values()))
    return {
        "format": FORMAT,
        "version": VERSION,
        "guarantee": file_wording(release.guarantee.sentence),
        "by": list(release.by),
        **({} if release.found_with is None else {"found_with": [str(each) for each in release.found_with]}),
        "release": {name: value for name, value in first.items() if name not in _OWN} | {"version": version},
        "groups": [
            {"group": list(group), **{name: each[name] for name in _OWN if name in each}}
            for group, each in documents.items()
        ],
    }


def grouped_release_text(release: GroupedRelease) -> str:
    """Return the JSON file of a release of groups."""
    return document_text(to_grouped_document(release))


def from_grouped_document(document: object) -> GroupedRelease:
    """Rebuild a release of groups, refusing whatever it cannot be.

    Raises
    ------
    DataError
        With what is wrong in one clause.
    """
    names = {"format", "version", "guarantee", "by", "release", "groups"}
    if isinstance(document, dict) and "found_with" in document:
        names |= {"found_with"}
    top = mapping(document, names, "a release of groups")
    check_version(top, FORMAT, VERSION)
    if not isinstance(top["by"], list) or not isinstance(top["groups"], list) or not isinstance(top["release"], dict):
        raise DataError("its grouping columns and its groups must be lists, and what they share an object")
    if not top["groups"] or len(top["groups"]) > _MOST_GROUPS:
        raise DataError(f"it must have at least one group, and at most {_MOST_GROUPS:,}")
    by = tuple(text(name, "a grouping column") for name in top["by"])
    releases = {}
    for each in top["groups"]:
        if not isinstance(each, dict) or not {"group"} < each.keys() <= {"group", *_OWN}:
            raise DataError("each group must have its names, its profile and its error")
        group = _group(each["group"])
        if group in releases:
            raise DataError("a group is listed twice")
        releases[group] = from_document({**top["release"], **{name: each[name] for name in each if name != "group"}})
    try:
        made = GroupedRelease(by, releases, found_with=_spent(top["found_with"]) if "found_with" in top else None)
    except UsageError as error:
        raise DataError(str(error).removesuffix(".")) from None
    if top["guarantee"] != file_wording(made.guarantee.sentence):
        raise DataError("the sentence of the guarantee is not what holds for all groups together")
    return made


def _spent(value: object) -> tuple[Fraction, Fraction]:
    if not isinstance(value, list) or len(value) != 2:
        raise DataError("what finding the groups cost must be an epsilon and a delta")
    epsilon, delta = (parse_epsilon(text(each, name), name=name) for each, name in zip(value, _SPENT, strict=True))
    return epsilon, delta


def _group(value: object) -> Group:
    if not isinstance(value, list):
        raise DataError("the names of a group must be a list")
    return tuple(None if name is None else text(name, "the name of a group") for name in value)


def _columns(release: GroupedRelease) -> Columns:
    """Return the columns of all groups, one below the other: the grouping columns, then those of a release."""
    tables = {group: release_columns(each) for group, each in release.items()}
    sizes = [len(table["count"]) for table in tables.values()]
    names: dict[str, Any] = {
        column: [group[at] or "" for group, size in zip(tables, sizes, strict=True) for _ in range(size)]
        for at, column in enumerate(release.by)
    }
    first = next(iter(tables.values()))
    if names.keys() & first.keys():
        raise UsageError(
            f"A grouping column is named as a column of the table ({', '.join(first)}): rename it in the data."
        )
    return names | {name: np.concatenate([table[name] for table in tables.values()]) for name in first}


def _metadata(release: GroupedRelease) -> Mapping[bytes, str]:
    return {METADATA_KEY: json.dumps(to_grouped_document(release))}


TABLE = Table(_columns, RELEASE_TABLE.texts, lambda release: dict(_metadata(release)))


def _from_parquet(content: bytes) -> GroupedRelease:
    with refuse_damage():
        file = open_parquet(content)
        document = (file.schema_arrow.metadata or {}).get(METADATA_KEY)
        if document is None:
            raise DataError("it is a Parquet file, but not one of a release of groups")
        release = from_grouped_document(parse_json(document))
        check_codecs(content)
        table = file.read()
        # Tools that filter a table keep its metadata: the two must still say the same.
        expected = _columns(release)
        is_same = table.num_rows == len(expected["count"]) and all(
            name in table.column_names and list(expected[name]) == table.column(name).to_pylist()
            for name in (*release.by, "count", "prevalence")
        )
    if not is_same:
        raise DataError("its rows are not those that were released; they were changed later")
    return release


FILES = FileKind(NAME, {".json": from_grouped_document, ".parquet": _from_parquet})
