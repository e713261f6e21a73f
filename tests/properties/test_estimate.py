"""One number with its uncertainty: how it prints, and that it stays as it is."""

from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anonhist.properties.estimate import Estimate, Holds, Statement
from anonhist.releases.evidence import NORMAL_95, whole_interval
from anonhist_testing.cases import each_of

WHOLE = st.integers(0, 2**63 - 1)
ERRORS = st.one_of(st.just(0.0), st.floats(0, 1e19))


def estimate_that(holds: Holds, reason: str) -> Estimate:
    return Estimate(3.0, 1.0, (1.0, 9.0), "x", unit="nats", statement=Statement(holds, reason))


@each_of(
    ("estimate", "printed"),
    [
        (Estimate(12.0, 2.0, (8.0, 16.0), "re-simulated"), "12 ± 2 (95% interval 8 to 16)"),
        (Estimate(14344391.0, 1234.5, (1e6, 2.5e7), ""), "14,344,391 ± 1,234 (95% interval 1,000,000 to 25,000,000)"),
        (Estimate(1701.625, 7.49, (0.0, 99999.96), ""), "1,701.62 ± 7.49 (95% interval 0 to 100,000)"),
        (Estimate(0.0, 0.25, (0.0, 0.5), ""), "0 ± 0.25 (95% interval 0 to 0.5)"),
        # No ± that would be wrong.
        (estimate_that(Holds.BOTH, "because"), "3 nats (95% interval 1 to 9)"),
        (estimate_that(Holds.AT_LEAST, "because"), "at least 1 nats (95% confidence), estimate 3: because"),
        (estimate_that(Holds.AT_MOST, "because"), "at most 9 nats (95% confidence), estimate 3: because"),
        (estimate_that(Holds.NONE, "because"), "3 nats, no interval: because"),
    ],
)
def test_prints_value_error_and_interval(estimate: Estimate, printed: str) -> None:
    assert str(estimate) == printed


@each_of("name", ["value", "standard_error", "interval", "method"])
def test_is_frozen(name: str) -> None:
    estimate = Estimate(1.0, 1.0, (0.0, 2.0), "x")
    with pytest.raises(FrozenInstanceError):
        setattr(estimate, name, 2.0)


@example(195_192_442_870_182, 474_859_472_578_957.0)
@given(WHOLE, ERRORS)
def test_intervals_hold_another_whole_number_whatever_the_error(value: int, error: float) -> None:
    low, high = (float(end) for end in whole_interval(value, error))
    middle = float(value)
    assert 0 <= low <= middle < high
    assert low < middle or middle == 0
    assert low.is_integer()
    assert high.is_integer()
    # Never narrower than the normal interval, and by less than a step wider where floats can say so.
    assert low <= max(0.0, middle - NORMAL_95 * error)
    assert high >= middle + NORMAL_95 * error
    if value < 2**50 and error < 2**50:
        # In fractions: a sum of floats this large is rounded.
        assert Fraction(high) < Fraction(middle) + max(1, Fraction(NORMAL_95 * error)) + 1


def test_intervals_of_arrays_are_those_of_their_elements() -> None:
    values, errors = np.array([0, 5, 2**62]), np.array([0.0, 1.5, 0.1])
    low, high = whole_interval(values, errors)
    for index, (value, error) in enumerate(zip(values.tolist(), errors.tolist(), strict=True)):
        assert (low[index], high[index]) == tuple(float(end) for end in whole_interval(value, error))
