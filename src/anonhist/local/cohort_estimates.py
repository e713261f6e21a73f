"""Raw estimates from the counts of cohorts: errors, intervals and tests that account for label collisions."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from statistics import NormalDist

import numpy as np

from anonhist.frozen import frozen
from anonhist.local.cohort_counts import CohortCounts, Supports
from anonhist.local.estimate import Raw, SupportLimits, p_values
from anonhist.numeric import TwoBinomials
from anonhist.numeric.arrays import Bools, Floats, read_only

# Number of steps for the distribution of sums over cohorts.
_STEPS = 1 << 17
# Rounding can change a tail of such sums by this much.
_ROUNDING = 1e-13
# Smaller errors, as a share of the variance, are due to rounding.
_LEAST_SHARE = 1e-9
TINY = 1e-300


@frozen
class LabelEstimates:
    """Raw estimates, their errors, and their errors if nobody had the label.

    ``unexplained`` is the contribution of each cell to the sum behind an estimate, minus the part that the estimates
    explain. ``scores`` is the distance of that sum from its mean, in standard deviations of sums over random places,
    and ``unit`` is the value of one such standard deviation in an estimate.
    """

    raw: Floats
    errors: Floats
    null_errors: Floats
    unexplained: Floats
    scores: Floats
    unit: float | Floats

    def p_values(self, counts: CohortCounts) -> Floats:
        """Return the larger of two tails: the normal one, and that of a label with places drawn at random.

        The second one accounts for frequent unlisted labels at some places.
        """
        from scipy.special import ndtr

        normal = np.asarray(ndtr(-self.raw / self.null_errors))
        return np.asarray(np.maximum(normal, random_sums(self.unexplained, counts).tail(self.scores)))


def without_sampling_error(variances: Floats, share: Floats, users: int) -> Floats:
    """Return standard errors for the people who reported, without the variance of sampling them, ``f(1 − f)/n``."""
    return np.sqrt(np.maximum(variances - share * (1 - share) / users, _LEAST_SHARE * variances))


def random_moments(table: Floats, counts: CohortCounts) -> tuple[float, float]:
    """Return mean and standard deviation of the sum of the cells of a label with places drawn at random."""
    hashes, means = counts.supports.hashes, table @ counts.shares
    variance = float((table**2 @ counts.shares - means**2).sum())
    return hashes * float(means.sum()), float(np.sqrt(max(hashes * variance, 0)))


@frozen(eq=False)
class RandomSums:
    """The distribution of the sum of the cells of a label with places drawn at random.

    It is the convolution of the distributions of the C·h cells, on 2¹⁷ steps. A value between two steps is split
    between them so that the mean is preserved, which can only make tails longer. ``tails`` are the probabilities of a
    sum at least this many steps above the least one, which is ``start`` standard deviations above the mean; ``step`` is
    in standard deviations, too, and 0 if all sums are equal.
    """

    tails: Floats
    start: float
    step: float

    def tail(self, scores: Floats) -> Floats:
        """Return the probability of a sum of at least this score, plus one step, shape (m,)."""
        if not self.step:
            return np.ones(scores.size)
        # Tiny errors give scores that overflow integers.
        at = np.clip((scores - self.start) / self.step, -1, self.tails.size + 1)
        places = np.floor(at).astype(np.int64) - 1
        found = self.tails[np.clip(places, 0, self.tails.size - 1)]
        return np.asarray(np.clip(np.where(places < self.tails.size, found, 0.0) + _ROUNDING, 0, 1))

    def score(self, tail: float) -> float:
        """Return a score that a sum reaches with probability at most ``tail``; it may be one step too high."""
        above = int(np.count_nonzero(self.tails > max(tail, _ROUNDING)))
        return self.start + (above + 1) * self.step


def random_sums(table: Floats, counts: CohortCounts) -> RandomSums:
    """Return the distribution of the sum of the cells of a label with random places, given each cell's contribution."""
    from scipy.fft import irfft, next_fast_len, rfft

    hashes, probabilities = counts.supports.hashes, counts.shares
    lows = table.min(axis=1)
    reach = hashes * float((table.max(axis=1) - lows).sum())
    mean, deviation = random_moments(table, counts)
    if not deviation > 0:
        return RandomSums(read_only(np.ones(1)), 0.0, 0.0)
    step = reach / _STEPS
    size = next_fast_len(_STEPS + hashes * len(table) + 2, real=True)
    spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
    for row, low in zip(table, lows, strict=True):
        at = (row - low) / step
        below = np.floor(at).astype(np.int64)
        chances = np.zeros(size)
        np.add.at(chances, below, probabilities * (below + 1 - at))
        np.add.at(chances, below + 1, probabilities * (at - below))
        spectrum *= rfft(chances)
    tails = np.cumsum(np.maximum(irfft(spectrum**hashes, size), 0)[::-1])[::-1]
    return RandomSums(read_only(tails), (hashes * float(lows.sum()) - mean) / deviation, step / deviation)


