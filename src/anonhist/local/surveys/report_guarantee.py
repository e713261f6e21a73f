"""The guarantee of a report for the person who sent it, and the range of its ε."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon

if TYPE_CHECKING:
    from anonhist.privacy import EpsilonLike

# Above, a report reveals nearly everything; below, nearly nothing: estimating a share would need 10¹⁸ people.
LARGEST_EPSILON, SMALLEST_EPSILON = Fraction(64), Fraction(1, 10**9)
ARITHMETIC = (
    "every answer is randomized on the device of the person who gives it, with exact probabilities, so nobody has to "
    "be trusted with it as long as the device follows the survey"
)


def check_local_epsilon(given: EpsilonLike) -> Fraction:
    """Return ε of a report, exactly.

    Raises
    ------
    UsageError
        If it is not a number from 10⁻⁹ to 64.

    Examples
    --------
    >>> check_local_epsilon("0.5")
    Fraction(1, 2)
    """
    epsilon = parse_epsilon(given)
    if not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
        message = f"epsilon of a survey must lie between 1e-9 and {LARGEST_EPSILON}; outside this range it is useless."
        raise UsageError(message)
    return epsilon


def report_guarantee(epsilon: Fraction, arithmetic: str) -> Guarantee:
    """Return the guarantee of reports for the one person who sent them."""
    return Guarantee(PrivacyUnit.user(max_items=1), NeighboringRelation.SUBSTITUTE, epsilon, arithmetic=arithmetic)
