"""The experiments of Kairouz et al.: losses as formulas and an independent program have them, tables as surveys do."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.local.cohort_counts import Supports
from anonhist.local.randomizers.closed import KRR
from anonhist.local.randomizers.open import CohortSurvey
from anonhist.local.randomizers.unary import KRAPPOR
from anonhist.numeric.fits import project_to_simplex
from anonhist_papers.kairouz import cohorts, grid, reports
from anonhist_papers.kairouz.cohorts import CONSTRAINED, PROJECTED, CohortSetting, Table, losses
from anonhist_papers.kairouz.formulas import effective_share, expected_l1, expected_l2, printed_share_of_rappor
from anonhist_papers.kairouz.grid import ParameterGrid, Search, people_needed, rough_people
from anonhist_papers.kairouz.reports import drawn_losses
from anonhist_papers.kairouz.settings import (
    CLOSED,
    LOW_PRIVACY,
    MECHANISMS,
    OPEN,
    SYMBOLS,
    geometric,
    uniform,
    zipf,
)
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

FEW, MANY = 30_000, 1_000_000
NAMES = np.array([f"symbol {place}" for place in range(SYMBOLS)])


def test_frequencies_are_geometric_with_a_fifth_of_the_symbols_as_mean() -> None:
    p = geometric()
    assert p.sum() == pytest.approx(1)
    assert p[1:] / p[:-1] == pytest.approx(1 - 5 / 256)
    # Not cut off, the mean waiting time would be S/5: the same ratio over many more symbols.
    longer = (1 - 5 / 256) ** np.arange(10_000)
    assert longer / longer.sum() @ np.arange(1, 10_001) == pytest.approx(256 / 5)
    assert uniform().sum() == pytest.approx(zipf().sum()) == pytest.approx(1)


def deviations(mechanism: str, epsilon: float, truth: NDArray[np.float64], users: int) -> NDArray[np.float64]:
    """Return the standard deviations of the raw estimates, people drawn anew."""
    odds, size = math.exp(epsilon), truth.size
    true, false = {
        "no privacy": (1.0, 0.0),
        "k-RR": (odds / (odds + size - 1), 1 / (odds + size - 1)),
        "k-RAPPOR": (1 / (1 + odds**-0.5), 1 / (1 + odds**0.5)),
        "OUE": (0.5, 1 / (odds + 1)),
    }[mechanism]
    supported = false + (true - false) * truth
    found: NDArray[np.float64] = np.sqrt(supported * (1 - supported) / users) / (true - false)
    return found


@each_of("mechanism", ["no privacy", "k-RR", "k-RAPPOR"])
@pytest.mark.parametrize("symbols", [2, 16, 256])
@pytest.mark.parametrize("epsilon", [0.1, 1, 6])
def test_formulas_of_the_table_follow_from_the_variances(mechanism: str, symbols: int, epsilon: float) -> None:
    spread = deviations(mechanism, epsilon, uniform(symbols), 1000)
    exact = float((spread**2).sum())
    assert expected_l2(mechanism, symbols=symbols, epsilon=epsilon, users=1000) == pytest.approx(exact)
    normal = math.sqrt(2 / math.pi) * float(spread.sum())
    assert expected_l1(mechanism, symbols=symbols, epsilon=epsilon, users=1000) == pytest.approx(normal)


def test_effective_samples_are_as_printed_but_for_k_rappor() -> None:
    odds = math.exp(3)
    assert effective_share("k-RR", symbols=100, epsilon=3) == pytest.approx(((odds - 1) / (odds + 99)) ** 2)
    rest = 99 * (math.exp(1.5) - 1) ** 2
    assert effective_share("k-RAPPOR", symbols=100, epsilon=3) == pytest.approx(rest / (rest + 100**2 * math.exp(1.5)))
    assert printed_share_of_rappor(symbols=100, epsilon=3) == pytest.approx(rest / (rest + 100**2 * odds))
    # Only with e^(ε/2) is the share 1/√k at ε = ln k, as the slides say next to it.
    symbols = 10**8
    at = {"symbols": symbols, "epsilon": math.log(symbols)}
    assert effective_share("k-RAPPOR", **at) * math.sqrt(symbols) == pytest.approx(1, rel=1e-3)
    assert printed_share_of_rappor(**at) * symbols == pytest.approx(1, rel=1e-3)


@pytest.mark.slow
@each_of("mechanism", ["no privacy", "k-RR", "k-RAPPOR", "OUE"])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_raw_estimates_err_as_the_closed_form_says(mechanism: str, epsilon: float) -> None:
    survey = None if mechanism == "no privacy" else MECHANISMS[mechanism](alphabet=SYMBOLS, epsilon=epsilon)
    rng, trials, users = np.random.default_rng(5), 8, (10_000, FEW)
    found = drawn_losses(survey, geometric(), users, trials=trials, rng=rng, source=SeededSource(7))
    for number in users:
        spread = deviations(mechanism, epsilon, geometric(), number)
        errors = found[number, "as it is", "ℓ1"]
        assert len(errors) == trials
        # Each error is the absolute value of a normal number: a right program fails here once in 10^6.
        error = math.sqrt((1 - 2 / math.pi) * float((spread**2).sum()) / trials)
        assert abs(fmean(errors) - math.sqrt(2 / math.pi) * spread.sum()) < 5 * error
        squares = fmean(found[number, "as it is", "ℓ2²"])
        assert abs(squares / (spread**2).sum() - 1) < 5 * math.sqrt(2 * (spread**4).sum() / trials) / (spread**2).sum()


# ℓ1 errors that an independent program found in a run: as it is, renormalized, projected; after a million people.
CLOSED_REFERENCES: Mapping[tuple[str, float], Sequence[float]] = {
    ("k-RR", 1.0): (1.93, 0.87, 0.98),
    ("k-RR", 4.0): (0.073, 0.070, 0.070),
    ("k-RAPPOR", 4.0): (0.088, 0.083, 0.083),
    ("OUE", 4.0): (0.060, 0.058, 0.058),
}


@pytest.mark.slow
@each_of("given", list(CLOSED_REFERENCES.items()))
def test_errors_are_those_of_an_independent_program(
    given: tuple[tuple[str, float], Sequence[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # More batches than one, and the last one smaller.
    monkeypatch.setattr(reports, "_BATCH", 300_000)
    (mechanism, epsilon), expected = given
    survey = MECHANISMS[mechanism](alphabet=SYMBOLS, epsilon=epsilon)
    rng = np.random.default_rng(3)
    found = drawn_losses(survey, geometric(), [MANY], trials=2, rng=rng, source=SeededSource(7))
    for (_, _, loss), errors in found.items():
        assert len(errors) == 2
        assert loss in ("ℓ1", "ℓ2²")
    for decoder, reference in zip(reports.DECODERS, expected, strict=True):
        # One run of it against two of ours: at low signal decoded errors scatter by some 8% a run.
        assert fmean(found[MANY, decoder, "ℓ1"]) == pytest.approx(reference, rel=0.25)


# Least squares of the same program, a million people: (mechanism, ε, k, C, h) and the ℓ1 error.
OPEN_REFERENCES = (
    ("O-RR", 4, 256, 2, 1, 0.13),
    ("O-RR", 4, 256, 4, 1, 0.085),
    ("O-RR", 4, 256, 16, 1, 0.074),
    ("O-RR", 1, 64, 16, 1, 0.70),
    ("O-RAPPOR", 4, 1024, 2, 1, 0.087),
    ("O-RAPPOR", 4, 1024, 8, 1, 0.086),
    ("O-RAPPOR", 4, 1024, 2, 4, 0.18),
    ("O-RAPPOR", 1, 1024, 2, 1, 0.35),
    ("O-RAPPOR", 1, 1024, 8, 1, 0.32),
)


@pytest.mark.slow
@each_of("given", OPEN_REFERENCES)
def test_hashing_errs_as_it_did_elsewhere(given: tuple[str, float, int, int, int, float]) -> None:
    mechanism, epsilon, buckets, number, hashes, reference = given
    setting = CohortSetting(mechanism, OPEN, epsilon, buckets, number, hashes)
    found = losses(setting, geometric(), MANY, trials=6, rng=np.random.default_rng(4))[PROJECTED]
    # The reference is one run, rounded to two digits, and two cohorts differ by their collisions.
    assert fmean(found) == pytest.approx(reference, rel=0.2)


@dataclass(frozen=True)
class Fixed(CohortSetting):
    """A setting with the functions of its survey under one key."""

    def functions(self, rng: np.random.Generator) -> NDArray[np.int32]:
        return places_of(self.survey(key="k"))


def places_of(survey: CohortSurvey) -> NDArray[np.int32]:
    functions = survey.functions
    found: NDArray[np.int32] = functions.all_places(functions.codes(NAMES if survey.alphabet is None else range(256)))
    return found


def table_of(setting: CohortSetting, survey: CohortSurvey, people: NDArray[np.int64], source: SeededSource) -> Table:
    """Return the table of reports that the survey itself draws."""
    values = NAMES[people] if setting.alphabet == OPEN else people
    cells = survey.tally(survey.randomize(values, source=source)).dense(survey.cells).reshape(setting.cohorts, -1)
    sizes = cells[:, 0] if setting.mechanism == "O-RAPPOR" else cells.sum(axis=1)
    counts = cells[:, 1:] if setting.mechanism == "O-RAPPOR" else cells
    supports = Supports(places_of(survey), setting.cohorts, setting.buckets)
    matrix, (p, q) = supports.matrix(), setting.probabilities
    known = np.flatnonzero(np.diff(matrix.indptr))
    shares = ((counts / sizes[:, np.newaxis] - q) / (p - q)).ravel()[known]
    weights = np.repeat(sizes / people.size, setting.buckets)[known]
    return Table(matrix[known], shares, weights, noise=q * (1 - q) / (p - q) ** 2 / people.size)


FIXED = [
    Fixed("O-RR", OPEN, 3, buckets=64, cohorts=8),
    Fixed("O-RR", CLOSED, 3, buckets=48, cohorts=8),
    Fixed("O-RR", CLOSED, 4, buckets=300, cohorts=1),
    Fixed("O-RAPPOR", OPEN, 3, buckets=100, cohorts=4, hashes=2),
    Fixed("O-RAPPOR", CLOSED, 3, buckets=100, cohorts=4, hashes=2),
]


@pytest.mark.slow
@each_of("setting", FIXED)
def test_tables_have_the_distribution_of_what_the_survey_itself_reports(setting: Fixed) -> None:
    survey, rng, source, rounds, users = setting.survey(key="k"), np.random.default_rng(1), SeededSource(7), 40, 10_000
    drawn = [setting.draw(geometric(), users, rng) for _ in range(rounds)]
    real = [table_of(setting, survey, rng.choice(SYMBOLS, users, p=geometric()), source) for _ in range(rounds)]
    assert (drawn[0].matrix != real[0].matrix).nnz == 0  # type: ignore[attr-defined]  # SciPy ships no types
    expected = drawn[0].matrix @ geometric()  # type: ignore[operator]
    spreads = []
    for tables in (drawn, real):
        shares = np.array([table.shares for table in tables])
        errors = shares.std(axis=0, ddof=1) / math.sqrt(rounds)
        # Hundreds of cells: beyond six standard errors of 40 runs once in 10^4.
        assert np.abs((shares.mean(axis=0) - expected) / errors).max() < 6.5
        # All cells together, in the direction in which shares that are too large would show.
        scores = (shares - expected) @ (expected - expected.mean())
        assert abs(scores.mean()) < 4 * scores.std(ddof=1) / math.sqrt(rounds)
        spreads.append(shares.var(axis=0, ddof=1).mean())
    # The mean of hundreds of variances, each known within 22%.
    assert spreads[0] / spreads[1] == pytest.approx(1, abs=0.1)
    # Whatever cells have to do with each other shows in the errors of the symbols.
    decoded = [[table.decode() for table in tables] for tables in (drawn, real)]
    for decoder in (PROJECTED, CONSTRAINED):
        own, other = ([float(np.abs(each[decoder] - geometric()).sum()) for each in kind] for kind in decoded)
        assert abs(fmean(own) - fmean(other)) < 4.5 * math.hypot(stdev(own), stdev(other)) / math.sqrt(rounds)


@pytest.mark.slow
@each_of("setting", FIXED)
def test_constrained_least_squares_err_as_those_of_the_survey(setting: Fixed) -> None:
    survey, source, users = setting.survey(key="k"), SeededSource(7), 200_000
    people = np.random.default_rng(1).choice(SYMBOLS, users, p=geometric())
    own = table_of(setting, survey, people, source).decode()[CONSTRAINED]
    values = NAMES[people] if setting.alphabet == OPEN else people
    tally = survey.tally(survey.randomize(values, source=SeededSource(8)))
    candidates = NAMES.tolist() if setting.alphabet == OPEN else None
    theirs = survey.estimate(tally, candidates=candidates, decoder="least-squares").frequencies
    # Other reports of the same people, other weights, and room for other labels: not the same, but as good.
    errors = [float(np.abs(each - geometric()).sum()) for each in (own, theirs)]
    assert errors[0] == pytest.approx(errors[1], rel=0.25)


@each_of("setting", [CohortSetting("O-RR", OPEN, 2, 32, 4), CohortSetting("O-RAPPOR", CLOSED, 2, 512, 3, 2)])
def test_both_ways_of_least_squares_solve_them(setting: CohortSetting) -> None:
    table = setting.draw(geometric(), 10_000, np.random.default_rng(2))
    found = table.decode()
    matrix, roots = table.matrix.toarray(), np.sqrt(table.weights)  # type: ignore[attr-defined]  # SciPy ships no types

    def objective(frequencies: NDArray[np.float64]) -> float:
        return float((table.weights * (matrix @ frequencies - table.shares) ** 2).sum())

    shortest = np.linalg.lstsq(matrix * roots[:, np.newaxis], roots * table.shares, rcond=1e-6)[0]
    assert found[PROJECTED] == pytest.approx(project_to_simplex(shortest), abs=1e-8)
    best = found[CONSTRAINED]
    assert best.min() >= 0
    assert best.sum() == pytest.approx(1)
    # No small step toward another symbol gains more than the tolerance.
    rise = min(objective(0.999 * best + 0.001 * corner) for corner in np.eye(SYMBOLS)) - objective(best)
    assert rise > -2 * 0.005 * table.noise
    assert objective(best) < min(objective(found[PROJECTED]), objective(uniform()))


@each_of("full", [0, 1000])
def test_dense_and_sparse_products_agree(full: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = CohortSetting("O-RAPPOR", OPEN, 2, 16, 3, 2).draw(geometric(), 5000, np.random.default_rng(2))
    matrix = table.matrix.toarray()  # type: ignore[attr-defined]  # SciPy ships no types
    monkeypatch.setattr(cohorts, "_FULL", full)
    monkeypatch.setattr(cohorts, "_MOST_DENSE", SYMBOLS * 7)
    gram, moments = table._gram()
    assert gram == pytest.approx(matrix.T @ (matrix * table.weights[:, np.newaxis]))
    assert moments == pytest.approx(matrix.T @ (table.weights * table.shares))


@each_of("buckets", [2, 100, 256, 300])
def test_permutations_are_modulo_k(buckets: int) -> None:
    setting = CohortSetting("O-RAPPOR", CLOSED, 1, buckets, cohorts=3, hashes=2)
    places = setting.functions(np.random.default_rng(1))
    expected = np.bincount(np.arange(SYMBOLS) % buckets, minlength=buckets)
    assert all((np.bincount(row, minlength=buckets) == expected).all() for row in places)
    assert len({tuple(row) for row in places.tolist()}) == 6
    assert setting.survey(key="k").functions.buckets == buckets


def test_one_cohort_and_one_hash_of_a_closed_alphabet_is_the_plain_mechanism() -> None:
    for name, plain in (("O-RR", KRR), ("O-RAPPOR", KRAPPOR)):
        survey = plain(alphabet=SYMBOLS, epsilon=2)
        expected = float(survey.true_support_probability), float(survey.false_support_probability)
        assert CohortSetting(name, CLOSED, 2, SYMBOLS, cohorts=1).probabilities == pytest.approx(expected)


SMALL = ParameterGrid(buckets=(4, 8), cohorts=(1, 2), hashes=(1, 2), kept=2, again=3, trials=5)


class FakeLosses:
    """Errors that fall as c/√n, c by setting; every run is counted."""

    def __init__(self, factors: Mapping[CohortSetting, float], scatter: float) -> None:
        self.factors, self.scatter, self.runs = factors, scatter, list[tuple[CohortSetting, int]]()

    def __call__(
        self, setting: CohortSetting, truth: object, users: int, *, trials: int, rng: np.random.Generator
    ) -> Mapping[str, list[float]]:
        del truth
        self.runs.append((setting, trials))
        level = self.factors.get(setting, 100.0) / math.sqrt(users)
        noise = np.exp(rng.normal(0, self.scatter, (2, trials))) if self.scatter else np.ones((2, trials))
        return dict(zip((PROJECTED, CONSTRAINED), (level * noise).tolist(), strict=True))


def test_people_needed_are_found_with_their_error(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = CohortSetting("O-RR", OPEN, 1, 4, 1)
    found = []
    for seed in range(30):
        fake = FakeLosses({setting: 40.0}, 0.05)
        monkeypatch.setattr(grid, "losses", fake)
        rng = np.random.default_rng(seed)
        # 40/√n = 0.2.
        assert 0.5 < rough_people([setting], rng) / 40_000 < 2
        found.append(people_needed(setting, PROJECTED, 30_000, trials=5, rng=rng))
    means = [point.mean for point in found]
    assert fmean(means) == pytest.approx(40_000 * math.exp(0.05**2), abs=5 * stdev(means) / math.sqrt(30))
    # 15 runs of 5%, doubled as n goes with the square of the error; the fit of the slope adds to it.
    assert fmean(point.standard_error for point in found) == pytest.approx(stdev(means), rel=0.5)
    assert found[0].runs == 15


def test_the_best_setting_is_chosen_in_runs_that_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = SMALL.settings("O-RAPPOR", OPEN, 1)
    assert len(settings) == 8
    assert len(SMALL.settings("O-RR", OPEN, 1)) == 4
    good = settings[5]
    fake = FakeLosses({good: 10.0, settings[2]: 11.0}, 0.01)
    monkeypatch.setattr(grid, "losses", fake)
    search = Search(SMALL, settings, 1000, np.random.default_rng(1))
    assert fake.runs == [(setting, 1) for setting in settings]
    assert search.best(settings, PROJECTED) == good
    assert fake.runs[8:] == [(good, 3), (settings[2], 3)]
    assert len(search.fresh(good, PROJECTED)) == 5
    # 10/√n = 0.2.
    assert 2000 < search.rough_people(good, PROJECTED) < 3000
    # Settings that ran again are not run a third time.
    assert search.best([good, settings[2]], PROJECTED) == good
    assert len(fake.runs) == 11
    only = grid.settings_by_value(settings, "hashes")
    assert {value: len(tried) for value, tried in only.items()} == {1: 4, 2: 4}
    assert replace(good, epsilon=2) not in only[1]


def test_low_privacy_is_where_the_slides_have_it() -> None:
    assert math.exp(LOW_PRIVACY) == pytest.approx(SYMBOLS)
