"""Entrances for data other than events of labels: edges, sketches, counted data, parts, found groups, and reports."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from anonhist.graphs.reading import read_degrees, read_edges
from anonhist.ingest import SparkFiles, read_profile, write_part
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.windows import read_cumulative
from anonhist.local import KRR, OptimizedUnary
from anonhist.local.reading import tally_reports
from anonhist.mechanisms.grouping import FindGroups, GroupSelection
from anonhist.privacy import PrivacyUnit
from anonhist.sketches import HashedSketch
from anonhist.sketches.cluster import ExactPartials
from anonhist.sketches.reading import update_sketch
from anonhist.species.reading import read_sampling_units
from anonhist_testing.way_in.distances import (
    capped_l1,
    changed_edges,
    counters_l1,
    sizes_l1,
    sorted_l1_of_groups,
    sorted_l1_of_profiles,
)
from anonhist_testing.way_in.entrances import DAYS, KEY, THRESHOLDS, Entrance, Measure, of_windows
from anonhist_testing.way_in.tables import Own, Role, Unit, Use
from anonhist_testing.way_in.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.local.survey import Survey
    from anonhist_testing.way_in.sources import Source

    Read = Callable[[Any, dict[str, Any], list[Any]], Any]

_ITEM = PrivacyUnit.item()
_NODE, _WHOLE, _LABEL = Role(Use.WHOLE_NAMES, 20), Role(Use.WHOLE_NAMES, 30), Role(Use.NAMES, 30)
_NAME, _GROUP = Role(Use.NAMES), Role(Use.GROUPS, 8)
_ENDS = {"source": _NODE, "target": _NODE}
# Counts, as whole numbers and as floats; a unit is a row that counts one item, or none.
_COUNTS = Own(
    first=(tuple(range(1, 9)), tuple(map(str, range(1, 9))), (0,)),
    last=(0, 1, 2, 3, 4.0, "5", "0", 10**6),
    units=(1, 1.0, "1", 0),
    kinds=(Kind.WHOLE, Kind.FLOATS),
    may_miss=False,
    # In text, they are written without a point.
    is_usable=lambda value: not isinstance(value, str) or "." not in value,
)
COUNT = Role(Use.OWN, own=_COUNTS)
# If a label is the unit, each row may count any number of items.
_COUNT_OF_LABEL = Role(Use.OWN, own=replace(_COUNTS, units=_COUNTS.last))


# Files of edges have no columns to name.
_COLUMNS = {"origin": "source", "target": "target"}


def _edges(source: Any, said: dict[str, Any], _: list[Any]) -> Any:
    return read_edges(source, **(_COLUMNS | said))


def _degrees(source: Any, said: dict[str, Any], _: list[Any]) -> Any:
    return read_degrees(source, **(_COLUMNS | said)).profile


def _of_edges(few: Any, more: Any, _: int) -> list[Measure]:
    edges, nodes = changed_edges(few, more)
    return [Measure(edges, 1), Measure(nodes, 2)]


def _of_profiles(promise: Callable[[int], int]) -> Callable[[Any, Any, int], list[Measure]]:
    return lambda few, more, rows: [Measure(sorted_l1_of_profiles(few, more), promise(rows))]


EDGES = (
    Entrance("edges", _ENDS, Unit(), _edges, _of_edges, lambda _: True),
    Entrance("degrees", _ENDS, Unit(), _degrees, _of_profiles(lambda _: 2), lambda _: True),
)


def _sketch(unit: PrivacyUnit = _ITEM, **asked: Any) -> Read:
    # It is drawn once: its noise is the same in all readings, and is subtracted.
    sketch = HashedSketch(buckets=1000, epsilon=1, key=b"the way in", unit=unit)

    def counters(source: Any, said: dict[str, Any], _: list[Any]) -> NDArray[np.int64]:
        before = np.array(sketch.counters, dtype=np.int64)
        # If a table is on a cluster, an option says how its partitions are counted.
        is_spark = isinstance(source, SparkFiles) or type(source).__module__.startswith("pyspark")
        partials = ExactPartials() if is_spark else None
        update_sketch(sketch, source, **({"label": "what", "partials": partials} | said | asked))
        return np.array(sketch.counters, dtype=np.int64) - before

    return counters


def _of_counters(most: int) -> Callable[[Any, Any, int], list[Measure]]:
    return lambda few, more, rows: [Measure(counters_l1(few, more), min(most, rows))]


SKETCHES = (
    Entrance("sketch", {"what": _WHOLE}, Unit(), _sketch(), _of_counters(1)),
    Entrance(
        "sketch of users",
        {"who": _NAME, "what": _WHOLE},
        Unit(5, "who"),
        _sketch(PrivacyUnit.user(max_items=2), user="who", order_key=KEY),
        _of_counters(2),
    ),
    Entrance(
        "sketch of counts",
        {"what": _WHOLE, "n": COUNT},
        Unit(),
        _sketch(count="n"),
        _of_counters(1),
    ),
)


def _counted(source: Any, said: dict[str, Any], _: list[Any]) -> Any:
    return read_profile(source, format="counts", **said)


def _counted_groups(source: Any, said: dict[str, Any], groups: list[Any]) -> Any:
    return read_groups(source, format="counts", by="where", groups=groups, **said)


def _counted_windows(source: Any, said: dict[str, Any], _: list[Any]) -> Any:
    windows: dict[str, Any] = {"by": "day(when)", "days": DAYS, "thresholds": THRESHOLDS}
    return read_cumulative(source, label="what", count="n", **windows, **said)


COUNTED = (
    Entrance("counts", {"label": _LABEL, "count": COUNT}, Unit(), _counted, _of_profiles(lambda _: 1)),
    Entrance(
        "counts of groups",
        {"where": _GROUP, "label": _LABEL, "count": COUNT},
        Unit(),
        _counted_groups,
        lambda few, more, _: [Measure(sorted_l1_of_groups(few, more), 1)],
    ),
    Entrance(
        "a column of counts",
        {"what": _LABEL, "n": COUNT},
        Unit(),
        lambda source, said, _: read_profile(source, label="what", count="n", keep_null=True, **said),
        _of_profiles(lambda _: 1),
    ),
    Entrance(
        "a column of counts of groups of labels",
        {"where": _GROUP, "what": _LABEL, "n": _COUNT_OF_LABEL},
        Unit(6, "what"),
        lambda source, said, groups: read_groups(
            source,
            label="what",
            count="n",
            by="where",
            groups=groups,
            unit=PrivacyUnit.label(max_count=5),
            max_groups_per_label=1,
            order_key=KEY,
            **said,
        ),
        lambda few, more, rows: [Measure(capped_l1(few, more, 5), min(1, rows))],
    ),
    Entrance(
        "a column of counts in cumulative windows",
        {"when": Role(Use.DATES), "what": _LABEL, "n": COUNT},
        Unit(),
        _counted_windows,
        of_windows(1, len(THRESHOLDS), len(DAYS)),
    ),
)


def _parts(**asked: Any) -> Read:
    """Return a function that reads a source as two parts: each row is in both."""

    def read(source: Any, said: dict[str, Any], _: list[Any]) -> Any:
        with tempfile.TemporaryDirectory(prefix="way-in-") as folder:
            for day in ("monday", "tuesday"):
                write_part(source, f"{folder}/{day}.counts", label="what", **said, **asked)
            return read_profile(f"{folder}/*.counts")

    return read


# In parts, users are text or whole numbers: other types are refused.
_USER_OF_PARTS = Role(Use.WHOLE_NAMES, kinds=(Kind.TEXT, Kind.WHOLE))
PARTS = (
    Entrance("parts", {"what": _LABEL}, Unit(), _parts(keep_null=True), _of_profiles(lambda _: 2)),
    Entrance(
        "parts with hashes",
        {"what": _LABEL},
        Unit(),
        _parts(hash_labels=True, order_key=KEY),
        _of_profiles(lambda _: 2),
    ),
    Entrance(
        "parts of counts",
        {"what": _LABEL, "n": COUNT},
        Unit(),
        _parts(count="n", keep_null=True),
        _of_profiles(lambda _: 2),
    ),
    Entrance(
        "parts of users",
        {"who": _USER_OF_PARTS, "what": _LABEL},
        Unit(5, "who"),
        _parts(user="who", max_per_user=2, order_key=KEY),
        _of_profiles(lambda rows: min(2, 2 * rows)),
    ),
)


def _found(**asked: Any) -> Read:
    """Return a function that reads the groups of a source, which are all found: their units and their profiles."""

    def read(source: Any, said: dict[str, Any], _: list[Any]) -> tuple[NDArray[np.int64], dict[Any, Any]]:
        units = []

        def keep_all(_: Any, counted: NDArray[np.int64], **__: Any) -> NDArray[np.bool_]:
            units.append(counted)
            return np.ones(counted.size, dtype=np.bool_)

        finding = FindGroups(epsilon=1, delta="1e-6")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(GroupSelection, "select", keep_all)
            read = read_groups(source, label="what", by="where", groups=finding, other="all others", **said, **asked)
        return units[0], dict(read)

    return read


def _of_found(most: int) -> Callable[[Any, Any, int], list[Measure]]:
    def measures(few: Any, more: Any, rows: int) -> list[Measure]:
        found = [Measure(sizes_l1(few[0], more[0]), min(most, rows))]
        # Finding groups is a release of its own: items are compared if it found the same groups.
        if set(few[1]) == set(more[1]):
            found.append(Measure(sorted_l1_of_groups(few[1], more[1]), min(most, rows)))
        return found

    return measures


FOUND = (
    Entrance("found groups", {"where": _GROUP, "what": _LABEL}, Unit(), _found(), _of_found(1)),
    Entrance(
        "found groups of counts", {"where": _GROUP, "what": _LABEL, "n": COUNT}, Unit(), _found(count="n"), _of_found(1)
    ),
    Entrance(
        "found groups of users",
        {"where": _GROUP, "who": _NAME, "what": _LABEL},
        Unit(5, "who"),
        _found(user="who", max_per_user=2, order_key=KEY),
        _of_found(2),
    ),
)


def _units(**asked: Any) -> Read:
    def read(source: Any, said: dict[str, Any], _: list[Any]) -> Any:
        how = {"layout": "long", "sampling_unit": "plot", "species": "what"}
        return read_sampling_units(source, **(how | said | asked))

    return read


def _of_units(few: Any, more: Any, rows: int) -> list[Measure]:
    """Measure the counts of all species, which bounds can but lower, and the number of units."""
    counts = [Counter(each for found in units.species for each in found) for units in (few, more)]
    changed = sum(abs(counts[0][species] - counts[1][species]) for species in counts[0] | counts[1])
    return [Measure(changed, rows), Measure(abs(len(more.species) - len(few.species)), min(1, rows))]


# Sampling units are read from no table of a database by its name, and from no lines of JSON.
_BY_NAME_OR_LINES = ("json", "postgresql", "spark", "sqlite")


def _is_file_or_table(source: Source) -> bool:
    """Return whether it is one file, or a table of which the rows have an order."""
    is_file = source.name in ("csv", "tsv", "parquet")
    return is_file or not (source.has_address or source.of_edges or source.name.startswith(_BY_NAME_OR_LINES))


_LINE_NAME, _LINE_LABEL = Role(Use.NAMES, in_lines=True), Role(Use.NAMES, 30, in_lines=True)
SPECIES = (
    Entrance(
        "sampling units",
        {"plot": _LINE_NAME, "what": _LINE_LABEL},
        Unit(5, "plot"),
        _units(data="incidence-raw"),
        _of_units,
        _is_file_or_table,
    ),
    Entrance(
        "sampling units with counts",
        {"plot": _LINE_NAME, "what": _LINE_LABEL, "n": COUNT},
        Unit(5, "plot"),
        _units(data="incidence-counts", count="n"),
        _of_units,
        _is_file_or_table,
    ),
)


def _tally(survey: Survey, unique: str | None = None) -> Read:
    def read(source: Any, _: dict[str, Any], __: list[Any]) -> Any:
        return tally_reports(survey, source, unique=unique, skip_bad=10**6)

    return read


def _of_reports(survey: Survey, cells_per_report: int) -> Callable[[Any, Any, int], list[Measure]]:
    """Measure how many reports were counted, and in how many cells one report is seen."""

    def measures(few: Any, more: Any, _: int) -> list[Measure]:
        cells = counters_l1(*(each.dense(survey.cells) for each in (few, more)))
        return [Measure(abs(more.users - few.users), 1), Measure(cells, cells_per_report)]

    return measures


def _reports(
    survey: Survey,
    cells_per_report: int,
    firsts: tuple[tuple[Any, ...], ...],
    others: tuple[Any, ...],
    kinds: tuple[Kind, ...],
) -> Entrance:
    """Return the entrance of reports, some of which are invalid for this survey and are left out."""
    column = survey.columns[0].name
    of_survey = Own(((survey.digest,),), (survey.digest, "0" * 32), (survey.digest, None), (Kind.TEXT,), may_miss=True)
    of_report = Own(firsts, (*firsts[0], *others), (*firsts[0], *others, *[None] * 4), kinds, may_miss=True)
    return Entrance(
        f"reports of {survey.name}",
        {"survey": Role(Use.OWN, own=of_survey), column: Role(Use.OWN, own=of_report)},
        Unit(),
        _tally(survey),
        _of_reports(survey, cells_per_report),
        _holds_reports,
    )


# One row more adds a report, or takes out the one with its identifier.
_NUMBERS, _TEXTS = tuple(range(300)), tuple(f"{at:x}" for at in range(300))
_OF_IDENTIFIER = Own(
    (_NUMBERS, _TEXTS),
    (*_NUMBERS, *_TEXTS),
    (*_NUMBERS[:9], *_TEXTS[:9], 300, 301, "x", 2.5, None),
    (Kind.WHOLE, Kind.TEXT),
    may_miss=True,
)


def _once(reports: Entrance, survey: Survey) -> Entrance:
    """Return the entrance of reports that are counted once for each identifier."""
    roles = {**reports.roles, "id": Role(Use.OWN, own=_OF_IDENTIFIER)}
    return replace(reports, name=f"{reports.name}, each once", roles=roles, read=_tally(survey, "id"))


def _holds_reports(source: Source) -> bool:
    """Return whether a source is a file or a table: not a database by its address, nor files that Spark reads."""
    is_database = source.has_address and source.name.startswith(("sqlite", "duckdb", "postgresql"))
    return not is_database and not source.of_edges and not source.name.startswith("spark of ")


_KRR, _UNARY = KRR(alphabet=6, epsilon=1), OptimizedUnary(alphabet=6, epsilon=1)
_OF_SURVEYS = (
    _reports(
        _KRR,
        1,
        (tuple(range(6)), (None,), tuple("012345")),
        (6, -1, "3", "x", 2.0, 2.5, 10**12),
        (Kind.WHOLE, Kind.TEXT),
    ),
    _reports(_UNARY, 6, (("00", "14", "3f"), (None,)), ("ff", "", "0", "zz", 14, 3), (Kind.TEXT,)),
)
REPORTS = (*_OF_SURVEYS, _once(_OF_SURVEYS[0], _KRR))
