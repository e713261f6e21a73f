"""The promise of sketches by exact enumeration: every value of the noise of tiny states, through the code as it runs.

Noise is handed to the code in place of what it would draw, all values up to a reach, and each state that comes out gets
the probability of the noise that made it, for the rate that the code asked for. States are compared where noise beyond
the reach cannot lead, or so seldom that it is below rounding; the tests say why.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.randomness import discrete_laplace_pmf, negative_binomial_pmf
from anonhist.sketches import Adversary, DomainSketch, HashedSketch, NoiseShare, Sketch
from anonhist.sketches import sketch as module

ADD, SUBSTITUTE = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE
ITEM, USER = PrivacyUnit.item(), PrivacyUnit.user(max_items=2)
Counts = tuple[int, ...]
# Log-probabilities of states.
Distribution = dict[Any, float]


class GivenNoise:
    """Stands in for the sampler: hands out what it was given, and multiplies up its probability."""

    def __init__(self, *values: int) -> None:
        self.values, self.log_probability = list(values), 0.0

    def __call__(self, gamma: Fraction, size: int, *, source: object) -> np.ndarray:
        del source
        drawn, self.values = np.array(self.values[:size], dtype=np.int64), self.values[size:]
        self.log_probability += float(np.log(discrete_laplace_pmf(gamma, drawn)).sum())
        return drawn


def distribution_of(run: Callable[[], Any], *, draws: int, reach: int) -> Distribution:
    """Run a program on all noise; different noise must lead to different states, so none of them is incomplete."""
    distribution: Distribution = {}
    for values in product(range(-reach, reach + 1), repeat=draws):
        with pytest.MonkeyPatch.context() as patch:
            noise = GivenNoise(*values)
            patch.setattr(module, "discrete_laplace", noise)
            state = run()
        assert state not in distribution
        distribution[state] = noise.log_probability
    return distribution


def largest_loss(distributions: dict[Any, Distribution], neighbours: Iterator[tuple[Any, Any]]) -> float:
    """Return the largest |ln P(state|x) − ln P(state|x')| over neighbours x, x' and states that both reach."""
    losses = []
    for one, other in neighbours:
        shared = distributions[one].keys() & distributions[other].keys()
        assert shared
        losses.extend(abs(distributions[one][state] - distributions[other][state]) for state in shared)
    return max(losses)


def assert_promised(loss: float, epsilon: Fraction) -> None:
    """Fail if more is lost than promised, or if less would have been enough."""
    assert float(epsilon) * (1 - 1e-6) <= loss <= float(epsilon) * (1 + 1e-9)


def neighbours(data: list[Counts], unit: PrivacyUnit, relation: NeighboringRelation) -> Iterator[tuple[Counts, Counts]]:
    """All pairs between which one unit's items are added, or replaced by those of another unit."""
    size = len(data[0])
    owned = [items for items in product(range(unit.bound + 1), repeat=size) if 0 < sum(items) <= unit.bound]
    before = owned if relation is SUBSTITUTE else [(0,) * size]
    steps = {tuple(np.subtract(new, old).tolist()) for old, new in product(before, owned)} - {(0,) * size}
    for one, other in product(data, repeat=2):
        if tuple(np.subtract(one, other).tolist()) in steps:
            yield one, other


def sketch_of_counts(counts: Counts, unit: PrivacyUnit, relation: NeighboringRelation, epsilon: str) -> Sketch:
    labels = ["a", "b", "c"][: len(counts)]
    sketch = DomainSketch(alphabet=labels, epsilon=epsilon, unit=unit, relation=relation)
    sketch.update([label for label, often in zip(labels, counts, strict=True) for _ in range(often)])
    return sketch


CASES = {
    "item added": (ITEM, ADD, 3, 1, 1),
    "item replaced": (ITEM, SUBSTITUTE, 2, 2, 2),
    "user added": (USER, ADD, 2, 2, 2),
    "user replaced": (USER, SUBSTITUTE, 2, 2, 4),
}


def check_one_sketch(name: str) -> None:
    """Compare the distributions of the whole state on all data with few items."""
    unit, relation, size, most, reach = CASES[name]
    data = list(product(range(most + 1), repeat=size))

    def distribution(counts: Counts) -> Distribution:
        return distribution_of(
            lambda: tuple(sketch_of_counts(counts, unit, relation, "1.5").counters.tolist()), draws=size, reach=reach
        )

    loss = largest_loss({counts: distribution(counts) for counts in data}, neighbours(data, unit, relation))
    assert_promised(loss, sketch_of_counts(data[0], unit, relation, "1.5").guarantee.epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_one_sketch_loses_exactly_epsilon(name: str) -> None:
    check_one_sketch(name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "factor"), [("item added", 2), ("user added", 2), ("item replaced", 2), ("item added", Fraction(1, 2))]
)
def test_a_wrong_scale_is_noticed(name: str, factor: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half the noise; no division by a user's items, or by the two steps of replacing; and twice the noise."""
    right = module.rate_of
    monkeypatch.setattr(module, "rate_of", lambda *arguments: right(*arguments) * factor)
    # The guarantee is read off the noise, so what is promised has to be said apart.
    monkeypatch.setattr(Sketch, "guarantee", type("Promised", (), {"epsilon": Fraction("1.5")})())
    with pytest.raises(AssertionError):
        check_one_sketch(name)


def both_views(unit: PrivacyUnit, one: Counts, other: Counts) -> Distribution:
    """Distribution of what is seen where one sketch is seen by itself and then merged with another."""

    def run() -> Any:
        first, second = sketch_of_counts(one, unit, ADD, "0.5"), sketch_of_counts(other, unit, ADD, "2")
        seen = first.counters.tolist()
        first.merge(second)
        return *seen, *first.counters.tolist()

    return distribution_of(run, draws=4, reach=1)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [ITEM, PrivacyUnit.user(max_items=1)], ids=str)
def test_two_sketches_one_of_them_seen_before_they_are_merged(unit: PrivacyUnit) -> None:
    """An item is in one of them; a user may be in both, for which epsilons add up."""
    zero = (0, 0)
    data = [(zero, zero), ((1, 0), zero), (zero, (0, 1)), ((1, 0), (0, 1)), ((1, 0), (1, 0))]
    distributions = {pair: both_views(unit, *pair) for pair in (data[:3] if unit.kind == "item" else data)}
    pairs = ((data[0], pair) for pair in distributions)
    merged = sketch_of_counts(zero, unit, ADD, "0.5") + sketch_of_counts(zero, unit, ADD, "2")
    assert_promised(largest_loss(distributions, pairs), merged.guarantee.epsilon)
    assert merged.guarantee.epsilon == (2 if unit.kind == "item" else Fraction(5, 2))


def summed_distribution(
    make: Callable[[np.ndarray], tuple[Sketch, np.ndarray]], noise: list[np.ndarray]
) -> dict[int, float]:
    """Distribution of one counter of a sum of sketches: each case of their noise is a counter of its own."""
    cases = np.meshgrid(*noise, indexing="ij")
    total, probabilities = None, np.ones(cases[0].size)
    for values in cases:
        sketch, masses = make(values.ravel())
        total = sketch if total is None else total + sketch
        probabilities *= masses
    assert total is not None
    least = int(total.counters.min())
    distribution = np.bincount(total.counters - least, weights=probabilities)
    return {least + at: mass for at, mass in enumerate(distribution.tolist())}


def one_more(distribution: dict[int, float], *, within: int) -> float:
    """Return the largest loss between a count and one more, over values in [−within, within]."""
    return max(abs(np.log(distribution[value] / distribution[value - 1])) for value in range(-within, within + 1))


@pytest.mark.parametrize("epsilons", [("1", "1"), ("1", "3")])
def test_the_sum_of_two_sketches_loses_no_more_than_promised(epsilons: tuple[str, str]) -> None:
    """Reach 30 with rates from 1 on: beyond it, to come back to ±8, noise has less than e^−50 of its probability."""
    asked, left = [], list(epsilons)

    def make(values: np.ndarray) -> tuple[Sketch, np.ndarray]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "discrete_laplace", lambda gamma, *_, **__: asked.append(gamma) or values.copy())
            sketch = HashedSketch(buckets=values.size, epsilon=left.pop(0), key=b"k")
        return sketch, discrete_laplace_pmf(asked[-1], values)

    distribution = summed_distribution(make, [np.arange(-30, 31)] * 2)
    assert sum(distribution.values()) == pytest.approx(1, abs=1e-12)
    loss = one_more(distribution, within=8)
    assert 0.8 <= loss <= float(max(asked)) * (1 + 1e-9)


