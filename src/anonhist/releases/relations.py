"""What totals and groups of crossing levels have in common in all data: relations that follow from public facts alone.

A bound on groups leaves rows out on each level by itself, so totals and groups may be counted from other rows. Which
relations hold depends on the unit, its bounds and the list of groups, never on the data. Proof: docs/proofs/groups.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonhist.errors import UsageError
from anonhist.numeric.arrays import Ints
from anonhist.privacy import PrivacyUnit, is_in_groups
from anonhist.profiles import Profile
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.profiles.grouped import Group, prefixes_of, total_of

Profiles = Mapping[Group, Profile]


@dataclass(frozen=True)
class AtLeast:
    """``φ_{k+}`` of a total is at least that of a part, for every k."""

    total: Group
    part: Group

    def holds(self, profiles: Profiles) -> bool:
        """Whether it holds: at the counts of the part is enough, since between these its φ_{k+} does not change."""
        total, part = profiles[self.total], profiles[self.part]
        return bool((total.cumulative_prevalence(part.counts) >= part.cumulative_prevalence(part.counts)).all())


@dataclass(frozen=True)
class WithinSum:
    """``φ_{k+}`` of a total is at most ``Σ_g φ_{⌈k/G⌉+}`` of its G parts, for every k.

    A label with k items in G parts has at least ⌈k/G⌉ in one of them.
    """

    total: Group
    parts: tuple[Group, ...]

    def holds(self, profiles: Profiles) -> bool:
        """Whether it holds: the first k after each step of the sum is enough."""
        total, summed = profiles[self.total], total_of(profiles[part] for part in self.parts)
        steps = np.append(np.int64(0), summed.counts)
        reached = total.cumulative_prevalence(times(steps, len(self.parts)) + 1)
        return bool((reached <= summed.cumulative_prevalence(steps + 1)).all())


@dataclass(frozen=True)
class ReachWithinSum:
    """No total has more labels than the parts together: ``φ_{1+} ≤ Σ_g φ_{1+}`` of parts."""

    totals: tuple[Group, ...]
    parts: tuple[Group, ...]

    def holds(self, profiles: Profiles) -> bool:
        """Whether it holds."""
        together = sum(profiles[part].num_labels for part in self.parts)
        return max(profiles[total].num_labels for total in self.totals) <= together


@dataclass(frozen=True)
class SameItems:
    """A total has as many items as its parts together."""

    total: Group
    parts: tuple[Group, ...]

    def holds(self, profiles: Profiles) -> bool:
        """Whether it holds."""
        return profiles[self.total].n == sum(profiles[part].n for part in self.parts)


Relation = AtLeast | WithinSum | ReachWithinSum | SameItems


@dataclass(frozen=True)
class Design:
    """The public facts that relations follow from: the groups of the last level, and the unit with its bounds.

    Items, and users bounded in all groups together: all levels count the same rows. Labels in at most g groups: a level
    of at most g groups counts all rows of the listed groups, each count up to the cap; a larger one leaves some groups
    of a label out. Users in few groups: each level keeps other rows of a user, and nothing is known.
    """

    groups: tuple[Group, ...]
    unit: PrivacyUnit

    @cached_property
    def levels(self) -> list[tuple[Group, ...]]:
        """The groups of each level, everything together first."""
        every = [*prefixes_of(self.groups), *self.groups]
        return [tuple(each for each in every if len(each) == depth) for depth in range(len(self.groups[0]) + 1)]

    @property
    def has_one_table(self) -> bool:
        """Whether all levels count the same rows: no row is left out, or the same ones of a user on each level."""
        return self.unit.is_item or (self.unit.max_items is not None and not is_in_groups(self.unit))

    def is_whole(self, depth: int) -> bool:
        """Whether a level counts each row of one table: the same as all levels, or its bound leaves no group out."""
        return self.has_one_table or len(self.levels[depth]) <= self.unit.groups

    @cached_property
    def children(self) -> dict[Group, tuple[Group, ...]]:
        """The groups of the next level, for each total."""
        found: dict[Group, list[Group]] = {total: [] for level in self.levels[:-1] for total in level}
        for level in self.levels[1:]:
            for group in level:
                found[group[:-1]].append(group)
        return {total: tuple(groups) for total, groups in found.items()}

    @cached_property
    def parts(self) -> dict[Group, list[Group]]:
        """The groups that are at most a total and not at most another one in it, for each total that has some."""
        # Levels grow, so those that count each row are the first ones.
        last = max(depth for depth in range(len(self.levels)) if self.is_whole(depth))
        found: dict[Group, list[Group]] = {}
        for level in self.levels[1:]:
            for group in level:
                found.setdefault(group[: min(len(group) - 1, last)], []).append(group)
        return found

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """All relations that hold in all data read for this unit; none for users in few groups."""
        if not self.has_one_table and self.unit.max_count is None:
            return ()
        found: list[Relation] = [AtLeast(total, part) for total, parts in self.parts.items() for part in parts]
        found += [WithinSum(*each) for each in self.sums.items()]
        found += [ReachWithinSum(*each) for each in self.level_sums]
        if self.has_one_table:
            found += [SameItems(*each) for each in self.sums.items()]
        return tuple(found)

    @property
    def sums(self) -> dict[Group, tuple[Group, ...]]:
        """The parts that together hold all rows of a total, for each total that has such parts."""
        return {total: parts for total, parts in self.children.items() if self.is_whole(len(total) + 1)}

    @property
    def level_sums(self) -> list[tuple[tuple[Group, ...], tuple[Group, ...]]]:
        """Pairs of levels, one of which leaves rows out: each label of one has a group in the other."""
        depths = range(len(self.levels))
        return [
            (self.levels[one], self.levels[other])
            for one in depths
            for other in depths[1:]
            if one != other and not (self.is_whole(one) and self.is_whole(other))
        ]


def times(counts: Ints, factor: int) -> Ints:
    """Return counts times a factor ≥ 1, or the largest count but one if that is less."""
    most = (MAX_ITEMS - 1) // factor
    return np.where(counts > most, MAX_ITEMS - 1, np.minimum(counts, most) * factor)


def check_adjusted(design: Design, profiles: Profiles) -> None:
    """Refuse profiles of other groups than those of a design, and profiles for which a relation does not hold."""
    if profiles.keys() != {group for level in design.levels for group in level}:
        raise UsageError("Adjusted profiles must be given for each group and total.")
    if not all(relation.holds(profiles) for relation in design.relations):
        raise UsageError("The adjusted profiles of totals and groups contradict each other.")
