"""The group of a row: the names of its values in the grouping columns, as one text that is the same on every engine.

The text joins the names with a separator; in names, the separator and the escape character are escaped; a missing value
is a separate escape. So groups have the same text if and only if they are equal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from unicodedata import category

from anonhist.errors import UsageError
from anonhist.ingest.group_values import Part, ValueKind
from anonhist.ingest.naming import NAMED
from anonhist.ingest.periods import Period, in_utc, with_weeks
from anonhist.ingest.random_order import HASH, add_hash
from anonhist.ingest.warehouses import with_query_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from anonhist.profiles.grouped import Group

GROUP = "group"
# The group by all columns, beside the one by the first columns.
OWN_GROUP = "own_group"
# For cumulative windows, which are counted on each day.
DAY = "at_day"
_SEPARATOR, _ESCAPE = "\x1f", "\x1b"
_ESCAPED_SEPARATOR, _ESCAPED_ESCAPE, _MISSING = f"{_ESCAPE}1", f"{_ESCAPE}2", f"{_ESCAPE}0"
_UNSHOWN = {"Cc", "Cs", "Zl", "Zp"}
_TURNING = {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}
# Between a group and a label; no group contains it, because it contains an invalid escape.
_BEFORE_LABEL = f"{_ESCAPE}3"


@dataclass(frozen=True)
class Grouping:
    """How rows are put into groups: public choices.

    ``listed`` has the groups that are released (all other rows are left out), or None for all existing groups, which
    are private; ``other`` puts the other rows into one more group. ``depth`` groups by the first columns only; all
    columns still determine which rows are left out. Bounds that are None allow any number.
    """

    parts: tuple[Part, ...]
    listed: tuple[Group, ...] | None
    other: str | None = None
    groups_per_user: int | None = None
    groups_per_label: int | None = None
    depth: int | None = None

    def above(self, depth: int) -> Grouping:
        """Return the grouping of the same rows by the first columns, with bounds of at most the number of groups."""
        grouping = replace(self, depth=depth)
        most = len(grouping.groups)
        of_user, of_label = (None if g is None else min(g, most) for g in (self.groups_per_user, self.groups_per_label))
        return replace(grouping, groups_per_user=of_user, groups_per_label=of_label)

    @property
    def has_one_sample(self) -> bool:
        """Whether this is a level above, with the rows of each user that count on the last level."""
        return self.depth is not None and self.groups_per_user is None

    @property
    def by_value(self) -> dict[str, bool]:
        """The columns whose values name groups; fractions may do so, too. In the form of ``name_columns``."""
        return {part.column: False for part in self.parts if part.period is None}

    @property
    def other_group(self) -> Group | None:
        """The group of all rows whose groups are not listed."""
        return None if self.other is None else (self.other,) * len(self.parts)

    @property
    def groups(self) -> tuple[Group, ...]:
        """All released groups, in the order of the list, with the group of all others last."""
        others = () if self.other_group is None else (self.other_group,)
        return tuple(dict.fromkeys(group[: self.depth] for group in (*(self.listed or ()), *others)))

    def of_listed(self, listed: tuple[Group, ...]) -> Grouping:
        """Return the grouping into listed groups."""
        if self.other_group in listed:
            raise UsageError("The group of all others has the name of a listed group: give it another name.")
        return replace(self, listed=listed)

    def check_totals(self) -> None:
        """Refuse a group of all others that would be part of a listed total, because it has the same first name."""
        listed = {group[0] for group in self.listed or ()}
        if len(self.parts) > 1 and self.other is not None and self.other in listed:
            raise UsageError(
                f"The group of all others, {self.other!r}, would be counted in the total of the listed groups of this "
                "name: give it another name."
            )

    def check_roles(self, roles: Mapping[str | None, str]) -> None:
        """Refuse grouping by the values of a column that has another role."""
        for name in self.by_value:
            if name in roles:
                raise UsageError(
                    f"The grouping column {name!r} is the {roles[name]} column, too: group by another column."
                )

    def of_found(self, found: tuple[Group, ...], *, have_totals: bool) -> Grouping:
        """Return the grouping into found groups; one named like the group of all others joins it, and is not listed.

        With totals, so does a group with the same first name, in whose total the others would be counted. It is not
        refused, because the budget that found it is spent. Groups are listed in the order of their names, because the
        order of the data is private.
        """
        depth = 1 if have_totals else None
        others = None if self.other_group is None else self.other_group[:depth]
        return replace(self, listed=tuple(group for group in sorted(found, key=_order) if group[:depth] != others))

    def key_of(self, group: Group) -> str:
        """Return the text of a group in queries, also for a group of fewer columns."""
        return key_of(tuple(part.key_of(name) for part, name in zip(self.parts, group, strict=False)))

    def group_of(self, key: str) -> Group:
        """Return the group of a text in queries."""
        return tuple(part.name_at(name) for part, name in zip(self.parts, group_of(key), strict=False))


#: All rows are in one group, without columns.
UNGROUPED = Grouping((), ((),))


def parts_of(by: str | Iterable[str]) -> tuple[Part, ...]:
    """Return the grouping columns, at least one and each once."""
    given = [by] if isinstance(by, str) else list(by)
    if not given or not all(isinstance(each, str) and each for each in given):
        raise UsageError("`by` must name the grouping columns, such as 'country' or ['campaign', 'day(ts)'].")
    parts = tuple(Part.of(each) for each in given)
    if len({part.name for part in parts}) < len(parts):
        raise UsageError("`by` names a grouping column twice; leave one out.")
    return parts


def listed_groups(
    rows: Iterable[tuple[Any, ...]], parts: Sequence[Part], kinds: Sequence[ValueKind], *, keep_null: bool
) -> tuple[Group, ...]:
    """Return listed groups by their names; refuse one that is listed twice, or that no row can be in.

    Each of ``rows`` has a value for each part; with ``keep_null``, rows without a value are in a group.
    """
    named = tuple(
        tuple(part.listed_name(value, kind) for value, part, kind in zip(row, parts, kinds, strict=True))
        for row in rows
    )
    missing = next((row for row, group in enumerate(named, start=1) if None in group), None)
    if not keep_null and missing is not None:
        raise UsageError(
            f"`groups` lists a missing value in row {missing:,}, which makes a group only with `keep_null`: leave the "
            "row out if it is empty."
        )
    refused = next((group for group in named if not is_shown_as_written(group)), None)
    if refused is not None:
        raise UsageError(
            f"The group {refused!a:.200} has a name with line feeds or other control characters: names of groups must "
            "be plain text."
        )
    if len(set(named)) < len(named):
        raise UsageError("`groups` lists a group twice; numbers, dates and texts that are written alike are the same.")
    return named


_NUMBER, _DIGITS = re.compile(r"-?[0-9]+(\.[0-9]+)?"), re.compile(r"([0-9]+)")


def _order(group: Group) -> list[tuple[Any, ...]]:
    """Return the sort key of a group: missing names, then numbers, then text, in which digits sort as numbers."""
    return [(0,) if name is None else _order_of_name(name) for name in group]


def _order_of_name(name: str) -> tuple[Any, ...]:
    if _NUMBER.fullmatch(name):
        return 1, Decimal(name), name
    # Every second part consists of digits: longer ones are larger.
    parts = _DIGITS.split(name)
    parts[1::2] = [(len(digits := part.lstrip("0")), digits) for part in parts[1::2]]
    return 2, parts, name


def is_shown_as_written(group: Group) -> bool:
    """Return whether files can hold the names of a group, and terminals show them as written.

    Control characters, line ends, lone surrogates and marks that change the direction of a whole line are refused;
    spaces of all widths and the joiners of Persian words and of emoji are not.
    """
    return not any(category(sign) in _UNSHOWN or sign in _TURNING for name in group if name for sign in name)


def key_of(group: Group) -> str:
    """Return the text of a group; :func:`group_of` inverts it."""
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


def with_periods(table: Any, parts: Sequence[Part]) -> Any:
    """Return a table with dates that :func:`group_keys` can put into periods."""
    dated = [part for part in parts if part.period is not None]
    if not dated:
        return table
    utc = in_utc(table, [part.column for part in dated])
    return with_weeks(utc, {part.name: (part.column, part.told) for part in dated if part.period is Period.WEEK})


def group_keys(table: Any, parts: Sequence[Part]) -> dict[str, Any]:
    """Return the columns ``group0``, ``group1``, … of a selection: the keys of the grouping columns' values."""
    return {f"{GROUP}{place}": part.keys(table) for place, part in enumerate(parts)}


