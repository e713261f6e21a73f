"""The number of distinct labels, protecting users with any number of them: a largest matching with noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY
from fractions import Fraction
from functools import cached_property
from typing import SupportsIndex

from anonhist.errors import UsageError
from anonhist.frozen import Checked, Converted, converted, frozen, named
from anonhist.mechanisms.choosing import draw_by_scores, growth, scores
from anonhist.mechanisms.noise import deviation
from anonhist.mechanisms.setting import check_relation, without_sizes
from anonhist.numeric.exponential import exp_bounds
from anonhist.privacy import (
    EpsilonLike,
    Guarantee,
    NeighboringRelation,
    PrivacyUnit,
    parse_epsilon,
    parse_whole_number,
    short_decimal,
)
from anonhist.privacy.unit import ANY_NUMBER
from anonhist.profiles.user_labels import UserLabels
from anonhist.properties.estimate import Estimate, Holds, Statement, check_level
from anonhist.randomness import RandomSource, SystemSource, discrete_laplace

LARGEST_MOST, USUAL_MOST = 2**20, 2**10
_SMALLEST_RATE = Fraction(1, 10**9)
# Of the budget, for choosing ℓ: between three tenths and a half, hardly anything changes.
_CHOICE_SHARE = Fraction(2, 5)
_CHOSEN, _COUNTED = "the number of labels per user", "the number of labels"
_ARITHMETIC = "the matching, the choice and the noise are exact, so floating point costs nothing"
_BITS = 256


def _checked_level(level: float) -> float:
    check_level(level)
    return float(level)


@frozen
class NumLabelsMechanism:
    """Release the number of labels that can be matched to users, at most ℓ to each, with noise of scale ℓ/ε₂.

    ``D_ℓ`` is the largest matching of labels to ℓ copies of each user who has them. One user with any labels raises it
    by 0 to ℓ, so it changes by at most ℓ if a user is added, removed or replaced. It is never above the number of
    labels, however large ℓ is.

    ε₁, two fifths of ε, chooses ℓ among the powers of two below ``max_per_user``, and that number. The loss of ℓ is
    ``t_ℓ − D_ℓ``, where t_ℓ is the quantile of the noise that the lower end of the interval takes off. Between
    neighbors, ``D_ℓ − D_ℓ′`` changes by at most ``max(ℓ, ℓ′)``, by which :func:`~anonhist.mechanisms.choosing.scores`
    divides the differences of losses. So divided, the losses of all large ℓ are about the same: ``2·ln(ℓ)/ε₁`` is added
    to each score, so that at equal losses ℓ is ℓ times less likely than 1. Then ε₂, the rest, pays for discrete Laplace
    noise Z of rate ``ε₂/ℓ`` on D_ℓ. The lower end is ``max(0, D_ℓ + Z − t_ℓ)``, ``P(Z > t_ℓ) ≤ 1 − level``. There is no
    upper end: one user may have any number of labels that nobody else has.

    Source: Knop and Steinke 2023.

    Parameters
    ----------
    epsilon
        The whole budget, > 0.
    relation
        Neighbors differ by a user that is added or removed, or replaced by another; the noise is the same for both.
    max_per_user
        The largest ℓ, from 1 to 2^20: public. Users may have more labels, and are protected all the same.
    level
        Probability with which there are at least as many labels as the lower end says, in (0, 1): public.

    Raises
    ------
    UsageError
        If a parameter is impossible, or ε too small for ``max_per_user``.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy of a user with any number of labels, under either relation. Matchings, scores,
    coins and noise are exact. Proof: docs/proofs/distinct-labels.md. The time and the memory depend on the data, and so
    does whether the memory is enough; the guarantee covers neither.

    Examples
    --------
    >>> mechanism = NumLabelsMechanism(1, max_per_user=100)
    >>> mechanism.candidates
    (1, 2, 4, 8, 16, 32, 64, 100)
    >>> held = UserLabels.from_pairs((user, label) for user in range(900) for label in (user, user + 1))
    >>> mechanism.estimate(held).statement.holds.value
    'at least'
    """

    epsilon: Converted[EpsilonLike, Fraction] = converted(parse_epsilon)
    relation: Checked[NeighboringRelation] = converted(check_relation, default=NeighboringRelation.ADD_OR_REMOVE)
    _: KW_ONLY
    max_per_user: Converted[SupportsIndex, int] = named(parse_whole_number, most=LARGEST_MOST, default=USUAL_MOST)
    level: Checked[float] = converted(_checked_level, default=0.95)

    def __post_init__(self) -> None:
        if self.noise_rate(self.max_per_user) < _SMALLEST_RATE:
            raise UsageError(
                f"`epsilon` = {short_decimal(self.epsilon)} is too small for {self.max_per_user:,} labels per user; "
                "give more, or a smaller `max_per_user`."
            )

    @property
    def candidates(self) -> tuple[int, ...]:
        """The ℓ to choose from: powers of two, and the largest."""
        most = self.max_per_user
        return (*(2**power for power in range((most - 1).bit_length())), most)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one estimate."""
        steps = ((_CHOSEN, self._choice_epsilon), (_COUNTED, self.epsilon - self._choice_epsilon))
        unit = PrivacyUnit.user(max_items=ANY_NUMBER)
        return Guarantee(unit, self.relation, self.epsilon, arithmetic=_ARITHMETIC, spending=steps)

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters as text and whole numbers."""
        return {
            "epsilon": short_decimal(self.epsilon),
            "relation": self.relation.value,
            "max_per_user": self.max_per_user,
            "level": str(self.level),
        }

    @property
    def choice_rate(self) -> Fraction:
        """The rate at which :func:`~anonhist.mechanisms.choosing.draw_by_scores` weighs scores: ε₁/2."""
        return self._choice_epsilon / 2

    @cached_property
    def taken_off(self) -> tuple[int, ...]:
        """The quantile t_ℓ of the noise for each candidate."""
        tail = 1 - Fraction(str(self.level))
        return tuple(noise_bound(self.noise_rate(most), tail) for most in self.candidates)

    @property
    def _choice_epsilon(self) -> Fraction:
        return self.epsilon * _CHOICE_SHARE

    def noise_rate(self, most: int) -> Fraction:
        """Return the rate of the noise on D_ℓ, ``ε₂/ℓ``."""
        return (self.epsilon - self._choice_epsilon) / most

    def matched(self, held: UserLabels) -> tuple[int, ...]:
        """Return D_ℓ for each candidate: private."""
        return tuple(map(held.num_matched, self.candidates))

    def scores(self, matched: tuple[int, ...]) -> list[Fraction]:
        """Return the score of each candidate, which one user changes by at most 1: private."""
        losses = [taken - number for taken, number in zip(self.taken_off, matched, strict=True)]
        unlikely = growth(self.candidates, self.choice_rate)
        return [each + more for each, more in zip(scores(losses, self.candidates), unlikely, strict=True)]

    def estimate(self, held: UserLabels, *, source: RandomSource | None = None) -> Estimate:
        """Spend the budget once on private data.

        Raises
        ------
        DataError
            If there is not enough memory.
        """
        randomness = source or SystemSource()
        with without_sizes():
            matched = self.matched(held)
        place = draw_by_scores(self.scores(matched), self.choice_rate, source=randomness)
        rate = self.noise_rate(self.candidates[place])
        noisy = matched[place] + int(discrete_laplace(rate, 1, source=randomness)[0])
        return self.estimate_of(noisy, place, where=held.where)

    def estimate_of(self, noisy: int, place: int, *, where: str | None = None) -> Estimate:
        """Turn a noisy number of labels, with the place of its ℓ among the candidates, into an estimate."""
        most = self.candidates[place]
        others = f"users with more than {most:,} labels" if most > 1 else "users with more than one label"
        return Estimate(
            float(max(noisy, 0)),
            deviation(float(self.noise_rate(most))),
            (float(max(noisy - self.taken_off[place], 0)), math.inf),
            f"private matching, at most {most:,} label{'s' if most > 1 else ''} per user",
            level=self.level,
            unit="labels",
            guarantee=self.guarantee,
            statement=Statement(Holds.AT_LEAST, f"{others} may have any number of others"),
            where=where,
        )


def noise_bound(rate: Fraction, tail: Fraction) -> int:
    """Return t ≥ 0 with ``P(Z > t) = p^(t + 1)/(1 + p) ≤ tail``, ``p = e^(−rate)``, by certified bounds of both sides.

    It is the least, or one more if both sides nearly agree.

    Examples
    --------
    >>> noise_bound(Fraction(1, 10), Fraction(1, 20)), noise_bound(Fraction(5), Fraction(1, 2))
    (23, 0)
    """
    step = float(rate)
    found = max(0, math.floor(-(math.log(tail) + math.log1p(math.exp(-step))) / step) - 2)
    below = tail * ((1 << _BITS) + exp_bounds(rate, bits=_BITS)[0])
    while exp_bounds(rate * (found + 1), bits=_BITS)[1] > below:
        found += 1
    return found
