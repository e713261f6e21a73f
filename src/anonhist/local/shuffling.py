"""Amplification by shuffling: the joint guarantee of many reports whose senders are unknown.

Each of n users sends one report of the same ε₀-local randomizer, independently, and a trusted shuffler removes the
senders. Let E = e^ε₀. Whatever the others answer, some of their reports can be regarded as *clones*, drawn as if from
one of the two values that the attacker wants to distinguish: C ~ Binomial(n − 1, r) clones, of which A ~ Binomial(C,
1/2) are of the first kind. The user's own report is of the kind of their value with probability E/(E+1), so the
guarantee of shuffling is the hockey-stick divergence δ(ε) = Σ max(P − e^ε·Q, 0) between

    (A + B, C − A + 1 − B) ~ P  and  (A + 1 − B, C − A + B) ~ Q,    B ~ Bernoulli(E/(E+1)).

Proof, with the arithmetic: docs/proofs/shuffling.md.

Source: Feldman and others 2021, Theorem 3.1 and section 5; Feldman and others 2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.privacy import EpsilonLike, Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon, parse_whole_number

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats

# Larger numbers of users and smaller local epsilons are set to these, which is safe, so that floats suffice.
MOST_USERS = 2**32
LEAST_EPSILON = 2.0**-10
# Above this, clones are so rare that they change nothing, even with this many users.
LARGEST_EPSILON = 64.0

# Relative error allowed for every probability computed here; many times the error in the proof note.
_SLACK = 2.0**-20
# Clones are counted inside a window; their number lies outside with at most this share of delta. The least is 1e-64.
_PART_OUTSIDE = 2.0**-20
_LEAST_OUTSIDE = 1e-70
_BLOCKS = 1024
_NODES = 128


class CloneBound(Enum):
    """The number of the others' reports that are regarded as clones.

    ``STRONGER``, r = 2/(E+1), the bound of 2023, is better for every ε₀, and holds for every ε₀-local
    randomizer that all users share. The proof is in docs/proofs/shuffling.md, because the published proof has an
    erratum. ``STANDARD``, r = 1/E, is the bound of 2021.

    Examples
    --------
    >>> users = 100_000
    >>> float(shuffled_epsilon(4, users=users, delta=1e-6, bound=CloneBound.STANDARD)) < 0.17
    True
    """

    STANDARD = "2021"
    STRONGER = "2023"

    def chances(self, epsilon: float) -> tuple[float, float]:
        """Return r, the probability that a report of another user is a clone, and 1 − r."""
        if self is CloneBound.STANDARD:
            return math.exp(-epsilon), -math.expm1(-epsilon)
        return 2 / (math.exp(epsilon) + 1), math.tanh(epsilon / 2)


def shuffled_epsilon(
    epsilon: EpsilonLike, *, users: int, delta: EpsilonLike, bound: CloneBound = CloneBound.STRONGER
) -> Fraction:
    """Return the central epsilon of shuffled reports, when one user's value is replaced by another.

    Parameters
    ----------
    epsilon
        ε₀ of each single report, exact, > 0; δ = 0.
    users
        The number n of shuffled reports, from 1 to 2⁶². More than 2³² count as 2³².
    delta
        δ of the shuffled reports, exact, > 0 and < 1.
    bound
        How many reports are regarded as clones.

    Returns
    -------
    Fraction
        A decimal of at most five digits, rounded up: the shuffled reports are (result, δ)-differentially private,
        including the rounding of floats. It is never more than ``epsilon``, and exactly ``epsilon`` if shuffling does
        not help: then δ is not used.

    Raises
    ------
    UsageError
        If a number is out of its range.

    Examples
    --------
    >>> shuffled_epsilon(4, users=100_000, delta="1e-6") < Fraction("0.1183")
    True
    >>> shuffled_epsilon(4, users=10, delta="1e-6")
    Fraction(4, 1)
    """
    exact = parse_epsilon(epsilon)
    largest_delta = float(_parse_delta(delta)) * (1 - _SLACK)
    users = parse_whole_number(users, name="users")
    if exact > LARGEST_EPSILON:
        return exact
    reports = _ShuffledReports.of(float(exact), users, bound, outside=largest_delta * _PART_OUTSIDE)
    refused, kept = math.ldexp(reports.epsilon, -40), reports.epsilon * (1 - 2.0**-10)
    if reports.delta(kept) > largest_delta:
        return exact
    while kept > refused * (1 + 1e-6):
        middle = math.sqrt(refused * kept)
        if reports.delta(middle) > largest_delta:
            refused = middle
        else:
            kept = middle
    return min(exact, _round_up(kept))


def shuffled_delta(
    epsilon: EpsilonLike, central_epsilon: EpsilonLike, *, users: int, bound: CloneBound = CloneBound.STRONGER
) -> float:
    """Return δ, rounded up, such that shuffled reports are (central_epsilon, δ)-differentially private.

    Parameters
    ----------
    epsilon, users, bound
        As for :func:`shuffled_epsilon`.
    central_epsilon
        Any number > 0.

    Returns
    -------
    float
        From 0 to 1; 0 if ``central_epsilon`` is at least ``epsilon``, otherwise at least 1e-70.

    Raises
    ------
    UsageError
        If a number is out of its range.

    Examples
    --------
    >>> round(shuffled_delta(1, "0.05", users=10_000) * 1e7, 2)
    1.07
    """
    local, central = parse_epsilon(epsilon), parse_epsilon(central_epsilon, name="central_epsilon")
    users = parse_whole_number(users, name="users")
    if central >= local:
        return 0.0
    if local > LARGEST_EPSILON:
        return 1.0
    reports = _ShuffledReports.of(float(local), users, bound, outside=_LEAST_OUTSIDE)
    return min(1.0, reports.delta(min(float(central), reports.epsilon * (1 - 2.0**-10))))


def shuffled_guarantee(epsilon: EpsilonLike, *, users: int, delta: EpsilonLike, honest: int | None = None) -> Guarantee:
    """Return the guarantee of :func:`shuffled_epsilon`; the local one, with δ = 0, if shuffling does not help.

    With m honest users among n, it is that of m: whoever knows the other reports can take them away.
    """
    local, exact_delta, users = parse_epsilon(epsilon), _parse_delta(delta), parse_whole_number(users, name="users")
    hiding = users if honest is None else parse_whole_number(honest, name="honest", most=users)
    central = shuffled_epsilon(local, users=hiding, delta=exact_delta)
    unit, relation = PrivacyUnit.user(max_items=1), NeighboringRelation.SUBSTITUTE
    if central == local:
        arithmetic = "each report satisfies it by itself and is drawn exactly"
        return Guarantee(unit, relation, local, arithmetic=arithmetic)
    arithmetic = (
        f"it holds toward those who see only the shuffled reports of all {users:,} users, one of each; reports are "
        "drawn exactly, and the rounding of the bound is accounted for"
    )
    conditions = () if hiding == users else (f"at least {hiding:,} of the users follow the survey",)
    return Guarantee(unit, relation, central, exact_delta, arithmetic, conditions=conditions)


def shuffled_epsilon_closed_form_2021(epsilon: EpsilonLike, *, users: int, delta: EpsilonLike) -> Fraction:
    """Return the closed form of 2021: larger than :func:`shuffled_epsilon`, and easy to check by hand.

    ``ln(1 + (E−1)/(E+1) · (8·√(E·ln(4/δ)/n) + 8E/n))``, E = e^ε₀, for ε₀ ≤ ln(n / (16·ln(2/δ))).

    Parameters, result and errors are those of :func:`shuffled_epsilon`; a larger ε₀ is refused, too.
    Source: Feldman and others 2021, Theorem 3.1.

    Examples
    --------
    >>> round(float(shuffled_epsilon_closed_form_2021(4, users=100_000, delta=1e-6)), 3)
    0.535
    """
    local, n, small = parse_epsilon(epsilon), parse_whole_number(users, name="users"), float(_parse_delta(delta))
    _refuse_above(local, n / (16 * math.log(2 / small)), "2021", "ln(users / (16 ln(2 / delta)))")
    ratio = math.exp(local)
    gain = 8 * math.sqrt(ratio * math.log(4 / small) / n) + 8 * ratio / n
    return min(local, _round_up(math.log1p(math.tanh(local / 2) * gain)))


def shuffled_epsilon_closed_form_2023(epsilon: EpsilonLike, *, users: int, delta: EpsilonLike) -> Fraction:
    """Return the closed form of 2023: larger than :func:`shuffled_epsilon`, and easy to check by hand.

    ``ln(1 + (E−1) · (4·√(2·ln(4/δ)/((E+1)·n)) + 4/n))``, E = e^ε₀, for ε₀ ≤ ln(n / (8·ln(2/δ)) − 1).

    Parameters, result and errors are those of :func:`shuffled_epsilon`; a larger ε₀ is refused, too.
    Source: Feldman and others 2023, Theorem 3.2, for the bound ``CloneBound.STRONGER``.

    Examples
    --------
    >>> round(float(shuffled_epsilon_closed_form_2023(4, users=100_000, delta=1e-6)), 3)
    0.408
    """
    local, n, small = parse_epsilon(epsilon), parse_whole_number(users, name="users"), float(_parse_delta(delta))
    _refuse_above(local, n / (8 * math.log(2 / small)) - 1, "2023", "ln(users / (8 ln(2 / delta)) - 1)")
    ratio = math.exp(local)
    gain = 4 * math.sqrt(2 * math.log(4 / small) / ((ratio + 1) * n)) + 4 / n
    return min(local, _round_up(math.log1p(math.expm1(local) * gain)))


@dataclass(frozen=True)
class _ShuffledReports:
    """Possible numbers of clones: ``masses[i]`` bounds the chance of at least ``clones[i]`` and fewer than the next.

    With more clones the divergence is smaller: the attacker could add another clone as noise. So every block
    is replaced by its lower end.
    """

    epsilon: float
    clones: Floats
    masses: Floats
    outside: float

    @classmethod
    def of(cls, epsilon: float, users: int, bound: CloneBound, *, outside: float) -> _ShuffledReports:
        epsilon = max(math.nextafter(epsilon, math.inf), LEAST_EPSILON)
        others, (chance, rest) = min(users, MOST_USERS) - 1, bound.chances(epsilon)
        # Bernstein's inequality: the count is farther from its mean than this with probability at most `outside`.
        doubt = math.log(2 / outside)
        distance = doubt / 3 + math.sqrt(doubt * doubt / 9 + 2 * doubt * others * chance * rest)
        lowest = max(0, math.floor(others * chance - distance) - 1)
        highest = min(others, math.ceil(others * chance + distance) + 1)
        counts = np.arange(lowest, highest + 1, dtype=np.float64)
        starts = np.arange(0, counts.size, math.ceil(counts.size / _BLOCKS))
        chances = np.exp(_log_binomial(np.float64(others), counts, chance, rest))
        return cls(epsilon, counts[starts], np.add.reduceat(chances, starts) * (1 + _SLACK), outside)

    def delta(self, central: float) -> float:
        """Return an upper bound of δ(central), 0 < central < ε₀."""
        return float(self.masses @ self._divergences(central)) * (1 + _SLACK) + self.outside

    def _divergences(self, central: float) -> Floats:
        """Bound δ(central) for each number of clones from above.

        For C clones it is (E−w)/(E+1)·P(A = a−1) − (w−1)·P(A ≥ a), w = e^central, with a the least number of reports
        of the first kind at which P > w·Q. The first term is bounded from above, the second from below.
        """
        clones = self.clones[:, np.newaxis]
        ratio = math.tanh(central / 2) / math.tanh(self.epsilon / 2)
        # Rounding up may set `first` to all reports: P > w·Q there, as long as central < epsilon.
        first = np.minimum(np.floor((clones + 1) / 2 * (1 + ratio)), clones) + 1
        step = np.maximum(1, np.ceil(1.5 * np.sqrt(clones) / _NODES))
        logs = _log_binomial(clones, np.hstack([first - 1, first + step * np.arange(_NODES + 1)]), 0.5, 0.5)
        at, nodes = np.exp(logs[:, 0]), logs[:, 1:]
        # Between two nodes the log-concave distribution lies above the geometric sequence through both.
        falls = np.subtract(
            nodes[:, 1:], nodes[:, :-1], out=np.full_like(nodes[:, 1:], -1), where=nodes[:, :-1] > -np.inf
        )
        tail = np.sum(np.exp(nodes[:, :-1]) * np.expm1(falls) / np.expm1(falls / step), axis=1)
        w = math.exp(central)
        gain = w * math.expm1(self.epsilon - central) / (math.exp(self.epsilon) + 1)
        upper = at * gain * (1 + _SLACK)
        divergences: Floats = np.maximum(upper - tail * math.expm1(central) * (1 - _SLACK), 0)
        return divergences


def _log_binomial(trials: Floats | np.float64, successes: Floats, chance: float, rest: float) -> Floats:
    """Return the logarithm of a binomial probability; −∞ above the number of trials.

    It is written as deviance and Stirling's remainder (Loader 2000), so that nothing large cancels.
    """
    inside = np.minimum(successes, trials)
    failures = trials - inside
    logs = _log_factorial_remainder(trials) - _log_factorial_remainder(inside)
    logs -= _log_factorial_remainder(failures)
    logs -= _deviance(inside, trials * chance)
    logs -= _deviance(failures, trials * rest)
    logs[successes > trials] = -np.inf
    return logs


def _deviance(count: Floats, mean: Floats | np.float64) -> Floats:
    """Return x·ln(x/m) + m − x, and 0 if the mean is 0, because then the count is 0."""
    from scipy.special import xlog1py

    off = count - mean
    deviance: Floats = xlog1py(count, off / np.where(mean > 0, mean, 1)) - off
    return deviance


def _log_factorial_remainder(k: Floats | np.float64) -> Floats:
    """Return ln k! − (k·ln k − k): exactly below 16, from there with three terms of Stirling's enveloping series."""
    k = np.atleast_1d(k)
    large, few = np.maximum(k, 16), k < 16
    inverse = 1 / large
    squares = inverse * inverse
    # 1/(12k) − 1/(360k³) + 1/(1260k⁵), in place, because a search for epsilon takes most of its time here.
    series = squares / 1260
    series = np.subtract(1 / 360, series, out=series)
    series *= squares
    series = np.subtract(1 / 12, series, out=series)
    series *= inverse
    large *= 2 * np.pi
    remainders: Floats = np.log(large)
    remainders /= 2
    remainders += series
    if few.any():
        remainders[few] = _SMALL_REMAINDERS[k[few].astype(np.int64)]
    return remainders


