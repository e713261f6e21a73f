"""Private estimators at the edges: any public number gives weights and noise, and floats hide no step."""

from collections.abc import Callable
from fractions import Fraction
from itertools import cycle, product

import numpy as np
import pytest

from anonhist.mechanisms.estimators.entropy import (
    EntropyMechanism,
    PolynomialParameters,
    PowerSumMechanism,
    UniformityMechanism,
)
from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
from anonhist.mechanisms.estimators.support import SupportCoverageMechanism, SupportSizeMechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.randomness.source import SMALLEST_GAMMA
from anonhist_testing.cases import each_of
from anonhist_testing.estimators import MECHANISMS

ADD, SUBSTITUTE = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE
ITEM, FIFTY = PrivacyUnit.item(), PrivacyUnit.user(max_items=50)
PROMISES, EPSILONS = list(product((ITEM, FIFTY), (ADD, SUBSTITUTE))), ("0.01", "1", "100")
SIZES = [1, 2, 3, 999, 10**5, 10**9, 10**15, 2**52, 2**55, 2**62, 2**63 - 1]


def check(mechanism: StatisticMechanism, items: int) -> None:
    """Draw noise for so many items."""
    rates: list[Fraction] = []

    def noise(gamma: Fraction, size: int) -> np.ndarray:
        rates.append(gamma)
        # The first draw is that on the number of items, of which there is one.
        return np.full(size, items - 1 if len(rates) == 1 else 5, dtype=np.int64)

    # Replacing takes the number of items as it is; else one item and noise make as many.
    of_all = mechanism.relation is SUBSTITUTE and mechanism.unit == ITEM
    noised = mechanism.release_with(Profile([items if of_all else 1], [1], unit=mechanism.unit), noise)
    assert noised.items == items
    assert min(rates) >= SMALLEST_GAMMA
    estimate = mechanism.estimate_of(noised)
    assert np.isfinite([estimate.value, estimate.standard_error]).all()
    assert estimate.interval[0] <= estimate.value <= estimate.interval[1]


@pytest.mark.slow
@each_of("items", SIZES)
@pytest.mark.parametrize("name", MECHANISMS)
def test_any_number_of_items_gives_noise(name: str, items: int) -> None:
    # Every promise and every budget at each number of items, and the two together at some of them.
    for at, promise in enumerate(PROMISES, start=SIZES.index(items)):
        check(MECHANISMS[name](EPSILONS[at % 3], *promise), items)
    # The lowest rate of all at each: the least budget, shared among most items.
    check(MECHANISMS[name](EPSILONS[0], FIFTY, SUBSTITUTE), items)


@pytest.mark.slow
@pytest.mark.parametrize("items", SIZES)
def test_any_number_of_draws_and_labels_gives_noise(items: int) -> None:
    # Relations by turns: each with all items, and with all public numbers at every other number of items.
    relation = cycle((ADD, SUBSTITUTE) if SIZES.index(items) % 2 else (SUBSTITUTE, ADD))
    # No set, which would leave out those that are equal and thereby shift the turns.
    for draws in (1, items - 1, items, items + 1, 2 * items, 100 * items, 2**64):
        promise = (1, ITEM, next(relation))
        if 0 < draws <= 2**64:
            check(SupportCoverageMechanism(*promise, draws=draws), items)
    for labels in (1, 2, 5, 10**5, 2**62):
        turn = next(relation)
        public = PolynomialParameters.of_inspectre(labels)
        check(UniformityMechanism(1, ITEM, turn, alphabet_size=labels), items)
        check(SupportSizeMechanism("0.1", ITEM, turn, alphabet_size=labels), items)
        check(PowerSumMechanism(100, ITEM, turn, order=12, alphabet_size=labels), items)
        check(EntropyMechanism(1, ITEM, turn, alphabet_size=labels, polynomial=public), items)
    check(EntropyMechanism(1, ITEM, next(relation), alphabet_size=1000), items)
    draws = min(3 * items, 2**64)
    check(SupportCoverageMechanism(1, ITEM, next(relation), draws=draws, alphabet_size=1000), items)


@pytest.mark.slow
@each_of("items", [10**9, 2**47, 2**52, 2**55, 2**60, 2**63 - 1])
@pytest.mark.parametrize(
    "make",
    [
        lambda _: EntropyMechanism(100, method="plug-in"),
        lambda _: EntropyMechanism(100, method="jackknife"),
        lambda _: PowerSumMechanism(100, order=2),
        lambda _: PowerSumMechanism(100, order=12),
        lambda _: UniformityMechanism(100, alphabet_size=1000),
        lambda items: SupportCoverageMechanism(100, draws=items // 3),
    ],
    ids=["plug-in", "jackknife", "pairs", "dozens", "uniformity", "rarefaction"],
)
def test_floats_hide_no_step(make: Callable[[int], StatisticMechanism], items: int) -> None:
    # From 2^55 items on, neighbouring weights near n are the same float, and then jump.
    weights = make(items).weights(items)
    rng = np.random.default_rng(items % 1000)
    drawn = rng.uniform(0, 1, size=50)
    counts = {1, 4095, 4096, 4097, items // 2, items - 2, items - 1, *(int(share * (items - 1)) + 1 for share in drawn)}
    counts |= {items - int(share * 2**20) for share in drawn} | {int(items * 2.0**-k) for k in range(1, 30)}
    values = {count: weights.value(Profile([count], [1])) for count in {c + more for c in counts for more in (0, 1)}}
    steps = [values[count + 1] - values[count] for count in counts]
    assert weights.lowest <= min(steps)
    assert max(steps) <= weights.highest
