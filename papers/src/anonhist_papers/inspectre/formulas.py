"""The bounds of INSPECTRE, without their constants unless it states them. Logarithms are natural."""

from __future__ import annotations

import math

# λ of Theorem 3 "can be chosen to be any constant between 0.01 and 1".
_LAMBDAS = tuple(0.01 * 1.1**step for step in range(49))


def coverage_upper(size: float, alpha: float, epsilon: float) -> float:
    """Return the upper bound of Theorem 1 on the samples for S_m ± αm; ``epsilon`` may be infinite.

    Examples
    --------
    >>> round(coverage_upper(10_000, 0.1, 1)), round(coverage_upper(10_000, 0.1, 1e-5))
    (5000, 1000100)
    """
    m = size
    if m <= 1 / alpha:
        return m * m + m / epsilon
    if m <= 1 / (alpha * epsilon):
        return 1 / alpha**2 + 1 / (alpha * epsilon)
    return m * math.log(1 / alpha) * (1 / math.log(m) + 1 / math.log(2 + epsilon * m))


def coverage_lower(size: float, alpha: float, epsilon: float) -> float:
    """Return the lower bound of Theorem 1.

    Examples
    --------
    >>> round(coverage_lower(10_000, 0.1, 1))
    2510
    """
    return size * math.log(1 / alpha) / math.log(size) + 1 / (alpha * epsilon)


def coverage_samples_for_noise(draws: float, alpha: float, epsilon: float) -> float:
    """Return ``m·ln(3/α)/(ln(αεm/2 − 1) + 2·ln(3/α))`` (Section 4.1.1): from so many samples on the noise is small.

    Then ``2(1 + e^(r(t−1))) ≤ αεm`` with ``r = ln(3/α)``. Infinite where αεm ≤ 2.

    Examples
    --------
    >>> m, alpha, epsilon = 10_000, 0.1, 0.1
    >>> n = coverage_samples_for_noise(m, alpha, epsilon)
    >>> r, t = rate_of(alpha), (m - n) / n
    >>> round(n), round(2 * (1 + math.exp(r * (t - 1))) / (alpha * epsilon * m), 9)
    (3180, 1.0)
    """
    if alpha * epsilon * draws <= 2:
        return math.inf
    bottom = math.log(alpha * epsilon * draws / 2 - 1) + 2 * rate_of(alpha)
    return draws * rate_of(alpha) / bottom if bottom > 0 else math.inf


def rate_of(alpha: float) -> float:
    """Return ``r = ln(3/α)``, the mean of the Poisson variable in the proof of Theorem 1.

    Examples
    --------
    >>> round(rate_of(0.1), 3)
    3.401
    """
    return math.log(3 / alpha)


def size_upper(size: float, alpha: float, epsilon: float) -> float:
    """Return the upper bound of Theorem 2 on the samples for S ± αk, no probability below 1/k.

    Examples
    --------
    >>> round(size_upper(10_000, 0.1, 1))
    11513
    """
    k = size
    if k <= 1 / alpha:
        return k * math.log(k) + k / epsilon
    if k <= 1 / (alpha * epsilon):
        return k * math.log(1 / alpha) + 1 / (alpha * epsilon)
    return k * math.log(1 / alpha) ** 2 * (1 / math.log(k) + 1 / math.log(2 + epsilon * k))


def size_lower(size: float, alpha: float, epsilon: float) -> float:
    """Return the lower bound of Theorem 2.

    Examples
    --------
    >>> round(size_lower(10_000, 0.1, 1))
    5766
    """
    k = size
    if k <= 1 / alpha:
        return k * math.log(k) + k / epsilon
    return k * math.log(1 / alpha) ** 2 / math.log(k) + 1 / (alpha * epsilon)


def entropy_upper_plug_in(size: float, alpha: float, epsilon: float) -> float:
    """Return the first upper bound of Theorem 3 on the samples for H ± α, with log k for ``log(min{k, n})``.

    Examples
    --------
    >>> round(entropy_upper_plug_in(1000, 0.1, 1))
    14795
    """
    return size / alpha + (math.log(size) / alpha) ** 2 + _linear_log(alpha, epsilon)


def entropy_upper_polynomial(size: float, alpha: float, epsilon: float) -> float:
    """Return the second upper bound of Theorem 3, at its best λ between 0.01 and 1.

    Examples
    --------
    >>> round(entropy_upper_polynomial(1000, 0.1, 1))
    6403
    """
    spread = (math.log(size) / alpha) ** 2
    inverse = 1 / (alpha * epsilon)
    parts = (size / (each**2 * alpha * math.log(size)) + math.pow(inverse, 1 + each) for each in _LAMBDAS)
    return spread + min(parts)


def entropy_lower(size: float, alpha: float, epsilon: float) -> float:
    """Return the lower bound of Theorem 3.

    Examples
    --------
    >>> round(entropy_lower(1000, 0.1, 1))
    6288
    """
    logarithm = math.log(size)
    return size / (alpha * logarithm) + (logarithm / alpha) ** 2 + logarithm / (alpha * epsilon)


def _linear_log(alpha: float, epsilon: float) -> float:
    inverse = 1 / (alpha * epsilon)
    return inverse * math.log(inverse) if inverse > 1 else 0.0
