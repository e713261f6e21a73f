"""Files of all kinds of releases (of one profile, of groups, of cumulative windows): a JSON document, and a table.

A table has one row per released count or, for windows, per threshold and day; for groups, the columns of their names
come first.
"""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.formats.document import (
    FORMAT,
    error_document,
    error_from,
    excess_document,
    excess_from,
    from_document,
    how_made,
    made_by,
    profile_document,
    profile_from,
    receipt_document,
    to_document,
)
from anonhist.formats.tables import Table, document_files
from anonhist.formats.untrusted import check_version, holds, mapping, names_of, optional, text, whole
from anonhist.kinds import KINDS
from anonhist.mechanisms.window_release import WINDOW_MECHANISMS
from anonhist.privacy import parse_epsilon
from anonhist.properties.estimate import Holds
from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease, Windows, in_groups
from anonhist.releases.grouped import CrossingTotals, GroupedRelease, NestedTotals

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from fractions import Fraction

    import pyarrow.parquet as pq
    from numpy.typing import NDArray

    from anonhist.formats.tables import Columns
    from anonhist.mechanisms.window_mechanism import WindowMechanism
    from anonhist.profiles import Profile
    from anonhist.profiles.grouped import Group
    from anonhist.releases import Release, ReleaseError

_KEPT = ("count", "prevalence")


def columns(release: Release) -> dict[str, NDArray[Any]]:
    """Return the columns of a release, each of shape (t,), ascending in the count.

    ``count`` r and ``prevalence`` φ_r come first. ``k_plus`` is φ_{r+}. Both have a standard error
    (``…_standard_error``) and the whole ends of a 95% interval (``…_low``, cut at 0, and ``…_high``), in labels.

    If zeros are released, the first row is for count 0. Its ``k_plus`` is the total number of labels, whose error was
    not kept: its standard error and the ends of its interval are NaN. So are all values without an interval, because
    they were not simulated, or because runs of the mechanism on its release err too little.
    """
    profile, error = release.profile, release.error
    counts, prevalences = counts_and_prevalences(release)
    k_plus = profile.cumulative_prevalence(profile.counts)
    unknown: NDArray[Any] = np.full(len(profile), np.nan)
    prevalence_errors, k_plus_errors, lows, highs, least, most = (unknown,) * 6
    if error.simulations:
        at = np.searchsorted(error.levels, profile.counts)  # Every released count is a level.
        prevalence_errors = error.prevalence_errors[at] if error.has_prevalence_intervals else unknown
        k_plus_errors = error.k_plus_errors[at] if error.has_k_plus_intervals else unknown
    if error.has_k_plus_intervals:
        lows, highs = error.k_plus_interval(profile, profile.counts)
    if error.has_prevalence_intervals:
        least, most = error.prevalence_interval(profile, profile.counts)
    if release.zeros is not None:
        k_plus = np.append(release.zeros + profile.num_labels, k_plus)
        zeros = release.prevalence(0)
        prevalence_errors = np.append(zeros.standard_error, prevalence_errors)
        ends = (np.nan, np.nan) if zeros.statement.holds is Holds.NONE else zeros.interval
        least, most = (np.append(end, side) for end, side in zip(ends, (least, most), strict=True))
        k_plus_errors, lows, highs = (np.append(np.nan, each) for each in (k_plus_errors, lows, highs))
    table: dict[str, NDArray[Any]] = {"count": counts}
    for name, value, errors, (low, high) in (
        ("prevalence", prevalences, prevalence_errors, (least, most)),
        ("k_plus", k_plus, k_plus_errors, (lows, highs)),
    ):
        table |= {name: value, f"{name}_standard_error": errors, f"{name}_low": low, f"{name}_high": high}
    return table


