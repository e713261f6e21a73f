"""Prime numbers of moderate size."""

from __future__ import annotations

from functools import lru_cache
from itertools import count


@lru_cache(maxsize=256)
def prime_factors(number: int) -> tuple[int, ...]:
    """Return the distinct prime factors of a whole number ≥ 1, ascending, by trial division: for numbers below 2⁴⁰.

    Examples
    --------
    >>> prime_factors(22_651), prime_factors(360)
    ((22651,), (2, 3, 5))
    """
    found = []
    left, divisor = number, 2
    while divisor * divisor <= left:
        if left % divisor == 0:
            found.append(divisor)
            while left % divisor == 0:
                left //= divisor
        divisor += 1 + divisor % 2
    return (*found, left) if left > 1 else tuple(found)


def is_prime(number: int) -> bool:
    """Return whether a whole number is prime.

    Examples
    --------
    >>> [number for number in range(20) if is_prime(number)]
    [2, 3, 5, 7, 11, 13, 17, 19]
    """
    return number > 1 and prime_factors(number) == (number,)


def prime_at_least(number: int) -> int:
    """Return the smallest prime ≥ ``number``.

    Examples
    --------
    >>> prime_at_least(-1), prime_at_least(149), prime_at_least(150)
    (2, 149, 151)
    """
    return next(filter(is_prime, count(max(2, number))))


def prime_at_most(number: int) -> int:
    """Return the largest prime ≤ ``number``, a whole number ≥ 2.

    Examples
    --------
    >>> prime_at_most(2), prime_at_most(150)
    (2, 149)
    """
    return next(filter(is_prime, count(number, -1)))