def in_groups(rows: Any, grouping: Grouping, *, keep_null: bool) -> Any:
    """Return the rows of released groups, with the text of their group in place of its names.

    On a level above, rows of users bounded in all groups together have their :data:`OWN_GROUP`, too.
    """
    import narwhals as nw

    names = [f"{GROUP}{place}" for place in range(len(grouping.parts))]
    if (plain := _plain_names(grouping)) is not None:
        # Escaping every name of every row takes longer than counting them.
        kept = [name for name in rows.collect_schema().names() if name not in names]
        return rows.filter(nw.col(names[0]).is_in(plain)).select(*kept, nw.col(names[0]).alias(GROUP))
    if not keep_null:
        rows = rows.filter(~nw.any_horizontal(*(nw.col(name).is_null() for name in names), ignore_nulls=True))
    escaped = [
        nw.when(nw.col(name).is_null())
        .then(nw.lit(_MISSING))
        .otherwise(
            nw.col(name)
            .str.replace_all(_ESCAPE, _ESCAPED_ESCAPE, literal=True)
            .str.replace_all(_SEPARATOR, _ESCAPED_SEPARATOR, literal=True)
        )
        for name in names
    ]
    rows = rows.with_columns(nw.concat_str(*escaped, separator=_SEPARATOR).alias(GROUP))
    group = own = nw.col(GROUP)
    if grouping.depth is not None:
        first = escaped[: grouping.depth]
        group = nw.concat_str(*first, separator=_SEPARATOR) if first else nw.lit(key_of(()))
    if grouping.listed is not None:
        is_listed = nw.col(GROUP).is_in([grouping.key_of(listed) for listed in grouping.listed])
        if grouping.other_group is None:
            rows = rows.filter(is_listed)
        else:
            others = [nw.lit(grouping.key_of(grouping.other_group[:end])) for end in (grouping.depth, None)]
            group, own = (
                nw.when(is_listed).then(each).otherwise(other) for each, other in zip((group, own), others, strict=True)
            )
    # SQLite limits the depth of nested queries, so there is no unnecessary step.
    kept = [name for name in rows.collect_schema().names() if name not in (*names, GROUP)]
    owned = [own.alias(OWN_GROUP)] if "user" in kept and grouping.has_one_sample else []
    return rows.select(*kept, group.alias(GROUP), *owned)


