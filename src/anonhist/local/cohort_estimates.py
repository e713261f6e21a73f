"""Raw estimates from the counts of cohorts, with errors and tests that know of collisions between labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.local.decoding import p_values
from anonhist.local.estimate import Raw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.cohort_counts import CohortCounts

# Least squares take the square of it in memory and the cube in time.
_MOST_FITTED = 1500
# Of the largest eigenvalue: below, what is fitted is rounding.
_SMALLEST_EIGENVALUE = 1e-9
# Fewer cells than that do not tell how far off the labels are.
_FEWEST_FREE = 20
# Sums over cohorts are taken on so many steps.
_STEPS = 1 << 17
# What a tail of such sums may be for rounding alone.
_ROUNDING = 1e-13
# Errors that would come out smaller, share of the variance, are rounding.
_LEAST_SHARE = 1e-9
_TINY = 1e-300


def raw_estimates(counts: CohortCounts) -> Raw:
    """Return unbiased estimates of the labels: by least squares where that is better, else label by label.

    See docs/proofs/local-cohorts.md for what is computed here and why.
    """
    plain = _by_supports(counts)
    if counts.collision == 0:
        # Nothing collides: as many reports support a label that nobody has as fall on it by chance.
        supporting = counts.supports.total(counts.counts)
        exact = p_values(supporting, users=counts.total, probability=counts.other_probability)
        return Raw(plain.raw, plain.errors, exact)
    fitted = _by_least_squares(counts) if counts.supports.values <= _MOST_FITTED else None
    chosen = plain if fitted is None or (plain.errors**2).sum() <= (fitted.errors**2).sum() else fitted
    return Raw(chosen.raw, chosen.errors, chosen.p_values(counts))


@dataclass(frozen=True, eq=False)
class _Estimate:
    """Raw estimates, their errors, and what those would be if nobody had the label.

    ``unexplained`` is what each cell adds to the sum that an estimate is of, what the estimates explain taken away;
    ``scores`` says how far that sum is from its mean, in standard deviations of sums over random places.
    """

    raw: NDArray[np.float64]
    errors: NDArray[np.float64]
    null_errors: NDArray[np.float64]
    unexplained: NDArray[np.float64]
    scores: NDArray[np.float64]

    def p_values(self, counts: CohortCounts) -> NDArray[np.float64]:
        """Return the larger of two tails: the normal one, and that of a label whose places are drawn at random.

        The second one knows that labels nobody listed fall on some places in large numbers.
        """
        from scipy.special import ndtr

        normal = np.asarray(ndtr(-self.raw / self.null_errors))
        return np.asarray(np.maximum(normal, random_tails(self.unexplained, counts, self.scores)))


def _by_supports(counts: CohortCounts) -> _Estimate:
    """Estimate each label by the cells that it supports, all others taken as chance: ``(B − κ)/(1 − κ)``."""
    supports, kappa, users = counts.supports, counts.collision, counts.total
    table, weights = counts.table, counts.weights
    raw = (supports.total(weights * table) / supports.hashes - kappa) / (1 - kappa)
    share = np.clip(raw, 0, 1)
    variances = np.array([_own_variance(counts, each) for each in (0.0, 0.5, 1.0)])
    # A quadratic in the share, and so given by three of its values.
    start, bend = variances[0], 2 * (variances[0] - 2 * variances[1] + variances[2])
    noise = start + (variances[2] - start - bend) * share + bend * share**2
    # How uneven the table is, beyond its noise, is Σ f² of all labels: what they do to each other.
    uneven = float((weights * (table**2).mean(axis=1, keepdims=True)).sum() - (table.mean(axis=1) ** 2 @ weights).sum())
    supported = float(np.clip(table, 0, 1).mean())
    noisy = np.count_nonzero(counts.users) / users * float(counts.variances(np.array(supported)))
    noisy *= 1 - 1 / supports.buckets
    squares = min(max((uneven - noisy) / (kappa * (1 - kappa)), 0.0), 1.0) if kappa else 0.0
    spread = float((weights**2).sum()) * kappa * (1 - kappa)
    null = (start + squares * spread) / (1 - kappa) ** 2
    # A label does not collide with itself; what its estimate owes to chance must not be taken for it.
    own = np.maximum(share**2 - null, 0)
    total = (noise + np.maximum(squares - own, 0) * spread) / (1 - kappa) ** 2
    cells = weights * table
    mean, deviation = _moments(cells, counts)
    scores = (supports.total(cells) - mean) / max(deviation, _TINY)
    return _Estimate(raw, _people_as_they_are(total, share, users), np.full(raw.size, np.sqrt(null)), cells, scores)


def _own_variance(counts: CohortCounts, share: float) -> float:
    """Return the variance of the mean over a label's cells where it has this share, people drawn at random."""
    supported = share + (1 - share) * counts.collision
    ones = counts.other_probability + counts.gap * supported
    people = supported * (1 - supported)
    # The bits of one person are independent but for what they come from.
    noise = ones * (1 - ones) / counts.gap**2 - people
    return (noise / counts.supports.hashes + people) / counts.total


