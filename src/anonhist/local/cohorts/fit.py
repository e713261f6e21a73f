"""Least squares over all labels at once: what meets in one cohort is told apart in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.local.cohorts.chance import TINY, LabelEstimates, people_as_they_are, random_moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.cohorts.counts import CohortCounts

# Of the largest eigenvalue: below, what is fitted is rounding.
_SMALLEST_EIGENVALUE = 1e-9
# Fewer cells than that do not tell how far off the labels are.
_FEWEST_FREE = 20
# A cell is at most so much of its own prediction: of one that is nearly all of it, nothing can be said.
_MOST_LEVERAGE = 0.95
# With more cohorts no cell is much of its own prediction.
_MANY_COHORTS = 64


def fitted_estimates(counts: CohortCounts) -> LabelEstimates | None:
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
    raw = inverse @ (np.atleast_1d(matrix.T @ weighted) - chances @ weighted)
    supported = np.atleast_1d(matrix @ raw) + chances * (1 - raw.sum())
    left = rest + chances - supported
    reports = np.repeat(np.maximum(counts.users, 1), supports.buckets)
    # A cell of which nothing is supported is as noisy as any.
    clipped = np.clip(supported, 0, 1)
    noise = counts.variances(clipped) / reports
    misfit = max(1.0, float((left**2 / noise)[weights > 0].sum()) / free)
    # What people add to the covariance, one column for each cohort.
    drawn = (weights * clipped / np.sqrt(reports)).reshape(supports.cohorts, -1)
    common = supports.gather_each(drawn) - (drawn * others).sum(axis=1)
    middle = misfit * _gram(matrix, chances, weights**2 * noise) - common @ common.T
    share = np.clip(raw, 0, 1)
    variances = np.einsum("ij,ij->i", inverse @ middle, inverse)
    if supports.hashes > 1:
        variances += share * _together(counts, inverse, others)
    errors = people_as_they_are(np.maximum(variances, 0), share, counts.total)
    null = np.sqrt(np.maximum(variances, TINY))
    left /= 1 - np.minimum(_leverages(counts, inverse, chances, weights), _MOST_LEVERAGE)
    cells = (weights * left).reshape(supports.cohorts, -1)
    # A sum over a label's cells, had it no part in the fit, is its estimate over this.
    worth = np.diag(inverse)
    mean, deviation = random_moments(cells, counts)
    scores = (raw / worth - mean) / max(deviation, TINY)
    return LabelEstimates(raw, errors, null, cells, scores, deviation * worth)


def _leverages(
    counts: CohortCounts, inverse: NDArray[np.float64], chances: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how much of each cell its own prediction is, ``w·xᵀG⁻¹x``, shape (C·k,); 0 where cohorts are many.

    With few cohorts what nobody listed adds to a cell is taken for a label that has little other evidence, and hardly
    anything of it is left over.
    """
    supports = counts.supports
    if supports.cohorts > _MANY_COHORTS:
        return np.zeros(chances.size)
    matrix, sums = supports.matrix().tocsr(), inverse.sum(axis=1)
    own = np.zeros(chances.size)
    for start in range(0, chances.size, supports.buckets):
        # Cells that no label supports have none.
        rows = start + np.flatnonzero(np.diff(matrix.indptr[start : start + supports.buckets + 1]))
        listed = matrix[rows]
        own[rows] = np.asarray(listed.multiply(listed @ inverse).sum(axis=1)).ravel()
    leverages: NDArray[np.float64] = own - 2 * chances * np.atleast_1d(matrix @ sums) + chances**2 * sums.sum()
    return weights * leverages


def _together(counts: CohortCounts, inverse: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variance, per share, that comes of setting all bits of a label together, not one by one, shape (m,).

    In a cohort the estimate of a label is a sum over cells with weights a. Its own people add ``(Σ a)²/n_c`` over the
    label's cells, where independent bits would add ``Σ a²/n_c``.
    """
    supports, sums = counts.supports, inverse.sum(axis=1)
    matrix, buckets, hashes = supports.matrix().tocsr(), supports.buckets, supports.hashes
    out = np.zeros(supports.values)
    for cohort, weight in enumerate(counts.weights.ravel().tolist()):
        if not weight:
            continue
        # a by cell and label, with a row of zeros for a place that a label has already.
        cells = matrix[cohort * buckets : (cohort + 1) * buckets] @ inverse - np.outer(others[cohort], sums)
        padded = np.concatenate((weight * cells, np.zeros((1, supports.values))))
        own = np.take_along_axis(padded, supports.distinct[cohort * hashes : (cohort + 1) * hashes], axis=0)
        out += (own.sum(axis=0) ** 2 - (own**2).sum(axis=0)) / counts.users[cohort]
    return out


def _gram(matrix: object, chances: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``XᵀWX`` for ``X = H − u·1ᵀ``, without writing X out, for it is dense."""
    weighted = matrix.T.multiply(weights)  # type: ignore[attr-defined]  # SciPy ships no types
    products: NDArray[np.float64] = (weighted @ matrix).toarray()
    crossed = np.atleast_1d(weighted @ chances)  # a single row times a vector is a number to SciPy
    products += float(chances @ (weights * chances)) - crossed - crossed[:, np.newaxis]
    return products