def shares_distribution(share: NoiseShare, parties: int, *, reach: int) -> tuple[dict[int, float], list[Sketch]]:
    """Distribution of a counter of the sum of some parties' sketches, and a sketch of each, with real noise."""
    real = [HashedSketch(buckets=4, epsilon=1, key=b"k", noise_share=share) for _ in range(parties)]

    def make(values: np.ndarray) -> tuple[Sketch, np.ndarray]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(NoiseShare, "draw", lambda *_, **__: values.copy())
            sketch = HashedSketch(buckets=values.size, epsilon=1, key=b"k", noise_share=share)
        (part,) = sketch.noise
        one = negative_binomial_pmf(part.gamma, part.shape.denominator, np.arange(3 * reach))
        difference = np.convolve(one, one[::-1])
        return sketch, difference[values + one.size - 1]

    return summed_distribution(make, [np.arange(-reach, reach + 1)] * parties), real


def test_shares_add_up_to_the_noise_of_one_sketch() -> None:
    """Beyond the reach of 50, to come back to ±8, is e^−90 of the probability."""
    distribution, sketches = shares_distribution(
        NoiseShare(honest=2, session="s", adversary=Adversary.OUTSIDER), 2, reach=50
    )
    values = np.arange(-8, 9)
    expected = discrete_laplace_pmf(Fraction(1), values)
    assert [distribution[value] for value in values.tolist()] == pytest.approx(expected.tolist(), rel=1e-12)
    assert_promised(one_more(distribution, within=8), (sketches[0] + sketches[1]).guarantee.epsilon)


