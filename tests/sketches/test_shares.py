"""Shares of noise: what they are drawn from, and what can be one."""

from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.privacy import PrivacyUnit
from anonhist.randomness import discrete_laplace_pmf, negative_binomial, negative_binomial_pmf
from anonhist.sketches import DomainSketch, HashedSketch, NoiseShare
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource
from anonhist_testing.statistics import assert_pmf_differs, assert_pmf_equal


def test_a_share_is_the_difference_of_two_negative_binomial_numbers() -> None:
    drawn = NoiseShare(honest=3, session="s").draw(Fraction(1, 2), 1000, source=SeededSource(1))
    source = SeededSource(1)
    plus, minus = (negative_binomial(Fraction(1, 2), 3, 1000, source=source) for _ in range(2))
    assert drawn.tolist() == (plus - minus).tolist()


@pytest.mark.fresh
def test_the_counters_of_a_sum_have_the_noise_of_one_sketch_and_those_of_a_party_less() -> None:
    """Each assertion fails by chance with probability at most 10^−9; the seeds are fixed."""
    share = NoiseShare(honest=4, session="week 47")
    parties = [
        HashedSketch(buckets=20_000, epsilon=2, key=b"k", noise_share=share, source=SeededSource(seed))
        for seed in range(4)
    ]
    one = negative_binomial_pmf(Fraction(2), 4, np.arange(60))
    distribution = dict(zip(range(-59, 60), np.convolve(one, one[::-1]).tolist(), strict=True))
    whole = {value: float(discrete_laplace_pmf(Fraction(2), value)) for value in range(-59, 60)}
    assert_pmf_equal(parties[0].counters, distribution)
    assert_pmf_differs(parties[0].counters, whole)
    total = sum(parties[1:], start=parties[0])
    assert_pmf_equal(total.counters, whole)
    assert total.noise_distribution.parts == ((Fraction(2), Fraction(1)),)


def test_a_sketch_remembers_its_share() -> None:
    share = NoiseShare(honest=3, session="week 47")
    sketch = DomainSketch(
        alphabet=["a"], epsilon=1, unit=PrivacyUnit.user(max_items=4), noise_share=share, source=SeededSource(1)
    )
    (part,) = sketch.noise
    assert (part.gamma, part.shape, part.session) == (Fraction(1, 4), Fraction(1, 3), "week 47")


@each_of("honest", [0, 1, -3, 2.5, "2", True, 2**31 + 1])
def test_the_number_of_honest_parties_is_a_whole_number_from_two_on(honest: object) -> None:
    with pytest.raises(UsageError, match="honest must be a whole number from 2"):
        NoiseShare(honest=honest, session="s")  # type: ignore[arg-type]


@each_of("session", ["", "a\nb", "x" * 201, 7, None])
def test_a_session_is_a_line_of_text(session: object) -> None:
    with pytest.raises(UsageError, match="session must be plain text on one line"):
        NoiseShare(honest=2, session=session)  # type: ignore[arg-type]
