"""The plot on the terminal: points where they belong, marks at round numbers, never wider than told."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, product

import pytest

from anonhist.mechanisms import FrobeniusMechanism
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.releases import Release
from anonhist.terminal.display import FEWEST_COLUMNS, MOST_COLUMNS, short_number, terminal_plot, ticks

MakeRelease = Callable[[Sequence[int], Sequence[int]], Release]


@pytest.fixture
def make_release() -> MakeRelease:
    def make(counts: Sequence[int], prevalences: Sequence[int]) -> Release:
        guarantee = Guarantee(PrivacyUnit.item(), NeighboringRelation.ADD_OR_REMOVE, Fraction(1))
        mechanism = FrobeniusMechanism(Fraction(1))
        return Release(Profile(counts, prevalences), guarantee, mechanism, reason="", library_version="0")

    return make


def test_points_lie_on_a_line_where_the_law_is_a_power(make_release: MakeRelease) -> None:
    # φ_r = 10^6 / r at powers of ten: equal steps down and to the right.
    counts = [10**power for power in range(7)]
    lines = terminal_plot(make_release(counts, counts[::-1]), width=80).splitlines()
    cells = [line[line.index("┤" if "┤" in line else "│") + 1 :] for line in lines if "┤" in line or "│" in line]
    points = [(row, column) for row, line in enumerate(cells) for column, sign in enumerate(line) if sign == "•"]
    assert [row for row, _ in points] == [2 * power for power in range(7)]
    assert points[0][1] == 0
    steps = [second[1] - first[1] for first, second in pairwise(points)]
    assert max(steps) - min(steps) <= 1


def test_axes_are_named_and_marked(make_release: MakeRelease) -> None:
    lines = terminal_plot(make_release([1, 250_000], [3_000_000, 1]), width=80).splitlines()
    assert lines[0] == "labels"
    assert lines[-1].endswith("count of a label (both scales logarithmic)")
    assert lines[-2].split("  ")[0].strip() in ("", "1")
    assert [mark.strip() for mark in lines[-2].split("  ") if mark.strip()] == [
        "1",
        "10",
        "100",
        "1 k",
        "10 k",
        "100 k",
    ]
    marks = [line.split("┤")[0].strip() for line in lines if "┤" in line]
    assert marks == ["1 M", "10 k", "100", "1"]


@pytest.mark.parametrize(
    ("counts", "prevalences"),
    [
        ([1], [1]),
        ([2**62], [1]),
        ([1, 2, 3], [5, 5, 9]),
        ([1, 10**18], [8, 1]),
        ([1, 1000], [8, 1]),
        (range(1, 999), range(1, 999)),
    ],
)
def test_it_is_never_wider_than_told(
    counts: Sequence[int], prevalences: Sequence[int], make_release: MakeRelease
) -> None:
    release = make_release(list(counts), list(prevalences))
    for width in (10, 40, 80, 120, 300):
        lines = terminal_plot(release, width=width).splitlines()
        body = [line for line in lines if "┤" in line or "│" in line or "└" in line]
        assert "•" in "".join(body), width
        body.append(lines[-2])  # the names of marks, one of which may stand at the right end
        assert max(map(len, body)) <= max(width, FEWEST_COLUMNS + 8), width
        assert max(map(len, body)) <= MOST_COLUMNS + 8, width


def test_a_small_profile_takes_few_lines(make_release: MakeRelease) -> None:
    assert len(terminal_plot(make_release([1], [1]), width=80).splitlines()) == 9
    assert len(terminal_plot(make_release([1], [10**6]), width=80).splitlines()) == 17


def test_an_empty_profile_has_nothing_to_draw(make_release: MakeRelease) -> None:
    assert terminal_plot(make_release([], []), width=80) == "The released profile is empty."


def test_marks_are_round_few_and_within() -> None:
    for largest, most in product([2, 9, 10, 99, 100, 10**6, 2**62], [2, 4, 9]):
        marks = ticks(largest, most=most)
        assert marks[0] == 1, (largest, most)
        assert marks[-1] <= largest, (largest, most)
        assert marks == sorted(set(marks)), (largest, most)
        assert len(marks) <= max(most, 6), (largest, most)
        assert all(str(mark).rstrip("0") in ("1", "2", "5") for mark in marks), (largest, most)


def test_numbers_are_short() -> None:
    texts = {1: "1", 50: "50", 100: "100", 1000: "1 k", 10**5: "100 k", 10**9: "1 G", 10**18: "1 E"}
    assert {value: short_number(value) for value in texts} == texts
