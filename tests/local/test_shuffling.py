"""What shuffled reports promise: never less than they reveal, counted out, and the published numbers."""

import itertools
import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.local.shuffling import (
    MOST_USERS,
    CloneBound,
    _log_binomial,
    shuffled_delta,
    shuffled_epsilon,
    shuffled_epsilon_closed_form_2021,
    shuffled_epsilon_closed_form_2023,
    shuffled_guarantee,
)
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist_testing.cases import each_of

Channel = NDArray[np.float64]
PI = "3.14159265358979323846264338327950288419716939937510582"
# Asked for the same by several tests, and slow where users are many.
found_epsilon = cache(shuffled_epsilon)
CLOSED_FORMS = [shuffled_epsilon_closed_form_2021, shuffled_epsilon_closed_form_2023]


def krr(k: int, ratio: float) -> Channel:
    return np.where(np.eye(k, dtype=bool), ratio, 1.0) / (ratio + k - 1)


def subset_selection(k: int, size: int, ratio: float) -> Channel:
    subsets = list(itertools.combinations(range(k), size))
    rows = np.array([[ratio if x in subset else 1.0 for subset in subsets] for x in range(k)])
    return rows / rows.sum(axis=1, keepdims=True)


def optimized_unary(k: int, ratio: float) -> Channel:
    """Bits of a one-hot code: the own bit is kept with probability 1/2, others are 1 with 1/(ratio+1)."""
    reports = np.array(list(itertools.product((0, 1), repeat=k)))
    other = np.where(reports == 1, 1, ratio) / (ratio + 1)
    return np.array([0.5 * np.delete(other, x, axis=1).prod(axis=1) for x in range(k)])


def overlapping(ratio: float, common: float) -> Channel:
    """Two values that often give the same report, which a third seldom gives: the case that the erratum is about."""
    rows = np.array(
        [
            [ratio, 1, ratio * common, 1 + common],
            [1, ratio, ratio * common, 1 + common],
            [1, 1, common, ratio * (1 + common)],
        ]
    )
    return rows / rows.sum(axis=1, keepdims=True)


def local_ratio(channel: Channel) -> float:
    return float((channel.max(axis=0) / channel.min(axis=0)).max())


def shuffled_distribution(rows: Sequence[NDArray[np.float64]]) -> dict[tuple[int, ...], float]:
    """Count out how often each report occurs when row i is the distribution of the i-th user's report."""
    distribution = {(0,) * rows[0].size: 1.0}
    for row in rows:
        longer: dict[tuple[int, ...], float] = {}
        for counts, chance in distribution.items():
            for report, part in enumerate(row.tolist()):
                key = (*counts[:report], counts[report] + 1, *counts[report + 1 :])
                longer[key] = longer.get(key, 0.0) + chance * part
        distribution = longer
    return distribution


def largest_divergence(channel: Channel, users: int, ratio: float) -> float:
    """Return the hockey-stick divergence, the largest over all values of all users."""
    largest = 0.0
    values = range(len(channel))
    for others in itertools.combinations_with_replacement(values, users - 1):
        distributions = [shuffled_distribution([channel[x], *(channel[y] for y in others)]) for x in values]
        for left, right in itertools.permutations(distributions, 2):
            largest = max(largest, math.fsum(max(p - ratio * right[key], 0.0) for key, p in left.items()))
    return largest


def naive_delta(epsilon: float, central: float, users: int, bound: CloneBound) -> float:
    """Return Σ max(P − e^ε·Q, 0), both distributions written out as the module's docstring has them."""
    odds, w = math.exp(epsilon), math.exp(central)
    chance = math.exp(-epsilon) if bound is CloneBound.STANDARD else 2 / (odds + 1)
    true, false = odds / (odds + 1), 1 / (odds + 1)
    terms = []
    for clones in range(users):
        mass = math.comb(users - 1, clones) * chance**clones * (1 - chance) ** (users - 1 - clones)
        coins = [0.0, *(math.comb(clones, a) / 2**clones for a in range(clones + 1)), 0.0]
        for before, after in itertools.pairwise(coins):
            terms.append(mass * max(true * before + false * after - w * (false * before + true * after), 0.0))
    return math.fsum(terms)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("channel", "users"),
    [
        (krr(2, math.e), 8),
        (krr(2, math.exp(4)), 8),
        (krr(3, math.e), 6),
        (krr(4, math.exp(2)), 5),
        (subset_selection(4, 2, math.e), 3),
        (optimized_unary(3, math.e), 3),
        (overlapping(3.0, 2.0), 6),
        (overlapping(20.0, 0.5), 6),
    ],
    ids=["2-RR", "2-RR, ε=4", "3-RR", "4-RR", "subset selection", "optimized unary", "overlap", "overlap, large ε"],
)
def test_shuffled_reports_never_reveal_more_than_the_bound(channel: Channel, users: int) -> None:
    epsilon = math.log(local_ratio(channel))
    for part in (0.02, 0.2, 0.5, 0.8, 0.97):
        exact = largest_divergence(channel, users, math.exp(part * epsilon))
        for bound in CloneBound:
            assert exact <= shuffled_delta(epsilon, part * epsilon, users=users, bound=bound) * (1 + 1e-9)


