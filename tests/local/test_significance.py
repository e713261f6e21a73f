"""Tails in exact arithmetic and far out; corrections by hand."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.errors import UsageError
from anonhist.local.estimate import BenjaminiHochberg, Bonferroni, Correction, Holm, p_values
from anonhist_testing.cases import each_of

CORRECTIONS: list[Correction] = [Bonferroni(), Holm(), BenjaminiHochberg()]


@each_of("users", [1, 7, 60])
@each_of("q", [Fraction(1, 1000), Fraction(1, 3), Fraction(9, 10)])
def test_tails_agree_with_exact_sums(users: int, q: Fraction) -> None:
    distribution = [math.comb(users, c) * q**c * (1 - q) ** (users - c) for c in range(users + 1)]
    exact = [float(sum(distribution[c:])) for c in range(users + 1)]
    np.testing.assert_allclose(p_values(range(users + 1), users, float(q)), exact, rtol=1e-11)


@pytest.mark.parametrize("users", [10**6, 10**9, 10**12])
def test_tails_of_many_users_agree_with_the_corrected_normal_distribution(users: int) -> None:
    q = 0.25
    error = math.sqrt(users * q * (1 - q))
    supports = np.array([int(users * q + z * error) for z in (-3.0, 0.0, 3.0, 6.0)])
    z = (supports - 0.5 - users * q) / error
    normal = NormalDist()
    # The first term of Edgeworth's series; the next is of order 1/n.
    skewness = (1 - 2 * q) / error
    expected = [normal.cdf(-x) + skewness / 6 * (x * x - 1) * normal.pdf(x) for x in z.tolist()]
    np.testing.assert_allclose(p_values(supports, users, q), expected, rtol=100 / math.sqrt(users) + 1e-6, atol=0)


def test_tails_at_the_ends() -> None:
    assert p_values([0, 5], 5, 0.5).tolist() == [1.0, 2.0**-5]
    assert p_values([0], 0, 0.5).tolist() == [1.0]
    assert p_values([10**6], 10**6, 0.1).tolist() == [0.0]
    largest = 2**63 - 1
    found = p_values([0, 2**61, largest // 2, largest], largest, 0.5)
    assert found[0] == 1.0
    assert found[1] == pytest.approx(1.0)
    assert found[2] == pytest.approx(0.5, abs=1e-6)
    assert found[3] == 0.0


@each_of(
    ("supports", "users", "q"),
    [([-1], 5, 0.5), ([6], 5, 0.5), ([1], 5, 0.0), ([1], 5, 1.0), ([1], 5, np.nan), (3, 5, 0.5)],
)
def test_impossible_supports_are_refused(supports: object, users: int, q: float) -> None:
    with pytest.raises(UsageError):
        p_values(supports, users, q)  # type: ignore[arg-type]  # refusing other shapes is tested


def test_corrections_worked_by_hand() -> None:
    values = [0.01, 0.04, 0.03, 0.005, 0.5]
    assert Bonferroni().adjust(values).tolist() == pytest.approx([0.05, 0.2, 0.15, 0.025, 1.0])
    # Sorted .005 .01 .03 .04 .5 times 5 4 3 2 1: .025 .04 .09 .08 .5; the fourth may not be below the third.
    assert Holm().adjust(values).tolist() == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.5])
    # Times 5/1 5/2 5/3 5/4 5/5: .025 .025 .05 .05 .5.
    assert BenjaminiHochberg().adjust(values).tolist() == pytest.approx([0.025, 0.05, 0.05, 0.025, 0.5])
    assert Bonferroni().reject(values, 0.03).tolist() == [False, False, False, True, False]
    assert Holm().reject(values, 0.045).tolist() == [True, False, False, True, False]
    assert BenjaminiHochberg().reject(values, 0.06).tolist() == [True, True, True, True, False]


def test_step_up_rejects_what_a_smaller_rank_would_not() -> None:
    # The textbook case: the second is above its own line 0.05·2/3, but below the line of the third.
    assert BenjaminiHochberg().reject([0.001, 0.04, 0.045], 0.05).tolist() == [True, True, True]
    assert Holm().reject([0.001, 0.04, 0.045], 0.05).tolist() == [True, False, False]


@pytest.mark.slow
@given(st.lists(st.sampled_from([0.0, 1e-300, 0.001, 0.01, 0.02, 0.5, 1.0]), min_size=1, max_size=12))
def test_corrections_are_ordered_and_treat_equals_equally(values: list[float]) -> None:
    bonferroni, holm, hochberg = (correction.adjust(values) for correction in CORRECTIONS)
    assert (hochberg <= holm + 1e-15).all()
    assert (holm <= bonferroni + 1e-15).all()
    assert (hochberg >= np.array(values) * (1 - 1e-15)).all()
    for adjusted in (bonferroni, holm, hochberg):
        assert adjusted.max() <= 1.0
        by_value = dict(zip(values, adjusted.tolist(), strict=True))
        assert adjusted.tolist() == [by_value[value] for value in values]
        ascending = adjusted[np.argsort(values)]
        assert (np.diff(ascending) >= 0).all()


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_one_test_needs_no_correction_and_none_gives_none(correction: Correction) -> None:
    assert correction.adjust([0.03]).tolist() == [0.03]
    assert correction.adjust([]).shape == (0,)
    assert correction.reject([0.05], 0.05).tolist() == [True]


@pytest.mark.slow
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_a_million_tests_find_what_is_there(correction: Correction) -> None:
    values = np.random.default_rng(7).random(1_000_000)
    values[:500] = 1e-12
    found = correction.reject(values, 0.05)
    assert found[:500].all()
    # False findings: 0.05 expected with the first two, about 26 ± 5.5 with the last (5 standard errors: 54).
    assert found[500:].sum() <= (54 if correction.name == "benjamini-hochberg" else 2)
    assert found[500:].sum() >= (1 if correction.name == "benjamini-hochberg" else 0)


@each_of("correction", CORRECTIONS)
@each_of("values", [[np.nan], [-0.1], [1.1], 0.5, [[0.5]]])
def test_what_is_no_p_value_is_refused(correction: Correction, values: object) -> None:
    with pytest.raises(UsageError, match="p-values from 0 to 1"):
        correction.adjust(values)  # type: ignore[arg-type]  # refusing other shapes is tested


@each_of("level", [0.0, 1.0, -1.0, np.nan])
def test_an_impossible_level_is_refused(level: float) -> None:
    with pytest.raises(UsageError, match="level of a test"):
        Holm().reject([0.5], level)
