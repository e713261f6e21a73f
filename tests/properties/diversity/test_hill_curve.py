"""The curve of Hill numbers with its band."""

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties import hill_number
from anonhist.properties.orders import hill_curve

GIRDLED = Profile.from_prevalences({1: 12, 2: 4, 4: 1, 6: 2, 8: 1, 9: 1, 15: 2, 17: 1, 22: 1, 46: 1})


@pytest.mark.slow
@pytest.mark.parametrize("method", ["chao-jost", "plug-in"])
def test_each_point_is_a_hill_number(method: str) -> None:
    curve = hill_curve(GIRDLED, method=method, bootstraps=10, rng=np.random.default_rng(4))
    assert curve.x.tolist() == [tenth / 10 for tenth in range(31)]
    expected = [hill_number(GIRDLED, order=order, method=method).value for order in curve.x.tolist()]
    assert curve.value.tolist() == expected
    assert bool(np.all((curve.low < curve.value) & (curve.value < curve.high)))
    assert curve.method == method


@pytest.mark.slow
def test_errors_are_those_that_inext_prints() -> None:
    # From 50 samples there, so each is known to a tenth.
    curve = hill_curve(GIRDLED, orders=(1, 2), bootstraps=400, rng=np.random.default_rng(4))
    assert curve.standard_error.tolist() == pytest.approx([1.531, 0.905], rel=0.3)


def test_nothing_and_impossible_orders() -> None:
    nothing = hill_curve(Profile([], []), orders=(0, 2))
    assert [row[1:4] for row in nothing.rows()] == [(0, 0, np.inf)] * 2
    for orders in ((), (1, 0), (1, 1)):
        with pytest.raises(UsageError, match="orders must be ascending"):
            hill_curve(GIRDLED, orders=orders)
    with pytest.raises(UsageError, match="order must be"):
        hill_curve(GIRDLED, orders=(-1,))
