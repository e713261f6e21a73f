"""A private choice of the candidate with the least loss, if losses have different sensitivities, drawn exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from anonhist.numeric.arrays import Floats
from anonhist.randomness import RandomSource, bernoulli_exp, uniform_integers


def least_loss(
    losses: Sequence[Fraction | int], sensitivities: Sequence[int], rate: Fraction, *, source: RandomSource
) -> int:
    """Draw the place of a candidate: the generalized exponential mechanism, by permute-and-flip.

    ``s_i = max_j (q_i − q_j) / max(Δ_i, Δ_j)`` is the score of the candidate with loss q_i and sensitivity Δ_i. If no
    difference ``q_i − q_j`` changes by more than ``max(Δ_i, Δ_j)`` between neighbors, scores change by at most 1: the
    high sensitivity of some candidates does not blur the others. Each candidate enters the draw with probability
    ``exp(−rate·s_i)``, and one of the entrants is drawn uniformly, which is permute-and-flip: ``2·rate``-differentially
    private. The lowest score is 0, so at least one candidate enters. Scores and coins are exact.

    Source: Raskhodnikova and Smith 2016 (scores); McKenna and Sheldon 2020 (the draw).

    Examples
    --------
    >>> from anonhist.randomness import SystemSource
    >>> least_loss([900, 0, 4], [1, 8, 64], Fraction(50), source=SystemSource())
    1
    """
    return draw_by_scores(scores(losses, sensitivities), rate, source=source)


def draw_by_scores(found: Sequence[Fraction], rate: Fraction, *, source: RandomSource) -> int:
    """Draw the place of a candidate by permute-and-flip, as :func:`least_loss` does, given scores.

    Those that count are above the least score. If neighbors change each score by at most 1, this is
    ``2·rate``-differentially private. All coins are drawn, whatever they show; the time of a coin depends slightly on
    its score.
    """
    least = min(found)
    drawn = [place for place, score in enumerate(found) if bernoulli_exp(rate * (score - least), 1, source=source)[0]]
    return drawn[int(uniform_integers(len(drawn), 1, source=source)[0])]


def scores(losses: Sequence[Fraction | int], sensitivities: Sequence[int]) -> list[Fraction]:
    """Return ``s_i = max_j (q_i − q_j) / max(Δ_i, Δ_j)``: 0 for the least loss, and never less."""
    pairs = list(zip(losses, sensitivities, strict=True))
    return [max(Fraction(loss - other) / max(bound, beside) for other, beside in pairs) for loss, bound in pairs]


def scores_apart(losses: Sequence[Fraction | int], apart: Callable[[int, int], int]) -> list[Fraction]:
    """Return ``s_i = max(0, max_j (q_i − q_j) / D_ij)``, with ``D_ij = apart(i, j)`` > 0: 0 for the least loss.

    If neighbors change ``q_i − q_j`` by at most D_ij, they change scores by at most 1.
    """
    places = range(len(losses))
    return [
        max(Fraction(losses[i] - losses[j]) / apart(i, j) if i != j else Fraction(0) for j in places) for i in places
    ]


def growth(sizes: Sequence[int], rate: Fraction) -> list[Fraction]:
    """Return ``ln(size / least)/rate`` for public sizes: added to scores, it makes the larger ones less likely.

    In 64ths, so that a machine's last digit of a logarithm decides nothing.
    """
    least = max(1, min(sizes))
    return [Fraction(round(64 * math.log(max(size, 1) / least)), 64) / rate for size in sizes]


def least_loss_pmf(losses: Sequence[Fraction | int], sensitivities: Sequence[int], rate: Fraction) -> Floats:
    """Return the probability of each candidate, shape (k,)."""
    return pmf_by_scores(scores(losses, sensitivities), rate)


def pmf_by_scores(found: Sequence[Fraction], rate: Fraction) -> Floats:
    """Return the probability of each place that :func:`draw_by_scores` may draw, shape (k,)."""
    least = min(found)
    chances = [math.exp(-rate * (score - least)) for score in found]
    total = np.zeros(len(chances))
    for place, chance in enumerate(chances):
        # How many others enter, 0, 1, …: the place is drawn from these and itself.
        others = np.ones(1)
        for other in (*chances[:place], *chances[place + 1 :]):
            others = np.convolve(others, (1 - other, other))
        total[place] = chance * float(others @ (1 / np.arange(1, others.size + 1)))
    return total
