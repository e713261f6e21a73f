"""The one door to all entropies: names, defaults, units, warnings, refusals."""

import math

import pytest

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.entropy import ENTROPY_METHODS, Polynomial, entropy
from anonhist.properties.estimate import Holds
from anonhist_testing.cases import each_of

PROFILE = Profile.from_prevalences({1: 40, 2: 20, 5: 9, 30: 2})


@each_of("method", ENTROPY_METHODS)
def test_every_method_goes_by_its_name(method: str) -> None:
    estimate = entropy(PROFILE, method=method, alphabet_size=100)
    assert estimate.method == method
    assert estimate.assumes
    assert estimate.unit == "nats"
    assert 3 < estimate.value < math.log(100)
    assert 0 < estimate.standard_error < 0.5
    assert 0 < estimate.interval[0] < estimate.value < estimate.interval[1] <= math.log(100)


@each_of("method", ENTROPY_METHODS)
def test_units_scale_everything(method: str) -> None:
    nats, bits = (entropy(PROFILE, method=method, base=base) for base in (math.e, 2))
    assert bits.unit == "bits"
    in_bits = [each / math.log(2) for each in (nats.value, nats.standard_error, *nats.interval)]
    assert [bits.value, bits.standard_error, *bits.interval] == pytest.approx(in_bits)


def test_the_default_depends_on_whether_the_alphabet_is_known() -> None:
    assert entropy(PROFILE) == entropy(PROFILE, method="grassberger")
    assert entropy(PROFILE, alphabet_size=100) == entropy(PROFILE, method="polynomial", alphabet_size=100)


@each_of("method", ENTROPY_METHODS)
def test_an_empty_profile_says_nothing(method: str) -> None:
    estimate = entropy(Profile([], []), method=method, alphabet_size=8)
    assert (estimate.value, estimate.standard_error) == (0.0, 0.0)
    assert estimate.interval == (0.0, math.log(8))
    assert estimate.statement.holds is Holds.NONE


@pytest.mark.slow
def test_the_polynomial_warns_where_its_alphabet_is_a_guess_or_too_large() -> None:
    (guess,) = entropy(PROFILE, method="polynomial").warnings
    assert "all labels have been seen" in guess
    (large,) = entropy(PROFILE, method="polynomial", alphabet_size=1000).warnings
    assert "bias, up to 4% of ln k" in large
    # k·M/n·E_11, in units of ln k.
    share = 1000 * 3.5 / PROFILE.n * 0.00186983
    assert Polynomial(1000).bias(PROFILE.n) / math.log(1000) == pytest.approx(share, rel=6e-6)
    (hopeless,) = entropy(PROFILE, method="polynomial", alphabet_size=10**9).warnings
    assert "up to 100% of ln k" in hopeless
    well = Profile.from_counts([100] * 71)
    assert entropy(well, method="polynomial", alphabet_size=71).warnings == ()
    assert entropy(Profile([9], [1]), method="polynomial", alphabet_size=1).warnings == ()


@pytest.mark.parametrize("method", ["jackknife", "grassberger"])
def test_others_warn_where_much_was_seen_once(method: str) -> None:
    (warning,) = entropy(PROFILE, method=method).warnings
    assert "too low" in warning
    assert entropy(Profile.from_counts([100] * 71), method=method).warnings == ()


def test_chao_and_shen_warn_of_singletons_alone() -> None:
    (warning,) = entropy(Profile([1], [9]), method="chao-shen").warnings
    assert "seen only once" in warning
    assert entropy(Profile([1], [1]), method="chao-shen").warnings == ()
    assert entropy(PROFILE, method="chao-shen").warnings == ()


def test_refuses_methods_that_are_not_there() -> None:
    with pytest.raises(UsageError, match="choose one of plug-in, miller-madow, jackknife, grassberger, chao-shen"):
        entropy(PROFILE, method="magic")


@each_of(
    ("name", "value"),
    [
        ("alphabet_size", 0),
        ("alphabet_size", 1.5),
        ("degree", -1),
        ("degree", 101),
        ("threshold", -1),
        ("threshold", 10**6),
        ("interval", 0),
        ("interval", math.nan),
        ("interval", math.inf),
        ("interval", "3"),
        ("interval", True),
    ],
)
def test_polynomial_refuses_impossible_numbers(name: str, value: object) -> None:
    with pytest.raises(UsageError, match=name):
        Polynomial(**{"alphabet_size": 100, name: value}).statistic(10)  # type: ignore[arg-type]  # on purpose
