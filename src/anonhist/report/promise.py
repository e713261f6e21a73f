"""What a guarantee means, in plain sentences for the people in the data: text, not yet HTML."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from anonhist.privacy import NeighboringRelation, certainty, protection, short_decimal
from anonhist.privacy.guarantee import delta_apart, round_up
from anonhist.privacy.parameters import NONE_ABOVE

if TYPE_CHECKING:
    from fractions import Fraction

    from anonhist.privacy import Guarantee, PrivacyUnit
    from anonhist.releases import Release

# Below and above, a factor is not written as a plain decimal, whose digits nobody would count.
_PLAIN = (1e-6, 12)
_STAYS = "This stays true whatever is done with the results."


def plain_promise(guarantee: Guarantee, *, result: str = "result") -> str:
    """Say what was promised in one sentence, with one number; ``result`` is what it is about.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
    >>> unit = PrivacyUnit.user(max_items=5)
    >>> print(plain_promise(Guarantee(unit, NeighboringRelation.ADD_OR_REMOVE, Fraction(2), Fraction(1, 10**9))))
    Adding or removing any one user with at most 5 items changes the probability of any result by at most a factor of
    7.39 (plus δ ≤ 1.0e-9).
    """
    unit, is_substitute = guarantee.unit, guarantee.relation is NeighboringRelation.SUBSTITUTE
    change = f"Replacing any {unit} by another" if is_substitute else f"Adding or removing any {unit}"
    # A party that knows its own share of the noise is promised less, in a sentence of its own.
    seen = "" if guarantee.party_epsilon is None else ", as outsiders see it,"
    return f"{change} changes the probability of any {result}{seen} by {at_most(guarantee)}."


def at_most(guarantee: Guarantee) -> str:
    """Say by how much the guarantee allows a probability to change.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
    >>> at_most(Guarantee(PrivacyUnit.item(), NeighboringRelation.SUBSTITUTE, Fraction(1)))
    'at most a factor of 2.72'
    """
    plus = f" (plus δ ≤ {round_up(guarantee.delta)})" if guarantee.delta else ""
    return f"at most a factor of {factor(guarantee.epsilon)}{plus}"


def factor(epsilon: Fraction) -> str:
    """Write ``e^ε``, rounded up, with at least three digits of what is more than one.

    Examples
    --------
    >>> from fractions import Fraction
    >>> [factor(Fraction(each)) for each in ("1e-9", "0.001", "0.5", "1", "10", "100", "40/3")]
    ['1 + 1.1e-9', '1.00101', '1.649', '2.72', '22,027', 'e^100', 'e^(40/3)']
    """
    least, most = _PLAIN
    if epsilon > most:
        power = short_decimal(epsilon)
        return f"e^({power})" if "/" in power else f"e^{power}"
    if epsilon < least:
        return f"1 + {round_up(epsilon + epsilon**2)}"
    exact = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
    places = max(0, 2 - (exact - 1).adjusted())
    return f"{exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_CEILING):,f}"


def for_one_person(guarantee: Guarantee, *, stays: str = _STAYS) -> list[str]:
    """Say what the guarantee means for somebody in the data, in paragraphs; ``stays`` is said of how long it does.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
    >>> for_one_person(Guarantee(PrivacyUnit.item(), NeighboringRelation.ADD_OR_REMOVE, Fraction(1, 2)))
    ['This is strong protection. Someone who thinks it equally likely that a given item is in the data or not can become
    at most 62.3 % sure of either. This stays true whatever is done with the results.']
    """
    doubt = doubt_about(guarantee.unit.kind, guarantee.relation)
    said = [f"{worth(guarantee.epsilon, doubt=doubt, delta=guarantee.delta)} {stays}"]
    if guarantee.conditions:
        said.append(f"This holds provided that {', and that '.join(guarantee.conditions)}.")
    if guarantee.party_epsilon is not None:
        inside = worth(guarantee.party_epsilon, doubt=doubt, delta=guarantee.delta)
        said.append(
            "Toward a party, which knows its own share of the noise, the factor is at most "
            f"{factor(guarantee.party_epsilon)}. {inside}"
        )
    return said


def worth(epsilon: Fraction, *, doubt: str, delta: Fraction) -> str:
    """Say how sure somebody can become who has such a ``doubt``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> worth(Fraction(100), doubt="two answers equally likely", delta=Fraction(0))
    'This is practically no protection. Someone who thinks two answers equally likely can become practically certain.'
    """
    sure = "practically certain" if epsilon > NONE_ABOVE else f"at most {certainty(epsilon)} sure of either"
    return f"This is {protection(epsilon)}. Someone who thinks {doubt} can become {sure}{delta_apart(delta)}."


def doubt_about(kind: str, relation: NeighboringRelation) -> str:
    """Say what somebody thinks who cannot tell two neighbors apart.

    Examples
    --------
    >>> doubt_about("user", NeighboringRelation.ADD_OR_REMOVE)
    'it equally likely that a given user is in the data or not'
    """
    if relation is NeighboringRelation.SUBSTITUTE:
        return f"two versions of a given {kind} equally likely"
    return f"it equally likely that a given {kind} is in the data or not"


def any_user(release: Release) -> str:
    """Say that users are protected whatever they did, where this program counted only some items of each; else nothing.

    Where the data were limited before they were read, nobody knows whether every user was: :func:`exclusions` says so.

    Examples
    --------
    >>> from anonhist.mechanisms import release
    >>> from anonhist.privacy import PrivacyUnit
    >>> from anonhist.profiles import Profile
    >>> read = Profile([1], [2], unit=PrivacyUnit.user(max_items=3), order_key="0" * 32)
    >>> any_user(release(read, epsilon=1))
    'Any one user is protected, however many rows they have; at most 3 of them are counted.'
    >>> any_user(release(Profile([1], [2]), epsilon=1))
    ''
    """
    bound = release.guarantee.unit.max_items
    # A reading that bounds users draws a key, and only such a reading tells what it left out.
    if bound is None or (release.order_key is None and release.excess is None):
        return ""
    counted = f"at most {bound:,} of them {'is' if bound == 1 else 'are'} counted"
    if release.excess is not None:
        counted += f", and at most {release.excess.cap:,} more in the estimate of what was left out"
    return f"Any one user is protected, however many rows they have; {counted}."


def release_exclusions(release: Release) -> list[str]:
    """Say what the promise of a release does not cover, first what follows from the unit."""
    listed = exclusions(release.guarantee.unit)
    return listed[1:] if any_user(release) else listed


def exclusions(unit: PrivacyUnit) -> list[str]:
    """Say what the promise does not cover, first what follows from the unit."""
    # Whoever releases every week has other data each time, but the same people in them.
    again = "the same data" if unit.people is None else f"data of the same {unit.people}, such as those of next week"
    return [
        unit.not_covered,
        f"Further releases of {again}: their budgets add up.",
        "What the running time or memory use of the program tells someone who watches the machine.",
        "The original data file.",
    ]
