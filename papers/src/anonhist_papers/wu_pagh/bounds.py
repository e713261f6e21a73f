"""The error bound of Theorem 1.1 with its constants, which follow from the proofs of Lemmas 4.8 to 4.11."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.sketches.inverses import Circulant, truncated_reach
from anonhist_papers.wu_pagh.settings import setting_of

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats

# How much Algorithm 3 may add to the error: Lemma 4.9.
ROUNDING = {"1": 1.0, "2": 1.0, "inf": 2.0}


def window(size: int, epsilon: float, *, largest: int, beta: float) -> tuple[int, Circulant]:
    """Return B and A of Section 4.2: noise that stays within B with probability 1 − β, on the window −B..n + B.

    Examples
    --------
    >>> reach, noise = window(10_000, 1.0, largest=50, beta=0.05)
    >>> reach, noise.length
    (12, 75)
    """
    distribution = setting_of(epsilon).noise
    reach = truncated_reach(distribution.parts[0][0], size=size, beta=beta)
    return reach, Circulant.of(distribution, [reach], largest + 2 * reach + 1)


def deviation_bound(size: int, length: int, norm: str, *, beta: float) -> float:
    """Return what ``‖g − E g‖`` exceeds with probability β at most, as in Lemma 4.11.

    A mean of at most √(m/d) in ℓ1 and √(1/d) in ℓ2, to which McDiarmid's inequality adds √(2 ln(1/β)/d) and
    √(ln(1/β)/d): one counter moves two entries of g by 1/d. In ℓ∞ Hoeffding's inequality for each of the m entries:
    √(ln(2m/β)/(2d)).

    Parameters
    ----------
    size
        d.
    length
        m, how many values the window has.
    norm
        ``"1"``, ``"2"`` or ``"inf"``.
    beta
        β.

    Examples
    --------
    >>> round(deviation_bound(10_000, 75, "2", beta=0.05), 4)
    0.0273
    """
    if norm == "inf":
        return math.sqrt(math.log(2 * length / beta) / (2 * size))
    mean, changes = (length, 2) if norm == "1" else (1, 1)
    return (math.sqrt(mean) + math.sqrt(changes * math.log(1 / beta))) / math.sqrt(size)


def matrix_of(noise: Circulant) -> Floats:
    """Return A written out, shape (m, m).

    Examples
    --------
    >>> matrix_of(window(10, 2.0, largest=1, beta=0.5)[1]).sum(axis=0).round(9).tolist()[:2]
    [1.0, 1.0]
    """
    return np.array([noise.multiply(unit) for unit in np.eye(noise.length)]).T


def inverse_norms(noise: Circulant) -> dict[str, float]:
    """Return ``‖A⁻¹‖`` in three norms: as A⁻¹ is circulant, its columns and rows have one and the same sum.

    Examples
    --------
    >>> {norm: round(each, 2) for norm, each in inverse_norms(window(10_000, 1.0, largest=50, beta=0.05)[1]).items()}
    {'1': 4.68, '2': 4.68, 'inf': 4.68}
    """
    total = float(np.abs(noise.solve(np.eye(1, noise.length)[0])).sum())
    return {"1": total, "2": 1 / float(noise.eigenvalues.min()), "inf": total}


def error_bound(size: int, epsilon: float, norm: str, *, largest: int, beta: float) -> float:
    """Return what the error of Algorithms 2 and 3 exceeds with probability 2β at most.

    ``‖f̂ − f‖ ≤ r·2·‖A⁻¹‖·‖g − A·f‖``: Algorithm 2 is nearest to g among all that sum to one (Lemma 4.8), and r is
    what rounding adds (Lemma 4.9). β for noise that leaves the window, β for the deviation. The decoder takes the
    largest counter for n, so that n + B stands here for n.

    Examples
    --------
    >>> round(error_bound(10_000, 1.0, "2", largest=50, beta=0.01), 3)
    0.295
    """
    reach, _ = window(size, epsilon, largest=largest, beta=beta)
    _, noise = window(size, epsilon, largest=largest + reach, beta=beta)
    deviation = deviation_bound(size, noise.length, norm, beta=beta)
    return ROUNDING[norm] * 2 * inverse_norms(noise)[norm] * deviation
