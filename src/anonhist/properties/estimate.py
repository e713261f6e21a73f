"""A number with its uncertainty: confidence levels, the valid ends of an interval, and warnings about the unseen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.kinds import Saved, Shown, Tabular
from anonhist.privacy import Guarantee, PrivacyUnit, left_out
from anonhist.privacy.parameters import RAISED

if TYPE_CHECKING:
    from anonhist.profiles import Profile


class Holds(StrEnum):
    """Which ends of an interval hold with the stated probability."""

    BOTH = "interval"
    AT_LEAST = "at least"
    AT_MOST = "at most"
    NONE = "no interval"


@dataclass(frozen=True)
class Statement:
    """Which ends of an interval hold, and why not both.

    Attributes
    ----------
    holds
        Which ends hold.
    reason
        Why an end is missing, or what the interval covers besides random error: a phrase without a full stop. If it is
        empty, the estimator is treated as unbiased, and the interval is the value plus and minus a multiple of its
        error.

    Examples
    --------
    >>> Statement(Holds.AT_LEAST, "any number of labels may be too rare to be seen").holds.value
    'at least'
    """

    holds: Holds = Holds.BOTH
    reason: str = ""


PLUS_MINUS = Statement()
# What numbers of labels mean in a sum of groups.
LABELS_APART = "a label counts once in each of its groups, which were added up"
NONE_OF_NOTHING = Statement(Holds.NONE, "nothing can be estimated from an empty profile")


@dataclass(frozen=True)
class Bounds:
    """The two ends of an interval, and which of them hold; an end that does not is the property's extreme value."""

    low: float
    high: float
    statement: Statement = PLUS_MINUS

    def around(self, value: float) -> Bounds:
        """Return the interval, widened to contain a value: the statement stays true."""
        return Bounds(min(self.low, value), max(self.high, value), self.statement)


@frozen
class Estimate(Shown, Tabular, Saved):
    """One number with its error, its interval and their assumptions.

    Attributes
    ----------
    value
        The estimated value, in ``unit``.
    standard_error
        Root of the expected squared error, ≥ 0, in the same unit. It covers random error, not broken assumptions or the
        bias of the estimator. ``value ± standard_error`` is shown only if the statement has no reason.
    interval
        (low, high), low ≤ high, which contains the truth with probability ``level``. An end that does not hold is the
        extreme value of the property; ``statement`` says which ends hold.
    method
        Source of the value and its uncertainty, in a few words.
    assumes
        What the interval assumes, in a sentence; empty if it assumes nothing.
    level
        Probability with which the interval is meant to contain the truth, in (0, 1).
    parts
        (cause, standard error) for each cause of error, if there are several; their squares add up to the square of
        :attr:`standard_error`.
    warnings
        Sentences about assumptions that visibly fail, and about numbers that are less informative than they seem.
    unit
        The unit, in the plural: ``"labels"``, ``"nats"``; empty for a share.
    guarantee
        The guarantee, for a private estimate.
    statement
        Which ends of the interval hold, and why not both: see :class:`~anonhist.properties.estimate.Holds`.
    where
        The condition on which rows counted, as for ``read_profile``; None if all did.
    bounded_unit
        The unit as it was bounded for this number; None if as in the guarantee, which may be for several releases.

    Examples
    --------
    >>> print(Estimate(12.0, 2.0, (8.0, 16.0), "re-simulated"))
    12 ± 2 (95% interval 8 to 16)
    >>> rare = Statement(Holds.AT_LEAST, "any number of labels may be too rare to be seen")
    >>> print(Estimate(12.0, 2.0, (9.0, float("inf")), "chao1", unit="labels", statement=rare))
    at least 9 labels (95% confidence), estimate 12: any number of labels may be too rare to be seen
    """

    known_as = "estimate"
    value: float
    standard_error: float
    interval: tuple[float, float]
    method: str
    assumes: str = ""
    level: float = 0.95
    parts: tuple[tuple[str, float], ...] = ()
    warnings: tuple[str, ...] = ()
    unit: str = ""
    guarantee: Guarantee | None = None
    statement: Statement = PLUS_MINUS
    where: str | None = None
    bounded_unit: PrivacyUnit | None = None

    @property
    def left_out(self) -> str:
        """What the interval leaves out, because units were bounded before noise was added; empty if they were not."""
        return "" if self.guarantee is None else left_out(self.bounded_unit or self.guarantee.unit)

    def __repr__(self) -> str:
        return f"Estimate({self}; {self.method})"

    def __str__(self) -> str:
        low, high = (format_number(end, digits=6) for end in self.interval)
        value, reason = format_number(self.value, digits=6), self.statement.reason
        unit, share = f" {self.unit}" if self.unit else "", f"{100 * self.level:.6g}%"
        if self.statement.holds is Holds.BOTH:
            error = "" if reason else f" ± {format_number(self.standard_error, digits=3)}"
            return f"{value}{error}{unit} ({share} interval {low} to {high})"
        if self.statement.holds is Holds.NONE:
            return f"{value}{unit}, no interval: {reason}"
        end = low if self.statement.holds is Holds.AT_LEAST else high
        return f"{self.statement.holds.value} {end}{unit} ({share} confidence), estimate {value}: {reason}"