@frozen
class CohortLimits:
    """The wider of two intervals around the raw estimates: the normal one, and that of places drawn at random.

    With few cohorts there are few collisions, and each may be a large share, so sums are not normal. Reports of other
    people on the places of a label have the distribution of sums over random places, as in the tests.
    """

    estimates: LabelEstimates
    counts: CohortCounts

    def at(self, tail: float) -> Floats:
        """Return the ends, shape (k, 2)."""
        least, most = self._centres
        normal = -NormalDist().inv_cdf(tail) * self.estimates.errors
        # The upper tail of the sum determines the lower end of the share.
        below, above = (np.maximum(normal, sums.score(tail) * self.estimates.unit) for sums in self._sums)
        return np.clip(np.stack((least - below, most + above), axis=1), 0, 1)

    @property
    def _centres(self) -> tuple[Floats, Floats]:
        """The points from which lower ends and upper ends are measured."""
        return self.estimates.raw, self.estimates.raw

    @cached_property
    def _sums(self) -> tuple[RandomSums, RandomSums]:
        """The distribution of sums over random places, and its mirror image, for both tails."""
        table = self.estimates.unexplained
        return random_sums(table, self.counts), random_sums(-table, self.counts)


@frozen
class PlainLimits(CohortLimits):
    """Like :class:`CohortLimits`, for labels that were estimated one by one.

    Their estimates subtract the expected share of collisions. Sums over random places have a different mean if there
    are few labels with several bits, so ends are measured from the farther mean.

    With few cohorts of few places, another label may well have all places of this one. Then the two cannot be
    distinguished: this label may belong to nobody, or to everybody on its places. ``supported`` is the mean share of
    people who support these, no less than the share of the label; ``noise`` is its standard error due to randomization.
    """

    supported: Floats
    noise: Floats

    def at(self, tail: float) -> Floats:
        """Return the ends, shape (k, 2)."""
        counts = self.counts
        most = self.supported - NormalDist().inv_cdf(tail) * self.noise
        cohorts = 1 / float((counts.weights**2).sum())  # fewer than there are if some have most reports
        if float(counts.shares.max()) ** (cohorts * counts.supports.hashes) >= tail:
            return np.clip(np.stack((np.zeros(most.size), most), axis=1), 0, 1)
        return super().at(tail)

    @property
    def _centres(self) -> tuple[Floats, Floats]:
        raw, distance = self.estimates.raw, self.estimates.scores * self.estimates.unit
        return np.minimum(raw, distance), np.maximum(raw, distance)


@frozen
class FoundLimits:
    """Limits of labels that were fitted together, and of the others, estimated one by one from the residual."""

    found: Bools
    fitted: CohortLimits
    rest: CohortLimits

    def at(self, tail: float) -> Floats:
        """Return the ends, shape (k, 2)."""
        ends = self.rest.at(tail)
        ends[self.found] = self.fitted.at(tail)
        return ends


# Share of the largest eigenvalue below which the fit follows rounding errors.
_SMALLEST_EIGENVALUE = 1e-9
# Fewer degrees of freedom do not determine the errors.
_FEWEST_FREE = 20
# The largest leverage: a cell with more almost determines its own prediction, which makes it useless.
_MOST_LEVERAGE = 0.95
# With more cohorts, no cell has a large leverage.
_MANY_COHORTS = 64