def test_shuffled_reports_of_random_randomizers_never_reveal_more_than_the_bound() -> None:
    generator = np.random.default_rng(7)
    closest = 0.0
    for _ in range(60):
        rows = np.exp(generator.integers(0, 2, size=(3, int(generator.integers(2, 5)))) * generator.choice([0.5, 2, 4]))
        channel = rows / rows.sum(axis=1, keepdims=True)
        epsilon = math.log(local_ratio(channel))
        if epsilon < 1e-6:
            continue
        users, central = int(generator.integers(1, 5)), epsilon * float(generator.uniform(0.01, 0.9))
        exact, bound = (
            largest_divergence(channel, users, math.exp(central)),
            shuffled_delta(epsilon, central, users=users),
        )
        assert exact <= bound * (1 + 1e-9)
        closest = max(closest, exact / bound)
    assert closest > 0.99, "some randomizers reach the bound, so it can be no smaller"


def test_the_clones_of_a_single_report_are_exact() -> None:
    epsilon, central = 2.0, 0.5
    exact = (math.exp(epsilon) - math.exp(central)) / (math.exp(epsilon) + 1)
    assert shuffled_delta(epsilon, central, users=1) == pytest.approx(exact, rel=1e-5)


@pytest.mark.slow
@each_of("bound", CloneBound)
@each_of("users", [1, 2, 3, 10, 57, 200])
@each_of(
    ("epsilon", "central"),
    [(0.01, 0.001), (0.5, 0.1), (1, 0.3), (1, 0.9), (4, 0.5), (4, 3), (8, 2), (30, 29), (60, 58)],
)
def test_delta_is_the_double_sum(epsilon: float, central: float, users: int, bound: CloneBound) -> None:
    exact = naive_delta(epsilon, central, users, bound)
    computed = shuffled_delta(epsilon, central, users=users, bound=bound)
    assert exact * (1 - 1e-11) <= computed <= exact * (1 + 1e-3) + 1e-69


def test_binomial_probabilities_are_those_of_whole_numbers() -> None:
    for trials in (0, 1, 15, 16, 17, 40, 1000, 30_000):
        counts = [count for count in range(trials + 1) if trials < 50 or abs(2 * count - trials) < 600][
            :: 1 + trials // 99
        ]
        for chance in (Fraction(1, 2), Fraction(1, 8)):
            exact = [
                math.log(
                    math.comb(trials, count) * chance.numerator**count * (chance.denominator - 1) ** (trials - count)
                )
                - trials * math.log(chance.denominator)
                for count in counts
            ]
            computed = _log_binomial(np.float64(trials), np.array(counts, float), float(chance), float(1 - chance))
            assert computed == pytest.approx(exact, abs=1e-10, rel=1e-13)


@each_of("off", [0, 1000, -600_000, 1_200_000])
def test_binomial_probabilities_of_the_most_users_are_as_exact_as_the_proof_says(off: int) -> None:
    trials = MOST_USERS
    with localcontext(prec=60):
        exact = _log_factorial(trials) - _log_factorial(trials // 2 + off) - _log_factorial(trials // 2 - off)
        exact -= trials * Decimal(2).ln()
    computed = _log_binomial(np.float64(trials), np.array([trials / 2 + off]), 0.5, 0.5)
    assert float(computed[0]) == pytest.approx(float(exact), abs=1e-8)


def _log_factorial(k: int) -> Decimal:
    """Stirling's series, for k so large that two terms are exact to 40 digits."""
    x = Decimal(k)
    return x * x.ln() - x + (2 * Decimal(PI) * x).ln() / 2 + 1 / (12 * x) - 1 / (360 * x**3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "users", "standard", "stronger"),
    [(4, 100_000, "0.1698", "0.1182"), (1, 10_000, "0.0530", "0.0432")],
)
def test_published_numbers_are_hit(epsilon: int, users: int, standard: str, stronger: str) -> None:
    for bound, expected in ((CloneBound.STANDARD, standard), (CloneBound.STRONGER, stronger)):
        assert f"{float(found_epsilon(epsilon, users=users, delta='1e-6', bound=bound)):.4f}" == expected


