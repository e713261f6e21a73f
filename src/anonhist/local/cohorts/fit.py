"""Least squares over all labels at once: colliding labels are separated across cohorts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.local.cohorts.chance import TINY, LabelEstimates, random_moments, without_sampling_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.cohorts.counts import CohortCounts

# Share of the largest eigenvalue below which the fit follows rounding errors.
_SMALLEST_EIGENVALUE = 1e-9
# Fewer degrees of freedom do not determine the errors.
_FEWEST_FREE = 20
# The largest leverage: a cell with more nearly determines its own prediction, which makes it useless.
_MOST_LEVERAGE = 0.95
# With more cohorts no cell has a large leverage.
_MANY_COHORTS = 64


def fitted_estimates(counts: CohortCounts) -> LabelEstimates | None:
    """Fit all labels together: ``min Σ_c w_c Σ_j (b − u − Σ_s f_s (H_s − u))²``; None if undetermined."""
    from scipy.linalg import eigh

    supports = counts.supports
    free = counts.free - supports.values
    if free < max(_FEWEST_FREE, supports.values / 4):
        return None  # too few degrees of freedom to estimate the errors
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
    # For a label outside the fit, the sum over its cells divided by this is its estimate.
    worth = np.diag(inverse)
    mean, deviation = random_moments(cells, counts)
    scores = (raw / worth - mean) / max(deviation, TINY)
    return LabelEstimates(raw, errors, null, cells, scores, deviation * worth)


def _leverages(
    counts: CohortCounts, inverse: NDArray[np.float64], chances: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
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
        # Cells that no label supports have none.
        rows = start + np.flatnonzero(np.diff(matrix.indptr[start : start + supports.buckets + 1]))
        listed = matrix[rows]
        own[rows] = np.asarray(listed.multiply(listed @ inverse).sum(axis=1)).ravel()
    leverages: NDArray[np.float64] = own - 2 * chances * np.atleast_1d(matrix @ sums) + chances**2 * sums.sum()
    return weights * leverages


def _together(counts: CohortCounts, inverse: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the extra variance, per share, because all bits of a label are set together, shape (m,).

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
    """Return ``XᵀWX`` for ``X = H − u·1ᵀ``, without building X, which is dense."""
    weighted = matrix.T.multiply(weights)  # type: ignore[attr-defined]  # SciPy ships no types
    products: NDArray[np.float64] = (weighted @ matrix).toarray()
    crossed = np.atleast_1d(weighted @ chances)  # a single row times a vector is a number to SciPy
    products += float(chances @ (weights * chances)) - crossed - crossed[:, np.newaxis]
    return products