_SMALL_REMAINDERS = np.array([0.0] + [math.lgamma(k + 1) - k * math.log(k) + k for k in range(1, 16)])


def _parse_delta(delta: EpsilonLike) -> Fraction:
    exact = parse_epsilon(delta, name="delta")
    if exact >= 1:
        raise UsageError(f"`delta` must be less than 1, such as 1e-6, not {float(exact):g}.")
    return exact


def _refuse_above(epsilon: Fraction, odds: float, year: str, formula: str) -> None:
    largest = math.log(odds) if odds > 1 else 0.0
    if epsilon > largest:
        raise UsageError(
            f"The closed form of {year} holds for epsilon up to {formula}, here {largest:.4g}; "
            "use shuffled_epsilon, more users or a larger delta."
        )


def _round_up(value: float) -> Fraction:
    """Return a larger decimal of five digits, with room for the rounding errors of the formula behind the value."""
    return Fraction(Context(prec=5, rounding=ROUND_CEILING).create_decimal(Decimal(value * (1 + 2.0**-40))))


# Above this, a report reveals nearly everything; below, nearly nothing: estimating a share would need 10¹⁸ people.
LARGEST_REPORT_EPSILON, SMALLEST_EPSILON = Fraction(64), Fraction(1, 10**9)
ARITHMETIC = (
    "every answer is randomized on the device of the person who gives it, with exact probabilities, so nobody has to "
    "be trusted with it as long as the device follows the survey"
)


def check_local_epsilon(given: EpsilonLike) -> Fraction:
    """Return ε of a report, exactly, or refuse one that is not a number from 10⁻⁹ to 64."""
    epsilon = parse_epsilon(given)
    if not SMALLEST_EPSILON <= epsilon <= LARGEST_REPORT_EPSILON:
        message = (
            f"epsilon of a survey must lie between 1e-9 and {LARGEST_REPORT_EPSILON}; outside this range it is useless."
        )
        raise UsageError(message)
    return epsilon


def report_guarantee(epsilon: Fraction, arithmetic: str, *, reports: int = 1) -> Guarantee:
    """Return the guarantee of so many reports for the one person who sent them."""
    unit = PrivacyUnit.user(max_items=reports)
    return Guarantee(unit, NeighboringRelation.SUBSTITUTE, epsilon, arithmetic=arithmetic)