@pytest.mark.slow
def test_the_standard_bound_lies_in_the_published_interval() -> None:
    found = found_epsilon(4, users=100_000, delta="1e-6", bound=CloneBound.STANDARD)
    assert Fraction("0.16754") <= found <= Fraction("0.17279")


@each_of(
    ("closed_form", "epsilon", "users", "expected"),
    [
        (shuffled_epsilon_closed_form_2021, 4, 100_000, "0.535"),
        (shuffled_epsilon_closed_form_2023, 4, 100_000, "0.408"),
        (shuffled_epsilon_closed_form_2021, 1, 10_000, "0.214"),
        (shuffled_epsilon_closed_form_2023, 1, 10_000, "0.180"),
    ],
)
def test_closed_forms_give_the_published_numbers(
    closed_form: Callable[..., Fraction], epsilon: int, users: int, expected: str
) -> None:
    assert f"{float(closed_form(epsilon, users=users, delta='1e-6')):.3f}" == expected


@pytest.mark.slow
@pytest.mark.parametrize(("closed_form", "bound"), list(zip(CLOSED_FORMS, CloneBound, strict=True)))
@pytest.mark.parametrize(
    ("epsilon", "users", "delta"), [("0.1", 10_000, "1e-6"), (2, 10_000, "1e-3"), (5, 10**6, "1e-9")]
)
def test_closed_forms_are_above_the_numerical_bound(
    closed_form: Callable[..., Fraction], bound: CloneBound, epsilon: object, users: int, delta: str
) -> None:
    assert shuffled_epsilon(epsilon, users=users, delta=delta, bound=bound) < closed_form(
        epsilon, users=users, delta=delta
    )


@pytest.mark.parametrize(("closed_form", "limit"), list(zip(CLOSED_FORMS, (6.0659, 6.7582), strict=True)))
def test_closed_forms_are_refused_outside_their_range(closed_form: Callable[..., Fraction], limit: float) -> None:
    assert closed_form(limit - 1e-3, users=100_000, delta="1e-6") > 0
    with pytest.raises(UsageError, match=f"holds for epsilon up to .*, here {limit:.3f}"):
        closed_form(limit + 1e-3, users=100_000, delta="1e-6")
    with pytest.raises(UsageError, match="here 0;"):
        closed_form("0.001", users=3, delta="1e-6")


@pytest.mark.slow
@pytest.mark.parametrize("bound", CloneBound)
@pytest.mark.parametrize(("epsilon", "users", "delta"), [(1, 100, 0.01), (4, 5000, "1e-8"), ("0.2", 10**7, "1e-12")])
def test_the_epsilon_found_keeps_delta_and_hardly_less_does_not(
    epsilon: object, users: int, delta: object, bound: CloneBound
) -> None:
    found = shuffled_epsilon(epsilon, users=users, delta=delta, bound=bound)
    assert shuffled_delta(epsilon, found, users=users, bound=bound) <= float(delta)
    assert shuffled_delta(epsilon, found * Fraction("0.999"), users=users, bound=bound) > float(delta)
    assert len(str(found.numerator * 10**12 // found.denominator).rstrip("0")) <= 5


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 4])
def test_a_thousand_million_users_are_as_private_as_the_normal_law_says(epsilon: int) -> None:
    users, delta = 10**9, 1e-9
    found = float(shuffled_epsilon(epsilon, users=users, delta=delta))
    odds = math.exp(epsilon)
    shift = (odds - 1) * math.sqrt(2 / ((odds + 1) * users))  # the difference of the means, in standard deviations
    below, above = (math.erfc((found / shift + part * shift / 2) / math.sqrt(2)) / 2 for part in (-1, 1))
    expected = below - math.exp(found) * above
    # One part in a thousand of epsilon is 3.6% of delta at six standard deviations.
    assert expected == pytest.approx(delta, rel=0.036)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "delta"), [("0.002", "1e-20"), ("0.7", "1e-3"), (3, "1e-6"), (8, "1e-9")])
