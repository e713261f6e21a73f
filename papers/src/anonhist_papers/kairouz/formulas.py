"""The slides' table "Utility": expected losses at the uniform distribution, without a projection, and people they cost.

E is e^ε, z is e^(ε/2), k the number of symbols and n the number of people.
"""

from __future__ import annotations

import math


def expected_l1(mechanism: str, *, symbols: int, epsilon: float, users: int) -> float:
    """Return ``E‖p̂ − p‖₁``, asymptotic in n, of ``"no privacy"``, ``"k-RR"`` or ``"k-RAPPOR"``.

    Examples
    --------
    >>> round(expected_l1("k-RR", symbols=256, epsilon=4, users=1_000_000), 4)
    0.0736
    """
    plain = math.sqrt(2 * (symbols - 1) / (math.pi * users))
    if mechanism == "no privacy":
        return plain
    if mechanism == "k-RR":
        return _stretch(symbols, epsilon) * plain
    z = math.exp(epsilon / 2)
    product = 2 * (z + symbols - 1) * (z * (symbols - 1) + 1)
    return math.sqrt(product / ((z - 1) ** 2 * math.pi * users))


def expected_l2(mechanism: str, *, symbols: int, epsilon: float, users: int) -> float:
    """Return ``E‖p̂ − p‖₂²``, exact, of ``"no privacy"``, ``"k-RR"`` or ``"k-RAPPOR"``.

    Examples
    --------
    >>> expected_l2("no privacy", symbols=4, epsilon=1, users=100)
    0.0075
    """
    plain = (1 - 1 / symbols) / users
    if mechanism == "no privacy":
        return plain
    if mechanism == "k-RR":
        return _stretch(symbols, epsilon) ** 2 * plain
    z = math.exp(epsilon / 2)
    return plain * (1 + symbols**2 * z / ((symbols - 1) * (z - 1) ** 2))


def effective_share(mechanism: str, *, symbols: int, epsilon: float) -> float:
    """Return the effective samples of ``"k-RR"`` or ``"k-RAPPOR"`` as a share of n, from the ℓ2 loss.

    Examples
    --------
    >>> round(effective_share("k-RR", symbols=1000, epsilon=math.log(1000)), 4)
    0.2497
    """
    return expected_l2("no privacy", symbols=symbols, epsilon=epsilon, users=1) / expected_l2(
        mechanism, symbols=symbols, epsilon=epsilon, users=1
    )


def printed_share_of_rappor(*, symbols: int, epsilon: float) -> float:
    """Return the effective samples of k-RAPPOR as the slides print them, with ``k²e^ε`` where their loss has ``k²z``.

    Examples
    --------
    >>> round(effective_share("k-RAPPOR", symbols=256, epsilon=4) / printed_share_of_rappor(symbols=256, epsilon=4), 2)
    7.25
    """
    rest = (symbols - 1) * (math.exp(epsilon / 2) - 1) ** 2
    return rest / (rest + symbols**2 * math.exp(epsilon))


def _stretch(symbols: int, epsilon: float) -> float:
    return (math.exp(epsilon) + symbols - 1) / math.expm1(epsilon)
