"""What a bound on users left out, released: what its noise hides, over all neighbours, and that half of it does not."""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.mechanisms import ExcessMechanism, FrobeniusMechanism, additive, excess, release, skeletons
from anonhist.mechanisms.noise import simulated_noise
from anonhist.mechanisms.releasing import AskedRelease
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import BoundedUnits, Profile
from anonhist.randomness import discrete_laplace_pmf
from anonhist.releases.excess import noise_rates
from anonhist_testing.audit import audit
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource
from anonhist_testing.statistics import assert_pmf_differs, assert_pmf_equal
from anonhist_testing.user_bound import items_of_users, kept_items

ADDED, REPLACED = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE


class Step(NamedTuple):
    """Numbers that get noise, each with the rate that the program asks for."""

    rates: tuple[Fraction, ...]
    truth: tuple[int, ...]


def step(mechanism: ExcessMechanism, users: BoundedUnits) -> Step:
    rates: list[Fraction] = []

    def silent(rate: Fraction, size: int) -> NDArray[np.int64]:
        rates.extend([rate] * size)
        return np.zeros(size, dtype=np.int64)

    found = mechanism.release_with(users, silent)
    return Step(tuple(rates), (found.noisy_within, found.noisy_above, found.noisy_items))


@lru_cache
def _log_pmf(rate: Fraction) -> NDArray[np.float64]:
    return np.log(discrete_laplace_pmf(rate, np.arange(-60, 61)))


def loss(first: Step, second: Step) -> float:
    """Largest log-ratio over all noisy numbers: of independent ones it is the sum of the largest of each."""
    assert first.rates == second.rates
    shifts = [abs(one - other) for one, other in zip(first.truth, second.truth, strict=True)]
    logs = [_log_pmf(rate) for rate in first.rates]
    return math.fsum(
        float(np.abs(log[shift:] - log[: log.size - shift]).max()) for log, shift in zip(logs, shifts, strict=True)
    )


