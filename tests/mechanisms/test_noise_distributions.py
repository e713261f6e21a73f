"""Isotonic, cumulative and prevalence mechanisms: what their noise is, and what it hides, over all neighbours."""

import math
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.catalogue import MECHANISMS
from anonhist.errors import UsageError
from anonhist.mechanisms import CumulativeMechanism, IsotonicMechanism, PrevalenceMechanism, skeletons
from anonhist.mechanisms.skeletons import AdditiveMechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.randomness import discrete_laplace_pmf
from anonhist.releases import Evidence
from anonhist_testing.audit import audit
from anonhist_testing.cases import each_of
from anonhist_testing.exact import (
    Decisions,
    OutputDistribution,
    decided_laplace,
    largest_log_ratio,
    output_distribution,
)
from anonhist_testing.partitions import Partition, larger_neighbors, partitions_up_to
from anonhist_testing.sources import SeededSource
from anonhist_testing.statistics import assert_pmf_differs, assert_pmf_equal

Draw = Callable[[Fraction, int], NDArray[np.int64]]

ITEM, TWO, LABEL = PrivacyUnit.item(), PrivacyUnit.user(max_items=2), PrivacyUnit.label(max_count=3)
ADDED, REPLACED = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE
PROMISES = [(unit, relation) for unit in (ITEM, TWO, LABEL) for relation in (ADDED, REPLACED)]


# Each with the public number that says how many numbers get noise. A mechanism more is a line more.
KINDS: dict[str, tuple[Callable[..., AdditiveMechanism], str]] = {
    "isotonic": (IsotonicMechanism, "public_labels"),
    "cumulative": (CumulativeMechanism, "public_cap"),
    "prevalence": (PrevalenceMechanism, "public_cap"),
}


def test_every_mechanism_that_adds_noise_is_tried() -> None:
    # The others draw whole releases, or have noise of several kinds, and tests of their own.
    others = {"partition", "frobenius", "privhist", "bounded-partition", "relaxed-partition"}
    assert KINDS.keys() | others == MECHANISMS.keys()


def make_mechanism(
    kind: str, epsilon: int, unit: PrivacyUnit, relation: NeighboringRelation, *, public: int = 9
) -> AdditiveMechanism:
    mechanism, number = KINDS[kind]
    is_known = kind == "prevalence" and unit is LABEL
    return mechanism(epsilon, unit, relation, **({} if is_known else {number: public}))


def without_intervals(patch: pytest.MonkeyPatch, module: ModuleType) -> None:
    """Leave out what is made of noisy numbers beside the profile: it takes most of a release's time."""
    for name in {"of_counts", "of_cumulative", "of_prevalences"} & set(vars(module)):
        patch.setattr(module, name, lambda *_, **__: None)


class Step(NamedTuple):
    """The budgeted step of a release, and what was made of it."""

    rate: Fraction
    truth: NDArray[np.int64]
    noise: NDArray[np.int64]
    published: Profile
    evidence: Evidence | None

    @property
    def noisy(self) -> tuple[int, ...]:
        return tuple((self.truth + self.noise).tolist())


def step(mechanism: AdditiveMechanism, profile: Profile, draw: Draw, *, with_intervals: bool = False) -> Step:
    """Release with noise from ``draw``, and watch at what rate it is asked for and what it is added to."""
    module = sys.modules[type(mechanism).__module__]
    rates, sums, really = [], [], module.add_noise

    def noise(gamma: Fraction, size: int) -> NDArray[np.int64]:
        rates.append(gamma)
        return draw(gamma, size)

    def record_sums(truth: NDArray[np.int64], drawn: NDArray[np.int64]) -> NDArray[np.int64]:
        sums.append((truth.copy(), drawn.copy()))
        noisy: NDArray[np.int64] = really(truth, drawn)
        return noisy

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skeletons, "exact_noise", lambda _: noise)
        patch.setattr(module, "add_noise", record_sums)
        if not with_intervals:
            without_intervals(patch, module)
        release = mechanism.release(profile)
    (rate,), ((truth, drawn),) = rates, sums
    return Step(rate, truth, drawn, release.profile, release.evidence)


def silent(_: Fraction, size: int) -> NDArray[np.int64]:
    return np.zeros(size, dtype=np.int64)


def add_unit(partition: Partition, unit: PrivacyUnit) -> set[Partition]:
    """All data sets with one unit more, whatever its items."""
    if unit.kind == "label":
        return {tuple(sorted((*partition, count), reverse=True)) for count in range(1, unit.bound + 2)}
    reached = [{partition}]
    for _ in range(unit.bound):
        reached.append({more for fewer in reached[-1] for more in larger_neighbors(fewer)})
    return set().union(*reached[1:])


def neighbours(unit: PrivacyUnit, relation: NeighboringRelation, size: int) -> list[tuple[Partition, Partition]]:
    """All neighbouring pairs that have up to ``size`` items, those of the replaced unit not counted."""
    if relation is ADDED:
        return [(fewer, more) for fewer in partitions_up_to(size) for more in add_unit(fewer, unit)]
    return [pair for shared in partitions_up_to(size) for pair in combinations(sorted(add_unit(shared, unit)), 2)]


