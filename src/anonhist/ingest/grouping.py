"""Which group a row is in: the names of its values in the grouping columns, as one text that every engine makes alike.

The text joins the names with a separator. Where a name holds the separator or the sign that escapes it, these are
escaped; a missing value is an escape of its own. So different groups have different texts, and equal ones the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError
from anonhist.ingest.naming import as_text
from anonhist.ingest.random_order import HASH, add_hash
from anonhist.numeric.value_name import value_name

if TYPE_CHECKING:
    from anonhist.profiles.grouped import Group

GROUP = "group"
_SEPARATOR, _ESCAPE = "\x1f", "\x1b"
_ESCAPED_SEPARATOR, _ESCAPED_ESCAPE, _MISSING = f"{_ESCAPE}1", f"{_ESCAPE}2", f"{_ESCAPE}0"
# Between a group and a label; no group holds it, as it holds an escape that is none.
_BEFORE_LABEL = f"{_ESCAPE}3"
_PART = re.compile(r"(day|month)\((.+)\)", re.DOTALL)


class Period(Enum):
    """What of a date a group is made of."""

    DAY = "day"
    MONTH = "month"


@dataclass(frozen=True)
class Part:
    """A grouping column, or the period into which its dates fall.

    Examples
    --------
    >>> Part.of("day(ts)")
    Part(column='ts', period=<Period.DAY: 'day'>)
    >>> Part.of("campaign")
    Part(column='campaign', period=None)
    """

    column: str
    period: Period | None = None

    @classmethod
    def of(cls, given: str) -> Part:
        """Read ``"column"`` or ``"day(column)"``."""
        found = _PART.fullmatch(given)
        return cls(given) if found is None else cls(found[2], Period(found[1]))

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return self.column if self.period is None else f"{self.period.value}({self.column})"


@dataclass(frozen=True)
class Grouping:
    """How rows are put into groups: public choices.

    Attributes
    ----------
    parts
        The grouping columns, at least one.
    listed
        The groups that are released; rows of all others are left out. None for all there are, which are private.
    other
        Whether those are put into one more group instead, :attr:`other_group`.
    groups_per_user, groups_per_label
        In how many groups a user has items, and a label occurs; None for any number.
    """

    parts: tuple[Part, ...]
    listed: tuple[Group, ...] | None
    other: str | None = None
    groups_per_user: int | None = None
    groups_per_label: int | None = None

    @property
    def other_group(self) -> Group | None:
        """The group of all rows of groups that are not listed."""
        return None if self.other is None else (self.other,) * len(self.parts)

    @property
    def groups(self) -> tuple[Group, ...]:
        """All groups that are released, in the order of their names, missing ones first."""
        others = () if self.other_group is None else (self.other_group,)
        return tuple(
            sorted({*(self.listed or ()), *others}, key=lambda group: [(name is not None, name) for name in group])
        )


def parts_of(by: str | Iterable[str]) -> tuple[Part, ...]:
    """Return the grouping columns.

    Raises
    ------
    UsageError
        If there is none, or one is named twice.
    """
    given = [by] if isinstance(by, str) else list(by)
    if not given or not all(isinstance(each, str) and each for each in given):
        raise UsageError("`by` must name the grouping columns, such as 'country' or ['campaign', 'day(ts)'].")
    parts = tuple(Part.of(each) for each in given)
    if len({part.name for part in parts}) < len(parts):
        raise UsageError("`by` names a grouping column twice; leave one out.")
    return parts


def listed_groups(given: Iterable[Any], parts: Sequence[Part]) -> tuple[Group, ...]:
    """Return listed groups by their names.

    Parameters
    ----------
    given
        A value for each group where there is one grouping column, else a sequence of values.

    Raises
    ------
    UsageError
        If there is none, one is listed twice, or one has not as many values as there are grouping columns.

    Examples
    --------
    >>> listed_groups([("spring", 7), ("fall", 8)], (Part("campaign"), Part("day")))
    (('spring', '7'), ('fall', '8'))
    """
    rows = [(each,) if isinstance(each, str) or not isinstance(each, Sequence) else tuple(each) for each in given]
    if not rows:
        raise UsageError("`groups` lists no group: name at least one.")
    if any(len(row) != len(parts) for row in rows):
        names = ", ".join(part.name for part in parts)
        raise UsageError(f"Each group of `groups` must have one value for each grouping column: {names}.")
    named = tuple(tuple(map(value_name, row)) for row in rows)
    # Files hold these names, and terminals show them.
    if not all(name is None or name.isprintable() for group in named for name in group):
        raise UsageError("The names of groups must be printable text, without line feeds and other control characters.")
    if len(set(named)) < len(named):
        raise UsageError("`groups` lists a group twice; numbers and texts that are written alike are the same.")
    return named


def key_of(group: Group) -> str:
    r"""Return the text of a group.

    Examples
    --------
    >>> group_of(key_of(("a\x1f", None))) == ("a\x1f", None)
    True
    """
    return _SEPARATOR.join(
        _MISSING if name is None else name.replace(_ESCAPE, _ESCAPED_ESCAPE).replace(_SEPARATOR, _ESCAPED_SEPARATOR)
        for name in group
    )


def group_of(key: str) -> Group:
    """Return the group of a text."""
    return tuple(
        None if name == _MISSING else name.replace(_ESCAPED_SEPARATOR, _SEPARATOR).replace(_ESCAPED_ESCAPE, _ESCAPE)
        for name in key.split(_SEPARATOR)
    )


def group_names(table: Any, parts: Sequence[Part]) -> dict[str, Any]:
    """Return the columns ``group0``, ``group1``, … of a selection: the names of the grouping columns' values."""
    return {f"{GROUP}{place}": _name_in(table, part) for place, part in enumerate(parts)}


