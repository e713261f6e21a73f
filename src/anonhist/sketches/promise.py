"""The guarantee of a sketch, computed from the parts of its noise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from enum import Enum
from fractions import Fraction
from itertools import groupby

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.mechanisms.setting import NOISE_IS_EXACT, check_relation
from anonhist.numeric.exponential import float_rate
from anonhist.privacy import EpsilonLike, Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon
from anonhist.randomness.source import SMALLEST_GAMMA
from anonhist.sketches.noise import NoiseComponent

# Beyond this rate, the simple bound is exact to seven digits.
_SIMPLE_FROM = 8
# The trapezoidal rule: its errors, including truncation, are below 10^-15 (docs/proofs/sketches.md, section 5).
_STEP, _REACH = 0.125, 40.0
_MARGIN = 1e-9
_DIGITS = 4
# In bits, 4,000 digits, because Python writes no number of more than 4,300.
_LONGEST = 13_288


class UsersIn(Enum):
    """The number of merged sketches in which one user may have items: a public statement of the operator.

    Examples
    --------
    >>> UsersIn.ONE_SKETCH.value
    'one-sketch'
    """

    #: Up to m items in each: nothing has to be known, and the epsilons of all sketches add up.
    EVERY_SKETCH = "every-sketch"
    #: In one at most, for example because each user belongs to one party: the guarantee names this as a condition.
    ONE_SKETCH = "one-sketch"


def checked_unit(unit: object) -> PrivacyUnit:
    """Refuse a unit that a sketch cannot protect."""
    if not isinstance(unit, PrivacyUnit):
        raise UsageError(f"`unit` must be a PrivacyUnit, such as PrivacyUnit.user(max_items=5), not {unit!r:.80}.")
    if unit.max_count is not None:
        raise UsageError("A sketch protects items or users; it cannot cap counts, which protecting labels would need.")
    if unit.needs_bounded_degrees:
        raise UsageError("A sketch does not bound how many edges a node has: protect nodes with release_degrees.")
    if unit.sketches > 1:
        raise UsageError(
            "The unit of a sketch bounds the items of a user in this sketch only: PrivacyUnit.user(max_items=m)."
        )
    return unit


def checked_setting(
    unit: object, relation: NeighboringRelation, users_in: object
) -> tuple[PrivacyUnit, NeighboringRelation, UsersIn]:
    """Return what a sketch should protect, or refuse a unit that it cannot protect."""
    protected = checked_unit(unit)
    if not isinstance(users_in, UsersIn):
        raise UsageError("`users_in` must be UsersIn.EVERY_SKETCH or UsersIn.ONE_SKETCH.")
    if users_in is UsersIn.ONE_SKETCH and protected.max_items is None:
        raise UsageError("`users_in` applies only to sketches that protect users.")
    return protected, check_relation(relation), users_in


def rate_of(epsilon: EpsilonLike, unit: PrivacyUnit, relation: NeighboringRelation) -> Fraction:
    """Return γ, the cost of one step of one counter: ``ε/(max_distance·steps)``."""
    exact, steps = parse_epsilon(epsilon), unit.max_distance * relation.distance
    if exact < steps * SMALLEST_GAMMA:
        message = f"`epsilon` must be at least {steps:,}·2^-40 (about {float(steps * SMALLEST_GAMMA):.1e}) for {unit}."
        raise UsageError(message)
    return exact / steps


def checked_parts(noise: Iterable[NoiseComponent]) -> tuple[NoiseComponent, ...]:
    """Return parts of noise in order, or refuse parts that do not belong to one sketch."""
    parts = tuple(noise)
    if not parts or not all(isinstance(part, NoiseComponent) for part in parts):
        raise DataError("A sketch must have at least one part of noise.")
    if len({part.identity for part in parts}) < len(parts):
        raise DataError("A sketch must not have the same part of noise twice.")
    for _, shares in _sessions(parts):
        if len({(share.gamma, share.shape, share.participants) for share in shares}) > 1:
            raise DataError(
                "Shares of one session must have one epsilon, one number of honest parties and one adversary; give "
                "each session its own name."
            )
    return tuple(sorted(parts))


@dataclass(frozen=True, order=True)
class SharedNoise:
    """The shares of one session in a sketch; fewer than must take part are refused, because there is no guarantee.

    ``gamma`` is the rate of the noise that they add up to, and ``honest`` is h, the number that makes the whole.
    ``participants`` is the number of parties that must take part honestly: h or, if the adversary may be one of them, h
    + 1.
    """

    gamma: Fraction
    honest: int
    participants: int
    merged: int

    def __post_init__(self) -> None:
        if self.merged < self.participants:
            raise UsageError(
                f"This sketch is not private: it holds {self.merged:,} of at least {self.participants:,} shares of its "
                "noise; add up those of the other parties first, under secure aggregation."
            )

    @property
    def party_gamma(self) -> Fraction:
        """The cost of one step of one counter toward a party, which knows its own share."""
        return party_loss(self.gamma, remaining=self.participants - 1, of=self.honest)


def shared_noise(noise: Iterable[NoiseComponent]) -> tuple[SharedNoise, ...]:
    """Return the shares of each session, or refuse them if some are missing."""
    return tuple(
        sorted(
            SharedNoise(shares[0].gamma, shares[0].shape.denominator, shares[0].participants, len(shares))
            for _, shares in _sessions(noise)
        )
    )


def promise(
    unit: PrivacyUnit,
    relation: NeighboringRelation,
    noise: Iterable[NoiseComponent],
    users_in: UsersIn = UsersIn.EVERY_SKETCH,
) -> Guarantee:
    """Return the guarantee of a sketch with these parts of noise; the shares of a session must make the whole."""
    parts = list(noise)
    return promise_of(unit, relation, [part.gamma for part in parts if part.shape == 1], shared_noise(parts), users_in)


def promise_of(
    unit: PrivacyUnit,
    relation: NeighboringRelation,
    rates: Sequence[Fraction],
    shared: Sequence[SharedNoise],
    users_in: UsersIn,
) -> Guarantee:
    """Return the guarantee of sketches with their own noise, at these rates, and of others that share noise.

    An item is in one of the sketches, and so is a user if the operator says so: the largest epsilon counts. Otherwise a
    user may have m items in each sketch, including those that share noise: the epsilons of all of them add up.
    """
    steps = unit.max_distance * relation.distance
    # The cost of a step toward outsiders and toward a party, and the number of sketches.
    costs = [(gamma, gamma, 1) for gamma in rates]
    costs += [(each.gamma, each.party_gamma, each.merged) for each in shared]
    sketches = sum(many for *_, many in costs)
    conditions = _conditions_of_shares(shared)
    spending: tuple[tuple[str, Fraction], ...] = ()
    if unit.max_items is not None and users_in is UsersIn.EVERY_SKETCH and sketches > 1:
        unit = PrivacyUnit.user(max_items=unit.max_items, sketches=sketches, name=unit.name)
        epsilon = steps * sum((gamma * many for gamma, _, many in costs), Fraction(0))
        party_epsilon = steps * sum((party * many for _, party, many in costs), Fraction(0))
        spending = _steps(costs, steps)
        if any(part.bit_length() > _LONGEST for sum_ in (epsilon, party_epsilon) for part in sum_.as_integer_ratio()):
            raise DataError(
                "The epsilons of the sketches that were merged add up to a fraction of more than 4,000 digits, which "
                "cannot be written: merge fewer of them, or sketches of one epsilon."
            )
    else:
        epsilon, party_epsilon = max(gamma for gamma, *_ in costs) * steps, max(party for _, party, _ in costs) * steps
        if unit.max_items is not None and sketches > 1:
            conditions = (f"no user has items in more than one of the {sketches:,} sketches", *conditions)
    return Guarantee(
        unit,
        relation,
        epsilon,
        Fraction(0),
        NOISE_IS_EXACT,
        spending,
        conditions,
        party_epsilon if party_epsilon > epsilon else None,
    )


def _steps(costs: Sequence[tuple[Fraction, Fraction, int]], steps: int) -> tuple[tuple[str, Fraction], ...]:
    """Return the budget spent toward outsiders, for each rate, multiplied by the number of sketches with it."""
    often: Counter[Fraction] = Counter()
    for gamma, _, many in costs:
        often[gamma] += many
    return tuple(
        ("one sketch" if many == 1 else f"{many} sketches", gamma * steps * many)
        for gamma, many in sorted(often.items())
    )


def _conditions_of_shares(shared: Sequence[SharedNoise]) -> tuple[str, ...]:
    """Return the clause about how many parties must be honest, depending on the adversary."""
    also_parties = {each.honest for each in shared if each.participants > each.honest}
    outsiders = {each.honest for each in shared if each.participants == each.honest}
    conditions = []
    for honest, besides in ((also_parties, " besides the adversary, which may be one of them,"), (outsiders, "")):
        if honest:
            many = f"at least {max(honest):,} parties" if len(honest) == 1 else "as many parties as each session says"
            conditions.append(f"{many}{besides} draw their shares of the noise, keep them secret and take part")
    return tuple(conditions)


def _sessions(noise: Iterable[NoiseComponent]) -> list[tuple[str, list[NoiseComponent]]]:
    shares = sorted((part for part in noise if part.shape < 1), key=lambda part: part.session)
    return [(session, list(group)) for session, group in groupby(shares, key=lambda part: part.session)]


def party_loss(gamma: Fraction, *, remaining: int, of: int) -> Fraction:
    """Return the cost of a step of one counter if some shares of its noise are missing, rounded up.

    Shares have the shape 1/``of``, and ``remaining`` of them are left. With s = ``remaining``/``of``, p = e^(−γ) and Z
    the difference of two negative binomial numbers of shape s::

        max over k of |ln P(Z = k)/P(Z = k + 1)| = ln P(Z = 0)/P(Z = 1)  for s < 1,  γ for s ≥ 1,

    by docs/proofs/sketches.md, section 5. For s < 1 it is more than γ, and less than γ + ln(1/s). The result is γ if
    nothing is missing; otherwise four digits, not below the exact value.
    """
    if remaining >= of:
        return gamma
    shape = remaining / of
    if gamma > _SIMPLE_FROM:
        return gamma + _round_up(math.log1p((of - remaining) / remaining))
    w = np.arange(math.log(math.tanh(float_rate(gamma) / 2)) - _REACH, _REACH, _STEP)
    # P(Z = k) is the mean of (1 − p)^2s·|1 − p·e^(it)|^(−2s)·cos(kt); tan(t/2) = e^w, and δ = tanh(γ/2).
    x, delta = np.exp(2 * w), math.tanh(float_rate(gamma) / 2)
    weights = (delta**2 + x) ** -shape * (1 + x) ** (shape - 1) * np.exp(w)
    # 1 − P(Z = 1)/P(Z = 0), in which nothing cancels: the mean of 1 − cos t = 2x/(1 + x).
    return _round_up(-math.log1p(-float(np.sum(weights * (2 * x / (1 + x))) / np.sum(weights))))


def _round_up(loss: float) -> Fraction:
    return Fraction(Context(prec=_DIGITS, rounding=ROUND_CEILING).create_decimal(Decimal(loss * (1 + _MARGIN))))
