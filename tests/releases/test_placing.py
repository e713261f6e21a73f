"""At which counts items are added and taken: as many as asked, between bounds, where the diagram is least likely."""

from math import factorial

import numpy as np
import pytest

from anonhist.numeric.arrays import Ints
from anonhist.numeric.staircases import Staircase
from anonhist.profiles import Profile
from anonhist.releases import agreement, placing
from anonhist.releases.placing import with_items

SMALL = [*[1] * 50, *[2] * 30]
NOTHING = Staircase(np.zeros(0, dtype=np.int64), np.zeros(0))


def curve(counts: list[int]) -> Staircase:
    return agreement.curve_of(Profile.from_counts(counts))


def counts_of(found: Staircase) -> list[int]:
    return [*map(int, agreement._profile(found, Profile([], [])).partition().tolist())]


def test_as_many_items_as_asked_between_the_bounds() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        given = curve(rng.geometric(0.2, rng.integers(1, 30)).tolist())
        more, less = (curve(rng.geometric(0.2, 30).tolist()) for _ in range(2))
        dense = np.arange(1, 80)
        least = Staircase(dense, np.minimum(given.at(dense), less.at(dense))).joined()
        most = Staircase(dense, np.maximum(given.at(dense), more.at(dense))).joined()
        items = int(rng.integers(least.area(), most.area() + 1))
        made = with_items(given, items, least, most)
        assert made.area() == items
        assert (np.diff(made.at(dense)) <= 0).all()
        assert ((least.at(dense) <= made.at(dense)) & (made.at(dense) <= most.at(dense))).all()
        free = with_items(given, given.area() + int(rng.integers(0, 300)), NOTHING, None)
        assert free.heights[0] == given.heights[0]


@pytest.mark.parametrize(
    ("counts", "items", "expected"),
    [
        # Large counts that tie are set apart.
        ([60, 40, 40, 40, 20], 1, [60, 41, 40, 40, 20]),
        ([60, 40, 40, 40, 20], -1, [60, 40, 40, 39, 20]),
        # No label has 4 items although many have 3: one of these may be missing one.
        ([*SMALL, *[3] * 20, *[5] * 12, *[6] * 9], 1, [*SMALL, *[3] * 19, 4, *[5] * 12, *[6] * 9]),
        # None has 3: one of 4 may have one too many.
        ([*SMALL, *[4] * 20, *[5] * 12, *[6] * 9], -1, [*SMALL, 3, *[4] * 19, *[5] * 12, *[6] * 9]),
        # More items than counts: equally many at each.
        ([60, 40, 20], 6, [62, 42, 22]),
        ([], 3, [3]),
    ],
)
def test_items_are_placed_where_the_diagram_is_unlikely(counts: list[int], items: int, expected: list[int]) -> None:
    made = with_items(curve(counts), sum(counts) + items, NOTHING, None)
    assert counts_of(made) == sorted(expected, reverse=True)


def likelihood(rows: Ints) -> float:
    """``Π μ^d/d!`` over distances of neighboring rows, for μ = 1: all that depends on a move by one."""
    return 1 / np.prod([float(factorial(int(distance))) for distance in -np.diff(rows)])


def test_odds_are_those_of_poisson_distances() -> None:
    rng = np.random.default_rng(8)
    for _ in range(40):
        found = curve(rng.geometric(0.25, 40).tolist())
        durfee = int(np.minimum(found.ends, found.heights).max())
        rows, columns = np.array(counts_of(found)), found.at(np.arange(1, 30)).astype(np.int64)
        labels = found.heights - np.append(found.heights[1:], 0.0)
        to_next, below = np.append(np.diff(found.ends), 1.0), np.diff(found.ends, prepend=0) * 1.0
        odds = placing._odds(found, found.ends + 1, labels, to_next, np.append(labels[1:], 0.0), below)
        for k, told, many, gap in zip(found.ends + 1, odds, labels, to_next, strict=True):
            inside = k <= durfee
            side, at = (columns, k - 1) if inside else (rows, int(np.flatnonzero(rows == k - 1)[0]))
            if at == 0:
                continue
            changed = side.copy()
            changed[at] += 1
            # The last row has nothing below; zero is where rows end.
            ends = (0,) if inside else ()
            ratio = likelihood(np.append(changed, ends)) / likelihood(np.append(side, ends))
            ties = gap if inside else many
            assert told == pytest.approx(ties * ratio if inside or ties > 1 else min(1.0, ratio))
