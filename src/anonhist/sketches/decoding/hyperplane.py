"""Algorithm 2 of Wu and Pagh (2024): the profile that explains the counters best, among those that sum to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.sketches.decoding.circulant import Circulant

NORMS = ("1", "2", "inf")
# Of directions as good as each other up to rounding, the first is taken: on every machine the same.
_TIE = 1e-9


def best_on_hyperplane(
    noise: Circulant, seen: NDArray[np.float64], inside: NDArray[np.float64], norm: str
) -> NDArray[np.float64]:
    """Return ``argmin_f ‖A·f − g‖_q`` under ``s·f = 1``.

    ``f = f₀ + (1 − s·f₀)·u/(s·u)`` with ``f₀ = A⁻¹·g``, ``u = A⁻¹·v`` and v the unit vector of the norm q along which
    s·f changes most, ``c = A⁻¹·s``: sign(c_j)·e_j with the largest |c_j| for q = 1, c/‖c‖₂ for q = 2, sign(c) for
    q = ∞. Three divisions by A: O(m log m).

    Parameters
    ----------
    noise
        A, symmetric.
    seen : ndarray of float64, shape (m,)
        g: which share of the counters has each value of the window.
    inside : ndarray of float64, shape (m,)
        s: 1 at the values 0..n that a count can have, else 0. (With 1 everywhere nothing would ever be corrected: the
        columns of A sum to one.)
    norm
        q: ``"1"``, ``"2"`` or ``"inf"``.

    Returns
    -------
    ndarray of float64, shape (m,)
        f on the whole window; it may be negative, or not zero outside of 0..n.

    Raises
    ------
    UsageError
        If there is no such norm, nothing is inside, or A has no inverse.

    References
    ----------
    .. [1] H. Wu, R. Pagh, *Profile Reconstruction from Private Sketches*, ICML 2024, algorithm 2 and lemma 4.3.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.sketches.decoding.circulant import Circulant
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> noise = Circulant.of(NoiseDistribution(((Fraction(1), Fraction(1)),)), [1], 4)
    >>> seen, inside = np.array([0.25, 0.5, 0.25, 0.0]), np.array([0.0, 1.0, 1.0, 0.0])
    >>> float(round(best_on_hyperplane(noise, seen, inside, "2")[1:3].sum(), 12))
    1.0
    """
    if norm not in NORMS:
        message = f"`norm` must be one of {', '.join(NORMS)}, not {norm!r:.80}."
        raise UsageError(message)
    if not inside.any():
        raise UsageError("A profile needs at least one count that labels can have.")
    plain = noise.solve(seen)
    costs = noise.solve(inside)
    if norm == "1":
        sizes = np.abs(costs)
        best = int(np.argmax(sizes >= (1 - _TIE) * sizes.max()))
        unit = np.zeros(costs.size)
        unit[best] = np.sign(costs[best])
    elif norm == "2":
        unit = costs / np.linalg.norm(costs)
    else:
        unit = np.sign(costs)
    direction = noise.solve(unit)
    return np.asarray(plain + (1 - inside @ plain) * (direction / (inside @ direction)))
