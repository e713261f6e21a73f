"""Published examples of iNEXT, SpadeR and vegan: numbers, to all digits that they print."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from anonhist.profiles import Profile
from anonhist.species.comparison import compare_sites
from anonhist.species.hill import ORDERS, asymptotic, at_size, observed
from anonhist.species.incidence import IncidenceFrequencies
from anonhist.species.reading import read_species
from anonhist.species.richness import log_normal_ends, species_richness
from anonhist.species.sample import ReferenceSample

ROOT = Path(__file__).parents[2]
# Sackett and others 2011, in iNEXT: the number of spider species with each count.
SPIDERS = {
    "girdled": {1: 12, 2: 4, 4: 1, 6: 2, 8: 1, 9: 1, 15: 2, 17: 1, 22: 1, 46: 1},
    "logged": {1: 14, 2: 4, 3: 4, 4: 3, 5: 1, 7: 3, 8: 2, 10: 1, 13: 1, 15: 1, 16: 1, 22: 1, 88: 1},
}
# Printed by iNEXT 3: observed and estimated species, Shannon and Simpson diversity.
SPIDER_NUMBERS = {
    "girdled": ((26, 12.059650, 7.840000), (43.892857, 13.826253, 8.174825)),
    "logged": ((37, 14.421002, 6.761499), (61.402778, 16.337069, 6.920350)),
}
ANT_NUMBERS = {
    "1500 m": ((56, 26.656913, 18.770568), (77.019375, 27.516175, 18.981237)),
    "2000 m": ((14, 7.903231, 5.883281), (14.248750, 8.103454, 5.983769)),
}
# estimateD at a coverage of 0.985: size, and the numbers of order 0, 1 and 2.
ANTS_AT_EQUAL_COVERAGE = {
    "1500 m": (125.9590, 50.478877, 26.248998, 18.648902),
    "2000 m": (104.6306, 12.909623, 7.710717, 5.794580),
}
# Size, number of order 0, coverage.
ANT_CURVES = {
    "1500 m": (
        (1, 5.850000, 0.3081991),
        (100, 47.982643, 0.9819701),
        (200, 56, 0.9889231),
        (295, 61.343524, 0.9917391),
        (400, 65.684073, 0.9940265),
    ),
    "2000 m": (
        (1, 1.355000, 0.2264459),
        (100, 12.811923, 0.9840431),
        (200, 14, 0.9963827),
        (295, 14.211194, 0.9994539),
        (400, 14.244103, 0.9999324),
    ),
}


def ants() -> dict[str, ReferenceSample]:
    sites = read_species(ROOT / "data" / "ants.csv", data="incidence-freq", layout="species-in-rows")
    return {name: ReferenceSample.of(site) for name, site in sites.items()}


def spiders(site: str) -> ReferenceSample:
    return ReferenceSample.of(Profile.from_prevalences(SPIDERS[site]))


def test_spiders_are_those_that_were_published() -> None:
    assert {site: (spiders(site).size, spiders(site).num_species) for site in SPIDERS} == {
        "girdled": (168, 26),
        "logged": (252, 37),
    }


def test_numbers_of_spiders_and_ants_are_those_of_inext() -> None:
    samples = {**{site: spiders(site) for site in SPIDERS}, **ants()}
    for site, (found, limits) in {**SPIDER_NUMBERS, **ANT_NUMBERS}.items():
        assert [observed(samples[site], order) for order in ORDERS] == pytest.approx(found, abs=6e-7)
        # iNEXT prints the Simpson diversity of incidences with an error of 2·10⁻⁶.
        assert [asymptotic(samples[site], order) for order in ORDERS] == pytest.approx(limits, abs=2e-6)


def test_coverages_of_spiders_are_those_of_inext() -> None:
    assert [round(spiders(site).coverage(spiders(site).size), 4) for site in SPIDERS] == [0.9289, 0.9446]
    assert spiders("girdled").coverage(300) == pytest.approx(0.9579518, abs=6e-8)


def test_extrapolated_spiders_are_those_of_inext() -> None:
    found = [at_size(spiders("girdled"), order, 300) for order in ORDERS]
    assert found == pytest.approx([33.317733, 12.869603, 7.983882], abs=6e-7)


def test_ants_at_equal_coverage_are_those_of_inext() -> None:
    for site, sample in ants().items():
        size, *numbers = ANTS_AT_EQUAL_COVERAGE[site]
        assert sample.size_at(0.985) == pytest.approx(size, abs=6e-5)
        assert [at_size(sample, order, sample.size_at(0.985)) for order in ORDERS] == pytest.approx(numbers, abs=6e-7)


def test_curves_of_ants_are_those_of_inext() -> None:
    for site, sample in ants().items():
        for size, species, coverage in ANT_CURVES[site]:
            assert at_size(sample, 0, size) == pytest.approx(species, abs=6e-7)
            assert sample.coverage(size) == pytest.approx(coverage, abs=6e-8)


def frequencies(units: int, numbers: dict[int, int]) -> IncidenceFrequencies:
    return IncidenceFrequencies(units, Profile.from_prevalences(numbers))


# Printed by ChaoSpecies of SpadeR: estimate, error, and ends. Of counts above the cut-off it prints only how many there
# are: they are set at 10, and do not matter.
SPADER = (
    (frequencies(40, {1: 6, 5: 1, 7: 1, 8: 1, 9: 1}), 10, "chao2", (24.625, 13.216, 13.217, 76.490)),
    (frequencies(40, {1: 6, 5: 1, 7: 1, 8: 1, 9: 1}), 10, "chao2-bc", (24.625, 13.681, 13.092, 79.180)),
    (frequencies(16, {1: 9, 2: 4, 3: 1, 10: 1}), 4, "chao2", (24.492, 8.489, 17.113, 57.648)),
    (frequencies(16, {1: 9, 2: 4, 3: 1, 10: 1}), 4, "chao2-bc", (21.750, 6.075, 16.492, 45.544)),
    (frequencies(16, {1: 9, 2: 4, 3: 1, 10: 1}), 4, "ice", (25.340, 7.432, 17.919, 51.630)),
    (frequencies(16, {1: 9, 2: 4, 3: 1, 10: 1}), 4, "ice-1", (25.340, 7.432, 17.919, 51.630)),
    (frequencies(16, {1: 15, 2: 2, 4: 1, 10: 3}), 4, "chao2", (73.734, 46.742, 32.857, 255.543)),
    (frequencies(16, {1: 15, 2: 2, 4: 1, 10: 3}), 4, "chao2-bc", (53.812, 24.084, 30.062, 139.806)),
    (frequencies(16, {1: 15, 2: 2, 4: 1, 10: 3}), 4, "ice", (81.926, 47.514, 36.779, 256.243)),
    (frequencies(16, {1: 15, 2: 2, 4: 1, 10: 3}), 4, "ice-1", (122.512, 97.506, 41.812, 516.135)),
    (frequencies(16, {1: 5, 2: 5, 3: 1, 4: 1, 10: 2}), 4, "chao2", (16.344, 2.799, 14.370, 28.838)),
    (frequencies(16, {1: 5, 2: 5, 3: 1, 4: 1, 10: 2}), 4, "ice", (17.010, 2.770, 14.648, 27.973)),
)


def test_numbers_of_species_are_those_of_spader() -> None:
    for data, infrequent, method, printed in SPADER:
        found = species_richness(data, method=method, infrequent=infrequent)  # type: ignore[arg-type]
        ends = log_normal_ends(ReferenceSample.of(data), found.value, found.standard_error, 0.95)
        assert (found.value, found.standard_error, *ends) == pytest.approx(printed, abs=6e-4), (data, method)
        assert found.interval == (math.floor(ends[0]), ends[1])


def test_without_pairs_ice_is_that_of_spader_and_its_error_nearly() -> None:
    # SpadeR takes derivatives of a formula for Q_2 > 0 here.
    for method, value, error in (("ice", 19.069, 8.958), ("ice-1", 27.383, 21.409)):
        found = species_richness(SPADER[0][0], method=method)  # type: ignore[arg-type]
        assert found.value == pytest.approx(value, abs=6e-4)
        assert found.standard_error == pytest.approx(error, rel=1e-3)


def test_trees_of_fifty_hectares_are_those_of_vegan() -> None:
    with (ROOT / "tests" / "species" / "bci_incidence.csv").open(encoding="utf-8") as file:
        numbers = {int(row["count"]): int(row["prevalence"]) for row in csv.DictReader(file)}
    found = species_richness(frequencies(50, numbers))
    # specpool(BCI): chao 236.3732, chao.se 6.54361.
    assert (found.value, found.standard_error) == pytest.approx((236.3732, 6.54361), abs=6e-5)


@pytest.mark.slow
def test_intervals_of_ants_are_about_those_of_inext() -> None:
    # Those of estimateD, from 50 bootstrap samples; of 50 errors, one is off by 10%, and a third is far.
    sites = read_species(ROOT / "data" / "ants.csv", data="incidence-freq", layout="species-in-rows")
    found = compare_sites(sites, coverage=0.985, points=0, bootstraps=400, rng=np.random.default_rng(7))
    printed = {
        ("1500 m", 1): (27.812092 - 24.685904) / 3.92,
        ("1500 m", 2): (19.846318 - 17.451486) / 3.92,
        ("2000 m", 0): (14.495481 - 11.323765) / 3.92,
        ("2000 m", 1): (8.560450 - 6.860985) / 3.92,
        ("2000 m", 2): (6.573851 - 5.015308) / 3.92,
    }
    errors = {(row.site, row.order): row.standard_error for row in found.of("equal coverage")}
    for where, error in printed.items():
        assert 0.65 < errors[where] / error < 1.55, where
