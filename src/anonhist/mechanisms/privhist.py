"""PrivHist (Suresh 2019), step by step, and its intervals: see docs/proofs/privhist.md."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import Converted, completed, frozen, named
from anonhist.mechanisms.bands import differences, falling_bounds, in_steps, invert, merge_steps
from anonhist.mechanisms.noise import Noise, add_noise, exact_noise, noise_quantile, simulated_noise
from anonhist.mechanisms.skeletons import CentralMechanism, RunOfOne, profile_of_fit
from anonhist.numeric.arrays import Floats, Ints, widen_to_falling
from anonhist.numeric.pulse import pulsing
from anonhist.privacy import EpsilonLike, Guarantee, parse_epsilon, short_decimal
from anonhist.profiles import Profile
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.randomness import RandomSource
from anonhist.releases.evidence import NUMBER_OF_ITEMS, Evidence, KPlusBand, PrevalenceBand
from anonhist.releases.made import check_numbers

MOST_LABELS = 2**61


def top_labels(profile: Profile, most: int) -> Profile:
    """Keep only the ``most`` largest counts: two profiles that differ in one cell still differ in at most one."""
    if profile.num_labels <= most:
        return profile
    labels = np.minimum(profile.cumulative_prevalence(profile.counts), most)
    kept = labels - np.append(labels[1:], 0)
    return type(profile)(profile.counts[kept > 0], kept[kept > 0], unit=profile.unit)


def cut(profile: Profile, threshold: int, border: int, *, shift: int) -> tuple[Ints, Ints]:
    """Return ``C^s_r``, r = 1..T, and the large counts ``N^bl_(1) ≥ … ≥ N^bl_(m)``, before any more noise.

    For one extra item, and with ``shift`` one less if a count moves from T to T + 1, exactly one of all these numbers
    changes, by one; the number of values on each side does not. ``shift`` is Z^b (step 2b); T ≥ 1 is a function of the
    noisy number of items; M artificial labels are added at T, and as many at T + 1; the profile has at most 2⁶¹ labels.
    """
    # 2a., 2b.: H^b differs from H only at T and T + 1, by M − Z^b and M + Z^b.
    reaching = profile.cumulative_prevalence(np.arange(1, threshold + 1))
    beyond = profile.k_plus(threshold + 1)
    # 2c., small: C^s_r = max(0, Σ_{s=r}^T φ^b_s).
    small = np.maximum(reaching - beyond + border - shift, 0)
    # 2c., large: C^l_r = max(0, Σ_{s=T+1}^r φ^b_s), and φ^bl_r its steps.
    at = np.searchsorted(profile.counts, threshold, side="right")
    counts = np.append(threshold + 1, profile.counts[at:])
    up_to = np.cumsum(np.append(border + shift, profile.prevalences[at:]))
    steps = np.diff(np.maximum(up_to, 0), prepend=0)
    return small, np.repeat(counts[::-1], steps[::-1])


# If nearly the whole budget is spent here, ln(1/ε₃) vanishes and blocks would have no length.
_LEAST_LOGARITHM = 0.1
# More boundaries between T and T' would not fit in memory; this many occur from about n = 2⁴¹ on.
_MOST_BOUNDARIES = 2**22


def noisy_blocks(
    profile: Profile, large: Ints, *, items: int, threshold: int, rate: Fraction, noise: Noise
) -> tuple[Ints, Ints]:
    """Return boundaries and noisy block sums, steps H1 to H4; only H4 reads the profile, and spends ``rate``.

    The paper divides each label between the two boundaries next to its count (H3) and adds Laplace noise of scale
    ``1/(ε₃ w_i)`` to the cumulative sums (H4). Those are ``B_i/w_i`` with the whole number
    ``B_i = Σ_{s_{i−1} < r ≤ s_i} φ_{r+}``: noise on B_i has the same rate and lies on the grid of step 1/w_i, so no
    rounding has to be charged. Each of the first T covers a single count. ``rate`` is ε₃, ``large`` are the noisy
    ``N^cl_i``, and ``items`` is the noisy N ≥ 1.
    """
    # H1., H2.: counts are clipped at the last boundary, 2N.
    levels = boundaries(large, items=items, threshold=threshold, epsilon=float(rate))
    # H3., H4.
    return levels, add_noise(block_sums(profile, levels), noise(rate, levels.size))


def high_privacy(levels: Ints, sums: Ints) -> Profile:
    """Return H^y of steps H5 and H6: post-processing of the boundaries and of the noisy block sum of each."""
    from scipy.optimize import isotonic_regression

    # H5.
    widths = np.diff(levels, prepend=0).astype(np.float64)
    fit = isotonic_regression(sums / widths, weights=widths**2, increasing=False).x
    # H6.
    return profile_of_fit(levels, fit)


def boundaries(large: Ints, *, items: int, threshold: int, epsilon: float) -> Ints:
    """Return S of step H2, ascending from 1 to 2N: a function of released and public numbers.

    It holds all counts up to T, then counts with evenly spaced logarithms up to ``T' = ⌈10 √(N/ε₃³)⌉``, then the noisy
    large counts.
    """
    last = min(2 * items, MAX_ITEMS)
    farthest = math.ceil(10 * math.sqrt(items / epsilon**3))
    step = math.sqrt(max(math.log(1 / epsilon), _LEAST_LOGARITHM) / (items * epsilon))
    reach = math.log(farthest / threshold)
    rate = max(math.log1p(step), reach / _MOST_BOUNDARIES)
    number = math.floor(reach / rate) + 1 if reach >= 0 else 0
    # In place, because there may be millions.
    spaced = rate * np.arange(number)
    np.multiply(np.exp(spaced, out=spaced), threshold, out=spaced)
    np.minimum(np.floor(spaced, out=spaced), 2.0**62, out=spaced)
    listed = np.concatenate((np.arange(1, threshold + 1), spaced.astype(np.int64), large[large >= farthest], [last]))
    ascending = listed[(listed >= 1) & (listed <= last)]
    ascending.sort(kind="stable")
    is_new = np.ones(ascending.size, dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=is_new[1:])
    return ascending[is_new]


def block_sums(profile: Profile, levels: Ints) -> Ints:
    """Return ``B_i = Σ_{s_{i−1} < r ≤ s_i} φ_{r+} = Σ_x min(n_x, s_i) − Σ_x min(n_x, s_{i−1})``, s_0 = 0, exactly.

    B_i is the number of cells of the Young diagram in a block of columns: one extra item is in one block, or beyond the
    last. Boundaries s_1 < s_2 < … are ≥ 1.
    """
    # Labels with count at most s contribute their count, the others s each.
    items_up_to = np.append(0, np.cumsum(profile.counts * profile.prevalences))
    labels_up_to = np.append(0, np.cumsum(profile.prevalences))
    at = np.searchsorted(profile.counts, levels, side="right")
    return np.diff(items_up_to[at] + (profile.num_labels - labels_up_to[at]) * levels, prepend=0)


def low_privacy(small: Ints, large: Ints, *, border: int) -> Profile:
    """Return H^e of steps L1 to L4: post-processing of noisy numbers.

    ``small`` are the noisy cumulative prevalences ``φ^cs_{r+}``, r = 1..T; ``large`` are ``N^cl_i``, ``border`` is M.
    """
    from scipy.optimize import isotonic_regression

    threshold = small.size
    # L1.
    smooth = profile_of_fit(np.arange(1, threshold + 1), isotonic_regression(small, increasing=False).x)
    # L2., L3.
    counts, prevalences = np.unique(np.maximum(large, threshold), return_counts=True)
    both = np.concatenate((smooth.counts, counts))
    order = np.argsort(both, kind="stable")
    values, labels = both[order], np.concatenate((smooth.prevalences, prevalences))[order]
    # L4.
    for middle in (threshold + 1, threshold):
        labels = without_nearest(values, labels, middle, border)
    return _profile(values, labels)


def without_nearest(values: Ints, labels: Ints, middle: int, number: int) -> Ints:
    """Remove the ``number`` elements of a multiset nearest to ``middle``, the larger of equally near ones first.

    Values are ascending, ≥ 1, with ``labels`` elements each; the result is how many of each are left.
    """
    order = np.lexsort((-values, np.abs(values - middle)))
    seen = np.cumsum(labels[order])
    taken = np.empty_like(labels)
    taken[order] = np.diff(np.minimum(seen, number), prepend=0)
    return labels - taken


def _profile(values: Ints, labels: Ints) -> Profile:
    """Add up equal values, and cut the largest counts if n would exceed 2⁶²."""
    present = labels > 0
    levels, first = np.unique(values[present], return_index=True)
    if not levels.size:
        return Profile([], [])
    kept = np.add.reduceat(labels[present], first)
    reaching = np.cumsum(kept[::-1].astype(np.float64))[::-1]
    if float(levels.astype(np.float64) @ kept) < 2.0**62:
        return Profile(levels, kept)
    return profile_of_fit(levels, reaching)


_TAIL = 0.025


class NoisyParts(NamedTuple):
    """The noisy numbers of one run of PrivHist, all of them differentially private.

    ``reaching`` are noisy φ_{1+}..φ_{T+}, ``large`` the m noisy large counts, in the order of the true ones, including
    artificial ones; ``border`` is M. ``rate`` is ε₂, the rate of the noise on each large count and of Z.
    """

    reaching: Ints
    reaching_rate: float
    large: Ints
    border: int
    rate: float


def of_parts(parts: NoisyParts, released: Profile) -> Evidence:
    """Return the intervals from one run, T ≥ 1; the published profile decides which windows are used."""
    single, double = (noise_quantile(parts.reaching_rate, terms, _TAIL / 2) for terms in (1, 2))
    threshold, noisy = parts.reaching.size, parts.reaching.astype(np.float64)
    guess = released.cumulative_prevalence(np.arange(1, threshold + 1)).astype(np.float64)
    low, high = falling_bounds(noisy, guess, parts.reaching_rate, tail=_TAIL)
    # φ_r for r < T, then φ_T.
    sharper = _beyond(parts, released, tail=_TAIL / 2)
    next_least, next_most = int(sharper.lows[0]), int(sharper.highs[0])
    seen = noisy[:-1] - noisy[1:]
    least = np.append(seen - double, noisy[-1] - single - next_most)
    most = np.append(seen + double, noisy[-1] + single - next_least)
    ends, *bounds = in_steps(low, high, least, most)
    beyond = _beyond(parts, released, tail=_TAIL)
    lows, highs = (np.concatenate(sides) for sides in ((bounds[0], beyond.lows), (bounds[1], beyond.highs)))
    places, lowest, highest = differences(sharper, beyond=threshold)
    return Evidence(
        KPlusBand(*merge_steps(np.append(ends, beyond.ends), *widen_to_falling(lows, highs))),
        prevalences=PrevalenceBand(
            *merge_steps(np.append(ends, places), np.append(bounds[2], lowest), np.append(bounds[3], highest))
        ),
    )


def of_few(items_rate: float) -> Evidence:
    """Return the bands if the noisy number of items is 0: there are few items, and at most as many labels."""
    items = noise_quantile(items_rate, 1, _TAIL)
    roots = np.arange(1, math.isqrt(items) + 1)
    ends = np.unique(np.concatenate((roots, items // roots)))
    steps = ends, np.zeros_like(ends), items // ends
    return Evidence(KPlusBand(*steps), prevalences=PrevalenceBand(*steps))


def _beyond(parts: NoisyParts, released: Profile, *, tail: float) -> KPlusBand:
    """Return bounds of φ_{k+} for k > T, each end wrong with probability ``tail``; the first step is T + 1 alone."""
    border, size = parts.reaching.size + 1, parts.large.size
    guess = _large_of(released, border, size)
    found, hoped = (
        invert(*falling_bounds(numbers, guess, parts.rate, tail=tail))
        for numbers in (parts.large.astype(np.float64), guess)
    )
    reach, middle = noise_quantile(parts.rate, 1, tail), size - parts.border
    least, most = max(middle - reach, 0), max(middle + reach, 0)
    kept = found.ends > border
    ends = found.ends[kept]
    is_sharper = released.k_plus(border) + reach < hoped.at(ends)[1]
    return KPlusBand(
        np.append(border, ends),
        *widen_to_falling(
            np.append(least, found.lows[kept]), np.append(most, np.where(is_sharper, most, found.highs[kept]))
        ),
    )


def _large_of(released: Profile, border: int, size: int) -> Floats:
    """Return ``size`` large counts in descending order, as published, with artificial ones at the border."""
    at = np.searchsorted(released.counts, border)
    counts, prevalences = released.counts[at:][::-1], released.prevalences[at:][::-1]
    labels = np.diff(np.minimum(np.cumsum(prevalences), size), prepend=0)
    large = np.repeat(counts, labels)
    return np.append(large, np.full(size - large.size, border)).astype(np.float64)


# Any T that follows from N alone is valid; from n = 2⁴⁴ on, memory limits it.
_LARGEST_THRESHOLD = 2**22


def _exact_share(share: EpsilonLike, name: str) -> Fraction:
    """Return a share exactly; the share of the blocks may be 0."""
    is_nothing = name == "blocks" and str(share) in {"0", "0.0"}
    return Fraction(0) if is_nothing else parse_epsilon(share, name=f"The share {name!r}")


@frozen
class BudgetShares:
    """How PrivHist splits its budget: three shares that add up to one.

    Parameters
    ----------
    items
        For n, step 1, > 0.
    cut
        For the counts up to T and above, steps 2 to 4, > 0.
    blocks
        For the block sums of the high-privacy regime, steps H1 to H4; ≥ 0. The low-privacy regime does not spend it.

    Raises
    ------
    UsageError
        If a share is out of range or they do not add up to one, exactly: 1/3 is "1/3", not 0.3333.

    Examples
    --------
    >>> str(BudgetShares("0.02", "0.49", "0.49"))
    '1/50, 49/100, 49/100'
    """

    items: Converted[EpsilonLike, Fraction] = named(_exact_share)
    cut: Converted[EpsilonLike, Fraction] = named(_exact_share)
    blocks: Converted[EpsilonLike, Fraction] = named(_exact_share)

    def __post_init__(self) -> None:
        if self.items + self.cut + self.blocks != 1:
            message = f"The shares of the budget must add up to 1, not {self.items + self.cut + self.blocks} ({self})."
            raise UsageError(message)

    @classmethod
    def thirds(cls) -> BudgetShares:
        """Return equal thirds, as published."""
        return cls(Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))

    @classmethod
    def recommend(cls, epsilon_per_cell: Fraction) -> BudgetShares:
        """Return 1/50 for n and, as the paper recommends, the rest for the cut, or about half each for cut and blocks.

        Above ε/Δ = 1: 1/50 and 49/50; else 1/50, 12/25 and 1/2. (A larger share for the blocks has lower errors on all
        data tried: 1/50, 1/10 and 22/25 have errors about two fifths lower; docs/benchmarks/accuracy.md.)
        """
        if epsilon_per_cell > 1:
            return cls(Fraction(1, 50), Fraction(49, 50), Fraction(0))
        return cls(Fraction(1, 50), Fraction(12, 25), Fraction(1, 2))

    @classmethod
    def parse(cls, text: str) -> BudgetShares:
        """Read ``"thirds"`` or three numbers such as ``"1/50, 49/100, 49/100"``."""
        if text == "thirds":
            return cls.thirds()
        parts = [part.strip() for part in text.split(",")]
        if len(parts) != 3:
            raise UsageError(
                f"The shares of the budget are three numbers such as 0.02,0.49,0.49, or 'thirds', not {text!r:.80}."
            )
        return cls(*parts)

    @classmethod
    def of(cls, asked: BudgetShares | str | None, epsilon_per_cell: Fraction) -> BudgetShares:
        """Return the requested shares, given as shares, text for :meth:`parse`, or None for :meth:`recommend`."""
        if asked is None:
            return cls.recommend(epsilon_per_cell)
        if isinstance(asked, str):
            return cls.parse(asked)
        if not isinstance(asked, BudgetShares):
            raise UsageError(f"`shares` must be a BudgetShares, such as BudgetShares.thirds(), not {asked!r}.")
        return asked

    def __str__(self) -> str:
        return f"{self.items}, {self.cut}, {self.blocks}"


@frozen
class PrivHistMechanism(CentralMechanism):
    """Release n and a profile by PrivHist, the first pure mechanism for profiles whose time grows like √n.

    With ε for ε/Δ, Δ = ``l1_sensitivity``, in the steps of the paper: 1. N = n + noise. 2. The profile is cut at T =
    ⌈√(N·min(ε, 1))⌉: small counts as cumulative prevalences, large ones in descending order, a border of M artificial
    labels between them. 3., 4. Both get noise. 5. For ε > 1 both are smoothed and joined (low privacy, L1 to L4). 6.
    For ε ≤ 1 the sums of φ_{r+} over blocks of counts, of lengths that follow from N and the noisy large counts, get
    noise and a weighted isotonic fit (high privacy, H1 to H6).

    Source: Suresh 2019.

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.setting.Setting`.
    shares
        How the budget is divided, or text for :meth:`BudgetShares.parse` such as ``"thirds"``; by default
        :meth:`BudgetShares.recommend` for the regime.

    Raises
    ------
    UsageError
        If the shares do not add up to one, or the block sums need a share above zero.

    Guarantees
    ----------
    Pure differential privacy; the guarantee lists the steps and their budgets. For ε > 1 the third share is not spent,
    so equal thirds give 2ε/3. All noise is exact and added to whole numbers (in step H4 to the sums of whole blocks),
    so floating point costs nothing. Proof: docs/proofs/privhist.md.

    Notes
    -----
    Õ(√n + t) time for t distinct counts. :attr:`Release.n` is N, with an error of about 1/ε₁ whatever n is: smaller
    than that of the profile's n if there are millions of items. Intervals are computed from the noisy numbers
    themselves (:mod:`~anonhist.mechanisms.privhist`).

    Examples
    --------
    >>> release = PrivHistMechanism(epsilon=2).release(Profile.from_counts([5, 3, 3, 1]))
    >>> [(purpose, str(spent)) for purpose, spent in release.guarantee.spending]
    [('the number of items', '1/25'), ('small and large counts', '49/25')]
    """

    name: ClassVar[str] = "privhist"
    keeps_noisy_values: ClassVar[bool] = True

    _: KW_ONLY
    # Always stored as shares, so that equal mechanisms compare equal however they were made.
    shares: Converted[BudgetShares | str | None, BudgetShares] = completed(
        lambda self, asked: BudgetShares.of(asked, self.epsilon_per_cell), default=None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon_per_cell <= 1 and not self.shares.blocks:
            raise UsageError("Up to ε/Δ = 1, the block sums need a share of the budget above zero.")
        least = min(share for share in (self.shares.items, self.shares.cut, self.shares.blocks) if share)
        if least * self.epsilon_per_cell < self.smallest_epsilon_per_cell:
            raise UsageError(
                f"A share of {least} leaves its step with ε/Δ below {short_decimal(self.smallest_epsilon_per_cell)}: "
                "give it more."
            )

    @classmethod
    def _own(cls, parameters: dict[str, object]) -> dict[str, Any]:
        if not isinstance(parameters.get("shares", ""), str):
            raise UsageError("the shares must be text.")
        return super()._own(parameters)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one release, with the budget of each step."""
        shares = self.shares
        steps = [(NUMBER_OF_ITEMS, shares.items), ("small and large counts", shares.cut)]
        if self.epsilon_per_cell <= 1:
            steps.append(("sums over blocks of counts", shares.blocks))
        spending = tuple((purpose, share * self.epsilon) for purpose, share in steps)
        total = sum((spent for _, spent in spending), Fraction(0))
        return self._with_choice(Guarantee(self.unit, self.relation, total, self.delta, self.arithmetic, spending))

    def _draw_each(self, profiles: Sequence[Profile], source: RandomSource) -> Iterator[RunOfOne]:
        noise, rate = exact_noise(source), float(self.shares.items * self.epsilon_per_cell)
        for place, profile in enumerate(profiles):
            run, items, parts = self._run(top_labels(profile, MOST_LABELS), noise)
            released = self.publishable(run)
            yield RunOfOne(place, released, of_few(rate) if parts is None else of_parts(parts, released), items=items)

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile, with simulation randomness."""
        public, noise = top_labels(self.admit(profile), MOST_LABELS), simulated_noise(rng)
        # With many items, noise on their number hardly moves the threshold. Each expanded label takes about as much
        # memory as four counters of a sketch.
        check_numbers(4 * public.k_plus(self._threshold(public.n) // 2))
        return list(pulsing(self.publishable(self._run(public, noise)[0]) for _ in range(size)))

    def impossible(self, profile: Profile, items: int | None) -> str:
        """Return a reason if the number of items is missing, or too small for the profile."""
        if items is None:
            return "items, the number of items that PrivHist publishes, is missing"
        reach = 2 * items if self.epsilon_per_cell <= 1 else 2**63
        # The release checks the range of N.
        is_too_small = items >= 0 and bool((not items and profile.n) or profile.k_plus(reach + 1))
        return "PrivHist cannot publish this profile with so few items" if is_too_small else ""

    def _threshold(self, items: int) -> int:
        return min(math.ceil(math.sqrt(items * min(float(self.epsilon_per_cell), 1.0))), _LARGEST_THRESHOLD)

    def _run(self, profile: Profile, noise: Noise) -> tuple[Profile, int, NoisyParts | None]:
        """Run once; return the published profile, N, and the noisy numbers behind the fit, if N is not 0."""
        shares, epsilon = self.shares, self.epsilon_per_cell
        for_items, for_cut, for_blocks = (share * epsilon for share in (shares.items, shares.cut, shares.blocks))
        # 1.
        items = min(max(profile.n + int(noise(for_items, 1)[0]), 0), MAX_ITEMS)
        if not items:
            return Profile([], []), 0, None
        # 2.
        threshold = self._threshold(items)
        border = border_width(items, for_cut)
        small, large = cut(profile, threshold, border, shift=int(noise(for_cut, 1)[0]))
        # Step 3 is needed for low privacy only, and unused noise need not be drawn. Step 4.
        noisy_small = add_noise(small, noise(for_cut, threshold)) if epsilon > 1 else None
        noisy_large = add_noise(large, noise(for_cut, large.size))
        # 5., 6.
        rate = float(for_cut)
        if noisy_small is not None:
            # The artificial labels and the border noise cancel: see above.
            reaching = add_noise(noisy_small, np.full(threshold, large.size - 2 * border))
            parts = NoisyParts(reaching, rate, noisy_large, border, rate)
            return low_privacy(noisy_small, noisy_large, border=border), items, parts
        levels, sums = noisy_blocks(
            profile, noisy_large, items=items, threshold=threshold, rate=for_blocks, noise=noise
        )
        parts = NoisyParts(sums[:threshold], float(for_blocks), noisy_large, border, rate)
        return high_privacy(levels, sums), items, parts


def border_width(items: int, rate: Fraction) -> int:
    """Return ``M = ⌈max(2 ln(N e^ε₂), 1)/ε₂⌉``: noise of rate ε₂ exceeds it with probability ≤ 2(N e^ε₂)^−2."""
    epsilon = float(rate)
    return math.ceil(max(2 * (math.log(items) + epsilon), 1) / epsilon)
