"""Tables that differ by one unit: columns that begin uniformly and end differently, and the rows that a unit adds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from itertools import product
from typing import TYPE_CHECKING, Any

from anonhist_testing.way_in.values import (
    BASICS,
    BEGINNINGS,
    BEGINNINGS_OF_DATES,
    ENDINGS,
    FRESH,
    NAMELESS,
    TWINS,
    Kind,
    distinct,
    has_name,
    name_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from anonhist_testing.way_in.sources import Source

_DAY = date(2027, 2, 3)
# The number of units that are tried in each place.
UNITS = 2
PLACES = ("beginning", "middle", "end")
# No library looks at more than 100 rows to find a type, and beginnings are no shorter.
SHORTEST_BEGINNING, LONGEST_BEGINNING = 100, 150
SHORTEST_ENDING, LONGEST_ENDING = 50, 250


class Use(Enum):
    """What a column is read for."""

    #: Users, and labels of profiles.
    NAMES = "names"
    #: Nodes, and labels of sketches, which must be whole if they are numbers.
    WHOLE_NAMES = "names that are whole if they are numbers"
    GROUPS = "groups"
    DATES = "dates"
    ORDER = "order"
    #: Something of its own, such as counts.
    OWN = "its own"


@dataclass(frozen=True)
class Own:
    """Values of a column that holds neither names nor dates: at beginnings of several types, at the end, in units."""

    first: tuple[tuple[Any, ...], ...]
    last: tuple[Any, ...]
    units: tuple[Any, ...]
    kinds: tuple[Kind, ...]
    may_miss: bool
    is_usable: Callable[[Any], bool] = lambda _: True

    def held(self, values: tuple[Any, ...], source: Source, declared: str) -> list[Any]:
        """Return values as they are held, without those that the reader refuses."""
        fitting = distinct(source.fit(value, declared) for value in values)
        return [value for value in fitting if (self.may_miss if value is None else self.is_usable(value))]


@dataclass(frozen=True)
class Role:
    """A column that a reader asks for, and how many values it holds at most in its ending.

    ``in_lines`` says that the reader refuses values with line ends.
    """

    use: Use
    few: int = 24
    own: Own | None = None
    kinds: tuple[Kind, ...] = tuple(Kind)
    in_lines: bool = False


@dataclass(frozen=True)
class Unit:
    """The unit by which neighbors differ: some rows, with a value of their own in one column, or in none."""

    most_rows: int = 1
    own: str | None = None


@dataclass(frozen=True)
class Column:
    """A column of one case: its declaration, its beginning and ending, and its values, as they are held."""

    declared: str
    begins: str
    ends: str
    first: list[Any] = field(repr=False)
    last: list[Any] = field(repr=False)

    @property
    def pool(self) -> list[Any]:
        """All values that it may hold, except those of units."""
        return [*self.first, *self.last]


Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Pair:
    """A table with one extra unit, and the place of that unit."""

    place: str
    unit: Rows
    rows: Rows = field(repr=False)


@dataclass(frozen=True)
class Made:
    """The tables of one case: one without the unit, the same in another order, and those with the unit."""

    columns: dict[str, Column]
    rows: Rows = field(repr=False)
    reordered: Rows = field(repr=False)
    pairs: tuple[Pair, ...]
    groups: list[Any]

    def is_named(self, rows: Rows, roles: Mapping[str, Role]) -> bool:
        """Return whether all values of some rows have names, if names are needed."""
        asked = [(place, role) for place, role in enumerate(roles.values()) if role.use in _NAMED]
        return all(has_name(row[at], only_whole=role.use is Use.WHOLE_NAMES) for row in rows for at, role in asked)


_NAMED = (Use.NAMES, Use.WHOLE_NAMES, Use.GROUPS)


def make_tables(
    source: Source,
    roles: Mapping[str, Role],
    unit: Unit,
    *,
    rng: np.random.Generator,
    beginning: str | None = None,
    ending: str | None = None,
) -> Made:
    """Return the tables of one case.

    Parameters
    ----------
    source
        The source that holds them, which decides what values they may hold.
    roles
        The columns that are read.
    unit
        The unit by which neighbors differ.
    rng
        The generator of all choices.
    beginning, ending
        How at least one column, and most others, begin and end; drawn by default.
    """
    chosen = {"begins": beginning or _any(rng, BEGINNINGS), "ends": ending or _any(rng, ENDINGS)}
    focus = int(rng.integers(len(roles)))
    columns = {}
    for place, (name, role) in enumerate(roles.items()):
        kept = {key: value for key, value in chosen.items() if place == focus or rng.random() < 0.6}
        own = {"begins": _any(rng, BEGINNINGS), "ends": _any(rng, ENDINGS)} | kept
        columns[name] = _column(source, role, rng, has_units=name == unit.own, **own)
    rows = _rows(columns, roles, rng)
    pairs = tuple(_pair(place, source, columns, roles, unit, rows, rng) for place in PLACES for _ in range(UNITS))
    reordered = [rows[place] for place in rng.permutation(len(rows))]
    return Made(columns, rows, reordered, pairs, _groups(source, columns, roles))


def _any(rng: np.random.Generator, of: Mapping[str, Any]) -> str:
    return list(of)[int(rng.integers(len(of)))]


def _column(source: Source, role: Role, rng: np.random.Generator, *, begins: str, ends: str, has_units: bool) -> Column:
    if role.own is not None:
        return _own_column(source, role.own, rng)
    beginnings = BEGINNINGS
    if role.use is Use.DATES:
        beginnings, ends = BEGINNINGS_OF_DATES, "dates and their text" if rng.random() < 0.8 else ends
    refused = {kind for kind in Kind if not _may_be(kind, role, has_units=has_units)}
    if begins not in beginnings or (source.kinds is not None and not _kinds(source, beginnings[begins].kinds, refused)):
        begins = "missing"
    declared = source.declare(_kinds(source, beginnings[begins].kinds, refused), rng)

    def held(values: Any) -> list[Any]:
        fitting = [source.fit(value, declared) for value in values]
        return distinct(value for value in fitting if value is not None and _is_usable(value, role))

    first = held(beginnings[begins].values)
    last = held(ENDINGS[ends](rng, role.few))
    if ends != "all missing" and rng.random() < 0.7:
        last = distinct([*last[: role.few // 2], *held(TWINS(rng, role.few // 2))])
    if source.kinds is not None and len(last) < 4 and ends != "all missing":
        last = distinct([*last, *held(BASICS[Kind(declared)])])[: role.few]
    return Column(declared, begins, ends, first or [None], last or [None])


def _own_column(source: Source, own: Own, rng: np.random.Generator) -> Column:
    declared = source.declare(_kinds(source, own.kinds, set()), rng)
    beginnings = [own.held(values, source, declared) for values in own.first]
    beginnings = [values for values in beginnings if values]
    first, last = beginnings[int(rng.integers(len(beginnings)))], own.held(own.last, source, declared)
    return Column(declared, "its own", "its own", first, last)


def _kinds(source: Source, of_beginning: tuple[Kind, ...], refused: set[Kind]) -> tuple[Kind, ...]:
    kinds = tuple(Kind) if source.kinds is None else source.kinds
    return tuple(kind for kind in kinds if kind in of_beginning and kind not in refused)


def _may_be(kind: Kind, role: Role, *, has_units: bool) -> bool:
    """Return whether a column of that type may be read for this role."""
    if kind not in role.kinds:
        return False
    if role.use is Use.DATES:
        return kind in (Kind.TEXT, Kind.DATES, Kind.TIMES)
    if role.use is Use.GROUPS:
        return kind is not Kind.TIMES
    # Two truth values leave none for an extra user.
    return not (has_units and kind is Kind.TRUTH)


def _is_usable(value: Any, role: Role) -> bool:
    """Return whether a value is not refused in this role."""
    if role.in_lines and isinstance(value, str) and not {"\n", "\r"}.isdisjoint(value):
        return False
    return role.use not in _NAMED or has_name(value, only_whole=role.use is Use.WHOLE_NAMES)


def _rows(columns: dict[str, Column], roles: Mapping[str, Role], rng: np.random.Generator) -> Rows:
    beginning = int(rng.integers(SHORTEST_BEGINNING, LONGEST_BEGINNING + 1))
    ending = int(rng.integers(SHORTEST_ENDING, LONGEST_ENDING + 1))
    held = [
        [
            *(column.first[place] for place in rng.integers(len(column.first), size=beginning)),
            *(column.last[place] for place in rng.integers(len(column.last), size=ending)),
        ]
        for column in columns.values()
    ]
    for values, role in zip(held, roles.values(), strict=True):
        # Half of the columns miss nothing: one missing value may decide, too.
        if rng.random() < 0.5 or (role.own is not None and not role.own.may_miss):
            continue
        for place in beginning + rng.permutation(ending)[: int(rng.integers(ending // 6 + 1))]:
            values[place] = None
    rows = list(zip(*held, strict=True))
    return [rows[place] for place in rng.permutation(len(rows))] if rng.random() < 0.1 else rows


def _pair(
    place: str,
    source: Source,
    columns: dict[str, Column],
    roles: Mapping[str, Role],
    unit: Unit,
    rows: Rows,
    rng: np.random.Generator,
) -> Pair:
    """Return the table with one extra unit, at this place or from there on."""
    own = [] if unit.own is None else _own_values(source, columns[unit.own], roles[unit.own], rng)
    added: Rows = []
    for _ in range(int(rng.integers(1, unit.most_rows + 1))):
        values = {name: _unit_value(source, column, roles[name], rng) for name, column in columns.items()}
        if unit.own is not None:
            values[unit.own] = own[int(rng.integers(len(own)))]
        added.append(tuple(values.values()))
    first = {"beginning": 0, "middle": int(rng.integers(1, len(rows))), "end": len(rows)}[place]
    places = [first] * len(added)
    if rng.random() < 0.3:
        places[1:] = [int(at) for at in rng.integers(len(rows) + 1, size=len(added) - 1)]
    whole = list(rows)
    for at, row in sorted(zip(places, added, strict=True), key=lambda each: -each[0]):
        whole.insert(at, row)
    return Pair(place, added, whole)


def _own_values(source: Source, column: Column, role: Role, rng: np.random.Generator) -> list[Any]:
    """Return the forms of a value that no other row has, all with one name."""
    there = {str(name_of(value)).lower() for value in column.pool}
    for place in rng.permutation(len(FRESH)):
        forms = [source.fit(form, column.declared) for form in FRESH[place]]
        forms = [form for form in forms if form is not None and _is_usable(form, role)]
        if forms and str(name_of(forms[0])).lower() not in there:
            if isinstance(forms[0], float) and rng.random() < 0.05:
                return [NAMELESS[0]]
            return [form for form in forms if name_of(form) == name_of(forms[0])]
    raise AssertionError(f"no value is new to a column declared as {column.declared!r}")


def _unit_value(source: Source, column: Column, role: Role, rng: np.random.Generator) -> Any:
    """Return a value for a unit's row: one that others have, or none, or one of any type."""
    if role.own is not None:
        held = role.own.held(role.own.units, source, column.declared)
        return held[int(rng.integers(len(held)))]
    draw = rng.random()
    if draw < 0.12:
        return None
    if draw < 0.15 and role.use in _NAMED:
        return source.fit(NAMELESS[int(rng.integers(len(NAMELESS)))], column.declared)
    if draw < 0.4:
        values: list[Any] = column.pool
    else:
        values = [source.fit(forms[0], column.declared) for forms in FRESH]
        values = [value for value in values if value is not None and _is_usable(value, role)] or column.pool
    return values[int(rng.integers(len(values)))]


def _is_listable(value: Any) -> bool:
    """Return whether there is a value that names a group: plain text, or something else."""
    return value is not None and (not isinstance(value, str) or (value.isprintable() and bool(value.strip())))


def _groups(source: Source, columns: dict[str, Column], roles: Mapping[str, Role]) -> list[Any]:
    """Return a public list of groups, which types and possible values decide, and no row."""
    listed = []
    for name, role in roles.items():
        if role.use is Use.GROUPS:
            declared = columns[name].declared
            fallback = [source.fit(value, declared) for value in ("none such", 12345, _DAY)]
            values = [source.listed(value, declared) for value in [*fallback, *columns[name].pool]]
            listed.append(distinct(value for value in values if _is_listable(value))[-6:])
    if not listed:
        return []
    return [each[0] if len(each) == 1 else each for each in product(*listed)]
