"""No neighbour's secret whole number differs by more than noise is made for, however large the data are."""

from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anonhist.mechanisms.estimators.entropy import (
    PRIVATE_ENTROPY_METHODS,
    EntropyMechanism,
    PolynomialParameters,
    PowerSumMechanism,
    UniformityMechanism,
)
from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
from anonhist.mechanisms.estimators.support import (
    SampleCoverageMechanism,
    SupportCoverageMechanism,
    SupportSizeMechanism,
)
from anonhist.mechanisms.estimators.weights import WholeWeights
from anonhist.profiles import Profile
from anonhist.properties.estimator import LinearStatistic
from anonhist.properties.support_coverage import LINEAR_COVERAGE_METHODS
from anonhist_testing.cases import each_of

SIZES = [2**40, 2**44, 2**62 - 1]
USER = 5
# With the number of items, since what is drawn is the same then for small and large profiles.
MADE: dict[str, Callable[[int], StatisticMechanism]] = {
    **{
        f"entropy-{method}": lambda _, method=method: EntropyMechanism(1, method=method, alphabet_size=1000)
        for method in PRIVATE_ENTROPY_METHODS
    },
    "entropy-published": lambda _: EntropyMechanism(
        1, alphabet_size=10**6, polynomial=PolynomialParameters.of_inspectre(10**6)
    ),
    "entropy-late-jump": lambda _: EntropyMechanism(
        1, alphabet_size=1000, polynomial=PolynomialParameters(8, 50.0, 5000)
    ),
    "entropy-small-budget": lambda _: EntropyMechanism("0.0001", method="plug-in"),
    **{
        f"support-size-{method}": lambda n, method=method: SupportSizeMechanism(1, method=method, alphabet_size=n // 3)
        for method in ("chebyshev", "coverage", "observed")
    },
    **{
        f"coverage-{draws}": lambda _, draws=draws: SupportCoverageMechanism(1, draws=draws)
        for draws in (1, 2, 3, 33, 64, 65, 10**6)
    },
    "coverage-third": lambda n: SupportCoverageMechanism(1, draws=n // 3),
    "coverage-all-but-one": lambda n: SupportCoverageMechanism(1, draws=n - 1),
    **{
        f"coverage-beyond-{method}": lambda n, method=method: SupportCoverageMechanism(1, draws=2 * n, method=method)
        for method in LINEAR_COVERAGE_METHODS
    },
    "sample-coverage": lambda _: SampleCoverageMechanism(1),
    **{f"power-sum-{order}": lambda _, order=order: PowerSumMechanism(1, order=order) for order in (2, 3, 12)},
    **{f"uniformity-{k}": lambda _, k=k: UniformityMechanism(1, alphabet_size=k) for k in (1, 7, 2**20)},
}
Counts = dict[int, int]


@cache
def make_weights(name: str, items: int) -> tuple[LinearStatistic, WholeWeights]:
    mechanism = MADE[name](items)
    return mechanism.statistic(items), mechanism.weights(items)


def profile(counts: Counts) -> Profile:
    pairs = sorted((count, labels) for count, labels in counts.items() if count and labels)
    return Profile([count for count, _ in pairs], [labels for _, labels in pairs])


def move_label(counts: Counts, *, start: int, end: int) -> Counts:
    """Return the counts with one label of ``start`` items having ``end``."""
    found = Counter(counts)
    found[start] -= 1
    found[end] += 1
    return found


@st.composite
def samples(draw: st.DrawFn, items: int) -> Counts:
    """Draw so many items: as many labels of few large counts as there can be, so that what each is off by adds up."""
    counts: Counts = Counter()
    left = items
    for _ in range(draw(st.integers(1, 4))):
        exponent = draw(st.integers(0, left.bit_length() - 1))
        count = min(2**exponent + draw(st.integers(0, 2**exponent - 1)), left)
        labels = draw(st.sampled_from([left // count, max(left // (3 * count), 1), 1]))
        counts[count] += labels
        left -= labels * count
        if not left:
            return counts
    # Few labels of few items: a table of small counts has them all.
    counts[left] += 1
    return counts


SETTINGS = settings(
    max_examples=5, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.slow
@pytest.mark.parametrize("items", SIZES)
@pytest.mark.parametrize("name", MADE)
@SETTINGS
@given(data=st.data())
def test_no_neighbour_differs_by_more_than_the_sensitivity(name: str, items: int, data: st.DataObject) -> None:
    _, weights = make_weights(name, items)
    counts = data.draw(samples(items))
    before = profile(counts)
    value, centred = weights.value(before), weights.value(before) - weights.middle * before.n
    # One item replaced by another: a label loses it, and another, perhaps a new one, gets it.
    source = data.draw(st.sampled_from(sorted(count for count in counts if counts[count])))
    less = move_label(counts, start=source, end=source - 1)
    targets = sorted({0, *(count for count in less if less[count] > 0)})
    for target in targets:
        after = profile(move_label(less, start=target, end=target + 1))
        assert after.n == items
        assert abs(weights.value(after) - value) <= weights.sensitivity_to_replacing
    # One item less, one more, and a user with several more, of one label and of several.
    fewer = profile(less)
    assert abs(weights.value(fewer) - weights.middle * fewer.n - centred) <= weights.sensitivity_to_adding
    target = data.draw(st.sampled_from(targets))
    more = profile(move_label(counts, start=target, end=target + 1)) if target in counts or not target else before
    assert abs(weights.value(more) - weights.middle * more.n - centred) <= weights.sensitivity_to_adding
    for user in (move_label(counts, start=source, end=source + USER), {**counts, 1: counts.get(1, 0) + USER}):
        after = profile(user)
        assert abs(weights.value(after) - weights.middle * after.n - centred) <= USER * weights.sensitivity_to_adding


@pytest.mark.slow
@each_of("items", SIZES)
@pytest.mark.parametrize("name", MADE)
def test_the_weight_of_a_count_does_not_depend_on_the_others(name: str, items: int) -> None:
    statistic, weights = make_weights(name, items)
    rng = np.random.default_rng(7)
    drawn = np.exp2(rng.uniform(0, np.log2(items), size=61)).astype(np.int64)
    counts = np.unique(np.concatenate((drawn, [1, 2, 63, 64, 65, 4095, 4096, 4097, items // 2, items])))
    alone = np.concatenate([statistic.weights(counts[at : at + 1]) for at in range(counts.size)])
    for length in (2, 3, 8, 17, counts.size):
        for start in range(0, counts.size - length + 1, 5):
            found = statistic.weights(counts[start : start + length])
            assert found.tobytes() == alone[start : start + length].tobytes()
    assert statistic.weights(np.tile(counts, 70)).tobytes() == np.tile(alone, 70).tobytes()
    # And the whole numbers, which are what matters.
    labels = rng.integers(1, 10**6, size=counts.size)
    small = counts <= items // 2**26
    each = [weights.value(Profile([count], [1])) for count in counts[small].tolist()]
    whole = weights.value(Profile(counts[small].tolist(), labels[small].tolist()))
    assert whole == sum(weight * label for weight, label in zip(each, labels[small].tolist(), strict=True))


@pytest.mark.parametrize("items", [5, 4100, *SIZES])
@SETTINGS
@given(data=st.data())
def test_weights_of_any_quality_keep_the_promise(items: int, data: st.DataObject) -> None:
    # Whatever floating point makes of the weights, steps are bounded by what noise is made for: they are whole numbers.
    rng = np.random.default_rng(3)
    weights = WholeWeights.of(LinearStatistic(lambda counts: rng.normal(size=counts.size), head=0), items)
    counts = data.draw(samples(items))
    source = data.draw(st.sampled_from(sorted(count for count in counts if counts[count])))
    less = move_label(counts, start=source, end=source - 1)
    after = profile(move_label(less, start=0, end=1))
    assert abs(weights.value(after) - weights.value(profile(counts))) <= weights.sensitivity_to_replacing


@pytest.mark.parametrize("items", [1, 2, 2048, 2049, 10**6, 2**42, 2**43 + 1, 2**62, 2**63 - 1])
@each_of("shape", ["random", "rising", "falling"])
def test_steps_are_those_between_the_knots_and_both_ends_are_taken(shape: str, items: int) -> None:
    rng = np.random.default_rng(5)
    # Of the last two, the steepest chords are the long ones.
    drawn = {
        "random": lambda counts: rng.normal(size=counts.size),
        "rising": lambda counts: (counts / items) ** 2,
        "falling": lambda counts: -((counts / items) ** 2),
    }
    weights = WholeWeights.of(LinearStatistic(drawn[shape], head=0), items)
    assert (weights.knots[0], weights.knots[-1]) == (0, items)
    assert bool((np.diff(weights.knots) > 0).all())

    def weight(count: int) -> int:
        return weights.value(Profile([count], [1])) if count else 0

    assert [weight(int(knot)) for knot in weights.knots[-50:]] == [
        int(whole) - int(weights.at_knots[0]) for whole in weights.at_knots[-50:]
    ]
    rises, lengths = np.diff(weights.at_knots), np.diff(weights.knots)
    found: list[int] = []
    for at in (int(np.argmin(rises / lengths)), int(np.argmax(rises / lengths)), lengths.size - 1):
        start, length = int(weights.knots[at]), int(lengths[at])
        rest = int(rises[at]) % length
        # Where the whole part of the rest first goes up.
        turn = -(-length // rest) - 1 if rest else 0
        inside = sorted({0, turn, length - 1, *rng.integers(0, length, size=20).tolist()})
        found += [weight(start + more + 1) - weight(start + more) for more in inside]
    assert (min(found), max(found)) == (weights.lowest, weights.highest)


@pytest.mark.parametrize("labels", [2**32, 2**44, 2**50])
def test_one_item_does_not_move_the_weights_of_other_labels(labels: int) -> None:
    # Sums of logarithms used to be taken in another order where two counts were large: each label of the first was
    # moved by a multiple of the grid then, and of 2^32 labels together that is more than noise was made for.
    public = 2**30
    for draws in (33, 64):
        weights = SupportCoverageMechanism(1, draws=draws, known_items=public).weights(public)
        for count in range(4098, 4118):
            before, after = {count: labels, 1: 1}, {count: labels - 1, count + 1: 1, 1: 1}
            change = weights.value(profile(after)) - weights.value(profile(before))
            assert abs(change - weights.middle) <= weights.sensitivity_to_adding


@pytest.mark.slow
@pytest.mark.parametrize("items", [10**6, 2**40, 2**62])
def test_between_knots_weights_are_right_to_many_digits(items: int) -> None:
    rng = np.random.default_rng(11)
    counts = np.unique(np.exp2(rng.uniform(12.1, np.log2(items), size=150)).astype(np.int64))
    share = 2.0**-20 / 8
    # Of a curve w, chords over a share of 2^-10 are off by 2^-20·j²·|w''|/8: as these bounds say.
    for name, off in {
        "entropy-plug-in": share * counts / items,
        "entropy-jackknife": 2 * share * counts / items,
        "coverage-64": np.full(counts.size, 0.55 * share),
        "coverage-third": np.full(counts.size, 0.55 * share),
        "power-sum-12": 12 * 11 * share * (counts / items) ** 12,
        "uniformity-7": np.zeros(counts.size),
        "support-size-observed": np.zeros(counts.size),
    }.items():
        statistic, weights = make_weights(name, items)
        whole = [
            weights.grid * (weights.value(Profile([count], [1])) + int(weights.at_knots[0]))
            for count in counts.tolist()
        ]
        assert bool((np.abs(whole - statistic.weights(counts)) <= off * 1.01 + 2 * weights.grid + 1e-14).all()), name