def test_more_users_are_never_less_private(epsilon: object, delta: str) -> None:
    found = [shuffled_epsilon(epsilon, users=users, delta=delta) for users in (1, 30, 1000, 1001, 30_000, 10**8)]
    assert found == sorted(found, reverse=True)
    assert Fraction(epsilon) >= found[0] > found[-1] > 0


@pytest.mark.slow
def test_the_stronger_bound_is_the_smaller_one() -> None:
    for epsilon in ("0.01", 1, 6):
        strong, standard = (
            shuffled_epsilon(epsilon, users=10**5, delta="1e-8", bound=bound)
            for bound in (CloneBound.STRONGER, CloneBound.STANDARD)
        )
        assert strong < standard


@pytest.mark.slow
def test_beyond_the_largest_number_of_users_nothing_more_is_gained() -> None:
    most = shuffled_epsilon(1, users=MOST_USERS, delta="1e-6")
    assert shuffled_epsilon(1, users=2**62, delta="1e-6") == most
    assert most < shuffled_epsilon(1, users=10**9, delta="1e-6")


@each_of(
    ("epsilon", "users", "delta"),
    [
        (1, 1, "1e-6"),
        (4, 10, "1e-6"),
        (65, 10**9, "0.1"),
        (10**60, 5, "1e-6"),
        (1, 10, "1e-64"),
        ("1e-60", 10, "1e-62"),
    ],
)
def test_where_shuffling_does_not_help_epsilon_stays(epsilon: object, users: int, delta: str) -> None:
    assert shuffled_epsilon(epsilon, users=users, delta=delta) == Fraction(epsilon)


@pytest.mark.slow
def test_a_delta_that_allows_everything_needs_next_to_no_epsilon() -> None:
    assert 0 < shuffled_epsilon(1, users=10**6, delta=0.4) < Fraction(1, 10**11)


@pytest.mark.slow
def test_tiny_epsilons_are_never_enlarged() -> None:
    assert shuffled_epsilon("1e-9", users=10**5, delta="1e-9") == Fraction("1e-9")
    assert shuffled_epsilon("1e-4", users=10**9, delta="1e-9") < Fraction("1e-4")
    assert shuffled_delta("1e-4", "9.99e-5", users=10) < 1e-3


def test_what_lies_outside_the_window_is_never_left_out() -> None:
    assert 1e-70 <= shuffled_delta(1, 0.99, users=10**8) < 2e-70


def test_delta_is_nothing_from_the_local_epsilon_on_and_one_where_nothing_can_be_said() -> None:
    assert shuffled_delta(1, 1, users=5) == 0
    assert shuffled_delta(100, 1, users=5) == 1


@pytest.mark.slow
def test_the_guarantee_is_for_one_user_replaced_by_another() -> None:
    guarantee = shuffled_guarantee(4, users=100_000, delta="1e-6")
    assert guarantee.unit == PrivacyUnit.user(max_items=1)
    assert guarantee.relation is NeighboringRelation.SUBSTITUTE
    assert guarantee.epsilon == found_epsilon(4, users=100_000, delta="1e-6", bound=CloneBound.STRONGER)
    assert guarantee.delta == Fraction(1, 10**6)
    assert "only the shuffled reports of all 100,000 users" in str(guarantee)


def test_the_guarantee_is_the_local_one_where_shuffling_does_not_help() -> None:
    guarantee = shuffled_guarantee(4, users=10, delta="1e-6")
    assert (guarantee.epsilon, guarantee.delta) == (4, 0)
    assert "each report satisfies it by itself" in str(guarantee)


@each_of(
    ("settings", "message"),
    [
        ({"delta": 1}, "delta must be less than 1"),
        ({"delta": 0}, "delta must be a finite number greater than zero"),
        ({"delta": "many"}, "delta must be"),
        ({"users": 0}, "users must be a whole number from 1"),
        ({"users": 1e5}, "users must be a whole number"),
        ({"epsilon": -1}, "epsilon must be a finite number"),
    ],
)
@each_of("function", [shuffled_epsilon, shuffled_guarantee, *CLOSED_FORMS])
def test_impossible_numbers_are_refused(
    function: Callable[..., object], settings: dict[str, object], message: str
) -> None:
    asked = {"epsilon": 1, "users": 1000, "delta": "1e-6"} | settings
    with pytest.raises(UsageError, match=message):
        function(asked.pop("epsilon"), **asked)
