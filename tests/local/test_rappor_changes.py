"""RAPPOR over time: what changing answers cost, by enumeration, and how well people are recognized."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import log, prod

import pytest

from anonhist.local.randomizers.rappor import RAPPOR, logarithm
from anonhist_testing.cases import each_of
from anonhist_testing.linking import linked_share
from anonhist_testing.sources import SeededSource

HALF, ZERO, ONE = Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)


def distribution(
    answers: str,
    own: Mapping[str, bool],
    half: Fraction,
    zero: Fraction,
    one: Fraction,
    sequences: Iterable[Sequence[int]],
) -> list[Fraction]:
    """Probability of sequences of reports of one bit; own says for which answers the bit is their own."""
    places = {answer: [time for time, each in enumerate(answers) if each == answer] for answer in set(answers)}

    def report_probability(bits: Sequence[int], answer: str, chance: Fraction) -> Fraction:
        return prod((chance if bits[time] else 1 - chance for time in places[answer]), start=Fraction(1))

    return [
        prod(
            kept * report_probability(bits, answer, one) + (1 - kept) * report_probability(bits, answer, zero)
            for answer in places
            for kept in [1 - half if own[answer] else half]
        )
        for bits in sequences
    ]


def distinct(answers: str, others: str) -> list[list[int]]:
    """Return one of all sequences of reports that have as many ones at the times of each pair of answers.

    The others of that many are as likely, whichever of the two was answered.
    """
    pairs = list(zip(answers, others, strict=True))
    times = [[time for time, each in enumerate(pairs) if each == pair] for pair in sorted(set(pairs))]
    found = []
    for numbers in product(*(range(len(each) + 1) for each in times)):
        ones = {time for each, number in zip(times, numbers, strict=True) for time in each[:number]}
        found.append([int(time in ones) for time in range(len(answers))])
    return found


def distributions(
    answers: str, others: str, own: Mapping[str, bool], probabilities: tuple[Fraction, ...]
) -> tuple[list[Fraction], list[Fraction]]:
    """Return the probabilities of the distinct sequences under both."""
    half, zero, one = probabilities
    sequences = distinct(answers, others)
    left, right = (distribution(each, own, half, zero, one, sequences) for each in (answers, others))
    return left, right


@pytest.mark.parametrize("others", ["aaaa", "aabb", "abcb"])
def test_sequences_with_as_many_ones_are_as_likely(others: str) -> None:
    own = {"a": True, "b": False, "c": True}
    every = list(product((0, 1), repeat=4))
    both = zip(*(distribution(each, own, HALF, ZERO, ONE, every) for each in ("abab", others)), strict=True)
    assert set(both) == set(zip(*distributions("abab", others, own, (HALF, ZERO, ONE)), strict=True))


def loss(answers: str, others: str, own: Mapping[str, bool], probabilities: tuple[Fraction, ...]) -> Fraction:
    """Return the largest ratio either way, exact."""
    both = distributions(answers, others, own, probabilities)
    return max(max(left / right, right / left) for left, right in zip(*both, strict=True))


def test_an_answer_that_alternates_loses_more_than_epsilon_for_each_value() -> None:
    own = {"a": True, "b": False}
    ratios = [loss("ab" * (times // 2), "a" * times, own, (HALF, ZERO, ONE)) for times in (4, 8, 12)]
    assert [round(log(ratio), 2) for ratio in ratios] == [0.85, 1.85, 2.85]
    # One bit costs ln 3 for one value that stays, twice that for two: this is more.
    assert ratios[-1] > Fraction(3) ** 2
    assert loss("b" * 12, "a" * 12, own, (HALF, ZERO, ONE)) < 3


@pytest.mark.full
def test_bits_of_neither_answer_tell_of_a_change_too() -> None:
    own = {"a": False, "b": False}
    assert loss("bbbb", "aaaa", own, (HALF, ZERO, ONE)) == 1
    changed = [loss("ab" * pairs, "aa" * pairs, own, (HALF, ZERO, ONE)) for pairs in (1, 2, 4)]
    assert 1 < changed[0] < changed[1] < changed[2]
    # So two reports are not as if each cost ε_1: enough such bits outweigh that.
    survey = RAPPOR(buckets=64, cohorts=1, f="1/2", p="1/2", q="3/4")
    assert float(survey.single_guarantee.epsilon) == pytest.approx(log(Fraction(77, 45)), abs=1e-6)
    assert changed[0] ** 62 > Fraction(77, 45) ** 2


@pytest.mark.parametrize(
    "probabilities", [(HALF, ZERO, ONE), (Fraction(1, 8), Fraction(1, 5), Fraction(2, 5)), (HALF, ONE, ZERO)]
)
def test_changed_answers_cost_at_most_the_change_epsilon_each(probabilities: tuple[Fraction, ...]) -> None:
    half, zero, one = probabilities
    survey = RAPPOR(buckets=2, cohorts=1, f=2 * half, p=zero, q=one)
    low, high = sorted((zero, one))
    most = max(high / low, (1 - low) / (1 - high))
    assert survey.change_epsilon == 2 * logarithm(most, 1)
    for first, second in product((False, True), repeat=2):
        own = {"a": first, "b": second, "c": False}
        for others in ("aaaaaa", "aaaaab", "aaabab", "bababa", "aabbcc"):
            changed = sum(each != "a" for each in others)
            assert loss("aaaaaa", others, own, probabilities) <= most**changed


@pytest.mark.full
def test_one_changed_answer_comes_near_its_bound_after_a_long_history() -> None:
    # The remembered bits of both answers are nearly known, so the report that changes is all that a bit's noise hides.
    own = {"a": True, "b": False}
    past = ["a" * times + "b" * times for times in (1, 3, 5)]
    last = [loss(f"{each}b", f"{each}a", own, (HALF, ZERO, ONE)) for each in past]
    assert last == sorted(last)
    assert 1.75 < last[-1] < max(ONE / ZERO, (1 - ZERO) / (1 - ONE)) == 2


def test_every_bit_pays_for_a_change_not_those_of_the_answers_alone() -> None:
    survey = RAPPOR(buckets=64, cohorts=1, hashes=2, f="1/2", p="1/2", q="3/4")
    assert survey.change_epsilon == 64 * logarithm(Fraction(2), 1)
    # Four bits at most belong to one of two answers; what the other 60 tell is more than four could.
    own = {"a": False, "b": False}
    assert loss("aaabbbb", "aaabbba", own, (HALF, ZERO, ONE)) ** 60 > 2**4


def test_values_whose_pattern_is_known_cost_epsilon_each() -> None:
    bound = (1 - HALF) / HALF
    own = {"a": True, "b": True, "c": False, "d": False}
    for answers, others in (("aabb", "ccdd"), ("abab", "cdcd"), ("abba", "cbbc")):
        values = sum(left != right for left, right in set(zip(answers, others, strict=True)))
        assert loss(answers, others, own, (HALF, ZERO, ONE)) < bound**values


@each_of(("zero", "one"), [(0, "3/4"), ("1/4", 1), (1, "1/2"), (0, 1)])
def test_reports_that_may_show_the_memory_have_no_bound_for_changes(zero: object, one: object) -> None:
    assert RAPPOR(buckets=2, cohorts=1, f="1/2", p=zero, q=one).change_epsilon is None  # type: ignore[arg-type]
    own = {"a": True, "b": False}
    pairs = [(f"{'a' * past}a", f"{'a' * past}b") for past in (5, 7, 9)]
    found = [distributions(*pair, own, (HALF, Fraction(zero), Fraction(one))) for pair in pairs]  # type: ignore[arg-type]
    if (zero, one) == (0, 1):
        assert all(any(left == 0 < right for left, right in zip(*pair, strict=True)) for pair in found)
        return
    # Two reports more multiply what one changed answer costs by about 1/(1 − q)² or 1/p², which is 4 or 16.
    ratios = [max(right / left for left, right in zip(*pair, strict=True) if left) for pair in found]
    assert all(later > 3 * earlier for earlier, later in pairwise(ratios))


def test_people_are_recognized_by_what_their_devices_remember() -> None:
    # By chance 1 in 25 of a cohort would be; false alarms below 10^-9, and the seed is fixed.
    survey = RAPPOR(buckets=128, cohorts=8, hashes=2, key="k", f="1/2", p="1/2", q="3/4")
    memory = survey.remember(["the same"] * 200, source=SeededSource(7))
    shares = [linked_share(survey, memory, reports, source=SeededSource(8)) for reports in (1, 7)]
    assert 0.08 < shares[0] < shares[1]
    assert shares[1] > 0.8
