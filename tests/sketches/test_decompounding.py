import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.sketches.decoder import Counters, CounterSetting, Decoder, Prevalences
from anonhist.sketches.inverses import FourierDecompounding
from anonhist.sketches.likelihood import Decompounding
from anonhist.sketches.noise import NoiseDistribution
from anonhist_testing.cases import each_of
from anonhist_testing.strategies import repeatable


def _distribution(*epsilons: str) -> NoiseDistribution:
    return NoiseDistribution.of([(Fraction(epsilon), Fraction(1)) for epsilon in epsilons])


def _decode(observed: Counters, distribution: NoiseDistribution, decoder: Decoder | None = None) -> Prevalences:
    return (decoder or Decompounding()).decode(observed, CounterSetting(distribution, is_hashed=True))


def _head(found: Prevalences, size: int) -> NDArray[np.float64]:
    numbers = np.zeros(size)
    near = found.counts < size
    numbers[found.counts[near]] = found.numbers[near]
    return numbers


def _buckets(
    counts: NDArray[np.int64], buckets: int, distribution: NoiseDistribution, rng: np.random.Generator
) -> Counters:
    counters = distribution.simulate(buckets, rng=rng)
    np.add.at(counters, rng.integers(buckets, size=counts.size), counts)
    return Counters.of(counters)


def _expected_counters(
    share: NDArray[np.float64], load: float, distribution: NoiseDistribution, buckets: float
) -> Counters:
    """How many buckets have each value, on average: a Poisson sum by its definition, one label more at a time."""
    below, length = 400, 4096
    total, labels, weight = np.zeros(length), np.eye(1, length)[0], math.exp(-load)
    for number in range(1, 80):
        total += weight * labels
        labels = np.convolve(labels, share)[:length]
        weight *= load / number
    noisy = np.convolve(total, distribution.pmf(below))[:length]
    numbers = np.rint(buckets * noisy).astype(np.int64)
    values = np.arange(length) - below
    return Counters(values[numbers > 0], numbers[numbers > 0])


