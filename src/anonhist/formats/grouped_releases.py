"""Files of releases of groups: one JSON document, and a table with the grouping columns first."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.formats.document import (
    error_document,
    error_from,
    excess_document,
    excess_from,
    from_document,
    to_document,
)
from anonhist.formats.reading import TABLE as RELEASE_TABLE
from anonhist.formats.reading import columns as release_columns
from anonhist.formats.tables import Table, document_files
from anonhist.formats.untrusted import (
    check_version,
    holds,
    mapping,
    names_of,
    optional,
    text,
)
from anonhist.privacy import parse_epsilon
from anonhist.releases.grouped import GroupedRelease
from anonhist.releases.totals import CrossingTotals, NestedTotals

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from fractions import Fraction

    import pyarrow.parquet as pq

    from anonhist.formats.tables import Columns
    from anonhist.profiles.grouped import Group
    from anonhist.releases import Release, ReleaseError

NAME = "grouped-release"
FORMAT = f"anonhist/{NAME}"
# What a release of one group has of its own.
_OWN = ("profile", "error", "items", "zeros")
_MOST_GROUPS = 10**6
_SPENT = ("epsilon", "delta")
_LEVEL = "level"
_LISTS = "its grouping columns, its groups and its levels must be lists, and what they share an object"


def to_grouped_document(release: GroupedRelease) -> dict[str, Any]:
    """Return everything a release of groups says, as JSON values.

    ``release`` has what the releases of all groups share, as :func:`~anonhist.formats.document.to_document` writes it;
    ``groups`` has the rest of each. ``guarantee`` says, to people, what holds for all groups together; it follows from
    the others. Of levels, ``nested`` has the errors of totals, which are sums of groups, and ``crossing`` a
    ``release`` and its ``groups`` for each level above them.
    """
    return {
        "format": FORMAT,
        "version": 1,
        "guarantee": release.guarantee.sentence,
        "by": list(release.by),
        "found_with": None if release.found_with is None else [str(each) for each in release.found_with],
        "excess": optional(excess_document, release.excess),
        **_level_document(release.level(len(release.by))),
        **_totals_document(release),
    }


def _sums(release: GroupedRelease) -> dict[Group, ReleaseError]:
    """Return the errors of totals that are sums."""
    if not isinstance(release.totals, NestedTotals):
        return {}
    return {prefix: release[prefix].error for prefix in release.totals.known}


def _level_document(releases: Mapping[Group, Release]) -> dict[str, Any]:
    documents = {group: to_document(each) for group, each in releases.items()}
    first = next(iter(documents.values()))
    return {
        "release": {name: value for name, value in first.items() if name not in _OWN},
        "groups": [{"group": list(group), **{name: each[name] for name in _OWN}} for group, each in documents.items()],
    }


def _totals_document(release: GroupedRelease) -> dict[str, Any]:
    if isinstance(release.totals, CrossingTotals):
        return {
            "nested": None,
            "crossing": [_level_document(release.level(depth)) for depth in range(len(release.by))],
        }
    sums = [{"group": list(prefix), "error": error_document(error)} for prefix, error in _sums(release).items()]
    return {"nested": None if release.totals is None else sums, "crossing": None}


def from_grouped_document(document: object) -> GroupedRelease:
    """Rebuild a release of groups, refusing whatever it cannot be."""
    names = {"format", "version", "guarantee", "by", "found_with", "excess", "release", "groups", "nested", "crossing"}
    check_version(document, FORMAT)
    top = mapping(document, names, "a release of groups")
    if top["nested"] is not None and top["crossing"] is not None:
        raise DataError("its levels must be nested or crossing, and not both")
    if not isinstance(top["by"], list):
        raise DataError(_LISTS)
    by = tuple(text(name, "a grouping column") for name in top["by"])
    releases = _level(top)
    try:
        totals = _totals(top)
        made = GroupedRelease(
            by,
            releases,
            found_with=optional(_spent, top["found_with"]),
            totals=totals,
            excess=optional(partial(excess_from, next(iter(releases.values())).guarantee), top["excess"]),
        )
    except UsageError as error:
        raise DataError(str(error).removesuffix(".")) from None
    if top["guarantee"] != made.guarantee.sentence:
        raise DataError("the sentence of the guarantee is not what holds for all groups together")
    return made


def _level(fields: Mapping[str, Any]) -> dict[Group, Release]:
    if not isinstance(fields["groups"], list) or not isinstance(fields["release"], dict):
        raise DataError(_LISTS)
    if not fields["groups"] or len(fields["groups"]) > _MOST_GROUPS:
        raise DataError(f"it must have at least one group, and at most {_MOST_GROUPS:,}")
    if names_of(fields["release"]) & {*_OWN}:
        raise DataError("what groups share must not have what each has of its own")
    releases: dict[Group, Release] = {}
    for each in fields["groups"]:
        if names_of(each) != {"group", *_OWN}:
            raise DataError("each group must have its names, its profile and its error, and items and zeros or null")
        group = new_group(each["group"], releases)
        releases[group] = from_document({**fields["release"], **{name: each[name] for name in each if name != "group"}})
    return releases


def _totals(top: Mapping[str, Any]) -> NestedTotals | CrossingTotals | None:
    if top["crossing"] is not None:
        if not isinstance(top["crossing"], list):
            raise DataError(_LISTS)
        levels = [_level(mapping(each, {"release", "groups"}, "a level")) for each in top["crossing"]]
        return CrossingTotals({prefix: each for level in levels for prefix, each in level.items()})
    if top["nested"] is None:
        return None
    if not isinstance(top["nested"], list):
        raise DataError(_LISTS)
    errors: dict[Group, ReleaseError] = {}
    for each in top["nested"]:
        fields = mapping(each, {"group", "error"}, "a total")
        errors[new_group(fields["group"], errors)] = error_from(fields["error"])
    return NestedTotals(errors)


def _spent(value: object) -> tuple[Fraction, Fraction]:
    if not isinstance(value, list) or len(value) != 2:
        raise DataError("what finding the groups cost must be an epsilon and a delta")
    epsilon, delta = (parse_epsilon(text(each, name), name=name) for each, name in zip(value, _SPENT, strict=True))
    return epsilon, delta


def new_group(value: object, known: Mapping[Group, object]) -> Group:
    """Return the names of a group, which must not be known already."""
    if not isinstance(value, list):
        raise DataError("the names of a group must be a list")
    group = tuple(None if name is None else text(name, "the name of a group") for name in value)
    if group in known:
        raise DataError("a group is listed twice")
    return group


def name_columns(by: tuple[str, ...], sizes: Mapping[Group, int], own: Iterable[str]) -> dict[str, Any]:
    """Return the columns of the names of groups, each in so many rows, beside own columns of other names."""
    if {*by} & {*own}:
        raise UsageError(
            f"A grouping column is named as a column of the table ({', '.join(own)}): rename it in the data."
        )
    return {
        column: [(group[at] if at < len(group) else None) or "" for group, size in sizes.items() for _ in range(size)]
        for at, column in enumerate(by)
    }


def _columns(release: GroupedRelease) -> Columns:
    """Return the columns of all groups, one below the other: the grouping columns, then those of a release.

    With levels, a column ``level`` follows the grouping columns: how many of them name the group. Totals come first,
    and have no names in the others.
    """
    tables = {group: release_columns(each) for group, each in release.everything.items()}
    sizes = [len(table["count"]) for table in tables.values()]
    first = next(iter(tables.values()))
    own = ({} if release.levels is None else {_LEVEL: np.repeat([len(group) for group in tables], sizes)}) | first
    names = name_columns(release.by, dict(zip(tables, sizes, strict=True)), own)
    levels = {_LEVEL: own[_LEVEL]} if _LEVEL in own else {}
    return names | levels | {name: np.concatenate([table[name] for table in tables.values()]) for name in first}


TABLE = Table(
    _columns, RELEASE_TABLE.texts, lambda release: {FORMAT.encode(): json.dumps(to_grouped_document(release))}
)


def _is_same(file: pq.ParquetFile, release: GroupedRelease) -> bool:
    columns = _columns(release)
    kept = (*release.by, *({_LEVEL} & columns.keys()), "count", "prevalence")
    return holds(file, {name: list(columns[name]) for name in kept})


FILES = document_files(NAME, "a release of groups", to_grouped_document, from_grouped_document, _is_same)
