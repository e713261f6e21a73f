"""The population that samples are taken to come from."""

import numpy as np
import pytest

from anonhist.profiles import Profile
from anonhist.properties.sampling import Assemblage
from anonhist_testing.cases import each_of


def test_labels_seen_give_up_what_labels_not_seen_need() -> None:
    # Chao et al. 2015: p = (x/n)·(1 − W·(1 − x/n)^n), all that is given up shared by the labels not seen.
    counts = np.array([20, 7, 3, 2, 2, 1, 1, 1, 1])
    n, once, twice = 38, 4, 2
    unseen = np.ceil((n - 1) / n * once**2 / (2 * twice))
    missing = once / n * (n * unseen / (n * unseen + once))
    lost = counts / n * (1 - counts / n) ** n
    expected = counts / n - missing * lost / lost.sum()
    found = Assemblage.of(Profile.from_counts(counts))
    seen = dict(zip([1, 2, 3, 7, 20], found.probabilities[:-1].tolist(), strict=True))
    assert [seen[count] for count in counts.tolist()] == pytest.approx(expected.tolist())
    assert found.labels.tolist() == [4, 2, 1, 1, 1, unseen]
    assert found.probabilities[-1] == pytest.approx(missing / unseen)


@each_of("counts", [[5], [1], [1] * 40, [10**15, 1], [2, 2, 2], [2**62]])
def test_it_is_a_distribution(counts: list[int]) -> None:
    found = Assemblage.of(Profile.from_counts(counts))
    assert float(found.probabilities @ found.labels) == pytest.approx(1)
    assert found.probabilities.min() >= 0
    assert found.labels.min() >= 0


def test_nothing_is_unseen_where_no_label_was_seen_once() -> None:
    found = Assemblage.of(Profile.from_counts([5, 3, 2]))
    assert found.labels[-1] == 0
    assert found.probabilities[:-1].tolist() == pytest.approx([0.2, 0.3, 0.5])
