"""How much protection an epsilon gives, in words."""

from __future__ import annotations

import math
from fractions import Fraction

MODERATE_FROM, WEAK_ABOVE, NONE_ABOVE, WARNED_FROM = 1, 3, 10, 10
_MOST_PLACES = 6


def strength(epsilon: Fraction) -> str:
    """Return how strongly an epsilon protects: the word used wherever a budget is explained.

    Below 1 ``"strong"``, from 1 to 3 ``"moderate"``, above 3 ``"weak"`` and above 10 ``"practically none"``.

    Parameters
    ----------
    epsilon
        Exact, > 0.

    Notes
    -----
    These limits are conventions. An adversary with even odds between two neighbors becomes at most 73 % sure at an
    epsilon of 1, 95 % at 3 and 99.995 % at 10 (:func:`certainty`).

    Examples
    --------
    >>> [strength(Fraction(each)) for each in ("0.5", "3", "10", "10.01")]
    ['strong', 'moderate', 'weak', 'practically none']
    """
    if epsilon < MODERATE_FROM:
        return "strong"
    if epsilon <= WEAK_ABOVE:
        return "moderate"
    return "weak" if epsilon <= NONE_ABOVE else "practically none"


def protection(epsilon: Fraction) -> str:
    """Return the same as a noun phrase.

    Examples
    --------
    >>> protection(Fraction(4)), protection(Fraction(40))
    ('weak protection', 'practically no protection')
    """
    return f"{strength(epsilon)} protection" if epsilon <= NONE_ABOVE else "practically no protection"


def certainty(epsilon: Fraction) -> str:
    """Write how sure a release can make someone who thought two neighbors equally likely: ``e^ε/(1 + e^ε)``.

    In percent, rounded up, with two digits of the distance to 50 % and to 100 %.

    Parameters
    ----------
    epsilon
        Exact, > 0. With δ > 0, it holds except for results of probability δ.

    Examples
    --------
    >>> [certainty(Fraction(each)) for each in ("0.01", "0.5", "1", "4", "10")]
    ['50.25 %', '62.3 %', '73.2 %', '98.3 %', '99.9955 %']
    """
    power = min(float(min(epsilon, Fraction(700))), 700.0)
    missing = 100 / (1 + math.exp(power))
    smaller = min(missing, 50 * math.tanh(power / 2))
    places = min(_MOST_PLACES, max(1, 1 - math.floor(math.log10(smaller))))
    rounded = math.ceil((100 - missing) * 10**places) / 10**places
    return f"{rounded:.{places}f} %"


def warning(epsilon: Fraction) -> str:
    """Return the warning for results at an epsilon of 10 or more; empty below.

    Examples
    --------
    >>> print(warning(Fraction(100)))
    An epsilon of 10 or more gives practically no protection: show these results only to people who may see the data.
    >>> warning(Fraction(9))
    ''
    """
    if epsilon < WARNED_FROM:
        return ""
    return (
        "An epsilon of 10 or more gives practically no protection: show these results only to people who may see "
        "the data."
    )