def fitted_estimates(counts: CohortCounts) -> LabelEstimates | None:
    """Fit all labels together: ``min Σ_c w_c Σ_j (b − u − Σ_s f_s (H_s − u))²``; None if undetermined."""
    from scipy.linalg import eigh

    supports = counts.supports
    free = counts.free - supports.values
    if free < max(_FEWEST_FREE, supports.values / 4):
        return None  # There are too few degrees of freedom to estimate the errors.
    others = np.zeros(counts.counts.shape) if counts.others is None else counts.others
    matrix, chances = supports.matrix(), others.ravel()
    weights = np.repeat(counts.weights.ravel(), supports.buckets)
    rest = counts.table.ravel() - chances
    values, vectors = eigh(_gram(matrix, chances, weights))
    if values[0] <= _SMALLEST_EIGENVALUE * values[-1]:
        return None
    inverse = (vectors / values) @ vectors.T
    weighted = weights * rest
    raw = inverse @ (np.atleast_1d(matrix.T @ weighted) - chances @ weighted)
    supported = np.atleast_1d(matrix @ raw) + chances * (1 - raw.sum())
    left = rest + chances - supported
    reports = np.repeat(np.maximum(counts.users, 1), supports.buckets)
    # A cell without support is as noisy as any other.
    clipped = np.clip(supported, 0, 1)
    noise = counts.variances(clipped) / reports
    misfit = max(1.0, float((left**2 / noise)[weights > 0].sum()) / free)
    # The contribution of people to the covariance, one column for each cohort.
    drawn = (weights * clipped / np.sqrt(reports)).reshape(supports.cohorts, -1)
    common = supports.gather_each(drawn) - (drawn * others).sum(axis=1)
    middle = misfit * _gram(matrix, chances, weights**2 * noise) - common @ common.T
    share = np.clip(raw, 0, 1)
    variances = np.einsum("ij,ij->i", inverse @ middle, inverse)
    if supports.hashes > 1:
        variances += share * _together(counts, inverse, others)
    errors = without_sampling_error(np.maximum(variances, 0), share, counts.total)
    null = np.sqrt(np.maximum(variances, TINY))
    left /= 1 - np.minimum(_leverages(counts, inverse, chances, weights), _MOST_LEVERAGE)
    cells = (weights * left).reshape(supports.cohorts, -1)
    # The estimate of a label outside the fit is the sum over its cells divided by this.
    worth = np.diag(inverse)
    mean, deviation = random_moments(cells, counts)
    return LabelEstimates(raw, errors, null, cells, (raw / worth - mean) / max(deviation, TINY), deviation * worth)


def _leverages(counts: CohortCounts, inverse: Floats, chances: Floats, weights: Floats) -> Floats:
    """Return the leverage of each cell, ``w·xᵀG⁻¹x``, shape (C·k,); 0 if there are many cohorts.

    With few cohorts, the fit attributes the contribution of unlisted labels to a label with little other evidence, so
    the residual is too small.
    """
    supports = counts.supports
    if supports.cohorts > _MANY_COHORTS:
        return np.zeros(chances.size)
    matrix, sums = supports.matrix().tocsr(), inverse.sum(axis=1)
    own = np.zeros(chances.size)
    for start in range(0, chances.size, supports.buckets):
        # Cells without any label have no leverage.
        rows = start + np.flatnonzero(np.diff(matrix.indptr[start : start + supports.buckets + 1]))
        listed = matrix[rows]
        own[rows] = np.asarray(listed.multiply(listed @ inverse).sum(axis=1)).ravel()
    leverages: Floats = own - 2 * chances * np.atleast_1d(matrix @ sums) + chances**2 * sums.sum()
    return weights * leverages


