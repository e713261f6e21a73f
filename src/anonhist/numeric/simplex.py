"""Projections to the simplex: the distribution nearest to a vector, and the one proportional to it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def project_to_simplex(vector: ArrayLike, total: float = 1.0) -> NDArray[np.float64]:
    """Return the point of the simplex nearest to ``vector`` in ℓ2: ``argmin_{w ≥ 0, Σw = total} Σ_i (w_i − v_i)²``.

    ``w = max(v + λ, 0)``, where λ gives the right sum: with u the values in descending order,
    ``ρ = max{j : u_j + (total − Σ_{i≤j} u_i)/j > 0}`` and ``λ = (total − Σ_{i≤ρ} u_i)/ρ``. Only values less than
    ``total`` below the largest can stay above 0, and only those are sorted: O(k log k) time at most.

    Parameters
    ----------
    vector
        v, finite numbers, shape (k,), k ≥ 1.
    total
        Sum of the entries of w, above 0.

    Returns
    -------
    ndarray of float64, shape (k,)
        w, at least 0, with the given sum up to rounding.

    Raises
    ------
    UsageError
        If the vector is not a one-dimensional list of finite numbers, or empty, or the total is not above 0.

    References
    ----------
    .. [1] J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra, *Efficient Projections onto the ℓ1-Ball for Learning in
       High Dimensions*, ICML 2008, figure 1.

    Examples
    --------
    >>> project_to_simplex([0.75, 0.5, -0.25]).tolist()
    [0.625, 0.375, 0.0]
    """
    values = _check(vector, total)
    # Shifting all entries does not change the projection; with the largest at 0, no sum overflows or cancels.
    with np.errstate(over="ignore"):
        shifted = values - values.max()
    descending = -np.sort(-shifted[shifted > -total])
    sums = np.cumsum(descending)
    places = np.arange(1, descending.size + 1)
    last = np.count_nonzero(descending * places + (total - sums) > 0)
    # Pairwise summation is more accurate than the running sum.
    shift = (total - float(descending[:last].sum())) / last
    return np.asarray(np.maximum(shifted + shift, 0.0))


def project_to_solid_simplex(vector: ArrayLike, total: float = 1.0) -> NDArray[np.float64]:
    """Return the point nearest in ℓ2 with a sum of at most ``total``: ``argmin_{w ≥ 0, Σw ≤ total} Σ_i (w_i − v_i)²``.

    ``max(v, 0)`` if its sum is small enough, else the projection onto the simplex. O(k log k) time.

    Parameters
    ----------
    vector
        v, finite numbers, shape (k,), k ≥ 1.
    total
        Largest sum of the entries of w, above 0.

    Returns
    -------
    ndarray of float64, shape (k,)
        w, at least 0.

    Raises
    ------
    UsageError
        As :func:`project_to_simplex`.

    Examples
    --------
    >>> project_to_solid_simplex([0.5, -0.25, 0.25]).tolist()
    [0.5, 0.0, 0.25]
    >>> project_to_solid_simplex([0.75, 0.5, -0.25]).tolist()
    [0.625, 0.375, 0.0]
    """
    truncated = np.maximum(_check(vector, total), 0.0)
    with np.errstate(over="ignore"):
        fits = bool(truncated.sum() <= total)
    return truncated if fits else project_to_simplex(vector, total)


def truncate_and_renormalize(vector: ArrayLike, total: float = 1.0) -> NDArray[np.float64]:
    """Return ``max(v, 0)``, scaled so that it adds up to ``total``; equal entries if nothing is above 0.

    Parameters
    ----------
    vector
        v, finite numbers, shape (k,), k ≥ 1.
    total
        Sum of the entries of the result, above 0.

    Returns
    -------
    ndarray of float64, shape (k,)
        At least 0, with the given sum up to rounding.

    Raises
    ------
    UsageError
        As :func:`project_to_simplex`.

    Examples
    --------
    >>> truncate_and_renormalize([1.5, -1.0, 0.5]).tolist()
    [0.75, 0.0, 0.25]
    >>> truncate_and_renormalize([-1.0, 0.0]).tolist()
    [0.5, 0.5]
    """
    truncated = np.maximum(_check(vector, total), 0.0)
    largest = float(truncated.max())
    if largest == 0.0:
        return np.full(truncated.size, total / truncated.size)
    shares = truncated / largest
    return np.asarray(shares * (total / float(shares.sum())))


def _check(vector: ArrayLike, total: float) -> NDArray[np.float64]:
    values = np.asarray(vector, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not bool(np.isfinite(values).all()):
        raise UsageError("A simplex needs a one-dimensional list of at least one finite number.")
    if not 0.0 < total < math.inf:
        raise UsageError(f"The total of a simplex must be a number above 0, not {total}.")
    return values