def _plain_names(grouping: Grouping) -> list[str] | None:
    """Return the query texts of the listed groups, if only they are released and each is its own text; or None."""
    if grouping.listed is None or grouping.other is not None or grouping.depth is not None or len(grouping.parts) > 1:
        return None
    (part,) = grouping.parts
    keys = [part.key_of(name) for (name,) in grouping.listed]
    plain = [key for key in keys if key is not None and key_of((key,)) == key]
    return plain if len(plain) == len(keys) else None


def place_of_rows(rows: Any, of: Sequence[str]) -> Any:
    """Return the rows with a column ``place``: their group and label as one text, so that a hash covers both.

    ``of`` names the columns of their group and day.
    """
    import narwhals as nw

    names, label = [*map(nw.col, of)], nw.col("label")
    group = names[0] if len(names) == 1 else nw.concat_str(*names, separator=_SEPARATOR)
    place = nw.when(label.is_null()).then(group).otherwise(nw.concat_str(group, nw.lit(_BEFORE_LABEL), label))
    return rows.with_columns(place=place)


def in_few_groups_of_users(rows: Any, most: int, key: str) -> Any:
    """Return the rows in a bounded number of groups per user: the groups with the smallest hashes with the user."""
    import narwhals as nw

    rows = add_hash(with_query_name(rows, "rows_in_groups").with_columns(occurrence=nw.lit(0)), key, of=GROUP)
    rows = _ranked(rows, "user")
    names = [name for name in rows.collect_schema().names() if name not in ("occurrence", "group_rank", HASH)]
    is_kept = nw.col("group_rank") <= most
    # Values without names are refused, whatever groups are chosen.
    return rows.filter(is_kept | (nw.col(NAMED) == 0) if NAMED in names else is_kept).select(names)