@dataclass(frozen=True)
class Estimates(Shown, Tabular, Saved):
    """Several estimates, which iterate as pairs of a name and an estimate and are one table.

    It is not a tuple, although it behaves like one, because data frame libraries read a tuple as a list of columns.

    Attributes
    ----------
    named
        Pairs of the name of the property, with the value of its option, and the estimate.

    Examples
    --------
    >>> one = Estimate(12.0, 2.0, (8.0, 16.0), "re-simulated", unit="labels")
    >>> found = Estimates((("support-size", one),))
    >>> [name for name, _ in found], found.to_arrow().column_names[:3]
    (['support-size'], ['property', 'value', 'standard_error'])
    """

    known_as = "estimates"
    named: tuple[tuple[str, Estimate], ...]

    @property
    def left_out(self) -> str:
        """What the intervals leave out, because units were bounded before noise was added; empty if they were not."""
        return " ".join(dict.fromkeys(filter(None, (each.left_out for _, each in self.named))))

    @property
    def where(self) -> str | None:
        """The condition on which rows counted, shared by all estimates; None if all rows counted."""
        return next((each.where for _, each in self.named), None)

    def __iter__(self) -> Iterator[tuple[str, Estimate]]:
        return iter(self.named)

    def __len__(self) -> int:
        return len(self.named)

    def __getitem__(self, place: int) -> tuple[str, Estimate]:
        return self.named[place]

    def __repr__(self) -> str:
        return f"Estimates({len(self)} of {', '.join(dict.fromkeys(name.partition(', ')[0] for name, _ in self))})"


_SMALL, _LEAST_PERCENT = 1e-4, 1e-6


def format_number(number: float, *, digits: int) -> str:
    """Write a number with this many digits, whole numbers with all digits, and small ones with a power of ten.

    Examples
    --------
    >>> [format_number(number, digits=3) for number in (14344391.2, 1020, 0.0123456, 0.00000123)]
    ['14,344,391', '1,020', '0.0123', '1.23 × 10⁻⁶']
    """
    if number in (float("inf"), float("-inf")):
        return "infinity" if number > 0 else "−infinity"
    if 0 < abs(number) < _SMALL:
        value, _, power = f"{number:.{digits - 1}e}".partition("e")
        short = value.rstrip("0").rstrip(".") if "." in value else value
        return f"{short} × 10{str(int(power)).translate(RAISED)}"
    # Rounding may add a digit.
    is_long = abs(float(f"{number:.{digits}g}")) >= 10**digits
    return f"{number:,.0f}" if is_long else f"{number:,.{digits}g}"


def percent(share: float) -> str:
    """Write a share in percent with two digits, large ones with all; nobody reads less than a millionth.

    Examples
    --------
    >>> [percent(share) for share in (12.345, 0.0123456, 3.7e-8, 0)]
    ['1,234%', '1.2%', 'less than 0.0001%', '0%']
    """
    if share <= 0:
        return "0%"
    if share < _LEAST_PERCENT:
        return "less than 0.0001%"
    places = max(0, 1 - math.floor(math.log10(100 * share)))
    return f"{100 * share:,.{places}f}%"


def quantile(level: float) -> float:
    """Return z with ``P(|N(0, 1)| ≤ z) = level``."""
    # From the lower tail: near 1, floats cannot represent the remaining probability.
    return -NormalDist().inv_cdf((1 - level) / 2)


def widening_factor(runs: int) -> float:
    """Return the factor that widens a normal interval whose standard error comes from a few runs.

    It is the ratio of the 97.5% quantiles of Student's t with ``runs`` degrees of freedom and of the normal
    distribution, by a Cornish–Fisher expansion (Abramowitz and Stegun 1964, 26.7.5): within 0.1% from four runs on, 5%
    too small at two.
    """
    z = quantile(0.95)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return 1 + math.fsum(term / runs**power for power, term in enumerate(terms, start=1)) / z


def check_level(level: object) -> None:
    """Refuse everything except a probability strictly between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise UsageError(f"The level of an interval must be a number between 0 and 1, such as 0.95, not {level!r:.80}.")


def largest_mean(count: float, z: float) -> float:
    """Return ``x + z²/2 + z·sqrt(x + z²/4)``: the largest Poisson mean consistent with a count x."""
    return count + z**2 / 2 + z * math.sqrt(count + z**2 / 4)


_MUCH = 0.1


def chao_unseen(profile: Profile) -> float:
    """Return Chao's lower bound on the number of unseen labels, as iNEXT computes it; n ≥ 1.

    It is ``((n − 1)/n)·φ_1²/(2·φ_2)`` (Chao 1984, eq. 6, with the factor of Chao and others 2014), or
    ``((n − 1)/n)·φ_1·(φ_1 − 1)/2`` if φ_2 is 0.
    """
    n, once, twice = float(profile.n), float(profile.prevalence(1)), float(profile.prevalence(2))
    finite = (n - 1) / n
    return finite * once**2 / (2 * twice) if twice else finite * once * (once - 1) / 2


def undersampling_warning(profile: Profile) -> tuple[str, ...]:
    """Warn if labels seen once are a tenth of the items or more: about that share of further items has new labels."""
    share = profile.prevalence(1) / profile.n
    if share < _MUCH:
        return ()
    return (f"About {100 * share:.0f}% of further items would have labels not seen yet: the value is too low.",)


def without_repeats(profile: Profile) -> tuple[str, ...]:
    """Warn if every label was seen once."""
    if profile.num_labels < profile.n:
        return ()
    return ("Every label was seen once: the number of labels cannot be estimated, and may be arbitrarily large.",)
