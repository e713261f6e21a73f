"""Profiles of crossing levels, moved until totals and groups agree: post-processing of released values.

First the curves φ_{k+} are moved in turn onto convex sets that contain the truth: totals at least their parts, totals
of k = 1 at most the sum of their parts, falling curves. Each step is a projection in the norm ``Σ_g w_g Σ_k
φ_{g,k+}²``, with public weights w_g = (ε/Δ)² of the level of g, so none takes them farther from the truth. The numbers
of items are projected in the same way. Then whole numbers are made from the last level up, each between what the groups
below allow, so all relations hold exactly. Proof: docs/proofs/groups.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from anonhist.numeric.arrays import Floats, Ints
from anonhist.numeric.staircases import Staircase, above_all, falling_start, lower_of, within
from anonhist.privacy import Guarantee
from anonhist.profiles import Profile
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.profiles.grouped import Group, total_of
from anonhist.releases.made import Mechanism
from anonhist.releases.placing import with_items
from anonhist.releases.relations import Design, Profiles, times
from anonhist.releases.release import Release

Curves = dict[Group, Staircase]

# Projections are repeated at most so often, which is enough to three digits; whole numbers are exact whatever is left.
_ROUNDS = 30
_NEAR = 1e-6
# Beyond this many items on a level, floating-point numbers are not exact.
MOST_COMPARED = 2**52
# Rows and columns of one table of values: about 100 MB.
_VALUES = 2**22


def agreed(design: Design, released: Profiles, weights: Sequence[float]) -> dict[Group, Profile] | None:
    """Return the profiles of all levels, moved until all relations hold.

    ``weights`` has one number for each level: ``(ε/Δ)²`` of its noise. None if the design has no relations, or if a
    level has more than 2⁵² items.
    """
    totals = [sum(released[group].n for group in level) for level in design.levels]
    if not design.relations or max(totals) > MOST_COMPARED:
        return None
    curves = {group: curve_of(profile) for group, profile in released.items()}
    moved = projected(design, curves, weights)
    numbers = agreed_items(design, released, weights) if design.has_one_table else {}
    whole = _whole(design, moved, numbers)
    return {group: _profile(whole[group], released[group]) for group in released}


def weight_of(mechanism: Mechanism) -> float:
    """Return ``(ε/Δ)²`` of a level, with Δ as far as a unit moves one number: the weight of its squared errors."""
    guarantee = mechanism.guarantee
    return float(guarantee.epsilon / (guarantee.unit.groups * guarantee.relation.distance)) ** 2


def moved_to(drawn: Release, profile: Profile, guarantee: Guarantee) -> Release:
    """Return the release of an adjusted profile, which is a function of all levels."""
    moved = Profile(profile.counts, profile.prevalences, unit=drawn.profile.unit)
    made = replace(drawn, profile=moved, guarantee=guarantee, unadjusted=drawn, recorded_error=None)
    return replace(made, draw=None, evidence=None)


def distance(one: Curves, other: Curves, weights: Sequence[float]) -> float:
    """Return the square of the distance between curves in the norm of the projections."""
    total = 0.0
    for group, curve in one.items():
        ends = np.union1d(curve.ends, other[group].ends)
        squares = (curve.at(ends) - other[group].at(ends)) ** 2
        total += weights[len(group)] * float(np.diff(ends, prepend=0) @ squares)
    return total


def curve_of(profile: Profile) -> Staircase:
    """Return φ_{k+}."""
    return Staircase(profile.counts, profile.cumulative_prevalence(profile.counts).astype(np.float64))


def _profile(curve: Staircase, like: Profile) -> Profile:
    """Return the profile of a curve of whole numbers without steps of no height."""
    reached = curve.heights.astype(np.int64)
    return Profile(curve.ends, reached - np.append(reached[1:], 0), unit=like.unit)


def projected(design: Design, curves: Curves, weights: Sequence[float]) -> Curves:
    """Return the curves, projected in turn until all relations nearly hold, or for a fixed number of rounds."""
    found = dict(curves)
    for _ in range(_ROUNDS):
        changed = [_raise_total(design, found, total, weights) for total in reversed(design.parts)]
        changed += [_lower_reach(found, [total], parts, weights) for total, parts in design.sums.items()]
        changed += [_lower_reach(found, totals, parts, weights) for totals, parts in design.level_sums]
        if not any(changed):
            break
    return found


def _raise_total(design: Design, curves: Curves, total: Group, weights: Sequence[float]) -> bool:
    """Project a total and its parts on ``total ≥ part`` for each part, at each k by itself; say if that moved any.

    With values v_i of parts in descending order, the total becomes ``max_m (w·t + Σ_{i≤m} w_i·v_i)/(w + Σ_{i≤m} w_i)``,
    and each part at most that. All of this grows with each value, so curves still fall.
    """
    curve = curves[total]
    ends, heights, owner = _corners(curves, design.parts[total])
    # A part is above the total somewhere if it is so at the end of one of its steps.
    above = heights > curve.at(ends) + _NEAR
    if not above.any():
        return False
    groups = [design.parts[total][at] for at in np.unique(owner[above])]
    parts = [curves[group] for group in groups]
    highest = above_all(parts)
    grid = np.unique(np.concatenate([curve.ends, *(part.ends for part in parts)]))
    reached = curve.at(grid)
    places = np.flatnonzero(highest.at(grid) > reached)
    own = np.array([weights[len(group)] for group in groups])
    for some in np.array_split(places, -(-places.size * len(parts) // _VALUES)):
        table = np.stack([part.at(grid[some]) for part in parts])
        reached[some] = _pooled(reached[some], weights[len(total)], table, own)
    curves[total] = raised = Staircase(grid, reached).joined()
    for group in groups:
        curves[group] = lower_of(curves[group], raised)
    return True


def _corners(curves: Curves, groups: Sequence[Group]) -> tuple[Ints, Floats, Ints]:
    """Return the ends and heights of the steps of several curves, and the place of each curve."""
    found = [curves[group] for group in groups]
    sizes = [curve.ends.size for curve in found]
    ends = np.concatenate([curve.ends for curve in found])
    heights = np.concatenate([curve.heights for curve in found])
    return ends, heights, np.repeat(np.arange(len(found)), sizes)


def _pooled(total: Floats, weight: float, parts: Floats, weights: Floats) -> Floats:
    """Return the nearest values of a total that is at least its parts, shape (values,), from parts (parts, values)."""
    order = np.argsort(-parts, axis=0, kind="stable")
    weighed = weights[order]
    sums = weight * total + np.cumsum(weighed * np.take_along_axis(parts, order, axis=0), axis=0)
    return np.asarray(np.maximum(total, (sums / (weight + np.cumsum(weighed, axis=0))).max(axis=0)))


def _lower_reach(curves: Curves, totals: Sequence[Group], parts: Sequence[Group], weights: Sequence[float]) -> bool:
    """Project on ``φ_{1+} ≤ Σ φ_{1+}`` of parts, for each total in turn; say if that moved any."""
    moved = False
    for total in totals:
        # Plain sums run from the first to the last number on every machine.
        reached = sum(float(curves[part].at(_ONE)[0]) for part in parts)
        excess = float(curves[total].at(_ONE)[0]) - reached
        if excess <= _NEAR * max(1.0, reached):
            continue
        moved = True
        share = excess / (1 / weights[len(total)] + len(parts) / weights[len(parts[0])])
        lowered = float(curves[total].at(_ONE)[0]) - share / weights[len(total)]
        curves[total] = falling_start(curves[total].with_value(1, lowered))
        for part in parts:
            raised = float(curves[part].at(_ONE)[0]) + share / weights[len(part)]
            curves[part] = curves[part].with_value(1, raised)
    return moved


_ONE = np.ones(1, dtype=np.int64)


def agreed_items(design: Design, released: Profiles, weights: Sequence[float]) -> dict[Group, int]:
    """Return numbers of items that add up on all levels, for the groups of the last one.

    Those of all levels are projected in turn on numbers that add up (by weighted least squares on the tree of groups,
    in two passes) and on numbers ≥ 0; then they are rounded so that each sum of the first ones is.
    """
    levels = design.levels
    above = [
        np.array([{group: at for at, group in enumerate(levels[depth - 1])}[each[:-1]] for each in levels[depth]])
        for depth in range(1, len(levels))
    ]
    numbers = [np.array([float(released[group].n) for group in level]) for level in levels]
    for _ in range(_ROUNDS):
        numbers = _adding_up(numbers, above, weights)
        if min(float(each.min()) for each in numbers) >= -_NEAR:
            break
        numbers = [np.maximum(each, 0.0) for each in numbers]
    rounded = _rounded(np.maximum(numbers[-1], 0.0))
    return dict(zip(levels[-1], rounded.tolist(), strict=True))


def _adding_up(numbers: list[Floats], above: list[Ints], weights: Sequence[float]) -> list[Floats]:
    """Return the nearest numbers in the weighted norm of which each total is the sum of its groups."""
    # From the last level up: the best value of each total from its own and from those below, with its variance.
    best, spread = [numbers[-1]], [np.full(numbers[-1].shape, 1 / weights[-1])]
    sums: list[Floats] = []
    spreads: list[Floats] = []
    for depth in range(len(numbers) - 2, -1, -1):
        size = numbers[depth].size
        sums.insert(0, np.bincount(above[depth], best[0], minlength=size).astype(np.float64))
        spreads.insert(0, np.bincount(above[depth], spread[0], minlength=size).astype(np.float64))
        precision = weights[depth] + 1 / spreads[0]
        best.insert(0, (weights[depth] * numbers[depth] + sums[0] / spreads[0]) / precision)
        spread.insert(0, 1 / precision)
    # From the top down: what a total differs from the sum of its groups is shared by them.
    found = [best[0]]
    for depth, parents in enumerate(above):
        missing = (found[depth] - sums[depth]) / spreads[depth]
        found.append(best[depth + 1] + spread[depth + 1] * missing[parents])
    return found


def _rounded(values: Floats) -> Ints:
    """Return whole numbers within one of values, of which each sum of the first is within ½ of theirs."""
    sums = np.floor(np.cumsum(values) + 0.5).astype(np.int64)
    return np.diff(sums, prepend=0)


def _whole(design: Design, curves: Curves, numbers: Mapping[Group, int]) -> Curves:
    """Return curves of whole numbers for which all relations hold, from the last level up.

    Each is rounded, then moved between the largest of its parts and what the sums of groups below allow. The first is
    never above the second: a sum of groups at ⌈k/G⌉ ≤ k is at least each of them at k.
    """
    found: Curves = {}
    items = dict(numbers)
    for depth in range(len(design.levels) - 1, -1, -1):
        level = design.levels[depth]
        reach = _rounded(np.array([float(curves[group].at(_ONE)[0]) for group in level]))
        for group, first in zip(level, reach.tolist(), strict=True):
            least = above_all([found[part] for part in design.parts.get(group, ())])
            most = _most(design, found, group)
            curve = _whole_curve(curves[group], first)
            found[group] = within(curve, least, most)
            if numbers:
                items.setdefault(group, sum(items[part] for part in design.children.get(group, ())))
                found[group] = with_items(found[group], items[group], least, most)
        _reach_below(design, found, depth)
    return found


def _whole_curve(curve: Staircase, first: int) -> Staircase:
    """Return the curve rounded, with this value at k = 1, or less beyond if need be."""
    rounded = Staircase(curve.ends, np.minimum(np.floor(curve.heights + 0.5), first))
    return (rounded if rounded.ends.size == 0 and not first else rounded.with_value(1, first)).joined()


def _most(design: Design, found: Curves, group: Group) -> Staircase | None:
    """Return what the sums of the levels below allow at each k; None if there is no bound."""
    bounds = []
    if group in design.sums:
        parts = [_profile(found[part], _NONE) for part in design.sums[group]]
        together = curve_of(total_of(parts))
        bounds.append(Staircase(times(together.ends, len(parts)), together.heights))
    for totals, parts_of_level in design.level_sums:
        # Levels above come later, and are kept from being less.
        if len(totals[0]) == len(group) < len(parts_of_level[0]):
            reached = sum(float(found[part].at(_ONE)[0]) for part in parts_of_level)
            bounds.append(Staircase(np.array([MAX_ITEMS - 1]), np.array([reached])))
    if not bounds:
        return None
    least, *others = bounds
    for other in others:
        least = lower_of(least, other)
    return least


_NONE = Profile([], [])


def _reach_below(design: Design, found: Curves, depth: int) -> None:
    """Raise the largest group of a level at k = 1 if a group further down has more labels than the level together.

    Only a level that leaves rows out can have fewer, and its groups are not bounded by sums.
    """
    pairs = [totals for totals, parts in design.level_sums if len(parts[0]) == depth < len(totals[0])]
    level = design.levels[depth]
    for totals in pairs:
        reached = {group: float(found[group].at(_ONE)[0]) for group in level}
        missing = max(float(found[total].at(_ONE)[0]) for total in totals) - sum(reached.values())
        if missing > 0:
            largest = max(level, key=lambda group: reached[group])
            found[largest] = found[largest].with_value(1, reached[largest] + missing).joined()