def test_a_party_learns_no_more_than_promised_where_it_may_be_the_adversary() -> None:
    """The sum of three, less the share of one, is distributed as the other two are, whichever share the one drew."""
    share = NoiseShare(honest=2, session="s")
    distribution, sketches = shares_distribution(share, 2, reach=50)
    whole = sketches[0] + sketches[1] + shares_distribution(share, 1, reach=5)[1][0]
    assert whole.guarantee.party_epsilon is None
    assert_promised(one_more(distribution, within=8), whole.guarantee.epsilon)


def test_where_it_may_not_a_party_learns_what_the_guarantee_says() -> None:
    """What is left is one share of two, and rounding up to four digits adds a thousandth at most."""
    share = NoiseShare(honest=2, session="s", adversary=Adversary.OUTSIDER)
    distribution, sketches = shares_distribution(share, 1, reach=25)
    guarantee = (sketches[0] + shares_distribution(share, 1, reach=5)[1][0]).guarantee
    assert guarantee.party_epsilon is not None
    promised = float(guarantee.party_epsilon)
    assert promised * 0.999 <= one_more(distribution, within=5) <= promised
    assert promised > 1.6 * guarantee.epsilon


def test_further_shares_only_add_noise_and_fewer_promise_nothing() -> None:
    """Beyond the reach of 25, to come back to ±5, is e^−40 of the probability."""
    distribution, sketches = shares_distribution(NoiseShare(honest=2, session="s"), 3, reach=25)
    epsilon = sum(sketches[1:], start=sketches[0]).guarantee.epsilon
    assert epsilon == 1
    assert 0.5 <= one_more(distribution, within=5) <= float(epsilon) * (1 + 1e-9)
    alone, (sketch,) = shares_distribution(NoiseShare(honest=2, session="s"), 1, reach=25)
    with pytest.raises(AssertionError):
        assert_promised(one_more(alone, within=5), Fraction(1))
    with pytest.raises(UsageError, match="holds 1 of at least 3 shares"):
        _ = sketch.guarantee


def test_a_user_at_every_party_loses_what_the_guarantee_of_the_sum_says() -> None:
    """Two parties that share noise, a user with one item at each: the counter of a label moves by two."""
    share = NoiseShare(honest=2, session="s", adversary=Adversary.OUTSIDER)
    distribution, _ = shares_distribution(share, 2, reach=50)
    user = {"unit": PrivacyUnit.user(max_items=1)}
    parties = [HashedSketch(buckets=4, epsilon=1, key=b"k", noise_share=share, **user) for _ in range(2)]
    loss = max(abs(np.log(distribution[value] / distribution[value - 2])) for value in range(-6, 9))
    assert_promised(loss, (parties[0] + parties[1]).guarantee.epsilon)
    assert_promised(loss, Fraction(2))


def test_clipping_loses_no_more() -> None:
    """All noise to ±60 into [0, 3]: what is beyond is e^−60 of what the ends hold."""
    noise = np.arange(-60, 61)

    def distribution(count: int) -> Distribution:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "discrete_laplace", lambda *_, **__: noise.copy())
            sketch = HashedSketch(buckets=noise.size, epsilon=1, key=b"k")
        sketch.add(np.repeat(np.arange(noise.size), count))
        sketch.clip(3)
        masses = np.bincount(sketch.counters, weights=discrete_laplace_pmf(sketch.noise[0].gamma, noise))
        return dict(enumerate(np.log(masses).tolist()))

    distributions: dict[Any, Distribution] = {count: distribution(count) for count in range(4)}
    assert distributions[0].keys() == set(range(4))
    assert_promised(largest_loss(distributions, ((count, count + 1) for count in range(3))), Fraction(1))


def test_two_looks_show_what_was_counted_between_them() -> None:
    """What the documentation says is not promised is not."""
    sketch = sketch_of_counts((0, 0, 0), ITEM, ADD, "0.1")
    before = sketch.counters.copy()
    sketch.update(["b", "c", "c"])
    assert (sketch.counters - before).tolist() == [0, 1, 2]
