"""The partition with the smallest expected distance, given a noisy Durfee size, noisy arms and noisy legs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.frobenius.row_groups import ALONE_FROM
from anonhist.mechanisms.frobenius.row_posterior import RowPosterior
from anonhist.mechanisms.frobenius.row_weights import places_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.frobenius.row_groups import NoisyRows

# A noisy Durfee size of this many noise scales serves as the scale of the prior; below, the scale is fitted.
_SIZE_IS_ENOUGH = 8.0
_COARSE, _FINE = 0.1, 0.05
# A size whose weight is below the largest by this exponent is excluded, and so are larger ones: the likelihood falls
# this far below that of the truth, before reaching it, with probability e^−50.
_NEGLIGIBLE = 50.0


def posterior_medians(
    sizes: NDArray[np.int64], arms: NoisyRows, legs: NoisyRows, *, epsilon: float
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return arms and legs of the diagram of all cells that are more likely in than out.

    The weight of a partition with Durfee size m is ``q^{|m − D̃|} · A_arms(m) · A_legs(m)``, the two halves independent
    given m (:mod:`anonhist.mechanisms.frobenius.row_posterior`). The cells of probability at least one half form a
    Young diagram (cells only get rarer away from the origin), and no diagram has a smaller expected sorted ℓ1 distance.

    The prior has the shape of Zipf's law. Its scale is the noisy Durfee size, if that is at least eight noise scales;
    else it is fitted to all noisy values, first by a uniform prior on a coarse grid, then twice by the Zipf prior
    itself.

    Parameters
    ----------
    sizes : ndarray of int64, shape (r,)
        Noisy Durfee sizes D̃.
    arms, legs
        Noisy arms and legs of the r runs, single ones or sums of groups.
    epsilon
        Rate of the noise, ε/Δ.
    """
    found: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
    enough = epsilon * sizes >= _SIZE_IS_ENOUGH
    for fit, chosen in ((False, enough), (True, ~enough)):
        if chosen.any():
            medians = _medians(sizes[chosen], arms.of(chosen), legs.of(chosen), epsilon, fit=fit)
            found.update(zip(np.flatnonzero(chosen).tolist(), medians, strict=True))
    return [found[run] for run in range(sizes.size)]


def fit_work(size: int, epsilon: float, *, margin: float) -> int:
    """Return the approximate number of values that a run computes: rows times places of windows, for each pass.

    Rows observed in groups take four times as long as others.

    Parameters
    ----------
    size
        Durfee size.
    epsilon
        Rate of the noise, ε/Δ.
    margin
        Number of noise scales beyond the size for which rows are read.
    """
    passes = 1.0 if epsilon * size >= _SIZE_IS_ENOUGH else 2 + _FINE / _COARSE
    grouped = 4 if epsilon < ALONE_FROM else 1
    return int(pass_work(size + margin / epsilon, epsilon) * passes * grouped)


def pass_work(length: float, epsilon: float) -> int:
    """Return the number of values of one pass over so many arms and legs: rows times places of windows.

    Examples
    --------
    >>> pass_work(10, 1.0)
    580
    """
    return int(2 * length * places_of(epsilon, _FINE))


def _medians(
    sizes: NDArray[np.int64], arms: NoisyRows, legs: NoisyRows, epsilon: float, *, fit: bool
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    count = sizes.size
    noisy = arms.beside(legs)

    def is_settled(evidence: NDArray[np.float64]) -> bool:
        joint = _log_weights(sizes, evidence, epsilon) + evidence[:count] + evidence[count:]
        return bool(np.all(joint[:, -1] < joint.max(axis=1) - _NEGLIGIBLE))

    def posterior(size: NDArray[np.int64]) -> RowPosterior:
        scale = np.maximum(size, 1).astype(np.float64)
        scales = np.concatenate((scale, scale))
        return RowPosterior(noisy, epsilon=epsilon, grid=_FINE, settled=is_settled, scales=scales)

    size = sizes
    if fit:
        size = _size(_durfee(RowPosterior(noisy, epsilon=epsilon, grid=_COARSE, settled=is_settled), sizes)[0])
        size = _size(_durfee(posterior(size), sizes)[0])
    sides = posterior(size)
    reaches, others = _durfee(sides, sizes)
    rows = sides.median_rows(others, np.concatenate((reaches, reaches)))
    found = _size(reaches)
    return [
        (_coordinates(rows[index], int(found[index])), _coordinates(rows[count + index], int(found[index])))
        for index in range(count)
    ]


def _durfee(sides: RowPosterior, sizes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ``P(m ≥ k)``, shape (r, M + 1), and for each side the log weight of m from all but that side."""
    count, evidence = sizes.size, sides.log_evidence
    seen = _log_weights(sizes, evidence, sides.epsilon)
    joint = seen + evidence[:count] + evidence[count:]
    probability = np.exp(joint - joint.max(axis=1, keepdims=True))
    probability /= probability.sum(axis=1, keepdims=True)
    reaches = np.cumsum(probability[:, ::-1], axis=1)[:, ::-1]
    return reaches, np.concatenate((seen + evidence[count:], seen + evidence[:count]))


def _log_weights(sizes: NDArray[np.int64], evidence: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """Return the log weight of each m from the noisy Durfee size."""
    return np.asarray(-epsilon * np.abs(np.arange(evidence.shape[1]) - sizes[:, None].astype(np.float64)))


def _size(reaches: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the median Durfee size: the largest k that is reached with probability at least one half."""
    return np.asarray((reaches[:, 1:] >= 0.5).sum(axis=1))


def _coordinates(rows: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Clip rows to the Durfee size, and sort out small violations of order that windows and grids may leave."""
    kept = np.maximum(np.minimum.accumulate(rows[:size]), size)
    return kept - np.arange(1, size + 1)