def _people_as_they_are(variances: NDArray[np.float64], share: NDArray[np.float64], users: int) -> NDArray[np.float64]:
    """Return standard errors without what drawing the people adds to variances, ``f(1 − f)/n``."""
    return np.sqrt(np.maximum(variances - share * (1 - share) / users, _LEAST_SHARE * variances))


def _by_least_squares(counts: CohortCounts) -> _Estimate | None:
    """Fit all labels together: ``min Σ_c w_c Σ_j (b − u − Σ_s f_s (H_s − u))²``; None if that tells too little."""
    from scipy.linalg import eigh

    supports = counts.supports
    free = counts.free - supports.values
    if free < max(_FEWEST_FREE, supports.values / 4):
        return None  # nothing would be left to see from how much the labels do not explain
    others = np.zeros(counts.counts.shape) if counts.others is None else counts.others
    matrix, chances = supports.matrix(), others.ravel()
    weights = np.repeat(counts.weights.ravel(), supports.buckets)
    rest = counts.table.ravel() - chances
    gram = _gram(matrix, chances, weights)
    values, vectors = eigh(gram)
    if values[0] <= _SMALLEST_EIGENVALUE * values[-1]:
        return None
    inverse = (vectors / values) @ vectors.T
    weighted = weights * rest
    raw = inverse @ (matrix.T @ weighted - chances @ weighted)
    supported = matrix @ raw + chances * (1 - raw.sum())
    left = rest + chances - supported
    reports = np.repeat(np.maximum(counts.users, 1), supports.buckets)
    # A cell of which nothing is supported is as noisy as any.
    clipped = np.clip(supported, 0, 1)
    cells = counts.variances(clipped) / reports
    misfit = max(1.0, float((left**2 / cells)[weights > 0].sum()) / free)
    # What people add to the covariance, one column for each cohort.
    drawn = (weights * clipped / np.sqrt(reports)).reshape(supports.cohorts, -1)
    common = supports.gather_each(drawn) - (drawn * others).sum(axis=1)
    middle = misfit * _gram(matrix, chances, weights**2 * cells) - common @ common.T
    variances = np.einsum("ij,ij->i", inverse @ middle, inverse)
    share = np.clip(raw, 0, 1)
    errors = _people_as_they_are(np.maximum(variances, 0), share, counts.total)
    null = np.sqrt(np.maximum(variances, _TINY))
    return _Estimate(raw, errors, null, (weights * left).reshape(supports.cohorts, -1), raw / null)


def _gram(matrix: object, chances: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``XᵀWX`` for ``X = H − u·1ᵀ``, without writing X out, for it is dense."""
    weighted = matrix.T.multiply(weights)  # type: ignore[attr-defined]  # SciPy ships no types
    products: NDArray[np.float64] = (weighted @ matrix).toarray()
    crossed = weighted @ chances
    products += float(chances @ (weights * chances)) - crossed - crossed[:, np.newaxis]
    return products


def _moments(table: NDArray[np.float64], counts: CohortCounts) -> tuple[float, float]:
    """Return mean and standard deviation of the sum of the cells of a label whose places are drawn at random."""
    hashes, means = counts.supports.hashes, table @ counts.shares
    variance = float((table**2 @ counts.shares - means**2).sum())
    return hashes * float(means.sum()), float(np.sqrt(max(hashes * variance, 0)))


def random_tails(table: NDArray[np.float64], counts: CohortCounts, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how likely a label with random places has at least this score: the sum of its cells, standardised.

    Parameters
    ----------
    table
        What each cell adds, shape (C, k).
    counts
        Whose functions are drawn.
    scores
        In standard deviations above the mean of such sums, shape (m,).

    Notes
    -----
    The law of the sum is the convolution of those of its C·h terms, on 2^17 steps. A value between two steps is shared
    between them so that the mean stays, which makes tails longer, if anything; a step is taken off each score.
    """
    from scipy.fft import irfft, next_fast_len, rfft

    hashes, probabilities = counts.supports.hashes, counts.shares
    lows = table.min(axis=1)
    reach = hashes * float((table.max(axis=1) - lows).sum())
    mean, deviation = _moments(table, counts)
    if not deviation > 0:
        return np.ones(scores.size)
    step = reach / _STEPS
    size = next_fast_len(_STEPS + hashes * len(table) + 2, real=True)
    spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
    for row, low in zip(table, lows, strict=True):
        at = (row - low) / step
        below = np.floor(at).astype(np.int64)
        law = np.bincount(below, probabilities * (below + 1 - at), minlength=size)
        law += np.bincount(below + 1, probabilities * (at - below), minlength=size)
        spectrum *= rfft(law) ** hashes
    tails = np.cumsum(np.maximum(irfft(spectrum, size), 0)[::-1])[::-1]
    places = np.floor((mean + scores * deviation - hashes * lows.sum()) / step).astype(np.int64) - 1
    found = tails[np.clip(places, 0, size - 1)]
    return np.asarray(np.clip(np.where(places < size, found, 0.0) + _ROUNDING, 0, 1))
