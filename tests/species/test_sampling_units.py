"""Private incidence frequencies: what one sampling unit changes, what is charged, and what estimates say."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonhist.accounting import Ledger
from anonhist.errors import DataError, UsageError
from anonhist.privacy import NeighboringRelation
from anonhist.profiles import Profile, sorted_l1
from anonhist.properties.estimate import Holds
from anonhist.species import releasing
from anonhist.species import sampling_units as module
from anonhist.species.incidence import IncidenceFrequencies
from anonhist.species.reading import read_sampling_units
from anonhist.species.release_page import incidence_facts, incidence_rows
from anonhist.species.releasing import release_incidence
from anonhist.species.richness import species_richness
from anonhist.species.sampling_units import SamplingUnits
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

ADD, REPLACE = NeighboringRelation
SPECIES = ("a", "b", "c")
EVERY_UNIT = [list(chosen) for size in range(len(SPECIES) + 1) for chosen in combinations(SPECIES, size)]
PLOTS = SamplingUnits([["oak", "elm"], ["oak"], ["ash", "oak", "elm"], []] * 50)


def kept_in_every_way(units: list[list[str]], most: int, patch: pytest.MonkeyPatch) -> dict[tuple[Any, ...], Profile]:
    """Return the bounded profile for every choice of what units keep, a part of the key for each unit."""
    ways = [list(combinations(range(len(unit)), min(most, len(unit)))) for unit in units]
    found = {}
    for choice in product(*ways):
        answers: Iterator[Any] = iter([each for each, unit in zip(choice, units, strict=True) if len(unit) > most])

        def answer(population: int, chosen: int, size: int, *, answers: Iterator[Any] = answers, **_: Any) -> Any:
            assert (population > most, chosen, size) == (True, most, 1)
            return np.array([next(answers)])

        patch.setattr(module, "random_subsets", answer)
        found[choice] = SamplingUnits(units).bounded(most, source=SeededSource(1))
        assert next(answers, None) is None
    return found


def prevalence_l1(one: Profile, other: Profile) -> int:
    return sum(abs(one.prevalence(count) - other.prevalence(count)) for count in range(1, 9))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_one_unit_changes_no_more_than_is_promised(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [list(table) for size in range(3) for table in product(EVERY_UNIT, repeat=size)]
    ways = {tuple(map(tuple, table)): kept_in_every_way(table, most, monkeypatch) for table in tables}
    worst: Counter[str] = Counter()
    pairs = 0
    for table, less in ways.items():
        for unit in EVERY_UNIT:
            # Whatever the others keep, they keep the same.
            more = ways.get((*table, tuple(unit))) or kept_in_every_way([*map(list, table), unit], most, monkeypatch)
            for choice, profile in more.items():
                before = less[choice[:-1]]
                pairs += 1
                worst["items"] = max(worst["items"], sorted_l1(before, profile))
                worst["prevalences"] = max(worst["prevalences"], prevalence_l1(before, profile))
                worst["detections"] = max(worst["detections"], abs(before.n - profile.n))
            for other in EVERY_UNIT:
                replaced = ways.get((*table, tuple(other)))
                if replaced is None or (*table, tuple(unit)) not in ways:
                    continue
                for (choice, one), (choice_too, two) in product(more.items(), replaced.items()):
                    if choice[:-1] == choice_too[:-1]:
                        worst["replaced items"] = max(worst["replaced items"], sorted_l1(one, two))
                        worst["replaced prevalences"] = max(worst["replaced prevalences"], prevalence_l1(one, two))
    assert pairs > 500
    assert all(profile.unit.max_items == most for each in ways.values() for profile in each.values())
    # All bounds are met, and those for added or removed units are reached.
    assert (worst["items"], worst["detections"]) == (most, most)
    assert 0 < worst["prevalences"] <= 2 * most
    assert 0 < worst["replaced items"] <= 2 * most
    assert 0 < worst["replaced prevalences"] <= 4 * most


@each_of(("relation", "share"), [(ADD, "0.1"), (ADD, "0.5"), (REPLACE, "0.1")])
def test_noise_is_that_for_the_change(relation: NeighboringRelation, share: str) -> None:
    for most in (1, 2, 7):
        found = release_incidence(
            PLOTS, epsilon=3, max_per_unit=most, relation=relation, units_share=share, source=SeededSource(5)
        )
        mechanism: Any = found.release.mechanism
        spent = found.units_epsilon or Fraction(0)
        assert spent == (3 * Fraction(share) if relation is ADD else 0)
        # Rate times distance, and the rate of T, whose distance is 1, make ε.
        assert mechanism.epsilon_per_cell * most * relation.distance + spent == 3
        assert found.guarantee.epsilon == 3
        assert (found.guarantee.relation, found.guarantee.unit.max_items) == (relation, most)
        assert (found.sampling_units == 200) or relation is ADD


@pytest.mark.slow
def test_the_number_of_units_has_its_own_noise() -> None:
    numbers = [
        release_incidence(PLOTS, epsilon=1, max_per_unit=1, simulations=0, source=SeededSource(seed)).sampling_units
        for seed in range(300)
    ]
    # Discrete Laplace noise of rate 0.1 has a standard deviation of 14.1; seeds are fixed.
    assert 12 < np.std(numbers) < 17
    assert abs(np.mean(numbers) - 200) < 4


def test_each_subset_is_kept_equally_often() -> None:
    unit = [list("abcd")]
    kept: Counter[Any] = Counter()
    for seed in range(1200):
        places = module.random_subsets(4, 2, 1, source=SeededSource(seed))[0].tolist()
        kept[tuple(places)] += 1
    assert len(kept) == 6
    assert all(abs(number - 200) < 5 * math.sqrt(200) for number in kept.values())
    assert SamplingUnits(unit).bounded(2, source=SeededSource(1)).partition().tolist() == [1, 1]
    # Different words keep different species: which of them is not a function of the data.
    two = SamplingUnits([list("abcd"), ["a"]])
    assert len({two.bounded(2, source=SeededSource(seed)).num_labels for seed in range(40)}) == 2


def test_without_noise_it_is_the_data() -> None:
    found = release_incidence(PLOTS, epsilon=20, max_per_unit=3, source=SeededSource(2))
    exact = PLOTS.frequencies()
    assert found.frequencies.sampling_units == pytest.approx(exact.sampling_units, abs=5)
    assert found.release.profile.num_labels == 3
    assert found.guarantee.spending[-1] == ("the number of sampling units", Fraction(2))
    assert "one sampling unit with all their items (at most 3 of them count)" in str(found.guarantee)


def many_plots() -> SamplingUnits:
    rng = np.random.default_rng(4)
    chances = 0.9 / np.arange(1, 121)
    return SamplingUnits([np.flatnonzero(rng.random(120) < chances).tolist() for _ in range(400)])


def test_richness_from_a_release_has_both_errors_and_says_that_units_were_bounded() -> None:
    plots = many_plots()
    found = release_incidence(plots, epsilon=8, max_per_unit=16, source=SeededSource(3))
    estimate, exact = found.species_richness(), species_richness(plots.frequencies(), method="chao2-bc")
    low, high = estimate.interval
    assert low <= exact.value <= high
    assert dict(estimate.parts)["privacy noise"] > 0
    assert estimate.standard_error > dict(estimate.parts)["sampling"]
    assert "more than 16 species" in estimate.statement.reason
    assert estimate.guarantee == found.guarantee
    assert found.species_richness() == estimate
    of_ice = found.species_richness(method="ice").statement
    assert (estimate.statement.holds, of_ice.holds) == (Holds.AT_LEAST, Holds.NONE)
    assert "take chao2" in of_ice.reason
    silent = release_incidence(plots, epsilon=8, max_per_unit=16, simulations=0, source=SeededSource(3))
    assert silent.species_richness().interval == (0, math.inf)


def test_a_ledger_is_charged_once_for_everything(tmp_path: Path) -> None:
    with Ledger(str(tmp_path / "budget.db")) as ledger:
        ledger.create("plots", "user", epsilon=2)
        found = release_incidence(PLOTS, epsilon="1.5", max_per_unit=2, ledger=ledger, dataset="plots")
        assert ledger.balance("plots").spent.epsilon == Fraction(3, 2)
        with pytest.raises(UsageError, match="left"):
            release_incidence(PLOTS, epsilon=1, max_per_unit=2, ledger=ledger, dataset="plots")
    # The number of units, and what it cost, are not in a file of the frequencies alone.
    for ending in (".json", ".parquet", ".csv"):
        for part in (found.release, found.release.with_error()):
            with pytest.raises(UsageError, match="not saved without their number"):
                part.save(tmp_path / f"plots{ending}")
    assert not list(tmp_path.glob("plots*"))
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301  # our own
    assert found.release.guarantee.epsilon == Fraction(3, 2)
    assert found.release.guarantee.spending[-1] == ("the number of sampling units", Fraction(3, 20))


def test_the_digest_in_the_ledger_is_of_the_number_of_units_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    completed: list[str] = []
    complete = Ledger.complete

    def kept(self: Ledger, receipt: Any, digest: str, *others: Any) -> None:
        completed.append(digest)
        complete(self, receipt, digest, *others)

    monkeypatch.setattr(Ledger, "complete", kept)
    with Ledger(str(tmp_path / "budget.db")) as ledger:
        ledger.create("plots", "user", epsilon=2)
        found = release_incidence(PLOTS, epsilon=1, max_per_unit=2, ledger=ledger, dataset="plots")
    assert found.receipt is not None
    # A file of the release would not have the digest that was charged, so it names no charge.
    assert found.release.receipt is None
    digests = {releasing.incidence_digest(each) for each in (found, replace(found, sampling_units=10**6))}
    assert (len(digests), completed[0] in digests) == (2, True)


def test_a_public_number_of_units_is_never_raised() -> None:
    plots = SamplingUnits([["oak"]] * 3)
    largest = []
    for seed in range(10):
        found = release_incidence(
            plots, epsilon="0.1", max_per_unit=1, relation=REPLACE, simulations=4, source=SeededSource(seed)
        )
        assert found.sampling_units == found.frequencies.sampling_units == 3
        assert found.frequencies.num_species == found.release.profile.num_labels
        largest.append(int(found.release.profile.counts[-1]) if len(found.release.profile) else 0)
        shown = [name for name, *_ in incidence_rows(found)]
        assert not any(f"at least {k} units" in name for k in (5, 10, 20, 50) for name in shown)
        assert ("Noise" in dict(incidence_facts(found))) == (largest[-1] > 3)
        if largest[-1]:
            assert found.species_richness().value >= 0
    assert max(largest) > 3
    nothing = release_incidence(SamplingUnits([]), epsilon=1, max_per_unit=1, relation=REPLACE, source=SeededSource(1))
    assert nothing.sampling_units == 1


def test_units_are_read_from_tables() -> None:
    wide = [["", "u1", "u2", "u3"], ["oak", 2, 0, 1], ["elm", 1, 0, 0]]
    expected = SamplingUnits([["oak", "elm"], [], ["oak"]])
    how: dict[str, Any] = {"data": "incidence-counts", "layout": "species-in-rows"}
    assert read_sampling_units(wide, **how) == expected
    turned = [list(column) for column in zip(*wide, strict=True)]
    assert read_sampling_units(turned, **{**how, "layout": "species-in-columns"}) == expected
    long = [["u", "s", "n"], ["u1", "oak", 2], ["u1", "elm", 1], ["u2", "oak", 0], ["u3", "oak", 1], ["u1", "oak", 1]]
    how = {"data": "incidence-counts", "layout": "long", "species": "s", "sampling_unit": "u", "count": "n"}
    assert read_sampling_units(long, **how) == expected
    with pytest.raises(UsageError, match="of sampling units"):
        read_sampling_units(wide, data="abundance", layout="species-in-rows")  # type: ignore[arg-type]


def test_what_is_impossible_is_refused_before_anything_is_drawn() -> None:
    for how in (
        {"epsilon": 0},
        {"max_per_unit": 0},
        {"units_share": 1},
        {"units_share": 0},
        {"relation": "substitute"},
        {"mechanism": "isotonic"},
        {"mechanism": "none"},
        {"dataset": "plots"},
    ):
        given: dict[str, Any] = {"epsilon": 1, "max_per_unit": 2, **how}
        with pytest.raises(UsageError):
            release_incidence(PLOTS, **given)
    with pytest.raises(UsageError, match="must be SamplingUnits"):
        release_incidence([["oak"]], epsilon=1, max_per_unit=1)  # type: ignore[arg-type]
    for units in ("oak", ["oak"], [[["oak"]]], 7, {"u1": ["oak"]}, [{"oak": 0}], [b"oak"]):
        with pytest.raises(DataError):
            SamplingUnits(units)  # type: ignore[arg-type]


def test_private_units_are_not_shown() -> None:
    assert repr(SamplingUnits([["secret"]])) == "SamplingUnits()"


def test_nothing_can_be_released() -> None:
    found = release_incidence(SamplingUnits([]), epsilon=20, max_per_unit=1, source=SeededSource(1))
    assert found.sampling_units >= 1
    assert isinstance(found.frequencies, IncidenceFrequencies)
