"""The split of a diagram, a rival: private, whole without noise, and cheap where its sides disagree."""

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonhist.profiles import Profile
from anonhist_testing.cases import each_of

BENCH = Path(__file__).parent.parent.parent / "bench"


@pytest.fixture(scope="module")
def split() -> dict[str, Any]:
    sys.path.insert(0, str(BENCH))
    found = runpy.run_path(str(BENCH / "split.py"), run_name="split")
    sys.path.remove(str(BENCH))
    return found


COUNTS = [[1], [4], [1, 1, 1], [9, 1, 1, 1], [3, 3, 3], [40, 20, 3, 3, 2, 1, 1], list(range(1, 30)), [2] * 50]


@each_of("counts", COUNTS)
def test_without_noise_it_releases_the_data(split: dict[str, Any], counts: list[int]) -> None:
    profile = Profile.from_counts(counts)
    for public in (profile.n, None):
        mechanism = split["SplitMechanism"](10**6, public_items=public)
        assert mechanism.release(profile).profile == profile


@each_of("counts", COUNTS)
def test_one_more_item_changes_one_number_by_one(split: dict[str, Any], counts: list[int]) -> None:
    cut = int(np.ceil(np.sqrt(sum(counts) + 1)))

    def numbers(listed: list[int]) -> np.ndarray:
        profile = Profile.from_counts(listed)
        columns = profile.cumulative_prevalence(np.arange(1, cut + 1))
        return np.append(columns, split["_beyond"](profile, cut))

    for grown in [[*counts, 1], *([*counts[:i], counts[i] + 1, *counts[i + 1 :]] for i in range(len(counts)))]:
        moved = np.abs(numbers(grown) - numbers(counts))
        assert (moved.sum(), moved.max()) == (1, 1)
        assert numbers(grown).sum() == sum(grown)


def test_where_sides_disagree_the_cheaper_change_is_made(split: dict[str, Any]) -> None:
    columns = np.array([9, 5, 2, 1])
    # Two labels pass: one cell is raised and one left out. One: five are left out. Three: three are raised.
    assert split["_agree"](columns, np.array([6, 4, 1, 0])) == 2
    assert split["_agree"](columns, np.array([6, 9, 8, 0])) == 3
    assert split["_agree"](columns, np.array([0, 0, 0, 0])) == 1