_COUNTS = np.arange(40)
SHAPES = {
    "one": (_COUNTS == 1) * 1.0,
    "two": np.isin(_COUNTS, (2, 9)) / 2,
    "geometric": np.where(_COUNTS > 0, 0.3 * 0.7 ** (_COUNTS - 1.0), 0),
    "power": np.where(_COUNTS > 0, 1 / np.maximum(_COUNTS, 1) ** 2.0, 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("distribution", [_distribution("1"), _distribution("3", "2")])
@pytest.mark.parametrize(
    ("shape", "load"),
    [("one", 3.0), ("one", 10.0), ("two", 0.1), ("geometric", 1.0), ("geometric", 10.0), ("power", 1.0)],
)
def test_without_chance_the_truth_is_found(shape: str, load: float, distribution: NoiseDistribution) -> None:
    share = SHAPES[shape] / SHAPES[shape].sum()
    observed = _expected_counters(share, load, distribution, 1e8)
    labels = load * observed.size
    found = _decode(observed, distribution)
    assert found.numbers.sum() == pytest.approx(labels, rel=1e-3)
    assert np.abs(_head(found, 40) / labels - share).sum() < 0.002


# At four labels a bucket the phase goes round.
@pytest.mark.parametrize("shape", SHAPES)
@each_of("load", [0.1, 1.0, 4.0])
def test_without_chance_the_transform_finds_the_truth(shape: str, load: float) -> None:
    share = SHAPES[shape] / SHAPES[shape].sum()
    for distribution in (_distribution("1"), _distribution("3", "2")):
        observed = _expected_counters(share, load, distribution, 1e10)
        labels = load * observed.size
        found = _decode(observed, distribution, FourierDecompounding())
        assert found.numbers.sum() == pytest.approx(labels, rel=1e-4)
        assert np.abs(_head(found, 40) / labels - share).sum() < 1e-4


def _reciprocal(size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Counts that are at least r with probability 1/r."""
    return np.asarray(np.floor(1 / (1 - rng.random(size))), dtype=np.int64)


@pytest.mark.slow
def test_a_million_labels_in_a_million_buckets_are_read_to_a_few_per_cent() -> None:
    rng, distribution = np.random.default_rng(0), _distribution("1")
    counts = _reciprocal(10**6, rng)
    observed = _buckets(counts, 10**6, distribution, rng)
    truth = np.bincount(counts[counts < 5], minlength=5)
    found = _decode(observed, distribution)
    # Standard errors, of 12 runs: 0.0006 of the number of labels; 0.005, 0.03, 0.05, 0.03 of the prevalences.
    assert abs(found.numbers.sum() / 10**6 - 1) < 0.004
    assert (np.abs(_head(found, 5)[1:] / truth[1:] - 1) < [0.025, 0.1, 0.15, 0.1]).all()
    # Buckets read as labels are wrong by far.
    assert observed.dense(1, 1)[0] < 0.5 * truth[1]
    # One transform finds nearly as good a number of labels.
    quick = _decode(observed, distribution, FourierDecompounding())
    assert abs(quick.numbers.sum() / 10**6 - 1) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("load", "deviation"), [(0.25, 0.025), (1.0, 0.016), (3.0, 0.016), (8.0, 0.03)])
def test_the_number_of_labels_is_right_up_to_chance(load: float, deviation: float) -> None:
    distribution, buckets, runs = _distribution("1"), 10**4, 6
    labels = int(load * buckets)
    errors = []
    for seed in range(runs):
        rng = np.random.default_rng([3, seed])
        found = _decode(_buckets(rng.geometric(0.3, labels), buckets, distribution, rng), distribution)
        errors.append(found.numbers.sum() / labels - 1)
    # The mean of 6 runs is within 5 of its standard errors, half a per cent more for what smoothing costs.
    assert abs(np.mean(errors)) < 5 * deviation / runs**0.5 + 0.005
    assert np.std(errors) < 2 * deviation
    assert np.std(errors) > deviation / 4


@pytest.mark.slow
@pytest.mark.parametrize("buckets", [1, 2, 10])
@pytest.mark.parametrize("epsilon", ["0.3", "5"])
def test_a_few_buckets_are_read_as_well_as_can_be(buckets: int, epsilon: str) -> None:
    distribution, rng = _distribution(epsilon), np.random.default_rng([buckets, 0])
    observed = _buckets(rng.geometric(0.3, 2 * buckets), buckets, distribution, rng)
    found = _decode(observed, distribution)
    assert np.isfinite(found.numbers).all()
    # No more labels than there is room for: 8 or so in a bucket have one of them left without.
    assert found.numbers.sum() < 100 * buckets
    # The counts that were found make up what the buckets hold, within six standard deviations of the noise.
    held = float(observed.values @ observed.numbers)
    assert abs(found.counts @ found.numbers - held) < 6 * (distribution.variance * buckets) ** 0.5 + 6 * buckets


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.3", "1", "3"])
def test_buckets_of_noise_alone_hold_hardly_any_labels(epsilon: str) -> None:
    distribution, buckets = _distribution(epsilon), 10**4
    for seed in range(3):
        observed = Counters.of(distribution.simulate(buckets, rng=np.random.default_rng(seed)))
        found = _decode(observed, distribution)
        # The mean of a bucket is known to its deviation over 100, and labels are at least 1.
        assert found.numbers.sum() < 6 * distribution.variance**0.5 * buckets**0.5
        assert found.counts @ found.numbers < 6 * distribution.variance**0.5 * buckets**0.5


def test_labels_that_are_alone_are_counted_where_they_are() -> None:
    rng, distribution = np.random.default_rng(12), _distribution("20")
    counts = rng.choice(np.arange(1, 250), 60, replace=False)
    found = _head(_decode(_buckets(counts, 3000, distribution, rng), distribution), 250)
    # A bucket in 50 holds another label too. A smooth distribution would give each of 249 counts a quarter of a label.
    assert np.count_nonzero(found[counts] > 0.9) > 55
    assert found.sum() - found[counts].sum() < 3


@pytest.mark.slow
def test_long_tails_are_read_too() -> None:
    rng, distribution, size = np.random.default_rng(11), _distribution("1"), 30_000
    counts = np.minimum(rng.zipf(1.5, size), 10**6)
    found = _decode(_buckets(counts, size, distribution, rng), distribution)
    # Standard errors of the number of labels at this size: about 0.01; of φ_1, 0.02.
    assert abs(found.numbers.sum() / size - 1) < 0.05
    assert abs(found.numbers[found.counts == 1][0] / np.count_nonzero(counts == 1) - 1) < 0.1
    for least in (10, 100, 1000, 10_000):
        many = np.count_nonzero(counts >= least)
        assert abs(found.numbers[found.counts >= least].sum() - many) < 5 * many**0.5
    assert found.counts[-1] > 10**5


@pytest.mark.slow
def test_buckets_beyond_the_window_hold_as_many_labels_as_their_share_says() -> None:
    distribution = _distribution("1")
    near, far = dict.fromkeys(range(-2, 3), 10_000), 2**40 + 1000 * np.arange(300)
    observed = Counters(np.concatenate((list(near), far)), np.concatenate((list(near.values()), np.full(300, 100))))
    found = _decode(observed, distribution)
    share = 30_000 / 80_000
    assert found.numbers[found.counts >= 2**40].sum() == pytest.approx(-80_000 * math.log(1 - share))
    for alone in (1, 5000):
        found = _decode(Counters(np.array([2**40]), np.array([alone])), distribution)
        assert alone <= found.numbers.sum() <= 1.001 * alone * math.log(2 * alone) + 2


@pytest.mark.slow
def test_overloaded_buckets_keep_the_number_of_items() -> None:
    distribution, buckets = _distribution("1"), 1000
    rng = np.random.default_rng(8)
    counts = rng.geometric(0.3, 40 * buckets)
    found = _decode(_buckets(counts, buckets, distribution, rng), distribution)
    assert np.isfinite(found.numbers).all()
    # Standard error: that of a bucket's value, over the root of 1000: about 0.007 of the whole.
    assert found.counts @ found.numbers == pytest.approx(counts.sum(), rel=0.04)


@each_of("decoder", [Decompounding(), FourierDecompounding()])
@each_of("counters", [[], [0], [-3, -1, -1, 0]])
def test_without_a_value_above_zero_there_are_no_labels(decoder: Decoder, counters: list[int]) -> None:
    found = _decode(Counters.of(np.array(counters, dtype=np.int64)), _distribution("1"), decoder)
    assert found.counts.size == 0


@pytest.mark.parametrize("decoder", [Decompounding(), FourierDecompounding()])
def test_noise_that_hides_all_is_refused(decoder: Decoder) -> None:
    with pytest.raises(UsageError, match="use a larger epsilon"):
        _decode(Counters.of(np.array([3])), _distribution("0.00001"), decoder)


DISTRIBUTIONS = [
    *(_distribution(epsilon) for epsilon in ("0.02", "0.3", "1", "20")),
    _distribution("1", "1", "0.5"),
    NoiseDistribution.of([(Fraction(13), Fraction(1, 10)), (Fraction(2), Fraction(1))]),
    NoiseDistribution(()),
]
HISTOGRAMS = st.builds(
    dict.__or__,
    st.dictionaries(
        st.one_of(st.integers(-3, 12), st.integers(-60, 200)),
        st.sampled_from([1, 2, 3, 1000, 10**12]),
        min_size=1,
        max_size=5,
    ),
    st.dictionaries(st.sampled_from([-(2**61), 2**20, 2**61]), st.integers(1, 3), max_size=2),
)


@pytest.mark.slow
@settings(repeatable, max_examples=8)
@given(HISTOGRAMS, st.sampled_from(DISTRIBUTIONS))
def test_any_values_give_finite_numbers(numbers: dict[int, int], distribution: NoiseDistribution) -> None:
    values = sorted(numbers)
    observed = Counters(np.array(values), np.array([numbers[value] for value in values]))
    for decoder in (Decompounding(), FourierDecompounding()):
        found = _decode(observed, distribution, decoder)
        assert np.isfinite(found.numbers).all()
        assert found.counts.size == 0 or found.counts[0] == 1
        far = [value for value in values if value >= 2**20]
        assert found.counts[found.counts >= 2**20].tolist() == far


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 4])
def test_one_of_two_peaks_is_not_taken_for_sums_of_others(seed: int) -> None:
    # With these seeds a search that only goes from smooth distributions to rough ones loses all labels that occur once.
    distribution, rng = _distribution("1"), np.random.default_rng(seed)
    counts = np.repeat([1, 7], 2500)
    found = _decode(_buckets(counts, 10_000, distribution, rng), distribution)
    # Standard error: about 150 labels.
    assert found.numbers[found.counts == 1].sum() == pytest.approx(2500, abs=600)
    assert found.numbers[found.counts == 7].sum() == pytest.approx(2500, abs=600)


@pytest.mark.slow
def test_long_tails_keep_their_items() -> None:
    distribution, rng = _distribution("1"), np.random.default_rng(5)
    counts = np.minimum(rng.zipf(1.3, 20_000), 10**7)
    found = _decode(_buckets(counts, 20_000, distribution, rng), distribution)
    assert float(found.counts @ found.numbers) == pytest.approx(float(counts.sum()), rel=2e-3)
