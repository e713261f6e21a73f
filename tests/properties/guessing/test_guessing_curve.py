"""The guessing curve with its band."""

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.guessing_curve import guessing_curve, guessing_success

PROFILE = Profile.from_counts(np.round(3000 / np.arange(1, 400)).astype(int))


def test_each_point_is_a_success_with_about_its_error() -> None:
    curve = guessing_curve(PROFILE, points=12, bootstraps=200, rng=np.random.default_rng(2))
    made = [guessing_success(PROFILE, guesses=int(guesses)) for guesses in curve.x]
    assert curve.value.tolist() == pytest.approx([estimate.value for estimate in made])
    assert (curve.x[0], curve.x[-1], curve.value[-1]) == (1, 399, 1)
    # The spread of 200 samples is known to 5%.
    errors = [estimate.standard_error for estimate in made]
    assert curve.standard_error[:-1].tolist() == pytest.approx(errors[:-1], rel=0.25)
    assert bool(np.all((curve.low <= curve.value) & (curve.value <= curve.high) & (curve.high <= 1)))


def test_nothing_much_and_impossible_numbers() -> None:
    nothing = guessing_curve(Profile([], []), rng=np.random.default_rng(1))
    assert list(nothing.rows()) == [(1, 0, 0, 1, "observed")]
    assert "too high" in guessing_curve(Profile([1, 5], [5, 1]), rng=np.random.default_rng(1)).warnings[0]
    with pytest.raises(UsageError, match="points"):
        guessing_curve(PROFILE, points=1)
    with pytest.raises(UsageError, match="Profile"):
        guessing_curve([3, 1])  # type: ignore[arg-type]  # refusing it is tested
