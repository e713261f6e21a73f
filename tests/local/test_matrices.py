"""The promise of every mechanism, exact: every probability is a quotient of whole polynomials in e^ε."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anonhist.local import KRAPPOR, KRR, OptimizedUnary, SubsetSelection, WarnerRR
from anonhist.local.randomizers.unary import UnarySurvey
from anonhist.numeric import ExponentialQuotient
from anonhist.randomness import bernoulli
from anonhist_testing.cases import each_of
from anonhist_testing.local import drawn_matrix, largest_ratio, worst_deviation
from anonhist_testing.sources import SeededSource, TapeSource

SURVEYS: list[Any] = [
    WarnerRR(epsilon="0.7"),
    *(KRR(alphabet=k, epsilon=epsilon) for k in (2, 3, 7) for epsilon in ("0.01", 1, 5)),
    *(KRAPPOR(alphabet=k, epsilon=epsilon) for k in (2, 3, 6) for epsilon in ("0.01", 1, 5)),
    *(OptimizedUnary(alphabet=k, epsilon=epsilon) for k in (2, 3, 6) for epsilon in ("0.01", 1, 5)),
    *(SubsetSelection(alphabet=k, epsilon=epsilon) for k in (2, 5, 7) for epsilon in ("0.01", "1.2", 5)),
    *(SubsetSelection(alphabet=6, epsilon=1, subset_size=d) for d in range(1, 6)),
]


def _reports(survey: Any, codes: Any) -> Any:
    """Return which column of the matrix each report is, as the docstring of the matrix numbers them."""
    drawn = survey.randomize(codes, source=SeededSource(7)).columns["report"]
    if drawn.ndim == 1:
        return drawn
    if survey.name == "subset-selection":
        from itertools import combinations

        order = {chosen: place for place, chosen in enumerate(combinations(range(survey.size), survey.subset_size))}
        return np.array([order[tuple(row)] for row in drawn.view("<u2").tolist()])
    return drawn[:, 0].astype(np.int64)


@each_of("survey", SURVEYS)
def test_no_report_is_more_than_e_to_the_epsilon_times_likelier(survey: Any) -> None:
    worst = largest_ratio(survey.matrix())
    assert worst == ExponentialQuotient.exponential(Fraction(survey.epsilon))


@pytest.mark.slow
@pytest.mark.parametrize("survey", SURVEYS, ids=repr)
def test_the_sampler_follows_the_matrix(survey: Any) -> None:
    matrix = np.array([[float(entry) for entry in row] for row in survey.matrix()])
    values, reports = matrix.shape

    def draw(codes: Any) -> Any:
        labels = survey.alphabet.names()
        return _reports(survey, [labels[code] for code in codes] if survey.name == "warner" else codes)

    drawn = drawn_matrix(draw, values=values, reports=reports, repeats=20_000)
    # Five standard errors: at a thousand entries in all, by chance once in a thousand seeds.
    assert max(worst_deviation(row, distribution) for row, distribution in zip(drawn, matrix, strict=True)) < 5


@pytest.mark.slow
@each_of("survey", SURVEYS)
def test_supports_have_the_probabilities_that_estimates_divide_by(survey: Any) -> None:
    matrix = survey.matrix()
    supported = np.zeros((survey.size, len(matrix[0])), dtype=bool)
    for report in range(len(matrix[0])):
        largest = max(row[report] for row in matrix)
        smallest = min(row[report] for row in matrix)
        for value in range(survey.size):
            supported[value, report] = matrix[value][report] == largest != smallest
    if isinstance(survey, UnarySurvey):
        supported = (
            np.array([[report >> value & 1 for report in range(1 << survey.size)] for value in range(survey.size)]) == 1
        )
    for value in range(survey.size):
        for made_from in range(survey.size):
            total = sum(
                (p for p, yes in zip(matrix[made_from], supported[value], strict=True) if yes), start=0 * survey.odds
            )
            own = value == made_from
            assert total == (survey.true_support_probability if own else survey.false_support_probability)


def _draw_with(probability: Any, digits: int) -> bool:
    """Return the bit that the sampler makes of a uniform number whose first 64 binary digits are these."""
    source = TapeSource([digits >> 48, (digits & (1 << 48) - 1) << 16])
    return bool(bernoulli(probability, 1, source=source)[0])


@each_of("epsilon", ["0.001", "0.1", 1, 5, 12])
@each_of("mechanism", [KRR, KRAPPOR, OptimizedUnary, SubsetSelection])
def test_the_ratio_that_is_realised_is_at_most_e_to_the_epsilon_and_hardly_less(mechanism: Any, epsilon: Any) -> None:
    survey = mechanism(alphabet=50, epsilon=epsilon)
    p, q = survey.true_support_probability, survey.false_support_probability
    if mechanism is OptimizedUnary:
        assert p == Fraction(1, 2)
        p = 1 - q  # of the two bits of which the ratio is made, this one is exact
    for probability in (p, q, p - q):
        threshold = probability.bounds(128)[0] >> 64
        assert _draw_with(probability, threshold - 1)
        assert not _draw_with(probability, threshold + 1)
    # So every probability that the sampler realises is right to 2^-63.
    slack = Fraction(1, 2**63)
    odds = survey.odds
    if mechanism is KRR:
        high, low, exact = p, q, odds
    elif mechanism is SubsetSelection:
        high, low, exact = p / survey.subset_size, (1 - p) / (survey.size - survey.subset_size), odds
    else:
        high, low = p, 1 - p
        exact = odds if mechanism is OptimizedUnary else ExponentialQuotient.exponential(Fraction(survey.epsilon) / 2)
    assert high / low == exact
    realised = [math.log(float((high + sign * slack) / (low - sign * slack))) for sign in (-1, 1)]
    assert realised[0] >= math.log(float(exact)) * (1 - 1e-9)
    assert realised[1] <= math.log(float(exact)) * (1 + 1e-9)


# Three mistakes that public code has made. The checker that passes our matrices must see each.


def _all_bits(value: int, size: int, own: Any, other: Any) -> list[Any]:
    """Return the distribution of independent bits, the value's own with one probability, all others with another."""
    row = []
    for report in range(1 << size):
        entry: Any = 1
        for bit in range(size):
            p = own if bit == value else other
            entry = entry * (p if report >> bit & 1 else 1 - p)
        row.append(entry)
    return row