def _name_in(table: Any, part: Part) -> Any:
    import narwhals as nw

    if part.period is None:
        return as_text(table, part.column)
    kind, column = table.collect_schema()[part.column], nw.col(part.column)
    if kind == nw.String:
        return column.str.slice(0, 10 if part.period is Period.DAY else 7)
    if not isinstance(kind, nw.Date | nw.Datetime):
        raise UsageError(f"{part.name} needs a column of dates or times, or of text that begins with YYYY-MM-DD.")
    return column.dt.to_string("%Y-%m-%d" if part.period is not Period.MONTH else "%Y-%m")


def in_groups(rows: Any, grouping: Grouping, *, keep_null: bool) -> Any:
    """Return the rows of groups that are released, with the text of their group instead of its names."""
    import narwhals as nw

    names = [f"{GROUP}{place}" for place in range(len(grouping.parts))]
    if not keep_null:
        rows = rows.filter(~nw.any_horizontal(*(nw.col(name).is_null() for name in names), ignore_nulls=True))
    escaped = (
        nw.when(nw.col(name).is_null())
        .then(nw.lit(_MISSING))
        .otherwise(
            nw.col(name)
            .str.replace_all(_ESCAPE, _ESCAPED_ESCAPE, literal=True)
            .str.replace_all(_SEPARATOR, _ESCAPED_SEPARATOR, literal=True)
        )
        for name in names
    )
    rows = rows.with_columns(nw.concat_str(*escaped, separator=_SEPARATOR).alias(GROUP))
    if grouping.listed is None:
        return rows.select(*(name for name in rows.collect_schema().names() if name not in names))
    is_listed = nw.col(GROUP).is_in([key_of(group) for group in grouping.listed])
    if grouping.other_group is None:
        rows = rows.filter(is_listed)
    else:
        other = nw.lit(key_of(grouping.other_group))
        rows = rows.with_columns(nw.when(is_listed).then(nw.col(GROUP)).otherwise(other).alias(GROUP))
    return rows.select(*(name for name in rows.collect_schema().names() if name not in names))


def place_of_rows(rows: Any) -> Any:
    """Return the rows with a column ``place``: their group and label as one text, so that a hash is of both."""
    import narwhals as nw

    group, label = nw.col(GROUP), nw.col("label")
    place = nw.when(label.is_null()).then(group).otherwise(nw.concat_str(group, nw.lit(_BEFORE_LABEL), label))
    return rows.with_columns(place=place)


def in_few_groups_of_users(rows: Any, most: int, key: str) -> Any:
    """Return the rows in at most so many groups of each user: those whose hashes with the user come first."""
    import narwhals as nw

    rows = add_hash(rows.with_columns(occurrence=nw.lit(0)), key, of=GROUP)
    # With their names, no two groups of a user are equal in this order, whatever their hashes are.
    rows = rows.with_columns(nw.concat_str(nw.col(HASH), nw.col(GROUP)).alias(HASH))
    rows = rows.with_columns(group_rank=nw.col(HASH).rank("dense").over("user"))
    names = [name for name in rows.collect_schema().names() if name not in ("occurrence", "group_rank", HASH)]
    return rows.filter(nw.col("group_rank") <= most).select(names)


def few_groups_of_users(pairs: Any, most: int, key: str) -> Any:
    """Return at most so many pairs (user, group) of each user, chosen by the same hashes."""
    import narwhals as nw

    return _first(add_hash(pairs.with_columns(occurrence=nw.lit(0)), key, of=GROUP), "user", most)


def in_few_groups_of_labels(counted: Any, most: int, key: str) -> Any:
    """Return the rows (group, label, count) in at most so many groups of each label, chosen by hashes of both."""
    import narwhals as nw

    label = nw.col("label")
    # A missing label is one label, which some engines do not compare.
    told = counted.with_columns(
        user_name=nw.when(label.is_null()).then(nw.lit("")).otherwise(label),
        occurrence=nw.when(label.is_null()).then(nw.lit(0)).otherwise(nw.lit(1)),
    )
    return _first(add_hash(told, key, of=GROUP), ("user_name", "occurrence"), most)


def _first(rows: Any, of: str | tuple[str, ...], most: int) -> Any:
    import narwhals as nw

    over = (of,) if isinstance(of, str) else of
    ranked = rows.with_columns(one=nw.lit(1)).with_columns(
        rank=nw.col("one").cum_sum().over(*over, order_by=[HASH, GROUP])
    )
    return ranked.filter(nw.col("rank") <= most)
