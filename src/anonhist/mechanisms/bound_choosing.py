"""A private choice of how many items of each unit count, and in how many groups: rows left out against noise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from anonhist.mechanisms.choosing import draw_by_scores, growth, scores_apart
from anonhist.mechanisms.planning import zipf_profile
from anonhist.mechanisms.releasing import AskedRelease, PreparedRelease
from anonhist.mechanisms.skeletons import CentralMechanism
from anonhist.privacy import PrivacyUnit, short_decimal
from anonhist.profiles.chosen_bound import MOST_CANDIDATES, Bounds, ChosenBound, refuse_unit
from anonhist.profiles.distances import sorted_l1
from anonhist.randomness import RandomSource, SystemSource

# Predicted noise is simulated for at most this many items: beyond, it grows like the square root of their number.
_MOST_SIMULATED = 10**6
RUNS = 8
# Chosen by bench/chosen_bounds.py, as is the share of the expected items that a bound should keep.
_MARGIN, _SHARE_TO_KEEP = Fraction(3, 5), Fraction(1, 10)
# Public, so that everybody predicts the same noise.
_SEED = 20261128


@dataclass(frozen=True)
class PreparedChoice:
    """A choice, prepared without the data: for each possible unit, the release and its predicted noise.

    With bounds b = (m, g), the loss is ``q_b = p_b − kept_b``, with ``kept_b = Σ_u Σ_{k≤g} min(T_uk, m)``, T_uk the
    number of items of unit u in the k-th of its groups: items left out are exactly the sorted ℓ1 distance between the
    profiles with and without the bounds. ``p_b = noise_b + 0.6·g·m·l_b/ε₁`` is public, with ``l_b =
    ln(noise_b/noise_least)``. One unit more, or another in the place of one, changes ``kept_b − kept_c`` by at most
    ``D_bc`` (:meth:`~anonhist.profiles.chosen_bound.Bounds.apart`; g·|m − m'| with one g), and kept_b by at most g·m.
    So ``s_b = max(0, max_c (q_b − q_c)/D_bc, (N/10 − kept_b)/(g·m))`` changes by at most 1. Here c are all candidates,
    and the steps of b: one item or one group more, with p_c on a straight line to the next candidate. Many units just
    beyond a bound show in its step: they are too few items to show in twice the bound. N is the public number of items
    that are expected: a few units with most of them hardly show in differences, but a bound that keeps less than a
    tenth of N is too small. The bounds are drawn by permute-and-flip
    (:func:`~anonhist.mechanisms.choosing.draw_by_scores`) at the rate ε₁/2 with the scores ``s_b + l_b/ε₁``: a
    bound with r times the noise of another would err r times as much, and is sqrt(r) times less likely at equal s.

    If groups alone are chosen, m = 1 in all of this, so that pairs of a label and a group are counted: their loss has a
    lower sensitivity, and noise and N are divided by the number of items that a pair has in the public shape.

    Proof: docs/proofs/users.md, section 4.
    """

    asked: ChosenBound
    unit: PrivacyUnit
    releases: Mapping[PrivacyUnit, PreparedRelease]
    noise: Mapping[PrivacyUnit, int]
    expected: int

    @property
    def units(self) -> list[PrivacyUnit]:
        """The unit with each possible bound, the largest last."""
        return [*self.releases]

    @property
    def dearest(self) -> PreparedRelease:
        """The release whose cost is charged, for the largest bound: its guarantee covers every choice."""
        return self.releases[self.units[-1]]

    @property
    def reason(self) -> str:
        """What will be chosen, in a sentence, before it is."""
        among, spent = self.asked.chosen_of(self.units), short_decimal(self.asked.spent)
        return (
            f"The bound will be chosen privately among {among}, with ε = {spent}; the guarantee holds for each of "
            "them, and the mechanism is that of the largest."
        )

    def losses(self, *places: Mapping[int, int]) -> list[Fraction]:
        """Return the loss of each candidate; private.

        Parameters
        ----------
        places
            How many units have each number of items. If groups are chosen, one mapping for the first group of each
            unit, one for the second, and so on.
        """
        return [self._public[each] - self._kept(each, places) for each in self._public]

    @cached_property
    def _growth(self) -> dict[Bounds, Fraction]:
        """The logarithm of each candidate's noise over the least, in units of 1/ε₁."""
        grown = growth([*self.noise.values()], self.asked.spent)
        return {self.asked.weighed(unit): each for unit, each in zip(self.noise, grown, strict=True)}

    @cached_property
    def _public(self) -> dict[Bounds, Fraction]:
        """What the loss of each candidate is before anything is kept: noise and a margin."""
        grown = zip(self.noise.values(), self._growth.items(), strict=True)
        return {bounds: noise + _MARGIN * bounds.most * growth for noise, (bounds, growth) in grown}

    def _kept(self, bounds: Bounds, places: Sequence[Mapping[int, int]]) -> int:
        counted = places if self.asked.group_candidates is None else places[: bounds.groups]
        return sum(min(items, bounds.items) * units for sizes in counted for items, units in sizes.items())

    @property
    def rate(self) -> Fraction:
        """The rate at which scores are weighed: ε₁/2."""
        return self.asked.spent / 2

    def scores(self, *places: Mapping[int, int]) -> list[Fraction]:
        """Return the score of each candidate, which one unit changes by at most 1; private."""
        public, relation = self._public, self.asked.relation
        kept = {each: self._kept(each, places) for each in public}
        candidates = [*public]
        losses = [public[each] - kept[each] for each in candidates]
        found = scores_apart(losses, lambda one, other: candidates[one].apart(candidates[other], relation))
        for place, bounds in enumerate(candidates):
            short = (_SHARE_TO_KEEP * self.expected - kept[bounds]) / bounds.most
            gains = (
                (self._kept(step, places) - kept[bounds] - slope) / bounds.apart(step, relation)
                for step, slope in self._steps(bounds)
            )
            found[place] = max(found[place], short, *gains) + self._growth[bounds]
        return found

    def _steps(self, bounds: Bounds) -> Iterator[tuple[Bounds, Fraction]]:
        """Yield the bounds with one item and with one group more, if a candidate has more, and what is lost by them."""
        items, groups = bounds
        wider = [each for each in self._public if each.items > items and each.groups == groups]
        further = [each for each in self._public if each.groups > groups and each.items == items]
        for step, larger in ((Bounds(items + 1, groups), wider), (Bounds(items, groups + 1), further)):
            if larger:
                following = min(larger)
                rise = self._public[following] - self._public[bounds]
                yield step, rise / (sum(following) - sum(bounds))

    def draw(self, *places: Mapping[int, int], source: RandomSource | None = None) -> PrivacyUnit:
        """Spend ε₁ once: choose a bound, and return the unit with it.

        Parameters
        ----------
        places
            As for :meth:`losses`: private. Numbers above the largest candidate count as it.
        source
            Privacy randomness; the operating system's by default.
        """
        drawn = draw_by_scores(self.scores(*places), self.rate, source=source or SystemSource())
        return self.units[drawn]


def prepare_choice(
    asked: ChosenBound, unit: PrivacyUnit, wanted: AskedRelease | None = None, *, profiles: int = 1
) -> PreparedChoice:
    """Return a choice with all that follows from public numbers alone, before any row is read.

    The arguments are those of :func:`possible_releases`. Noise is predicted for that many ``profiles`` of equal size,
    for groups that are released together.
    """
    releases = possible_releases(asked, unit, wanted)
    items = -(-asked.expected_items // profiles)
    per = _items_of_a_label(asked.candidates[0], items) if asked.is_of_groups_alone else 1
    noise = {bound: profiles * _noise(each.mechanism, items) // per for bound, each in releases.items()}
    return PreparedChoice(asked, unit, releases, noise, int(asked.expected_items // per))


def possible_releases(
    asked: ChosenBound, unit: PrivacyUnit, wanted: AskedRelease | None = None
) -> dict[PrivacyUnit, PreparedRelease]:
    """Return the release for each candidate; those that would need a larger ε are left out, whatever the data.

    ``unit`` is one with the bounds of the largest candidate; ``wanted`` the release to make then, by default one with
    the request's own budget and mechanism.

    Raises
    ------
    UsageError
        If ε is too small for the least candidate.
    """
    own = replace(wanted or AskedRelease(asked.epsilon, None, asked.relation, asked.mechanism), unit=None)
    return asked.possible(unit, lambda of_bound: own.prepared(of_bound, choice=asked))


def largest_unit(choice: ChosenBound, read_for: PrivacyUnit, asked: PrivacyUnit | None) -> PrivacyUnit:
    """Return the unit to charge, whatever bound was chosen: that of the largest possible one.

    A unit that is ``asked`` is refused: whether it is the chosen one must not decide about a refusal.
    """
    refuse_unit(asked)
    return [*possible_releases(choice, read_for)][-1]


def _items_of_a_label(most: int, items: int) -> Fraction:
    """Return how many items a label has in the public shape, at most ``most`` of each."""
    shape = zipf_profile(min(items, _MOST_SIMULATED))
    return Fraction(int(np.minimum(shape.counts, most) @ shape.prevalences), shape.num_labels)


def _noise(mechanism: CentralMechanism, items: int) -> int:
    """Return the sorted ℓ1 error to expect for a public number of items, as a whole number."""
    return sum(_runs_on(mechanism, items)) // RUNS


def noise_of(mechanism: CentralMechanism, items: int) -> tuple[float, float]:
    """Return the same with its standard error."""
    runs = _runs_on(mechanism, items)
    return float(_noise(mechanism, items)), float(np.std(runs, ddof=1)) / RUNS**0.5


@lru_cache(maxsize=2 * MOST_CANDIDATES)
def _runs_on(mechanism: CentralMechanism, items: int) -> tuple[int, ...]:
    """Return the sorted ℓ1 errors of simulated runs, scaled to the number of items."""
    simulated = min(items, _MOST_SIMULATED)
    shape = mechanism.admit(zipf_profile(simulated))
    # No private data depend on this generator.
    runs = mechanism.simulate(shape, size=RUNS, rng=np.random.default_rng(_SEED))
    # With capped counts, noise hardly depends on the number of items.
    growth = 10**3 if mechanism.unit.max_count is not None else math.isqrt(10**6 * items // simulated)
    return tuple(sorted_l1(shape, run) * growth // 10**3 for run in runs)