@pytest.mark.slow
def test_subset_selection_with_independent_bits_is_caught() -> None:
    odds = ExponentialQuotient.exponential(Fraction("1.2"))
    survey = SubsetSelection(alphabet=7, epsilon="1.2", subset_size=2)
    p, q = survey.true_support_probability, survey.false_support_probability
    worst = largest_ratio([_all_bits(value, 7, p, q) for value in range(7)])
    assert worst > odds
    assert np.log(float(worst)) == pytest.approx(1.446, abs=0.001)


def test_rappor_that_spends_all_of_epsilon_on_each_bit_is_caught() -> None:
    odds = ExponentialQuotient.exponential(Fraction(1))
    kept = odds / (1 + odds)
    assert largest_ratio([_all_bits(value, 4, kept, 1 - kept) for value in range(4)]) == odds**2


def test_a_bit_left_as_it_is_is_caught() -> None:
    survey = KRAPPOR(alphabet=4, epsilon=1)
    rows = [
        _all_bits(value, 4, survey.true_support_probability, survey.false_support_probability) for value in range(4)
    ]
    # The last bit is written as it is: reports that disagree with it become impossible.
    broken = [
        [
            sum(row[report & 7 | bit << 3] for bit in (0, 1)) if report >> 3 == (value == 3) else 0
            for report in range(16)
        ]
        for value, row in enumerate(rows)
    ]
    with pytest.raises(AssertionError, match="impossible"):
        largest_ratio(broken)
    assert largest_ratio(rows) == survey.odds