@lru_cache
def _log_pmf(rate: Fraction) -> NDArray[np.float64]:
    return np.log(discrete_laplace_pmf(rate, np.arange(-60, 61)))


def exact_loss(first: Step, second: Step) -> float:
    """Largest log-ratio over all noisy numbers: of independent ones it is the sum of the largest of each."""
    assert first.rate == second.rate
    assert first.truth.size == second.truth.size
    logs = _log_pmf(first.rate)
    shifts = np.abs(first.truth - second.truth).tolist()
    return math.fsum(float(np.abs(logs[shift:] - logs[: logs.size - shift]).max()) for shift in shifts)


def worst_loss(mechanism: AdditiveMechanism, *, size: int) -> float:
    watched = lru_cache(maxsize=None)(lambda one: step(mechanism, Profile.from_partition(one), silent))
    pairs = neighbours(mechanism.unit, mechanism.relation, size)
    return max(exact_loss(watched(first), watched(second)) for first, second in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("unit", "relation"), PROMISES, ids=lambda part: getattr(part, "kind", part))
def test_largest_loss_over_all_neighbours_is_epsilon(
    kind: str, unit: PrivacyUnit, relation: NeighboringRelation
) -> None:
    # Exact probabilities of all noisy numbers, all pairs of up to 8 items.
    bound = unit.bound if unit.kind == "user" else 1
    worst = worst_loss(make_mechanism(kind, 1, unit, relation), size=8 - bound)
    # Two replaced labels stand in each other's place: rows differ by c − 1, not by the 2c that are paid for.
    is_overpaid = unit is LABEL and relation is REPLACED and kind != "prevalence"
    assert worst == pytest.approx((unit.bound - 1) / (2 * unit.bound) if is_overpaid else 1, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@each_of(
    ("unit", "wider", "factor"),
    [((ITEM, ADDED), (TWO, ADDED), 2), ((ITEM, ADDED), (ITEM, REPLACED), 2), ((TWO, ADDED), (TWO, REPLACED), 2)],
)
def test_noise_for_less_than_what_neighbours_differ_in_is_caught(
    kind: str,
    unit: tuple[PrivacyUnit, NeighboringRelation],
    wider: tuple[PrivacyUnit, NeighboringRelation],
    factor: int,
) -> None:
    mechanism = make_mechanism(kind, 1, *unit)
    watched = lru_cache(maxsize=None)(lambda one: step(mechanism, Profile.from_partition(one), silent))
    worst = max(exact_loss(watched(first), watched(second)) for first, second in neighbours(*wider, 6))
    assert worst == pytest.approx(factor, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_rate_of_noise_is_the_same_whatever_public_number_is_given(kind: str) -> None:
    mechanism, number = KINDS[kind]
    for unit, relation in PROMISES:
        rates = set()
        for given in ({}, {number: 4}, {number: 4_096}):
            # A number that must be given, or must not be.
            with suppress(TypeError, UsageError):
                made = mechanism(1, unit, relation, **given)
                rates.add(step(made, Profile.from_partition((2, 1)), silent).rate)
        assert len(rates) == 1


def test_prevalences_with_noise_for_one_change_an_item_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    # An item takes a label from one prevalence to the next: two change, and noise for one would hide half of it.
    monkeypatch.setattr(PrevalenceMechanism, "_gamma", property(lambda self: self.epsilon_per_cell))
    assert worst_loss(make_mechanism("prevalence", 1, ITEM, ADDED), size=6) == pytest.approx(2, abs=1e-9)


def decided_distribution(mechanism: AdditiveMechanism, partition: Partition) -> OutputDistribution:
    """Distribution of all that the budgeted step lets out, by every sequence of decisions, the likeliest first."""

    def run(decisions: Decisions) -> tuple[int, ...]:
        draw = decided_laplace(decisions)
        return step(
            mechanism, Profile.from_partition(partition), lambda gamma, size: draw(gamma, size, source=None)
        ).noisy

    return output_distribution(run, unexplored=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_sequence_of_noise_decisions_loses_epsilon_at_most(kind: str) -> None:
    mechanism = make_mechanism(kind, 3, ITEM, ADDED, public=3)
    distributions = {partition: decided_distribution(mechanism, partition) for partition in partitions_up_to(3)}
    ratios = []
    for fewer in partitions_up_to(2):
        for more in larger_neighbors(fewer):
            first, second = distributions[fewer].probabilities, distributions[more].probabilities
            both = [
                OutputDistribution({noisy: distribution[noisy] for noisy in first if noisy in second}, 0.0)
                for distribution in (first, second)
            ]
            assert math.fsum(both[0].probabilities.values()) > 0.5
            ratios.append(largest_log_ratio(*both, at_least=0.0))
    # One path leads to each output, so that its probability is exact, whatever was left unexplored.
    assert max(ratios) == pytest.approx(3, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_published_follows_from_the_noisy_numbers_alone(kind: str) -> None:
    mechanism, rng = make_mechanism(kind, 1, ITEM, ADDED), np.random.default_rng(3)
    released = set()
    for first in partitions_up_to(5):
        one = step(
            mechanism, Profile.from_partition(first), lambda _, size: rng.integers(-4, 5, size), with_intervals=True
        )
        for second in partitions_up_to(4):
            truth = step(mechanism, Profile.from_partition(second), silent).truth
            shifted = one.truth + one.noise - truth
            other = step(
                mechanism,
                Profile.from_partition(second),
                lambda _, size, noise=shifted: noise[:size],
                with_intervals=True,
            )
            assert other.noisy == one.noisy
            assert other.published == one.published
            assert intervals(other) == intervals(one)
        released.add(one.published)
    assert len(released) > 5


RATES = [
    ("isotonic", ITEM, ADDED, Fraction(1)),
    ("isotonic", TWO, REPLACED, Fraction(1, 4)),
    ("isotonic", LABEL, ADDED, Fraction(1, 3)),
    ("cumulative", ITEM, ADDED, Fraction(1)),
    ("cumulative", TWO, REPLACED, Fraction(1, 4)),
    ("prevalence", ITEM, ADDED, Fraction(1, 2)),
    ("prevalence", TWO, REPLACED, Fraction(1, 8)),
    ("prevalence", LABEL, REPLACED, Fraction(1, 2)),
]


def intervals(made: Step) -> list[list[int]]:
    assert made.evidence is not None, "noisy numbers give intervals: _evidence makes them"
    bands = made.evidence.band, made.evidence.prevalences
    return [array.tolist() for band in bands if band is not None for array in (band.ends, band.lows, band.highs)]


@pytest.mark.fresh
@pytest.mark.slow
@pytest.mark.parametrize("simulated", [False, True])
@pytest.mark.parametrize(("kind", "unit", "relation", "rate"), RATES)
def test_every_number_gets_noise_of_the_stated_distribution(
    kind: str,
    unit: PrivacyUnit,
    relation: NeighboringRelation,
    rate: Fraction,
    monkeypatch: pytest.MonkeyPatch,
    *,
    simulated: bool,
) -> None:
    mechanism, profile, seen = make_mechanism(kind, 1, unit, relation), Profile.from_counts([1, 3]), []
    numbers = step(mechanism, profile, silent).noise.size
    runs = math.ceil(3600 / numbers)
    module = sys.modules[type(mechanism).__module__]
    really = module.add_noise

    def record_noise(truth: NDArray[np.int64], drawn: NDArray[np.int64]) -> NDArray[np.int64]:
        seen.append(drawn.copy())
        noisy: NDArray[np.int64] = really(truth, drawn)
        return noisy

    monkeypatch.setattr(module, "add_noise", record_noise)
    without_intervals(monkeypatch, module)
    if simulated:
        mechanism.simulate(profile, size=runs, rng=np.random.default_rng(4))
    else:
        for seed in range(runs):
            mechanism.release(profile, source=SeededSource(seed))
    noise = np.concatenate(seen)
    assert noise.size == runs * numbers >= 3600
    assert_pmf_equal(noise, lambda k: discrete_laplace_pmf(rate, k))
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        assert_pmf_differs(noise, lambda k, factor=factor: discrete_laplace_pmf(rate * factor, k))


def audit_bound(
    mechanism: AdditiveMechanism, happens: Callable[[Profile], bool], pair: tuple[Profile, Profile], *, draws: int
) -> float:
    rng = np.random.default_rng(5)
    hits = [sum(map(happens, mechanism.simulate(one, size=draws, rng=rng))) for one in pair]
    return audit(hits=hits[0], other_hits=hits[1], draws=draws, false_alarm_rate=1e-6).epsilon_bound


def _is_empty(run: Profile) -> bool:
    return not run.n


def _has_ones_alone(run: Profile) -> bool:
    return run.prevalence(1) > 0 and not run.k_plus(2)


NOTHING, ONE, PAIR = Profile([], []), Profile([1], [1]), Profile([2], [1])
# The outputs on which each loses all of its budget, and how many draws show that: at 2 the likelier one of the pair
# leads to them so often that they are a fifth of what a budget of 1 would take.
AUDITS = [
    ("isotonic", 1, _is_empty, (NOTHING, ONE), 2_000),
    ("cumulative", 1, _is_empty, (NOTHING, ONE), 2_000),
    ("prevalence", 2, _has_ones_alone, (ONE, PAIR), 4_500),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "public", "happens", "pair", "draws"), AUDITS, ids=[kind for kind, *_ in AUDITS])
def test_audit_stays_below_epsilon_and_catches_half_the_noise(
    kind: str, public: int, happens: Callable[[Profile], bool], pair: tuple[Profile, Profile], draws: int
) -> None:
    mechanism = make_mechanism(kind, 2, ITEM, ADDED, public=public)
    assert 1.4 < audit_bound(mechanism, happens, pair, draws=draws) <= 2
    claims_half = replace(mechanism, epsilon=Fraction(4))
    assert audit_bound(claims_half, happens, pair, draws=draws) > 2.8
