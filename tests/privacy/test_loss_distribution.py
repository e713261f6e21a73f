"""ε of many releases at a larger δ: against the exact loss of the worst mechanism, and what is refused."""

import math
import subprocess
import sys
from fractions import Fraction

import pytest

from anonhist.errors import MissingExtraError, UsageError
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist_testing.cases import each_of

ADD = NeighboringRelation.ADD_OR_REMOVE


def releases(epsilon: str, times: int, delta: str = "0") -> Guarantee:
    one = Guarantee(PrivacyUnit.item(), ADD, Fraction(epsilon), Fraction(delta), "noise is exact")
    return Guarantee.of_all([one] * times)


def exact_delta(epsilon: float, times: int, total: float) -> float:
    """Return δ of k releases at a total ε, if each answers truthfully with odds e^ε: the worst pure mechanism."""
    truthful = 1 / (1 + math.exp(-epsilon))
    return sum(
        math.comb(times, lies)
        * truthful ** (times - lies)
        * (1 - truthful) ** lies
        * -math.expm1(total - epsilon * (times - 2 * lies))
        for lies in range(times + 1)
        if epsilon * (times - 2 * lies) > total
    )


@pytest.fixture(autouse=True)
def _dp_accounting() -> None:
    pytest.importorskip("dp_accounting", reason="the extra accounting is not installed")


@each_of(("epsilon", "times", "delta"), [("0.05", 365, 1e-9), ("1/3", 40, 1e-6), ("1", 12, 1e-9), ("0.7", 2, 1e-2)])
def test_it_is_above_the_exact_value_and_near(epsilon: str, times: int, delta: float) -> None:
    found = float(releases(epsilon, times).at_delta(str(delta)).epsilon)
    assert exact_delta(float(Fraction(epsilon)), times, found) <= delta
    assert exact_delta(float(Fraction(epsilon)), times, found - 1e-3) > delta


def test_a_year_of_daily_releases() -> None:
    year = releases("0.05", 365)
    assert year.epsilon == Fraction("18.25")
    told = year.at_delta("1e-9")
    assert (round(float(told.epsilon), 2), told.delta) == (5.82, Fraction(1, 10**9))
    assert told.arithmetic == (
        "noise is exact, and losses are composed as distributions by dp-accounting, rounded upward on a grid, with a "
        "margin in δ for its floating-point rounding"
    )
    assert year.rho == Fraction(365, 800)


def test_it_is_never_more_than_the_plain_sum() -> None:
    assert releases("0.5", 9).at_delta("1e-15").epsilon == Fraction(9, 2)
    assert releases("0.5", 1).at_delta("1e-12").epsilon <= Fraction(1, 2)
    assert releases("0.5", 3, "1e-10").at_delta("3e-10").epsilon == Fraction(3, 2)
    uneven = Guarantee.of_all([releases("0.1234567890123456789", 1), releases("1e-20", 1)])
    assert uneven.at_delta("1e-9").epsilon <= uneven.epsilon


def test_losses_of_different_releases_are_composed() -> None:
    both = Guarantee.of_all([releases("0.1", 30), releases("0.25", 20, "1e-12")])
    found = both.at_delta("1e-9").epsilon
    assert releases("0.1", 50).at_delta("1e-9").epsilon < found < releases("0.25", 50, "1e-12").at_delta("1e-9").epsilon
    assert found < both.epsilon


def test_delta_must_be_there() -> None:
    many = releases("0.5", 3, "1e-3")
    with pytest.raises(UsageError, match="must be larger than the δ of these releases"):
        many.at_delta("1e-4")
    with pytest.raises(UsageError, match="greater than zero"):
        many.at_delta(0)
    with pytest.raises(UsageError, match="no ρ"):
        many.rho  # noqa: B018
    shared = Guarantee(
        PrivacyUnit.item(), ADD, Fraction(1), arithmetic="x", conditions=("y",), party_epsilon=Fraction(2)
    )
    with pytest.raises(UsageError, match="plainly"):
        shared.at_delta("1e-9")


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.privacy_loss_distribution", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'anonhist\[accounting\]'"):
        releases("0.05", 365).at_delta("1e-9")


def test_it_is_not_loaded_before_it_is_used() -> None:
    program = "import sys, anonhist.privacy; assert 'dp_accounting' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_delta_is_below_1() -> None:
    for delta in (1, "1", "1.5"):
        with pytest.raises(UsageError, match=r"^delta must be below 1, such as 1e-9"):
            releases("0.5", 2).at_delta(delta)
