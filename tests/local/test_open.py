"""What surveys with cohorts have in common: candidates, and what these leave unexplained."""

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.local.randomizers.open import ORR
from anonhist_testing.sources import SeededSource

# One label that is not listed has 30% of the people, twenty that are share the rest, forty listed are of nobody.
SHARES = np.array([0.3] + [0.035] * 20)
LABELS = np.array(["unlisted", *(f"real {i}" for i in range(20))])
CANDIDATES = [*LABELS[1:], *(f"nobody {i}" for i in range(40))]
TRUTH = np.concatenate((SHARES[1:], np.zeros(40)))
USERS, ROUNDS = 20_000, 40
PEOPLE = LABELS.repeat(np.round(SHARES * USERS).astype(int))


def test_candidates_are_asked_for_and_checked() -> None:
    survey = ORR(buckets=64, cohorts=4, key="k", epsilon=4)
    tally = survey.tally(survey.randomize(["a"] * 100, source=SeededSource(7)))
    with pytest.raises(UsageError, match="name the candidates"):
        survey.estimate(tally)
    for wrong in ([], ["a", "a"], "a", [1]):
        with pytest.raises(UsageError):
            survey.estimate(tally, candidates=wrong)  # type: ignore[arg-type]  # refusing it is tested
    with pytest.raises(DataError, match="no reports yet"):
        survey.estimate(survey.empty_tally(), candidates=["a"])
    closed = ORR(alphabet=["a", "b"], cohorts=4, key="k", epsilon=4)
    with pytest.raises(UsageError, match="not in the alphabet"):
        closed.estimate(closed.tally(closed.randomize(["a"])), candidates=["c"])
    wide = ORR(buckets=2, cohorts=65536, key="k", epsilon=4)
    tally = wide.tally(wide.randomize(["a"]))
    with pytest.raises(UsageError, match="memory"):
        wide.estimate(tally, candidates=map(str, range(3000)))


@pytest.mark.slow
def test_what_candidates_leave_unexplained_is_other() -> None:
    survey = ORR(buckets=64, cohorts=16, key="k", epsilon=4)
    tally = survey.tally(survey.randomize(PEOPLE, source=SeededSource(7)))
    estimate = survey.estimate(tally, candidates=list(LABELS[1:]), decoder="unbiased")
    # The raw share of others: 0.3, and five of its errors.
    assert abs(1 - estimate.raw.sum() - 0.3) < 5 * estimate.other_standard_error
    assert estimate.other_standard_error < 0.1