def counts_and_prevalences(release: Release) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the released counts and how many labels have each; 0 is one of them if zeros are released."""
    counts, prevalences = release.profile.counts, release.profile.prevalences
    if release.zeros is None:
        return counts, prevalences
    return np.append(np.int64(0), counts), np.append(np.int64(release.zeros), prevalences)


def _rounded(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.4f}".rstrip("0").rstrip(".")


RELEASE_TABLE = Table(
    columns,
    lambda _: {
        f"{number}_{what}": _rounded
        for number in ("prevalence", "k_plus")
        for what in ("standard_error", "low", "high")
    },
    lambda release: {FORMAT.encode(): json.dumps(to_document(release))},
)


def _is_same_release(file: pq.ParquetFile, release: Release) -> bool:
    import pyarrow as pa

    expected = {name: column.tolist() for name, column in zip(_KEPT, counts_and_prevalences(release), strict=True)}
    return holds(file, expected) and all(file.schema_arrow.field(name).type == pa.int64() for name in _KEPT)


def is_table_of_release(path: str) -> bool:
    """Return whether a Parquet file declares a release of any kind; only its schema is read."""
    if not path.lower().endswith(".parquet") or not Path(path).is_file():
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = pq.read_schema(path).metadata or {}
    except (pa.ArrowException, OSError, ValueError):
        return False
    return any(kind.format.encode() in found for kind in KINDS.values() if kind.released and kind.format)


RELEASE_FILES = document_files(FORMAT, "a release", to_document, from_document, _is_same_release)
read_release = RELEASE_FILES.read


GROUPS_FORMAT = "anonhist/grouped-release"
# The fields that belong to a group's own release.
_OWN = ("profile", "error", "items", "zeros", "draw")
_MOST_GROUPS = 10**6
_SPENT = ("epsilon", "delta")
_LEVEL = "level"
_GROUPS_FIELDS = {
    *("format", "version", "guarantee", "by", "found_with", "excess", "release", "groups", "nested", "crossing"),
    "adjusted",
}
_LISTS = "its grouping columns, its groups and its levels must be lists, and what they share an object"


def to_grouped_document(release: GroupedRelease) -> dict[str, Any]:
    """Return the content of a release of groups as JSON values.

    ``release`` has the fields that all groups share, as :func:`~anonhist.formats.document.to_document` writes them;
    ``groups`` has the rest of each. ``guarantee`` states, for people, what holds for all groups together; it follows
    from the others. For levels, ``nested`` has the errors of totals, which are sums of groups, and ``crossing`` has a
    ``release`` and its ``groups`` for each level above them. These are as drawn; ``adjusted`` has the profiles of those
    groups and totals that were moved until all agree, and is null if nothing was compared.
    """
    return {
        "format": GROUPS_FORMAT,
        "version": 1,
        "guarantee": release.guarantee.sentence,
        "by": list(release.by),
        "found_with": None if release.found_with is None else [str(each) for each in release.found_with],
        "excess": optional(excess_document, release.excess),
        **_level_document(release, len(release.by)),
        **_totals_document(release),
        "adjusted": optional(partial(_adjusted_document, release), release.adjusted),
    }


def _level_document(release: GroupedRelease, depth: int) -> dict[str, Any]:
    documents = {group: to_document(each) for group, each in release.drawn.items() if len(group) == depth}
    first = next(iter(documents.values()))
    return {
        "release": {name: value for name, value in first.items() if name not in _OWN},
        "groups": [{"group": list(group), **{name: each[name] for name in _OWN}} for group, each in documents.items()],
    }


def _totals_document(release: GroupedRelease) -> dict[str, Any]:
    sums: list[dict[str, Any]] | None = None
    levels: list[dict[str, Any]] | None = None
    if isinstance(release.totals, CrossingTotals):
        levels = [_level_document(release, depth) for depth in range(len(release.by))]
    elif release.totals is not None:
        sums = [
            {"group": list(each), "error": error_document(release[each].error, release[each].simulations)}
            for each in release.totals.known
        ]
    return {"nested": sums, "crossing": levels}


def _adjusted_document(release: GroupedRelease, adjusted: Mapping[Group, Profile]) -> list[dict[str, Any]]:
    drawn = release.drawn
    return [
        {"group": list(group), "profile": profile_document(each)}
        for group, each in adjusted.items()
        if not _is_same(each, drawn[group].profile)
    ]


def _is_same(one: Profile, other: Profile) -> bool:
    return np.array_equal(one.counts, other.counts) and np.array_equal(one.prevalences, other.prevalences)


def from_grouped_document(document: object) -> GroupedRelease:
    """Rebuild a release of groups, refusing every value that it cannot have."""
    check_version(document, GROUPS_FORMAT)
    top = mapping(document, _GROUPS_FIELDS, "a release of groups")
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
    return made if top["adjusted"] is None else _consistent(made, top["adjusted"])


def _consistent(drawn: GroupedRelease, value: object) -> GroupedRelease:
    """Return the release with its adjusted profiles, or refuse others than those that follow from what was drawn."""
    if not isinstance(value, list):
        raise DataError(_LISTS)
    made = drawn.consistent()
    listed: dict[Group, Profile] = {}
    for each in value:
        fields = mapping(each, {"group", "profile"}, "an adjusted profile")
        group = new_group(fields["group"], listed)
        listed[group] = profile_from(drawn.guarantee, "an adjusted profile", fields["profile"])
    if made.adjusted is None:
        raise DataError("adjusted profiles belong to crossing levels whose totals and groups can be compared")
    changed = {group for group, each in made.adjusted.items() if not _is_same(each, drawn[group].profile)}
    if changed != listed.keys() or not all(_is_same(made.adjusted[group], each) for group, each in listed.items()):
        raise DataError("the adjusted profiles do not follow from those that were drawn")
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
            raise DataError(
                "each group must have its names, its profile, its error, and items, zeros and a draw or null"
            )
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
        errors[new_group(fields["group"], errors)] = error_from(fields["error"])[0]
    return NestedTotals(errors)


def _spent(value: object) -> tuple[Fraction, Fraction]:
    if not isinstance(value, list) or len(value) != 2:
        raise DataError("what finding the groups cost must be an epsilon and a delta")
    epsilon, delta = (parse_epsilon(text(each, name), name=name) for each, name in zip(value, _SPENT, strict=True))
    return epsilon, delta


def new_group(value: object, known: Mapping[Group, object]) -> Group:
    """Return the names of a group, which must not have occurred before."""
    if not isinstance(value, list):
        raise DataError("the names of a group must be a list")
    group = tuple(None if name is None else text(name, "the name of a group") for name in value)
    if group in known:
        raise DataError("a group is listed twice")
    return group


def name_columns(by: tuple[str, ...], sizes: Mapping[Group, int], own: Iterable[str]) -> dict[str, Any]:
    """Return the columns of group names, each repeated for its rows, beside columns of other names."""
    if {*by} & {*own}:
        raise UsageError(
            f"A grouping column has the name of a column of the table ({', '.join(own)}): rename it in the data."
        )
    return {
        column: [(group[at] if at < len(group) else None) or "" for group, size in sizes.items() for _ in range(size)]
        for at, column in enumerate(by)
    }


def _group_columns(release: GroupedRelease) -> Columns:
    """Return the columns of all groups, one below the other: the grouping columns, then those of a release.

    With levels, a column ``level`` follows the grouping columns: how many of them name the group. Totals come first,
    and have no names in the others.
    """
    tables = {group: columns(each) for group, each in release.everything.items()}
    sizes = [len(table["count"]) for table in tables.values()]
    first = next(iter(tables.values()))
    own = ({} if release.levels is None else {_LEVEL: np.repeat([len(group) for group in tables], sizes)}) | first
    names = name_columns(release.by, dict(zip(tables, sizes, strict=True)), own)
    levels = {_LEVEL: own[_LEVEL]} if _LEVEL in own else {}
    return names | levels | {name: np.concatenate([table[name] for table in tables.values()]) for name in first}


GROUPS_TABLE = Table(
    _group_columns,
    RELEASE_TABLE.texts,
    lambda release: {GROUPS_FORMAT.encode(): json.dumps(to_grouped_document(release))},
)


def _is_same_groups(file: pq.ParquetFile, release: GroupedRelease) -> bool:
    columns = _group_columns(release)
    kept = (*release.by, *({_LEVEL} & columns.keys()), "count", "prevalence")
    return holds(file, {name: list(columns[name]) for name in kept})


GROUPS_FILES = document_files(
    GROUPS_FORMAT, "a release of groups", to_grouped_document, from_grouped_document, _is_same_groups
)


WINDOWS_FORMAT = "anonhist/cumulative-release"
_NUMBERS = ("values", "lows", "highs")
_WINDOWS_FIELDS = {
    *("format", "version", "library_version", "guarantee", "mechanism", "reason", "order_key", "where", "thresholds"),
    *("days", "receipt", "by", "groups"),
}


def to_cumulative_document(release: Windows) -> dict[str, Any]:
    """Return the content of a release of cumulative windows as JSON values.

    Fields that groups share are written once; ``groups`` has the numbers of each, with one list per threshold. Without
    groups, ``by`` has no column, and ``groups`` has the one group without names. ``guarantee`` is for people; it
    follows from the mechanism.
    """
    grouped = in_groups(release)
    return {
        "format": WINDOWS_FORMAT,
        "version": 1,
        "library_version": grouped.library_version,
        "guarantee": grouped.guarantee.sentence,
        "mechanism": {"name": grouped.mechanism.name, "parameters": dict(grouped.mechanism.parameters)},
        "reason": grouped.reason,
        "order_key": grouped.order_key,
        "where": grouped.where,
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
    """Rebuild a release of cumulative windows, refusing every value that it cannot have."""
    check_version(document, WINDOWS_FORMAT)
    top = mapping(document, _WINDOWS_FIELDS, "a release of cumulative windows")
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
            numbers = {name: _numbers(own[name], len(days), name) for name in _NUMBERS}
            releases[group] = CumulativeRelease(**shared | numbers)
        found = GroupedCumulativeRelease(by, releases)
    except UsageError as error:
        raise DataError(str(error).removesuffix(".")) from None
    if top["guarantee"] != found.guarantee.sentence:
        raise DataError("the sentence of the guarantee does not match the guarantee")
    return found if by else found.first


def _mechanism(value: object) -> WindowMechanism:
    name, parameters = made_by(value)
    if name not in WINDOW_MECHANISMS:
        raise DataError(f"the mechanism must be one of {', '.join(WINDOW_MECHANISMS)}")
    try:
        return WINDOW_MECHANISMS[name].from_parameters(parameters)
    except UsageError as error:
        raise DataError(f"of the parameters of the mechanism: {str(error).removesuffix('.')}") from None


def _numbers(value: object, days: int, what: str) -> NDArray[np.int64]:
    if not isinstance(value, list) or not value:
        raise DataError(f"{what} must have a list for each threshold")
    rows = [whole(row, what) for row in value]
    if any(row.size != days for row in rows):
        raise DataError(f"{what} must have a number for each day")
    return np.stack(rows)


def _window_columns(release: Windows) -> Columns:
    """Return the names of groups, if there are any, and the days in order for each threshold."""
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


WINDOWS_TABLE = Table(
    _window_columns, metadata=lambda release: {WINDOWS_FORMAT.encode(): json.dumps(to_cumulative_document(release))}
)


def _is_same_windows(file: pq.ParquetFile, release: Windows) -> bool:
    expected = {name: list(column) for name, column in _window_columns(release).items()}
    return file.schema_arrow.names == list(expected) and holds(file, expected)


WINDOWS_FILES = document_files(
    WINDOWS_FORMAT,
    "a release of cumulative windows",
    to_cumulative_document,
    from_cumulative_document,
    _is_same_windows,
)
