"""From a source of events to a profile for each of several groups, by one query."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Literal

from anonhist.accounting import Ledger
from anonhist.accounting.recording import recording_reading
from anonhist.ingest.engine import EngineLimits
from anonhist.ingest.groups.reading import choice_of_groups, read_recorded
from anonhist.ingest.protection import Protection
from anonhist.ingest.source import SaidOfRows, Source
from anonhist.mechanisms.group_planning import price_of_choice
from anonhist.mechanisms.grouping import FindGroups
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.chosen_bound import ChosenBound
from anonhist.profiles.grouped import GroupedProfile, parse_levels
from anonhist.randomness import RandomSource
from anonhist.releases.content import found_digest

_CHARGED_LATER = (
    "`ledger`, `dataset`, `purpose` and `run_id` are for groups that are found and bounds that are chosen: all other "
    "reading costs nothing; give them to `release_groups`."
)


def read_groups(
    source: Any,
    /,
    *,
    by: str | Iterable[str],
    groups: Iterable[Any] | os.PathLike[str] | FindGroups,
    label: str | None = None,
    count: str | None = None,
    user: str | None = None,
    max_per_user: int | ChosenBound | None = None,
    max_count: ChosenBound | None = None,
    max_groups_per_user: int | None = None,
    max_groups_per_label: int | ChosenBound | None = None,
    other: str | None = None,
    order_by: str | None = None,
    order_key: str | None = None,
    table: str | None = None,
    format: Literal["events", "counts", "prevalences"] | None = None,  # noqa: A002  # the name users know
    delimiter: str | None = None,
    header: bool = True,
    keep_null: bool = False,
    where: str | None = None,
    count_units: bool = False,
    unit: PrivacyUnit | None = None,
    levels: Literal["nested", "crossing"] | None = None,
    progress: Callable[[float], None] | None = None,
    limits: EngineLimits | None = None,
    notify: Callable[[str], None] | None = None,
    randomness: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> GroupedProfile:
    """Read how often things occur in each of several groups, on the engine that holds the data, by one query.

    Parameters
    ----------
    source
        One row per item, in any source of :func:`read_profile` except plain lists of labels.
    by
        The grouping columns; ``"day(column)"``, ``"week(column)"`` and ``"month(column)"`` group dates: 2026-11-22,
        2026-11-16 (the Monday of that week, as in ISO 8601), 2026-11. Times with a zone are converted to UTC. Text that
        begins with a date is used as written; other text has no date, like a missing value.
    groups
        The groups, which must be public: a value for each if there is one grouping column, else a tuple; a file or
        table with these columns; or text: names separated by commas, or a range of days, ``"2026-11-01..2026-11-30"``,
        for all days, weeks or months that contain one of them. Values are compared by name, like labels: 7, 7.0 and the
        text 7 are the same; values that the type of the column cannot hold are refused. Groups without data have an
        empty profile; rows of other groups are left out before anything is bounded. If no such list is public,
        :class:`FindGroups` finds groups with many units, at a cost; this takes a second query.
    label, count, user, order_by, table, delimiter, header
        As for :func:`read_profile`.
    format
        ``"events"`` (one row per item), ``"counts"`` (the grouping columns, label, count, or those that ``label`` and
        ``count`` name: rows of one label in one group are added up) or ``"prevalences"`` (the grouping columns, count,
        prevalence: how many labels of a group have that count). By default the other columns decide, as for
        :func:`read_profile`. Prevalences do not show which labels are the same in several groups: they protect only
        items, and groups cannot be combined.
    max_per_user
        The number of items of each user that count, over all groups together; or, with ``max_groups_per_user``, in each
        group. A :class:`ChosenBound` spends a share of the budget on choosing one for all groups, as for
        :func:`read_profile`: for listed groups without crossing levels.
    max_groups_per_user
        The number of groups in which a user's items count.
    max_count, max_groups_per_label
        The number of groups in which a label counts: required to protect labels, which may occur in many. A
        :class:`ChosenBound` chooses it from ``group_candidates``, or ``max_count`` from ``candidates`` (a given one is
        a part of ``unit``), or both together, if both are the same request.
    other
        The name of one more group, for all rows whose groups are not listed. A found group with this name joins it;
        with ``levels``, so does a group with this first name.
    order_key
        The key of the random choice by which items of users and groups of users and labels are kept; by default, a new
        key is drawn.
    keep_null
        Count rows without a label as one more label, and rows without a value in a grouping column as a group, which is
        listed as None; by default, they are left out.
    where
        The rows that count, as for :func:`read_profile`.
    count_units
        Also count the groups of each user or label before the bound on groups or, without one, the items of each user
        in all groups, for ``release_groups(…, excess_share=…)``: this takes one more query. It is refused if no more
        groups are listed than the bound keeps, because nothing can be left out of them.
    unit
        Whom a release protects, if the source does not name users.
    levels
        Whether totals are released, too: of groups with the same first names, up to everything together. ``"nested"``:
        labels differ between groups, such as households; totals are sums of released numbers. ``"crossing"``: labels
        are the same in all groups, such as queries; this takes one query for each level, and bounds on groups hold for
        each level separately. Of users bounded in all groups together, the same items count on each level.
    progress
        Receives the share done, in [0, 1].
    limits
        The memory and the number of threads that DuckDB may use, and where it spills: for files and its own databases.
    notify
        Receives a sentence if no item is in any group; and, for nested levels, if labels of several groups will count
        several times in totals, which takes one more query. Both are private: for the operator alone, as for
        :func:`read_profile`.
    randomness
        Privacy randomness of :class:`FindGroups` and :class:`ChosenBound`; the operating system's by default.
    ledger, dataset, purpose, run_id
        With :class:`FindGroups`: the ledger to charge before the units of any group are counted, as for
        :func:`release`; by default the one in the environment variable ``ANONHIST_LEDGER``, if any. Each call is
        charged, even if it finds no group. :func:`release_groups` then charges only the release, as a run with another
        name. Without a ledger, nothing counts the calls: each spends the budget of ``groups``. With
        :class:`ChosenBound`, the whole budget is charged, as for :func:`read_profile`.

    Returns
    -------
    GroupedProfile
        A private profile of each group: it holds exact counts.

    Raises
    ------
    UsageError
        If the call contradicts itself, or a label unit comes without ``max_groups_per_label``; and for the ledger, as
        for :func:`release`.
    DataError
        If the data cannot be used, as for :func:`read_profile`, or the machine cannot hold so many groups.

    Examples
    --------
    >>> import polars as pl
    >>> views = pl.DataFrame({"viewer": ["a", "b", "a"], "day": ["Mon", "Mon", "Tue"]})
    >>> read = read_groups(views, label="viewer", by="day", groups=["Mon", "Tue", "Wed"])
    >>> [(group, profile.n) for group, profile in read.items()]
    [(('Mon',), 2), (('Tue',), 1), (('Wed',), 0)]
    """
    protection = Protection.of_groups(
        unit,
        by=by,
        other=other,
        user=user,
        max_per_user=max_per_user,
        max_count=max_count,
        max_groups_per_user=max_groups_per_user,
        max_groups_per_label=max_groups_per_label,
        order_by=order_by,
        order_key=order_key,
        keep_null=keep_null,
        where=where,
    )
    said = SaidOfRows(format, label, count, header)
    named = Source.named(source, said, user=user, table=table, delimiter=delimiter, limits=limits)
    if isinstance(groups, Iterator):
        groups = [*groups]
    columns = by if isinstance(by, str | list | tuple) else None
    price = partial(groups.price, protection.protected) if isinstance(groups, FindGroups) else None
    crossing = parse_levels(levels)
    choice = choice_of_groups(protection, groups, levels=crossing, count_units=count_units)
    if choice is not None:
        price = partial(price_of_choice, choice)
    charging = recording_reading(
        price,
        (ledger, dataset, purpose, run_id),
        settings={"by": columns, "label": label, "count": count, "user": user, "other": other, "where": where},
        refusal=_CHARGED_LATER,
    )
    with charging as recorded:
        with recorded.reading():
            read = read_recorded(
                named,
                protection,
                recorded,
                groups=groups,
                levels=crossing,
                count_units=count_units,
                choice=choice,
                progress=progress,
                notify=notify,
                randomness=randomness,
            )
        # The release completes the charge for a chosen bound.
        if choice is None:
            recorded.complete(lambda: found_digest(read))
    return read
