"""The Frobenius mechanism: noise on the diagonal, the arms and the legs of the Young diagram, or on sums of these.

The budgeted step is the same for one profile and for many: the arms and legs of each profile are drawn up to a length K
that depends only on its own released values, as if it were the only one. Profiles with the same K are drawn together.

How far can the data be from a release on average, whatever their shape inside the groups of its noisy sums? Let x be
the rows of one side of the data, x̂ the released ones, and x⁺ the isotonic fit of the noisy rows, flat within each
group: then ``|x̂ − x| ≤ |x̂ − x⁺| + |x⁺ − x|`` in sums over rows. The first part is the misfit, which is known. An
isotonic fit is never farther from a decreasing x than the values it is fitted to (in any ℓp norm), so the second part
is at most the noises of all sums plus the differences of the rows of x from the mean of their group.

The rows inside a group never enter the release. But rows are decreasing: the m_j > 1 rows of group j, with mean c_j,
lie between values t_j ≥ t_{j+1} at its borders, and c_{j−1} ≥ t_j ≥ c_j. With u_j = c_{j−1} − c_j and t_j = c_j + α_j
u_j, 0 ≤ α_j ≤ 1, they differ from their mean by at most

    F_j = 2 m_j h(α_j u_j, (1 − α_{j+1}) u_{j+1}),    h(p, q) = pq / (p + q),

with equality if they have two values: adjacent groups share the fall between their two means. ΣF_j is concave in α, so
it is at most its value plus half the sizes of its slopes, all at α = ½. For rows that fall evenly the slopes are zero.
The means are those of x⁺; in a group of one row the difference is zero.

The expectation of the sum of all three is at least the mean error, except that it uses the means of x⁺ in place of the
true ones, and counts only one noise for rows beyond the released Durfee size. ``epsilon`` is the rate of the noise,
ε/Δ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import ClassVar

import numpy as np

from anonhist.frozen import frozen
from anonhist.mechanisms.frobenius.posterior import SIZE_IS_ENOUGH, Medians, fit_work, pass_work, posterior_medians
from anonhist.mechanisms.frobenius.row_band import (
    Guess,
    k_plus_rows,
    prevalence_rows,
    unsmoothed_misfit,
    unsmoothed_rows,
)
from anonhist.mechanisms.frobenius.row_weights import (
    REACH,
    SIMULATED_REACH,
    NoisyCoordinates,
    NoisyRows,
    noisy_rows,
)
from anonhist.mechanisms.frobenius.sum_band import (
    RUNS_SHARES,
    Fits,
    NoisyGroup,
    sum_evidence,
    without_shared_bias,
)
from anonhist.mechanisms.legs.refit import LARGEST, SmoothLegs, refitted
from anonhist.mechanisms.noise import Noise, add_noise, exact_noise, of_rows, simulated_noise
from anonhist.mechanisms.skeletons import AdditiveMechanism, Released, RunOfOne, bounded_profile
from anonhist.numeric.arrays import Bools, Floats, Ints
from anonhist.profiles import FrobeniusCoordinates, Profile
from anonhist.randomness import RandomSource
from anonhist.releases.evidence import Evidence, KPlusBand, PrevalenceBand
from anonhist.releases.made import check_diagram

# Stopping rule: this many noise scales beyond the noisy Durfee size, and further while a coordinate exceeds this many.
MARGIN = 8
# Runs are drawn together as long as one pass of their fit computes at most this many values.
_VALUES = 2**19


class CoordinateNoise:
    """Noise on coordinates, of rate ε/Δ."""

    def __init__(self, rate: Fraction, draw: Noise) -> None:
        self._rate, self._draw, self._epsilon = rate, draw, float(rate)
        self._margin = math.ceil(MARGIN / self._epsilon)

    def on_one(self, coordinates: FrobeniusCoordinates, count: int) -> NoisyCoordinates:
        """Return ``count`` runs on one public profile, for simulations: K is the same for all of them."""
        sizes = coordinates.durfee_size + self._noise(count, 1)[:, 0]
        sides = coordinates.arms[None], coordinates.legs[None]
        drawn = self._begin(*sides, sizes, max(1, int(sizes.max()) + self._margin))
        while self._stand_out(drawn).any():
            drawn = self._go_on(drawn, *sides)
        return drawn

    def on_each(self, profiles: Sequence[Profile]) -> Iterator[tuple[Ints, NoisyCoordinates]]:
        """Spend the budget on each private profile; yield positions of some and their noisy values, until all are done.

        Released values determine how many are drawn together, and in which order.
        """
        diagonals = np.array([profile.durfee_size for profile in profiles], dtype=np.int64)
        sizes = diagonals + self._noise(len(profiles), 1)[:, 0]
        lengths = np.maximum(1, sizes + self._margin)
        for length in sorted(set(lengths.tolist())):
            alike, most = np.flatnonzero(lengths == length), max(1, _VALUES // pass_work(length, self._epsilon))
            for first in range(0, alike.size, most):
                places = alike[first : first + most]
                coordinates = [FrobeniusCoordinates.of(profiles[place]) for place in places.tolist()]
                arms, legs = _table([each.arms for each in coordinates]), _table([each.legs for each in coordinates])
                drawn = self._begin(arms, legs, sizes[places], length)
                while (go_on := self._stand_out(drawn)).any():
                    if not go_on.all():
                        yield places[~go_on], drawn.of(~go_on)
                    places, arms, legs = places[go_on], arms[go_on], legs[go_on]
                    drawn = self._go_on(drawn.of(go_on), arms, legs)
                yield places, drawn

    def _noise(self, runs: int, length: int) -> Ints:
        return self._draw(self._rate, runs * length).reshape(runs, length)

    def _begin(self, arms: Ints, legs: Ints, sizes: Ints, length: int) -> NoisyCoordinates:
        """Draw the first arms and legs, ``length`` of each; tables have one row for all runs, or one for each."""
        sides = (
            noisy_rows(lengths, self._noise(sizes.size, length), sizes, epsilon=self._epsilon)
            for lengths in (arms, legs)
        )
        return NoisyCoordinates(sizes, *sides)

    def _stand_out(self, drawn: NoisyCoordinates) -> Bools:
        """Return which runs have a last arm or leg that is longer than noise is likely to make it."""
        return np.maximum(drawn.arms.sums[:, -1], drawn.legs.sums[:, -1]) > self._margin

    def _go_on(self, drawn: NoisyCoordinates, arms: Ints, legs: Ints) -> NoisyCoordinates:
        """Draw one more arm and one more leg, separately."""
        position = drawn.arms.sums.shape[1]
        sides = (
            side.append(NoisyRows.alone(add_noise(_column(lengths, position), self._noise(drawn.sizes.size, 1))))
            for side, lengths in ((drawn.arms, arms), (drawn.legs, legs))
        )
        return NoisyCoordinates(drawn.sizes, *sides)


def _table(sides: list[Ints]) -> Ints:
    """Put arms (or legs) of several profiles into rows, padded with zeros."""
    rows = np.zeros((len(sides), max(side.size for side in sides)), dtype=np.int64)
    for row, side in zip(rows, sides, strict=True):
        row[: side.size] = side
    return rows


def _column(lengths: Ints, at: int) -> Ints:
    """Return the lengths at a position, zero beyond the end."""
    return lengths[:, at : at + 1] if at < lengths.shape[1] else np.zeros((lengths.shape[0], 1), dtype=np.int64)


# From this rate on, noise is zero.
_SILENT = 500.0


def distance_bounds(
    sizes: Sequence[int], noisy: NoisyCoordinates, misfits: Sequence[float], *, epsilon: float
) -> list[float]:
    """Return an estimated upper bound of the mean sorted ℓ1 distance, in items, for each run.

    ``sizes`` are released Durfee sizes, ``misfits`` the distances of the noisy values from the fits to them.
    """
    rows = noisy.arms.beside(noisy.legs)
    seen, is_inside = unsmoothed_rows([*sizes, *sizes], rows)
    starts, lengths = rows.groups()
    kept = is_inside.ravel()[starts]
    starts, lengths = starts[kept], lengths[kept]
    side = starts // seen.shape[1]
    inside = inside_groups(seen.ravel()[starts], np.where(lengths > 1, lengths, 0), side, np.array([*sizes, *sizes]))
    # E|G| = 1 / sinh ε for P(G = j) ∝ e^{−ε|j|}; half of the Durfee size's noise counts with each side.
    many = 0.5 + np.bincount(side, minlength=len(seen))
    sides = inside + many / math.sinh(min(epsilon, _SILENT))
    runs = len(misfits)
    found: list[float] = (sides[:runs] + sides[runs:] + misfits).tolist()
    return found


def inside_groups(means: Floats, rows: Ints, side: Ints, sizes: Ints) -> Floats:
    """Return for each side how far all its rows can be from the means of their groups.

    The arguments hold, for each group of all sides in order, its mean, the number of rows that may differ, and its
    side. ``sizes`` are Durfee sizes: no row inside the square is shorter.
    """
    is_last = np.diff(side, append=-1) != 0
    after = means - np.where(is_last, sizes[side], np.append(means[1:], 0.0))
    before = np.append(0.0, np.where(is_last, 0.0, after)[:-1])
    both = np.maximum(before + after, np.finfo(np.float64).tiny)
    middle = rows * before * after / both
    # These are the slopes in the share of the fall before, and after, that is inside the group.
    first, last = (2 * rows * fall * (1 - fall / both) ** 2 for fall in (before, after))
    slope = np.abs(last - np.append(np.where(is_last[:-1], 0.0, first[1:]), 0.0)) / 2
    return np.bincount(side, weights=middle + slope, minlength=sizes.size).astype(np.float64)


def evidence_of(released: Sequence[Profile], fits: Fits, *, epsilon: float) -> list[Evidence]:
    """Return the intervals of each run, its misfit, and its expected distance and the bound of that.

    The published profile of a run is a public guess of the truth, which determines the windows. Misfit and bound are
    those of the first fit: simulated runs have no other, and smooth legs err less on nearly all shapes tried.
    """
    noisy, arms, legs = fits.noisy, fits.noisy.arms, fits.noisy.legs
    guess = Guess.of(released, arms.sums.shape[1])
    bands = k_plus_rows(guess, arms, legs, epsilon=epsilon).bands(KPlusBand)
    prevalences = prevalence_rows(guess, arms, legs, epsilon=epsilon).bands(PrevalenceBand)
    # n is the sum of the Durfee size and all arms and legs.
    numbers = np.hstack((noisy.sizes[:, None], arms.sums, legs.sums))
    counted = np.hstack((np.ones((len(numbers), 1), dtype=np.bool_), arms.begins, legs.begins))
    items = of_rows(numbers, counted, epsilon)
    misfits = unsmoothed_misfit(fits.arms, fits.first, arms.beside(legs))
    bounds = distance_bounds(guess.sizes.tolist(), noisy, misfits, epsilon=epsilon)
    # The larger the noise, the more the posterior trusts its priors: too much, below so many noise scales.
    weights = np.clip(epsilon * noisy.sizes / SIZE_IS_ENOUGH, 0, 1).tolist()
    told = zip(bands, misfits, prevalences, items, bounds, fits.expected, weights, strict=True)
    return [
        Evidence(
            *(band, misfit, singles),
            items=ends,
            distance_bound=bound,
            expected_distance=expected,
            posterior_weight=weight,
            runs_shares=RUNS_SHARES if expected is None or weight < 1 else (1.0, 1.0),
        )
        for band, misfit, singles, ends, bound, expected, weight in told
    ]


def _fits(places: Ints, noisy: NoisyCoordinates, found: list[Medians], anew: list[SmoothLegs | None] | None) -> Fits:
    """Put the fits of a batch together, with legs that were fitted anew, where they were; None for first fits only."""
    arms, first = [each.arms for each in found], [each.legs for each in found]
    if anew is None:
        return Fits(places, noisy, arms, first, first, [None] * len(found))
    legs: list[Ints] = []
    expected: list[float | None] = []
    for each, smooth in zip(found, anew, strict=True):
        legs.append(each.legs if smooth is None else smooth.legs)
        apart = each.apart + each.beyond + (each.apart_legs if smooth is None else smooth.error)
        # Of larger arms and legs, floats do not hold differences.
        expected.append(apart if max(each.arms.max(initial=0), each.legs.max(initial=0)) < LARGEST else None)
    return Fits(places, noisy, arms, legs, first, expected)


_SIMULATED_CELLS = 2**22


@frozen
class FrobeniusMechanism(AdditiveMechanism):
    """Release a profile by two-sided geometric noise on its Frobenius coordinates.

    With D the Durfee size and ``arm_k = λ_k − k``, ``leg_k = λ'_k − k`` (both 0 for k > D), it draws
    ``D̃ = D + G``, ``ãrm_k = arm_k + G``, ``l̃eg_k = leg_k + G`` for k = 1..K, each G independent with
    ``P(G = j) ∝ exp(−ε|j|/Δ)``, Δ = ``l1_sensitivity`` the largest sorted ℓ1 distance of neighbors. For ε/Δ below 0.9,
    arms (and legs) that differ by less than the noise are released in groups, their sum with one G
    (:func:`~anonhist.mechanisms.frobenius.row_weights.noisy_rows`). K and the groups depend on released values alone.
    It publishes the partition nearest to them in expected sorted ℓ1 distance (:func:`posterior_medians`), its legs
    fitted again with smooth steps (:mod:`~anonhist.mechanisms.legs.refit`), and intervals for the true n,
    φ_{k+} and φ_r (:mod:`~anonhist.mechanisms.noise`, :func:`~anonhist.mechanisms.frobenius.row_band.k_plus_rows`,
    :func:`~anonhist.mechanisms.frobenius.row_band.prevalence_rows`).

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.setting.Setting`.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy. One extra item adds one cell to the diagram, which changes exactly one of D,
    arm_k, leg_k, by one, and so at most one sum; the published partition is a function of the noisy sums. Noise is
    exact and added to whole numbers, so floating point costs nothing: it appears only after the noise. Proof:
    docs/proofs/frobenius.md.

    Notes
    -----
    O(D + K) time for the noise, O(K) for the fits after it, and O(M·w) for the rest of the post-processing, where w is
    at most about 1,100 and M is the size beyond which the posterior of D is negligible. A group of several legs takes
    O(w′²), w′ about 160 at most.

    Examples
    --------
    >>> mechanism = FrobeniusMechanism(epsilon="0.5")
    >>> release = mechanism.release(Profile.from_counts([5, 3, 3, 1]))
    >>> print(release.guarantee)
    0.5-differentially private (δ = 0) when one item is added or removed; noise is exact and added to whole numbers,
    so floating point costs nothing.
    """

    name: ClassVar[str] = "frobenius"
    keeps_noisy_values: ClassVar[bool] = True
    errs_by_posterior: ClassVar[bool] = True

    def simulation_work(self, profile: Profile) -> int:
        """Return the approximate number of values that the fit of one run computes."""
        return fit_work(profile.durfee_size, float(self.epsilon_per_cell), margin=MARGIN)

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile, with simulation randomness."""
        return [
            run for fits in self._batches(profile, size, rng, reach=SIMULATED_REACH) for run in self._published(fits)
        ]

    def simulate_with_misfit(
        self, profile: Profile, *, size: int, rng: np.random.Generator
    ) -> list[tuple[Profile, float]]:
        """Return ``size`` runs with first fits, which are fast, and the misfit of each."""
        runs: list[tuple[Profile, float]] = []
        for fits in self._batches(profile, size, rng, reach=SIMULATED_REACH, first_only=True):
            misfits = unsmoothed_misfit(fits.arms, fits.first, fits.noisy.arms.beside(fits.noisy.legs))
            runs += zip(self._published(fits), misfits, strict=True)
        return runs

    def simulate_with_evidence(
        self, profile: Profile, *, size: int, rng: np.random.Generator
    ) -> list[tuple[Profile, Evidence]]:
        """Return ``size`` runs with the evidence that a release would keep, to measure how often intervals hold."""
        return [run for fits in self._batches(profile, size, rng, reach=REACH) for run in self._publish(fits)]

    def simulate_each(
        self, profiles: Sequence[Profile], *, size: int, rng: np.random.Generator
    ) -> Iterator[Sequence[Profile]]:
        """Yield ``size`` runs on several public profiles together, with simulation randomness."""
        return self._simulate_each(profiles, size=size, rng=rng, first_only=False)

    def simulate_each_fast(
        self, profiles: Sequence[Profile], *, size: int, rng: np.random.Generator
    ) -> Iterator[Sequence[Profile]]:
        """Yield ``size`` runs with first fits, which are fast, on several public profiles together."""
        return self._simulate_each(profiles, size=size, rng=rng, first_only=True)

    def _simulate_each(
        self, profiles: Sequence[Profile], *, size: int, rng: np.random.Generator, first_only: bool
    ) -> Iterator[Sequence[Profile]]:
        public, noise = [self.admit(profile) for profile in profiles], simulated_noise(rng)
        for profile in public:
            check_diagram(profile)
        for _ in range(size):
            runs = dict(
                pair
                for fits in self._fit_each(public, noise, reach=SIMULATED_REACH, first_only=first_only)
                for pair in zip(fits.places.tolist(), self._published(fits), strict=True)
            )
            yield [runs[place] for place in range(len(public))]

    def sum_evidence(self, parts: Sequence[Released]) -> Evidence:
        """Return intervals for sums over several profiles that were released together."""
        released, noisy = [each.release.profile for each in parts], [each.noisy for each in parts]
        return sum_evidence(released, noisy, epsilon=float(self.epsilon_per_cell))

    def _batches(
        self, profile: Profile, size: int, rng: np.random.Generator, *, reach: float, first_only: bool = False
    ) -> Iterator[Fits]:
        """Yield the fits of runs on a public profile, ``size`` in all."""
        check_diagram(profile)
        public = FrobeniusCoordinates.of(self.admit(profile))
        noise = CoordinateNoise(self.epsilon_per_cell, simulated_noise(rng))
        length = public.durfee_size + math.ceil(MARGIN / float(self.epsilon_per_cell))
        batch = max(1, _SIMULATED_CELLS // (80 * length))
        for begun in range(0, size, batch):
            many = min(batch, size - begun)
            yield from self._fit([(np.arange(many), noise.on_one(public, many))], reach=reach, first_only=first_only)

    def _run(self, profile: Profile, noise: Noise) -> tuple[Profile, Evidence | None]:
        (fits,) = self._fit_each([profile], noise)
        (run,) = self._publish(fits)
        return run

    def _evidence(self, released: Profile, noisy: Evidence | None) -> Evidence | None:
        return noisy

    def _draw_each(self, profiles: Sequence[Profile], source: RandomSource) -> Iterator[RunOfOne]:
        for fits in self._fit_each(profiles, exact_noise(source)):
            for at, (place, run) in enumerate(zip(fits.places.tolist(), self._publish(fits), strict=True)):
                yield RunOfOne(place, *run, NoisyGroup(fits.noisy, at))

    def _fit_each(
        self, profiles: Sequence[Profile], noise: Noise, *, reach: float = REACH, first_only: bool = False
    ) -> list[Fits]:
        """Spend the budget on each profile, and fit all of them."""
        drawn = CoordinateNoise(self.epsilon_per_cell, noise).on_each(profiles)
        fits = self._fit(drawn, reach=reach, first_only=first_only)
        return without_shared_bias(fits, epsilon=float(self.epsilon_per_cell))

    def _fit(
        self,
        drawn: Iterable[tuple[Ints, NoisyCoordinates]],
        *,
        reach: float = REACH,
        first_only: bool = False,
    ) -> list[Fits]:
        """Fit batches of noisy values; legs of all batches are fitted again together, for small batches take long."""
        epsilon, batches, first, errors = float(self.epsilon_per_cell), [], [], []
        for places, noisy in drawn:
            sides = noisy.sizes, noisy.arms, noisy.legs
            found = posterior_medians(*sides, epsilon=epsilon, reach=reach, with_errors=not first_only)
            batches.append((places, noisy, found))
            first += [each.legs for each in found]
            errors += [each.apart_legs for each in found]
        if first_only:
            return [_fits(*batch, None) for batch in batches]
        seen = [each for _, noisy, _ in batches for each in zip(noisy.legs.sums, noisy.legs.begins, strict=True)]
        anew = iter(refitted(first, seen, epsilon=epsilon, errors=errors))
        return [_fits(*batch, [*islice(anew, len(batch[0]))]) for batch in batches]

    def _published(self, fits: Fits) -> list[Profile]:
        """Return the published profile of each run."""
        return [self.publishable(each) for each in map(bounded_profile, fits.arms, fits.legs)]

    def _publish(self, fits: Fits) -> list[tuple[Profile, Evidence]]:
        """Return the published profile of each run, and its evidence."""
        released = self._published(fits)
        evidence = evidence_of(released, fits, epsilon=float(self.epsilon_per_cell))
        return [*zip(released, evidence, strict=True)]
