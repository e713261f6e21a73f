"""One case: an entrance, a source and a seed; its results on neighbors, and whether they keep the promise."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from anonhist.errors import AnonhistError
from anonhist_testing.way_in.tables import PLACES, UNITS, make_tables

if TYPE_CHECKING:
    from collections.abc import Collection

    from anonhist_testing.way_in.entrances import Entrance, Measure
    from anonhist_testing.way_in.sources import Source
    from anonhist_testing.way_in.tables import Made, Pair, Rows

# The product's messages about values without a name, and about those in JSON lines.
_NAMELESS = ("to whole numbers or text first", "write whole numbers or text")
# A list of groups is public, and does not fit every type of column.
_LIST = "groups lists "
# The product's message if it does not know what is wrong.
_BROKE = "could not be read by the engine"


@dataclass(frozen=True)
class Case:
    """The choices that decide all tables of one case."""

    seed: int
    entrance: Entrance
    source: Source
    beginning: str | None = None
    ending: str | None = None

    def make(self) -> Made:
        """Return the tables, the same at every call."""
        drawn = [self.seed, crc32(self.entrance.name.encode()), crc32(self.source.name.encode())]
        return make_tables(
            self.source,
            self.entrance.roles,
            self.entrance.unit,
            rng=np.random.default_rng(drawn),
            beginning=self.beginning,
            ending=self.ending,
        )

    def replay(self) -> str:
        """Return the command that reads the very same tables again."""
        said = f"--seed {self.seed} --entrance {self.entrance.name!r} --source {self.source.name!r}"
        for option, value in (("beginning", self.beginning), ("ending", self.ending)):
            said += "" if value is None else f" --{option} {value!r}"
        return f"python -m anonhist_testing.way_in.soak {said}"


@dataclass
class Found:
    """The results of the cases of one entrance and one source."""

    pairs: int = 0
    refused: int = 0
    worst: Measure | None = None
    failures: list[str] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Add the results of another case."""
        self.pairs += other.pairs
        self.refused += other.refused
        self.failures += other.failures
        for measure in () if other.worst is None else (other.worst,):
            self.see(measure)

    def see(self, measure: Measure) -> None:
        """Keep the distance that is largest relative to its promise."""
        if self.worst is None or measure.distance * self.worst.promise > self.worst.distance * measure.promise:
            self.worst = measure


@dataclass(frozen=True)
class _Refused:
    """A sentence in place of a result."""

    sentence: str


class _CrashedError(Exception):
    """A reader failed with something other than a sentence."""


def judge(case: Case, *, pairs: Collection[int] | None = None, also_reordered: bool = True) -> Found:
    """Read the tables of a case, and return the results.

    Parameters
    ----------
    case
        The case that decides what is read, and how.
    pairs
        The numbers of the pairs of neighbors to read; all by default.
    also_reordered
        Whether the same rows are read in another order, too.
    """
    made = case.make()
    found = Found()
    with tempfile.TemporaryDirectory(prefix="way-in-") as name:
        folder = Path(name)
        try:
            few = _read(case, made, made.rows, folder / "without")
            if also_reordered:
                again = _read(case, made, made.reordered, folder / "reordered")
                if not _are_of_other_types(case, made, made.reordered, folder, few, again):
                    _judge_order(case, made, few, again, found)
        except _CrashedError as crash:
            found.failures.append(_told(case, made, f"the table without the unit: {crash}"))
            return found
        for number, pair in enumerate(made.pairs):
            if pairs is None or number in pairs:
                _judge_pair(case, made, few, pair, folder / f"pair-{number}", found)
    return found


def judge_in_turn(case: Case, turn: int) -> Found:
    """Judge a case with one unit, in places that take turns, and sometimes in another order, too."""
    return judge(case, pairs=[turn % (UNITS * len(PLACES))], also_reordered=turn % 8 == 0)


