"""What all published decoders promise: profiles of all counters, finite everywhere, near the truth."""

import math
from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.sketches.decoder import Counters, CounterSetting, Decoder, Prevalences
from anonhist.sketches.inverses import Isotonic, ThreeTap, WuPagh
from anonhist.sketches.noise import NoiseDistribution
from anonhist.sketches.release import DECODERS, decoder_from
from anonhist_testing.cases import each_of

PUBLISHED: list[Decoder] = [ThreeTap(), Isotonic(), WuPagh(1), WuPagh(2), WuPagh("inf")]
EPSILONS = ["0.001", "0.1", "1", "5", "20"]
ODD = {
    "one counter": [3],
    "one counter below zero": [-9],
    "all zero": [0] * 50,
    "all the same": [12] * 50,
    "all below zero": [-5, -4, -4, -1],
    "two far apart": [0, 100_000],
    "every other value": list(range(-6, 90, 2)),
}


def setting_of(epsilon: str, *, is_hashed: bool = False) -> CounterSetting:
    return CounterSetting(NoiseDistribution(((Fraction(epsilon), Fraction(1)),)), is_hashed=is_hashed)


def dense(found: Prevalences, largest: int) -> np.ndarray:
    numbers = np.zeros(largest + 1)
    numbers[found.counts] = found.numbers
    return numbers


@each_of("decoder", PUBLISHED)
@pytest.mark.parametrize("counters", ODD.values(), ids=ODD)
def test_odd_sketches_have_profiles_too(decoder: Decoder, counters: list[int]) -> None:
    observed = Counters.of(np.array(counters, dtype=np.int64))
    for epsilon in EPSILONS:
        found = decoder.decode(observed, setting_of(epsilon))
        assert np.isfinite(found.numbers).all()
        assert (found.numbers > 0).all()
        assert found.numbers.sum() == pytest.approx(len(counters), rel=1e-9)
    # So little noise is none.
    counts = np.maximum(observed.values, 0).repeat(observed.numbers)
    found = decoder.decode(Counters.of(counts), setting_of("40"))
    np.testing.assert_allclose(dense(found, 100_001), np.bincount(counts, minlength=100_002), atol=1e-9)


@pytest.mark.parametrize("decoder", PUBLISHED, ids=repr)
def test_no_counters_have_no_profile(decoder: Decoder) -> None:
    found = decoder.decode(Counters.of(np.zeros(0, dtype=np.int64)), setting_of("1"))
    assert found.counts.size == found.numbers.size == 0
    assert found.to_profile().num_labels == 0


@each_of("decoder", PUBLISHED[:2])
@each_of("epsilon", EPSILONS)
def test_values_near_the_ends_of_int64_are_read(decoder: Decoder, epsilon: str) -> None:
    values = np.repeat([-(2**62), -(2**61), 0, 2**61, 2**62], [1, 2, 40, 3, 1])
    found = decoder.decode(Counters.of(values), setting_of(epsilon))
    assert found.numbers.sum() == pytest.approx(47, rel=1e-9)
    assert found.counts[0] == 0
    if float(epsilon) >= 5:
        # What the inverse takes from each value's neighbours, rounding takes back from all.
        moved = 47 * 2 * math.exp(-float(epsilon)) / math.expm1(-float(epsilon)) ** 2
        assert found.numbers[found.counts > 2**60].sum() == pytest.approx(4, abs=moved)


@pytest.mark.parametrize("decoder", PUBLISHED, ids=repr)
def test_buckets_are_read_as_labels_but_empty_ones_are_none(decoder: Decoder) -> None:
    rng = np.random.default_rng(4)
    counters = rng.poisson(1, 1000) + setting_of("2").noise.simulate(1000, rng=rng)
    known = decoder.decode(Counters.of(counters), setting_of("2"))
    hashed = decoder.decode(Counters.of(counters), setting_of("2", is_hashed=True))
    assert known.counts[0] == 0
    np.testing.assert_array_equal(hashed.counts, known.counts[1:])
    np.testing.assert_array_equal(hashed.numbers, known.numbers[1:])


@each_of("decoder", PUBLISHED)
@each_of("epsilon", ["0.5", "1", "3"])
def test_the_truth_is_found_up_to_the_stated_error(decoder: Decoder, epsilon: str) -> None:
    size, rng = 40_000, np.random.default_rng(5)
    setting = setting_of(epsilon)
    counts = np.minimum(rng.zipf(2, size) - 1, 50)
    counters = counts + setting.noise.simulate(size, rng=rng)
    error = dense(decoder.decode(Counters.of(counters), setting), 500) - np.bincount(counts, minlength=501)
    norm = 1 / np.tanh(float(epsilon) / 2) ** 2
    # ‖f̂ − f‖₂ ≤ 2·‖A⁻¹‖·‖g − E g‖₂, and E‖g − E g‖₂² ≤ 1/d, which 5·√(1/d) is five times as large as, or more.
    assert np.linalg.norm(error / size) < 2 * norm * 5 / np.sqrt(size)
    # Reading the counters as they are errs by far more.
    naive = np.bincount(np.clip(counters, 0, 500), minlength=501) - np.bincount(counts, minlength=501)
    assert np.linalg.norm(error) < np.linalg.norm(naive) / 1.9


def test_decoders_are_made_again_from_their_parameters() -> None:
    for decoder in [*PUBLISHED, WuPagh(norm="1", beta="1/7")]:
        assert isinstance(decoder, Decoder)
        assert decoder.name in DECODERS
        assert decoder_from(decoder.name, decoder.parameters) == decoder
    assert DECODERS["wu-pagh"]() == WuPagh(norm="2", beta=Fraction(1, 100))


@each_of(
    "parameters",
    [
        {},
        {"norm": "2"},
        {"norm": "2", "beta": "1/100", "other": 1},
        {"norm": 2, "beta": "1/100"},
        {"norm": "2", "beta": "0.01"},
        {"norm": "2", "beta": True},
    ],
)
def test_other_parameters_are_refused(parameters: dict[str, str | int]) -> None:
    with pytest.raises(UsageError, match=r"not the parameters of the decoder wu-pagh|beta must be"):
        decoder_from("wu-pagh", parameters)


def test_other_names_are_refused() -> None:
    with pytest.raises(UsageError, match="no decoder 'ten-tap'; take one of"):
        decoder_from("ten-tap", {})
    with pytest.raises(UsageError, match="not the parameters of the decoder three-tap"):
        decoder_from("three-tap", {"norm": "2"})