def _ranked(rows: Any, *within: str) -> Any:
    """Return the rows with the rank of their group, ``group_rank``, by its hash; names break ties of hashes."""
    import narwhals as nw

    if not rows.implementation.is_ibis():
        hashed = nw.concat_str(nw.col(HASH), nw.col(GROUP))
        return rows.with_columns(group_rank=hashed.rank("dense").over(*within))
    import ibis

    # Ibis gives ClickHouse a frame of rows, which ranks ties differently, unless a range frame is requested.
    native = rows.to_native()
    order = native[HASH] + native[GROUP]
    window = ibis.range_window(preceding=None, following=0, group_by=within, order_by=order)
    return nw.from_native(native.mutate(group_rank=ibis.dense_rank().over(window) + 1))


def few_groups_of_users(pairs: Any, most: int, key: str) -> Any:
    """Return a bounded number of pairs (user, group) per user, chosen by the same hashes."""
    import narwhals as nw

    return _first(add_hash(pairs.with_columns(occurrence=nw.lit(0)), key, of=GROUP), "user", most)


def in_few_groups_of_labels(counted: Any, most: int, key: str, *, first: Any = None) -> Any:
    """Return the rows (group, label, count) in a bounded number of groups per label, by hashes of both.

    Rows that satisfy ``first`` come before all others.
    """
    import narwhals as nw

    hashed = add_hash(_named_labels(counted), key, of=GROUP)
    if first is not None:
        hashed = hashed.with_columns(nw.when(first).then(nw.lit("")).otherwise(nw.col(HASH)).alias(HASH))
    return _first(hashed, ("user_name", "occurrence"), most)


def rows_in_few_groups_of_labels(counted: Any, most: int, key: str, *, first: Any) -> Any:
    """Return the rows (group, day, label, count) in the groups of :func:`in_few_groups_of_labels`, on all days.

    All rows that satisfy ``first`` are included.
    """
    import narwhals as nw

    ranked = _ranked(add_hash(_named_labels(counted), key, of=GROUP), "user_name", "occurrence")
    is_kept = nw.col("group_rank") <= most
    return ranked.filter(is_kept if first is None else is_kept | first)


def _named_labels(counted: Any) -> Any:
    """Return rows with labels in place of users, as hashes need them."""
    import narwhals as nw

    label = nw.col("label")
    # A missing label is one label, which some engines do not compare.
    return counted.with_columns(
        user_name=nw.when(label.is_null()).then(nw.lit("")).otherwise(label),
        occurrence=nw.when(label.is_null()).then(nw.lit(0)).otherwise(nw.lit(1)),
    )


def _first(rows: Any, of: str | tuple[str, ...], most: int) -> Any:
    import narwhals as nw

    over = (of,) if isinstance(of, str) else of
    ranked = rows.with_columns(one=nw.lit(1)).with_columns(
        rank=nw.col("one").cum_sum().over(*over, order_by=[HASH, GROUP])
    )
    return ranked.filter(nw.col("rank") <= most)