def neighbours(relation: NeighboringRelation, most: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All neighbouring pairs of up to three users with up to ``most`` items each; some may have none that count."""
    for number in range(3):
        for shared in combinations_with_replacement(range(1, most + 1), number):
            if relation is ADDED:
                yield from ((shared, (*shared, own)) for own in range(1, most + 1))
            else:
                yield from (((*shared, one), (*shared, other)) for one, other in combinations(range(most + 1), 2))


def worst_loss(
    bound: int, cap: int, relation: NeighboringRelation, *, paid: NeighboringRelation | None = None
) -> float:
    """Return the largest loss of an epsilon of 1 over neighbours; noise may be paid for others."""
    mechanism = ExcessMechanism(1, bound=bound, cap=cap, relation=paid or relation)

    @cache
    def step_on(items: tuple[int, ...]) -> Step:
        return step(mechanism, BoundedUnits(bound, Profile.from_counts(items)))

    return max(loss(step_on(one), step_on(other)) for one, other in neighbours(relation, bound + cap + 2))


@pytest.mark.full
@each_of(("bound", "cap"), [(1, 1), (1, 3), (2, 1)])
@each_of("relation", [ADDED, REPLACED])
def test_largest_loss_over_all_neighbours_is_epsilon(bound: int, cap: int, relation: NeighboringRelation) -> None:
    assert worst_loss(bound, cap, relation) == pytest.approx(1, abs=1e-9)


def test_noise_for_less_than_what_neighbours_differ_in_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worst_loss(1, 2, REPLACED, paid=ADDED) == pytest.approx(2, abs=1e-9)
    with monkeypatch.context() as patch:
        patch.setattr(excess, "noise_rates", lambda *setting: [2 * rate for rate in noise_rates(*setting)])
        assert worst_loss(1, 2, ADDED) == pytest.approx(2, abs=1e-9)
    # A user who counts with all items, and noise that forgets how many count.
    with monkeypatch.context() as patch:
        patch.setattr(BoundedUnits, "excess", lambda self, cap: int(self.numbers.n) + 0 * cap)
        assert worst_loss(1, 2, ADDED) > 1.2
    with monkeypatch.context() as patch:
        patch.setattr(excess, "noise_rates", lambda one, two, cap, to: noise_rates(one, two, 1 + 0 * cap, to))
        assert worst_loss(1, 2, ADDED) == pytest.approx(0.25 + 0.75 * 2, abs=1e-9)


# What a user may have done: up to three rows of two labels, and a row without a label.
HISTORIES: list[tuple[str | None, ...]] = [
    rows for number in range(4) for rows in combinations_with_replacement("ab", number)
]
HISTORIES.append(("a", None))
KEY = "0" * 32


def whole_step(users: dict[str, tuple[str | None, ...]], *, epsilon: int, relation: NeighboringRelation) -> Step:
    """Bound one item per user by the plain rule, release profile and excess, and watch all noise of both."""
    rows = [(user, label, None) for user, labels in users.items() for label in labels]
    counts, unit = Profile.from_counts(kept_items(rows, bound=1, key=KEY).values()), PrivacyUnit.user(max_items=1)
    bounded = BoundedUnits(1, Profile.from_counts(items_of_users(rows).values()))
    profile = Profile(counts.counts, counts.prevalences, unit=unit, users=bounded)
    rates: list[Fraction] = []
    sums: list[int] = []

    def silent(rate: Fraction, size: int) -> NDArray[np.int64]:
        rates.extend([rate] * size)
        return np.zeros(size, dtype=np.int64)

    def record_truth(truth: NDArray[np.int64], _: NDArray[np.int64]) -> NDArray[np.int64]:
        sums.extend(truth.tolist())
        return truth

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skeletons, "exact_noise", lambda _: silent)
        patch.setattr(excess, "exact_noise", lambda _: silent)
        patch.setattr(additive, "add_noise", record_truth)
        options = {"mechanism": "cumulative", "public_cap": 3, "excess_share": "1/4", "excess_cap": 2}
        made = release(profile, epsilon=epsilon, relation=relation, **options)  # type: ignore[arg-type]
    assert made.guarantee.epsilon == epsilon
    assert made.excess is not None
    sums.extend((made.excess.noisy_within, made.excess.noisy_above, made.excess.noisy_items))
    return Step(tuple(rates), tuple(sums))


@pytest.mark.slow
@each_of("relation", [ADDED, REPLACED])
def test_profile_and_excess_together_lose_epsilon_at_most(relation: NeighboringRelation) -> None:
    # All tables of up to two users more, from rows on.
    losses = []
    for number in (0, 1):
        for others in combinations_with_replacement(HISTORIES, number):
            named = {f"user {place}": rows for place, rows in enumerate(others)}
            without = [] if relation is REPLACED else [whole_step(named, epsilon=1, relation=relation)]
            steps = [whole_step({**named, "new": rows}, epsilon=1, relation=relation) for rows in HISTORIES]
            pairs = combinations(steps, 2) if relation is REPLACED else ((without[0], each) for each in steps)
            losses.extend(loss(*pair) for pair in pairs)
    assert max(losses) == pytest.approx(1, abs=1e-9)


def audit_bound(epsilon: int, *, claims: int, draws: int = 800) -> float:
    """Audit on nobody and one user with items beyond the cap, from what is released alone."""
    rng, mechanism = np.random.default_rng(5), ExcessMechanism(epsilon, bound=1, cap=2)
    assert mechanism.epsilon >= claims
    hits = []
    for items in ([9], []):
        users = BoundedUnits(1, Profile.from_counts(items))
        found = [mechanism.release_with(users, simulated_noise(rng)) for _ in range(draws)]
        hits.append(sum(each.noisy_above >= 1 and each.noisy_items >= 2 for each in found))
    return audit(hits=hits[0], other_hits=hits[1], draws=draws, false_alarm_rate=1e-6).epsilon_bound


@pytest.mark.slow
def test_audit_stays_below_epsilon_and_catches_half_the_noise() -> None:
    assert 1.1 < audit_bound(2, claims=2) <= 2
    # Of a mechanism that claims 2 and has the noise of 4.
    assert audit_bound(4, claims=2) > 2.4


@pytest.mark.fresh
@pytest.mark.slow
@each_of("relation", [ADDED, REPLACED])
def test_every_number_gets_noise_of_the_stated_distribution(relation: NeighboringRelation) -> None:
    users, runs = BoundedUnits(2, Profile.from_counts([1, 2, 5, 90])), 1_000
    mechanism, source = ExcessMechanism(2, bound=2, cap=4, relation=relation), SeededSource(7)
    found = [mechanism.release(users, source=source) for _ in range(runs)]
    steps = relation.distance
    for name, truth, rate in (
        ("noisy_within", 2, Fraction(2, steps)),
        ("noisy_above", 2, Fraction(1, 2 * steps)),
        ("noisy_items", 3 + 4, Fraction(3, 8 * steps)),
    ):
        noise = np.array([getattr(each, name) for each in found]) - truth
        assert_pmf_equal(noise, lambda k, rate=rate: discrete_laplace_pmf(rate, k))
        for factor in (Fraction(1, 2), Fraction(2)):
            assert_pmf_differs(noise, lambda k, wrong=rate * factor: discrete_laplace_pmf(wrong, k))


def test_the_share_comes_out_of_epsilon() -> None:
    users = BoundedUnits(2, Profile.from_counts([1, 2, 5]))
    profile = Profile.from_counts([3, 2], unit=PrivacyUnit.user(max_items=2))
    profile = Profile(profile.counts, profile.prevalences, unit=profile.unit, users=users)
    made = release(profile, epsilon="0.4", excess_share=0.05, mechanism="frobenius")
    assert made.mechanism == FrobeniusMechanism(Fraction(38, 100), profile.unit)
    assert made.excess is not None
    assert (made.excess.epsilon, made.excess.cap, made.excess.bound) == (Fraction(2, 100), 20, 2)
    assert made.guarantee.epsilon == Fraction(4, 10)
    assert dict(made.guarantee.spending) == {
        "the profile": Fraction(38, 100),
        "users above the bound": Fraction(1, 200),
        "items above the bound": Fraction(3, 200),
    }
    for nothing in (None, "0"):
        plain = release(profile, epsilon="0.4", excess_share=nothing)
        assert plain.excess is None
        assert plain.mechanism.guarantee == plain.guarantee


@each_of(
    ("options", "says"),
    [
        ({"excess_share": 1}, "below 1"),
        ({"excess_share": -0.1}, "excess_share must be"),
        ({"excess_share": True}, "excess_share must be"),
        ({"excess_share": "x"}, "excess_share must be"),
        ({"excess_cap": 5}, "requires excess_share"),
        ({"excess_share": 0.1, "excess_cap": 0}, "excess_cap must be"),
        ({"excess_share": "1e-15"}, "too large to draw"),
        ({"excess_share": 0.1, "epsilon": None}, "give epsilon"),
        ({"excess_share": 0.1, "epsilon": None, "mechanism": FrobeniusMechanism(1)}, "by its name"),
        ({"excess_share": 0.1, "counted": False}, "count_users=True"),
        ({"excess_share": 0.1, "unit": PrivacyUnit.item()}, "applies only to releases for users"),
        ({"excess_share": 0.1, "unit": PrivacyUnit.user(max_items=1)}, "users with at least 2 items"),
        ({"excess_share": 0.1, "unit": "user"}, "unit must be a PrivacyUnit"),
    ],
)
def test_what_cannot_be_divided_is_refused_before_anything_is_spent(options: dict, says: str) -> None:  # type: ignore[type-arg]
    class Unused:
        def words(self, _: int) -> NDArray[np.uint64]:
            raise AssertionError

    users = BoundedUnits(2, Profile([4], [1])) if options.pop("counted", True) else None
    profile = Profile([1], [2], unit=PrivacyUnit.user(max_items=2), users=users)
    with pytest.raises(UsageError, match=says) as caught:
        release(profile, **{"epsilon": 1, **options}, source=Unused())
    assert "4" not in str(caught.value)
    with pytest.raises(UsageError, match="different number"):
        ExcessMechanism(1, bound=3).release(BoundedUnits(2, Profile([4], [1])))


class Untouched:
    """A source of which nobody may ask."""

    def words(self, count: int) -> NDArray[np.uint64]:
        raise AssertionError(count)


@each_of("users", [None, BoundedUnits(5, Profile.from_counts([7, 2]))])
def test_what_was_prepared_for_other_users_is_refused_before_noise_is_drawn(users: BoundedUnits | None) -> None:
    unit = PrivacyUnit.user(max_items=9)
    asked = AskedRelease(1, unit, excess_share="1/4")
    profile = Profile([2, 5], [1, 1], unit=PrivacyUnit.user(max_items=5), users=users)
    with pytest.raises(UsageError, match=r"the number of items of each user|bounded to a different number"):
        asked.prepared(unit, 9).release(profile, source=Untouched())