def _judge_pair(case: Case, made: Made, few: Any, pair: Pair, folder: Path, found: Found) -> None:
    """Read the table with one extra unit, and compare."""
    what = f"one unit more at the {pair.place} ({len(pair.unit)} rows)"
    try:
        more = _read(case, made, pair.rows, folder)
    except _CrashedError as crash:
        found.failures.append(_told(case, made, f"{what}: {crash}"))
        return
    if isinstance(few, _Refused) or isinstance(more, _Refused):
        found.refused += 1
        if _are_of_other_types(case, made, pair.rows, folder, few, more):
            return
        wrong = _wrongly_refused(case, few, more, is_named=made.is_named(pair.unit, case.entrance.roles))
        if wrong:
            found.failures.append(_told(case, made, f"{what}: {wrong}"))
        return
    found.pairs += 1
    for measure in case.entrance.measures(few, more, len(pair.unit)):
        found.see(measure)
        if measure.distance > measure.promise:
            told = f"{what}: distance {measure.distance:,}, promised {measure.promise:,}"
            found.failures.append(_told(case, made, told))


def _read(case: Case, made: Made, rows: Rows, folder: Path) -> Any:
    folder.mkdir()
    declared = {name: column.declared for name, column in made.columns.items()}
    with case.source.hold(declared, rows, folder) as (source, said), warnings.catch_warnings():
        # Packages that hold tables warn about features that will go away.
        warnings.simplefilter("ignore")
        try:
            return case.entrance.read(source, said, made.groups)
        except AnonhistError as error:
            return _Refused(str(error))
        except Exception as error:
            raise _CrashedError(f"{type(error).__name__}: {str(error)[:200]}") from error


def _judge_order(case: Case, made: Made, few: Any, reordered: Any, found: Found) -> None:
    """Check that the order of rows decides nothing."""
    if isinstance(few, _Refused) or isinstance(reordered, _Refused):
        if _sentence(few) != _sentence(reordered):
            found.failures.append(
                _told(case, made, f"the order of rows decides: {_sentence(few)} / {_sentence(reordered)}")
            )
        return
    for measure in case.entrance.measures(few, reordered, 0):
        if measure.distance:
            found.failures.append(_told(case, made, f"the same rows in another order: distance {measure.distance:,}"))


def _are_of_other_types(case: Case, made: Made, rows: Rows, folder: Path, *results: Any) -> bool:
    """Return whether a table is refused because its types differ from the other's, as pandas infers types from rows.

    The caller decides the types of a table in memory; in two tables of the same types, rows decide nothing.
    """
    if not case.source.infers or not any(isinstance(each, _Refused) for each in results):
        return False
    return _types(case, made, made.rows, folder) != _types(case, made, rows, folder)


def _types(case: Case, made: Made, rows: Rows, folder: Path) -> dict[str, str]:
    declared = {name: column.declared for name, column in made.columns.items()}
    with case.source.hold(declared, rows, folder) as (source, _), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {str(name): str(kind) for name, kind in source.dtypes.items()}


def _wrongly_refused(case: Case, few: Any, more: Any, *, is_named: bool) -> str:
    """Say what is wrong if one of two tables is refused, or both; nothing if a value of the unit has no name."""
    if not is_named and not isinstance(few, _Refused) and any(each in more.sentence for each in _NAMELESS):
        return ""
    sentences = {_sentence(each) for each in (few, more) if isinstance(each, _Refused)}
    if all(each.startswith(_LIST) for each in sentences) and few == more:
        return ""
    if _sentence(few) != _sentence(more):
        return f"one is refused: {_sentence(few)} / {_sentence(more)}"
    if _BROKE in _sentence(few):
        return _sentence(few)
    # Declared types may be refused, but the types of rows may not.
    return "" if case.source.binds else f"refused: {_sentence(few)}"


def _sentence(result: Any) -> str:
    return result.sentence if isinstance(result, _Refused) else "read"


def _told(case: Case, made: Made, what: str) -> str:
    columns = "; ".join(
        f"{name}: {column.begins}, then {column.ends}" + (f" ({column.declared})" if column.declared else "")
        for name, column in made.columns.items()
    )
    return f"{case.entrance.name}, {case.source.name}: {what}\n  {columns}\n  {case.replay()}"
