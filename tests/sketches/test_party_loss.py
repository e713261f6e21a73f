"""What is lost where shares of noise are missing, against the exact distribution of those that are left."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import gammaln

from anonhist.sketches.promise import party_loss
from anonhist_testing.cases import each_of


def distribution(gamma: float, shape: float, reach: int) -> np.ndarray:
    """Return P(0) to P(reach) of the difference of two negative binomial numbers: sums over all that matters."""
    j = np.arange(reach + int(45 / gamma))
    log_pmf = gammaln(shape + j) - gammaln(shape) - gammaln(j + 1) + shape * np.log(-np.expm1(-gamma)) - gamma * j
    pmf = np.exp(log_pmf)
    return np.array([pmf[: pmf.size - k] @ pmf[k:] for k in range(reach + 1)])


@each_of(("remaining", "of"), [(1, 2), (2, 3), (1, 3), (9, 10), (999, 1000)])
@each_of("gamma", ["0.01", "0.1", "1", "4", "7.99", "8.01", "12"])
def test_the_loss_is_that_of_the_distribution_and_largest_at_zero(gamma: str, remaining: int, of: int) -> None:
    exact = distribution(float(gamma), remaining / of, 30)
    losses = np.log(exact[:-1] / exact[1:])
    assert losses.max() == losses[0]
    # Log-convex: the further out, the less; and never less than the rate.
    assert bool(np.all(np.diff(losses) <= 1e-9))
    assert losses.min() >= float(gamma) * (1 - 1e-9)
    found = party_loss(Fraction(gamma), remaining=remaining, of=of)
    assert losses[0] * (1 - 1e-10) <= found <= losses[0] * 1.001
    assert found > Fraction(gamma)


@pytest.mark.parametrize("gamma", [Fraction(1, 2**40), Fraction(1, 3), Fraction(10**64)])
def test_enough_shares_lose_the_rate(gamma: Fraction) -> None:
    assert party_loss(gamma, remaining=2, of=2) == party_loss(gamma, remaining=3, of=2) == gamma


@pytest.mark.parametrize("gamma", [Fraction(1, 2**40), Fraction(10**64)])
def test_rates_at_the_ends_of_their_range_have_a_loss(gamma: Fraction) -> None:
    for of in (2, 2**31):
        assert gamma < party_loss(gamma, remaining=of - 1, of=of) < gamma + Fraction(7, 10)


@pytest.mark.parametrize("power", [20, 30, 40])
def test_half_of_wide_noise_loses_as_slowly_less_as_a_logarithm_grows(power: int) -> None:
    """1 − P(1)/P(0) → 2/ln(8/γ), by the elliptic integrals K and E near their ends."""
    found = party_loss(Fraction(1, 2**power), remaining=1, of=2)
    assert float(found) == pytest.approx(-math.log1p(-2 / math.log(8 * 2**power)), rel=1e-3)
