"""Reports of bits that no honest device makes: the bounds against the exact sums, and who refuses what."""

from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import DataError
from anonhist.local import KRAPPOR, ORAPPOR, RAPPOR, OptimizedUnary, Reports, SubsetSelection, Survey, Tally
from anonhist.local.randomizers.unary import have_ones, honest_ones
from anonhist.numeric import ExponentialQuotient
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

CHANCE = Fraction(1, 2**41)
HALF = Fraction(1, 2)


def _distribution(size: int, own: int, p: Fraction, q: Fraction) -> list[Fraction]:
    distribution = [Fraction(1)]
    for bit in range(size):
        chance = p if bit < own else q
        distribution = [
            (distribution[ones] if ones < len(distribution) else 0) * (1 - chance)
            + (distribution[ones - 1] * chance if ones else 0)
            for ones in range(len(distribution) + 1)
        ]
    return distribution


def _exact(size: int, own: int, p: Fraction, q: Fraction) -> tuple[int, int]:
    least, most = size, 0
    for bits in range(1, own + 1):
        distribution = _distribution(size, bits, p, q)
        most = max(most, next(m for m in range(size + 1) if sum(distribution[m + 1 :]) <= CHANCE))
        least = min(least, next(m for m in range(size, -1, -1) if sum(distribution[:m]) <= CHANCE))
    return least, most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "own", "p", "q"),
    [
        (2, 1, HALF, Fraction(1, 4)),
        (60, 1, HALF, Fraction(1, 10**6)),
        (60, 3, Fraction(3, 4), Fraction(1, 8)),
        (60, 3, Fraction(1, 8), Fraction(3, 4)),
        (60, 1, Fraction(1, 10), Fraction(0)),
        (40, 2, Fraction(1, 10), Fraction(1)),
        (90, 1, Fraction(99, 100), Fraction(1, 100)),
    ],
)
def test_bounds_are_the_quantiles_of_the_exact_sums(size: int, own: int, p: Fraction, q: Fraction) -> None:
    given = (ExponentialQuotient((each.numerator,), (each.denominator,)) for each in (p, q))
    assert honest_ones(size, own, *given) == _exact(size, own, p, q)


@pytest.mark.slow
def test_a_survey_with_several_hashes_allows_for_all_bits_of_a_value() -> None:
    survey = RAPPOR(buckets=60, cohorts=2, hashes=8, f="1/10", p="1/1000", q="3/4")
    p, q = (each.rational for each in (survey.true_support_probability, survey.false_support_probability))
    assert p is not None
    assert q is not None
    assert survey.honest_ones == _exact(60, 8, p, q) != _exact(60, 1, p, q)


def test_ones_are_counted_and_none_may_be_behind_the_last_bit() -> None:
    rows = np.array([[255, 255], [1, 0], [0, 0b1111_0100]], dtype=np.uint8)
    assert have_ones(rows, 16, 2, 16).tolist() == [True, False, True]
    assert have_ones(rows, 16, 1, 5).tolist() == [False, True, True]
    assert have_ones(rows, 11, 0, 16).tolist() == [False, True, False]


SURVEYS: dict[str, Survey] = {
    "optimized-unary": OptimizedUnary(alphabet=1000, epsilon=1),
    "k-rappor": KRAPPOR(alphabet=1000, epsilon=1),
    "o-rappor": ORAPPOR(buckets=1000, cohorts=2, hashes=2, epsilon=1),
    "rappor": RAPPOR(buckets=1000, cohorts=2, hashes=2, f="1/2", p="1/2", q="3/4"),
}


@each_of("name", SURVEYS)
def test_reports_with_too_many_or_too_few_ones_are_refused(name: str) -> None:
    survey = SURVEYS[name]
    least, most = survey.honest_ones  # type: ignore[attr-defined]
    assert 0 < least < most < 1000
    values = ["a"] * 50 if name.endswith("o-rappor") or name == "rappor" else [3] * 50
    reports = survey.randomize(values, source=SeededSource(7))
    assert survey.possible(reports).all()
    for count, is_good in ((0, False), (least - 1, False), (least, True), (most, True), (most + 1, False)):
        bits = np.arange(1000) < count
        reports.columns["report"][7] = np.packbits(bits, bitorder="little")
        assert survey.possible(reports)[7] == is_good
        if is_good:
            assert survey.tally(reports).users == 50
            continue
        with pytest.raises(DataError, match="Report 8 is invalid"):
            survey.tally(reports)
        with pytest.raises(DataError, match="Report 8 is invalid"):
            survey.tally_groups(reports, np.ones(50, dtype=np.int64))


@each_of("name", SURVEYS)
def test_tallies_with_more_ones_than_their_reports_can_have_are_refused(name: str) -> None:
    survey = SURVEYS[name]
    values = ["a"] * 50 if name.endswith("o-rappor") or name == "rappor" else [3] * 50
    tally = survey.tally(survey.randomize(values, source=SeededSource(7)))
    survey.check_tally(tally)
    cells = np.arange(survey.cells)
    is_total = cells % 1001 == 0 if survey.cells > 1000 else np.zeros(1000, dtype=np.bool_)
    counts = np.where(is_total, tally.dense(survey.cells), 50 if not is_total.any() else 20)
    with pytest.raises(DataError, match="do not add up"):
        survey.check_tally(Tally(survey.digest, 50, cells, counts))


def test_sets_are_of_the_size_that_the_survey_says() -> None:
    survey = SubsetSelection(alphabet=30, epsilon=1, subset_size=3)
    sets = np.array([[1, 2, 3], [1, 1, 2], [3, 2, 1], [0, 5, 29], [0, 5, 30]], dtype="<u2")
    reports = Reports(survey.digest, {"report": sets.view(np.uint8)})
    assert survey.possible(reports).tolist() == [True, False, False, True, False]
