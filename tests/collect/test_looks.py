"""Estimates that are watched while reports arrive: all their intervals hold together."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from anonhist.catalogue import RANDOMIZERS
from anonhist.collect.looks import ERROR, LEVEL, LOOKS, SIZES, estimate_at_look, may_be_shown, next_look, reached
from anonhist.errors import UsageError
from anonhist.local import (
    KRAPPOR,
    KRR,
    ORAPPOR,
    ORR,
    RAPPOR,
    Batches,
    Collection,
    HadamardResponse,
    HeavyHitters,
    HybridProjectiveGeometry,
    LocalHashing,
    OptimizedUnary,
    ProjectiveGeometry,
    SubsetSelection,
    Survey,
    WarnerRR,
)
from anonhist_testing.sources import SeededSource

SHARES = np.array([0.4, 0.3, 0.15, 0.1, 0.04, 0.01])
LABELS = [f"v{number}" for number in range(len(SHARES))]
# At ε = 1, and where labels can collide, so that there is as much as can be to go wrong.
SURVEYS: dict[str, Callable[[], Survey]] = {
    "warner": lambda: WarnerRR(epsilon=1),
    "k-rr": lambda: KRR(alphabet=LABELS, epsilon=1),
    "subset-selection": lambda: SubsetSelection(alphabet=LABELS, epsilon=1),
    "k-rappor": lambda: KRAPPOR(alphabet=LABELS, epsilon=1),
    "optimized-unary": lambda: OptimizedUnary(alphabet=LABELS, epsilon=1),
    "hadamard-response": lambda: HadamardResponse(alphabet=LABELS, epsilon=1),
    "projective-geometry": lambda: ProjectiveGeometry(alphabet=LABELS, epsilon=1),
    "hybrid-projective-geometry": lambda: HybridProjectiveGeometry(alphabet=LABELS, epsilon=1),
    "local-hashing": lambda: LocalHashing(alphabet=LABELS, epsilon=1),
    "o-rr": lambda: ORR(buckets=4, cohorts=4, epsilon=2, key="1" * 32),
    "o-rappor": lambda: ORAPPOR(buckets=4, cohorts=4, epsilon=2, key="1" * 32),
    "rappor": lambda: RAPPOR(alphabet=LABELS, cohorts=2, hashes=1, f="1/2", p="1/4", q="3/4"),
    "heavy-hitters": lambda: HeavyHitters(epsilon=4, max_bytes=2, characters="v012345"),
}


def _held(survey: Any, level: float, *, runs: int, looks: int) -> tuple[float, float]:
    """Return how often the interval of a value held at all looks, as a mean over runs with its standard error."""
    labels = ["yes", "no"] if isinstance(survey, WarnerRR) else LABELS
    candidates = None if getattr(survey, "alphabet", None) is not None or isinstance(survey, HeavyHitters) else labels
    shares = np.array([0.3, 0.7]) if len(labels) == 2 else SHARES
    means = []
    for run in range(runs):
        rng = np.random.default_rng((46, run))
        answers = rng.choice(len(labels), SIZES[looks - 1], p=shares)
        source, tally, start = SeededSource((46, run)), survey.empty_tally(), 0
        held = dict.fromkeys(labels, True)
        for size in SIZES[:looks]:
            new = [labels[code] for code in answers[start:size]]
            tally, start = tally + survey.tally(survey.randomize(new, source=source)), size
            found = survey.estimate(tally, candidates=candidates, level=level, decoder="unbiased")
            for label, (low, high) in zip(found.labels, found.intervals.tolist(), strict=True):
                truth = np.count_nonzero(answers[:size] == labels.index(label)) / size if label in labels else 0.0
                if not low <= truth <= high:
                    held[label] = False
        means.append(np.mean([held[label] for label in labels]))
    return float(np.mean(means)), float(np.std(means, ddof=1) / np.sqrt(runs))


def test_there_are_fifty_two_sizes_and_a_look_at_the_end() -> None:
    assert len(SIZES) == 52
    assert LOOKS == 53
    assert SIZES[0] == 100
    assert SIZES[-1] <= 10**7 < SIZES[-1] * 1.25
    assert list(SIZES) == sorted(set(SIZES))
    # Exactly 100·1.25^j, rounded up.
    assert all(4**j * (size - 1) < 100 * 5**j <= 4**j * size for j, size in enumerate(SIZES))
    # The union bound over all looks.
    assert pytest.approx(ERROR) == LOOKS * (1 - LEVEL)


def test_each_size_is_reached_once() -> None:
    assert [reached(size) for size in SIZES] == list(range(52))
    assert [reached(size - 1) for size in SIZES] == [None, *range(51)]
    assert reached(0) is None
    assert reached(2**62) == 51


def test_intervals_are_wider_by_a_factor() -> None:
    survey = KRR(alphabet=LABELS, epsilon=1)
    collection = Collection(survey=survey, answers="once", last_day="2026-12-31")
    tally = survey.tally(survey.randomize(LABELS * 20_000, source=SeededSource(1)))
    wide, usual = estimate_at_look(collection, tally), survey.estimate(tally)
    ratios = np.diff(wide.intervals) / np.diff(usual.intervals)
    assert ratios == pytest.approx(1.687, rel=0.005)


def test_only_whole_batches_are_shown() -> None:
    survey = KRR(alphabet=LABELS, epsilon=1)
    batches = Batches(users=300, honest=100, delta="1e-6")
    collection = Collection(survey=survey, answers="once", last_day="2026-12-31", shown=batches)
    assert [may_be_shown(collection, number) for number in (0, 299, 300, 899)] == [0, 0, 300, 600]
    whole = survey.tally(survey.randomize(LABELS * 100, source=SeededSource(2)))
    assert estimate_at_look(collection, whole).users == 600
    part = whole + survey.tally(survey.randomize(LABELS, source=SeededSource(3)))
    with pytest.raises(UsageError, match="whole batches"):
        estimate_at_look(collection, part)
    # One batch may reach several sizes, and that is one look.
    seen, number = [], 0
    while (size := next_look(collection, number)) is not None:
        assert size % 300 == 0
        last = reached(size)
        assert last is not None
        assert reached(size - 300) != last
        seen.append(size)
        number = size
    assert len(seen) < 52
    assert seen[:2] == [300, 600]


def test_every_mechanism_is_watched() -> None:
    assert SURVEYS.keys() == RANDOMIZERS.keys()


@pytest.mark.first(4)
@pytest.mark.parametrize("name", SURVEYS)
def test_intervals_hold_at_all_looks(name: str) -> None:
    mean, error = _held(SURVEYS[name](), LEVEL, runs=20, looks=12)
    assert mean - 2 * error >= 0.92
    assert mean >= 0.95


@pytest.mark.slow
def test_an_ordinary_interval_misses_when_it_is_watched_and_that_is_caught() -> None:
    mean, error = _held(SURVEYS["k-rr"](), 0.95, runs=60, looks=21)
    assert mean + 2 * error < 0.92
