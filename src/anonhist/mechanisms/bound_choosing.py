"""A private choice of how many items of each user count, which weighs rows left out against noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from anonhist.mechanisms.choosing import draw_by_scores, nested_scores
from anonhist.mechanisms.planning import zipf_profile
from anonhist.mechanisms.releasing import AskedRelease, PreparedRelease
from anonhist.mechanisms.skeletons import CentralMechanism
from anonhist.privacy import PrivacyUnit, short_decimal
from anonhist.profiles.chosen_bound import MOST_CANDIDATES, ChosenBound, refuse_unit
from anonhist.profiles.distances import sorted_l1
from anonhist.randomness import RandomSource, SystemSource

# Predicted noise is simulated for at most this many items: beyond, it grows like the square root of their number.
_MOST_SIMULATED = 10**6
_RUNS = 8
# Chosen by bench/chosen_bounds.py: it makes the draw of a bound that is larger than the best about a fifth as likely.
_CAUTION = 3
# Public, so that everybody predicts the same noise.
_SEED = 20261128


@dataclass(frozen=True)
class PreparedChoice:
    """A choice, prepared without the data: for each candidate, the release and its predicted noise.

    The loss of a bound m is ``q_m = noise_m − kept_m + 3·g·m/ε₁``, with ``kept_m = Σ_u min(T_u, m)``, T_u the number of
    items of user u: rows left out are exactly the sorted ℓ1 distance between the profiles with and without the bound.
    The last term is a margin: noise grows more slowly than m, so without it, far too large bounds are drawn often. One
    user more, or another in the place of one, changes ``kept_i − kept_j`` for i > j by at most i − j (in each of g
    groups: g times that), so ``s_i = max(0, max_j (q_i − q_j)/(g·|i − j|))`` by at most 1. The bound is drawn by
    permute-and-flip (:func:`~anonhist.mechanisms.choosing.draw_by_scores`) at the rate ε₁/2.

    Proof: docs/proofs/users.md, section 4.
    """

    asked: ChosenBound
    unit: PrivacyUnit
    releases: Mapping[int, PreparedRelease]
    noise: Mapping[int, int]

    @property
    def dearest(self) -> PreparedRelease:
        """The release whose cost is charged, for the largest bound: its guarantee covers every choice."""
        return self.releases[max(self.releases)]

    @property
    def reason(self) -> str:
        """What will be chosen, in a sentence, before it is."""
        listed = ", ".join(f"{each:,}" for each in self.releases)
        return (
            f"The bound will be chosen privately among {listed}, with ε = {short_decimal(self.asked.spent)}; the "
            "guarantee holds for each of them, and the mechanism is that of the largest."
        )

    def losses(self, sizes: Mapping[int, int]) -> list[Fraction]:
        """Return the loss of each candidate, given how many users have each number of items; private."""
        kept = [sum(min(items, bound) * users for items, users in sizes.items()) for bound in self.releases]
        margin = _CAUTION * self.unit.groups / self.asked.spent
        return [self.noise[bound] - own + bound * margin for bound, own in zip(self.releases, kept, strict=True)]

    @property
    def rate(self) -> Fraction:
        """The rate at which scores are weighed: ε₁/2."""
        return self.asked.spent / 2

    def scores(self, sizes: Mapping[int, int]) -> list[Fraction]:
        """Return the score of each candidate, which one user changes by at most 1; private."""
        return nested_scores(self.losses(sizes), [bound * self.unit.groups for bound in self.releases])

    def draw(self, sizes: Mapping[int, int], *, source: RandomSource | None = None) -> int:
        """Spend ε₁ once: choose a bound.

        Parameters
        ----------
        sizes
            How many users have each number of items: private. Numbers above the largest candidate count as it.
        source
            Privacy randomness; the operating system's by default.
        """
        drawn = draw_by_scores(self.scores(sizes), self.rate, source=source or SystemSource())
        return [*self.releases][drawn]


def prepare_choice(
    asked: ChosenBound, unit: PrivacyUnit, wanted: AskedRelease | None = None, *, profiles: int = 1
) -> PreparedChoice:
    """Return a choice with all that follows from public numbers alone, before any row is read.

    The arguments are those of :func:`possible_releases`. Noise is predicted for that many ``profiles`` of equal size,
    for groups that are released together.
    """
    releases = possible_releases(asked, unit, wanted)
    items = -(-asked.expected_items // profiles)
    noise = {bound: profiles * _noise(each.mechanism, items) for bound, each in releases.items()}
    return PreparedChoice(asked, unit, releases, noise)


def possible_releases(
    asked: ChosenBound, unit: PrivacyUnit, wanted: AskedRelease | None = None
) -> dict[int, PreparedRelease]:
    """Return the release for each candidate; those that would need a larger ε are left out, whatever the data.

    ``unit`` is a user with at most as many items as the largest candidate; ``wanted`` the release to make then, by
    default one with the request's own budget and mechanism.

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
    return replace(read_for, bound=max(possible_releases(choice, read_for)))


@lru_cache(maxsize=2 * MOST_CANDIDATES)
def _noise(mechanism: CentralMechanism, items: int) -> int:
    """Return the sorted ℓ1 error to expect for a public number of items: simulated, and then a whole number."""
    simulated = min(items, _MOST_SIMULATED)
    shape = zipf_profile(simulated)
    # No private data depend on this generator.
    runs = mechanism.simulate(shape, size=_RUNS, rng=np.random.default_rng(_SEED))
    total = sum(sorted_l1(shape, run) for run in runs)
    return total * math.isqrt(10**6 * items // simulated) // (10**3 * _RUNS)