def _together(counts: CohortCounts, inverse: Floats, others: Floats) -> Floats:
    """Return the extra variance, per share, due to setting all bits of a label together, shape (m,).

    In a cohort the estimate of a label is a sum over cells with weights a. Its own people add ``(Σ a)²/n_c`` over the
    label's cells, where independent bits would add ``Σ a²/n_c``.
    """
    supports, sums = counts.supports, inverse.sum(axis=1)
    matrix, buckets, hashes = supports.matrix().tocsr(), supports.buckets, supports.hashes
    out = np.zeros(supports.values)
    for cohort, weight in enumerate(counts.weights.ravel().tolist()):
        if not weight:
            continue
        # a by cell and label, with a row of zeros for a place that a label already has.
        cells = matrix[cohort * buckets : (cohort + 1) * buckets] @ inverse - np.outer(others[cohort], sums)
        padded = np.concatenate((weight * cells, np.zeros((1, supports.values))))
        own = np.take_along_axis(padded, supports.distinct[cohort * hashes : (cohort + 1) * hashes], axis=0)
        out += (own.sum(axis=0) ** 2 - (own**2).sum(axis=0)) / counts.users[cohort]
    return out


def _gram(matrix: object, chances: Floats, weights: Floats) -> Floats:
    """Return ``XᵀWX`` for ``X = H − u·1ᵀ``, without building X, which is dense."""
    weighted = matrix.T.multiply(weights)  # type: ignore[attr-defined]  # SciPy ships no types
    products: Floats = (weighted @ matrix).toarray()
    crossed = np.atleast_1d(weighted @ chances)  # SciPy treats the product of a single row and a vector as a number.
    products += float(chances @ (weights * chances)) - crossed - crossed[:, np.newaxis]
    return products


# Least squares need memory for the square of this number, and time for its cube.
_MOST_FITTED = 1500
# Labels count as found at the level at which one of twenty surveys finds a label by chance.
_FOUND = 0.05
_ROUNDS = 8


def raw_estimates(counts: CohortCounts) -> Raw:
    """Return raw estimates: by least squares if better, else label by label; see docs/proofs/local-cohorts.md."""
    plain = plain_estimates(counts)
    if counts.collision == 0:
        # Without collisions, a label that nobody has is supported by chance alone.
        supporting = counts.supports.total(counts.counts)
        true, false = counts.true_probability, counts.other_probability
        if true < false:  # people with the label support it less often than others: count those who do not
            supporting, true, false = counts.total - supporting, 1 - true, 1 - false
        exact = p_values(supporting, users=counts.total, probability=false)
        distribution = TwoBinomials(counts.total, true, false, 1 - true, 1 - false)
        return Raw(plain.raw, plain.errors, exact, SupportLimits(supporting, distribution))
    fitted = fitted_estimates(counts) if counts.supports.values <= _MOST_FITTED else None
    if fitted is not None and (fitted.errors**2).sum() < (plain.errors**2).sum():
        return Raw(fitted.raw, fitted.errors, fitted.p_values(counts), CohortLimits(fitted, counts))
    return _in_turn(counts, plain)


def _in_turn(counts: CohortCounts, plain: LabelEstimates) -> Raw:
    """Estimate label by label; labels found are fitted together and subtracted before the others are estimated.

    So frequent labels no longer hide rarer ones that collide with them in a cohort.
    """
    result = Raw(plain.raw, plain.errors, plain.p_values(counts), _plain_limits(counts, plain))
    found = np.zeros(result.frequencies.size, dtype=np.bool_)
    for _ in range(_ROUNDS):
        new = ~found & (result.p_values < _FOUND / found.size)
        if not new.any() or np.count_nonzero(found | new) > _MOST_FITTED:
            break
        found |= new
        chances = np.tile(1 - (1 - counts.shares) ** counts.supports.hashes, (counts.supports.cohorts, 1))
        listed = Supports(counts.supports.places[:, found], counts.supports.cohorts, counts.supports.buckets)
        part = replace(counts, supports=listed, others=chances)
        fitted = fitted_estimates(part)
        if fitted is None:
            break
        rest = plain_estimates(counts, listed.spread(fitted.raw), float(fitted.raw.sum()))
        limits = FoundLimits(found.copy(), CohortLimits(fitted, part), _plain_limits(counts, rest))
        result = Raw(rest.raw, rest.errors, rest.p_values(counts), limits)
        for whole, own in (
            (result.frequencies, fitted.raw),
            (result.standard_errors, fitted.errors),
            (result.p_values, fitted.p_values(part)),
        ):
            whole[found] = own
    return result


