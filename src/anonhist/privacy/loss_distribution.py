"""Losses of many releases composed by dp-accounting, as events and as distributions."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from anonhist.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

ROUNDING = (
    "losses are composed as distributions by dp-accounting, rounded upward on a grid, with a margin in δ for its "
    "floating-point rounding"
)
# The coarsest grid, and the most points that the losses of all releases together may take of one.
_COARSEST = Fraction(1, 10**4)
_MOST_POINTS = 10**6
_DIGITS = 10**6
# Of δ, for each release: the Fourier transforms of dp-accounting err by 2·10⁻¹⁷ for each (test_loss_distribution.py).
_MARGIN = Fraction(1, 2**50)


def epsilon_at(losses: Iterable[tuple[Fraction, Fraction]], delta: Fraction) -> Fraction:
    """Return ε of all releases together at a δ, rounded upward to six decimals; at most the plain sum where that holds.

    The worst mechanism with an (ε, δ) has the losses ε, −ε and infinity (Kairouz and others 2015), and the
    losses of several are its convolution, on a grid of which every ε is a multiple, if that is not too fine. A δ
    smaller than the releases have in any case is refused.
    """
    times = Counter(losses)
    plain = sum((epsilon * count for (epsilon, _), count in times.items()), Fraction(0))
    is_covered = delta >= sum((each * count for (_, each), count in times.items()), Fraction(0))
    composed = _compose(times, _grid([epsilon for epsilon, _ in times], plain))
    asked = delta - times.total() * _MARGIN
    found: float = composed.get_epsilon_for_delta(_rounded_down(asked)) if asked > 0 else math.inf
    if math.isfinite(found):
        upper = Fraction(math.ceil(Fraction(found) * _DIGITS) or 1, _DIGITS)
        return min(upper, plain) if is_covered else upper
    if is_covered:
        return plain
    raise UsageError("`delta` must be larger than the δ of these releases together, however large ε is.")


def _compose(times: Counter[tuple[Fraction, Fraction]], grid: Fraction) -> Any:
    try:
        from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    except ImportError:
        raise MissingExtraError(
            "Losses are composed by dp-accounting; install it with: pip install 'anonhist[accounting]'."
        ) from None

    total: Any = None
    for (epsilon, delta), count in times.items():
        # Rounded upward exactly; dp-accounting's from_privacy_parameters divides floats, which may take a step more.
        rounded = {
            math.ceil(epsilon / grid): float(1 - delta) / (1 + math.exp(-epsilon)),
            -math.floor(epsilon / grid): float(1 - delta) * math.exp(-epsilon) / (1 + math.exp(-epsilon)),
        }
        one = PrivacyLossDistribution.create_from_rounded_probability(rounded, float(delta), float(grid))
        one = one.self_compose(count)
        total = one if total is None else total.compose(one)
    return total


def _grid(epsilons: list[Fraction], plain: Fraction) -> Fraction:
    """Return the width of the grid: one that divides every ε, if that has not too many points."""
    below = math.lcm(*(each.denominator for each in epsilons))
    divisor = Fraction(math.gcd(*(each.numerator * (below // each.denominator) for each in epsilons)), below)
    exact = divisor / math.ceil(divisor / _COARSEST)
    return max(exact, plain / _MOST_POINTS)


def _rounded_down(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)


def event_of(epsilons: Iterable[Fraction]) -> Any:
    """Return one event for all releases together, each with its ε and δ = 0.

    An event of one release is the discrete Laplace mechanism with rate ε and sensitivity 1. Its losses are ε, with
    probability 1/(1 + e^−ε), and −ε: those of the worst mechanism with this ε. Those of the continuous Laplace
    mechanism are smaller, and so is what accountants say of it. Each ε is rounded upward to a float.
    """
    try:
        from dp_accounting import dp_event
    except ImportError:
        raise MissingExtraError(
            "Events are those of dp-accounting; install it with: pip install 'anonhist[accounting]'."
        ) from None

    events = [
        one if count == 1 else dp_event.SelfComposedDpEvent(one, count)
        for epsilon, count in Counter(epsilons).items()
        for one in [dp_event.DiscreteLaplaceDpEvent(noise_parameter=_rounded_up(epsilon), sensitivity=1)]
    ]
    return events[0] if len(events) == 1 else dp_event.ComposedDpEvent(events)


def _rounded_up(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