def _plain_limits(counts: CohortCounts, plain: LabelEstimates) -> PlainLimits:
    """Return the limits of labels that were estimated one by one from the whole table."""
    supported = counts.supports.total(counts.weights * counts.table) / counts.supports.hashes
    p, q, shares = counts.true_probability, counts.other_probability, np.clip(supported, 0, 1)
    # It is at least that of several bits: two functions may put a label in the same place.
    noise = np.sqrt((shares * p * (1 - p) + (1 - shares) * q * (1 - q)) / counts.total) / abs(counts.gap)
    return PlainLimits(plain, counts, supported, noise)


def plain_estimates(counts: CohortCounts, explained: Floats | None = None, share: float = 0.0) -> LabelEstimates:
    """Estimate each label from the cells that it supports, treating all others as chance: ``(B − κ)/(1 − κ)``.

    ``explained`` is subtracted first: the share of each cell that known labels support; together they have ``share`` of
    the people.
    """
    supports, kappa, users = counts.supports, counts.collision, counts.total
    weights = counts.weights
    table = counts.table if explained is None else counts.table - np.where(weights > 0, explained, 0.0)
    raw = (supports.total(weights * table) / supports.hashes - kappa * (1 - share)) / (1 - kappa)
    shares = np.clip(raw, 0, 1)
    variances = np.array([_own_variance(counts, each) for each in (0.0, 0.5, 1.0)])
    # The variance is a quadratic function of the share, so three values determine it.
    start, bend = variances[0], 2 * (variances[0] - 2 * variances[1] + variances[2])
    noise = start + (variances[2] - start - bend) * shares + bend * shares**2
    # The variance of the table beyond its noise estimates Σ f² of all labels: the effect of collisions.
    uneven = float(table.var(axis=1) @ weights[:, 0])
    supported = float(np.clip(counts.table, 0, 1).mean())
    noisy = np.count_nonzero(counts.users) / users * float(counts.variances(np.array(supported)))
    noisy *= 1 - 1 / supports.buckets
    squares = min(max((uneven - noisy) / (kappa * (1 - kappa)), 0.0), 1.0) if kappa else 0.0
    spread = float((weights**2).sum()) * _collision_variance(kappa, supports.hashes, supports.buckets)
    null = (start + squares * spread) / (1 - kappa) ** 2
    # A label does not collide with itself, but the chance part of its estimate must not be subtracted.
    own = np.maximum(shares**2 - null, 0)
    total = (noise + np.maximum(squares - own, 0) * spread) / (1 - kappa) ** 2
    cells = weights * table
    mean, deviation = random_moments(cells, counts)
    scores = (supports.total(cells) - mean) / max(deviation, TINY)
    unit = deviation / supports.hashes / (1 - kappa)
    errors = without_sampling_error(total, shares, users)
    return LabelEstimates(raw, errors, np.full(raw.size, np.sqrt(null)), cells, scores, unit)


def _collision_variance(kappa: float, hashes: int, buckets: int) -> float:
    """Return the variance, over keys, of the share of a label's places that also belong to another label."""
    free, both_free = (1 - 1 / buckets) ** hashes, (1 - 2 / buckets) ** hashes
    # Two functions may put the label in the same place.
    together = (1 - free) / buckets + (1 - 1 / buckets) * (1 - 2 * free + both_free)
    return (kappa * (1 - kappa) + (hashes - 1) * max(together - (1 - free) ** 2, 0)) / hashes


def _own_variance(counts: CohortCounts, share: float) -> float:
    """Return the variance of the mean over the cells of a label with this share, for people drawn at random."""
    supported = share + (1 - share) * counts.collision
    ones = counts.other_probability + counts.gap * supported
    people = supported * (1 - supported)
    # The bits of one person are independent given their value.
    noise = ones * (1 - ones) / counts.gap**2 - people
    return (noise / counts.supports.hashes + people) / counts.total
