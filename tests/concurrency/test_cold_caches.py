"""Everything that draws, from eight threads at once on cold caches: the same words still lead to the same results.

What a mechanism does is a function from words to results. If after the threads it is the same function as before them,
whose distribution other tests prove, then the distribution is the same, too.
"""

import gc
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from anonhist.catalogue import MECHANISMS, PUBLIC_NUMBERS, RANDOMIZERS
from anonhist.graphs import BoundedDegrees, EdgePrivacy, NodePrivacy, as_graph, release_degrees
from anonhist.local.mechanisms import survey_class
from anonhist.local.survey import Survey
from anonhist.mechanisms.picking import named_mechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.randomness import RandomSource, bernoulli, bernoulli_bits, discrete_laplace, geometric
from anonhist.sketches import DomainSketch, HashedSketch, Sketch
from anonhist.sketches.noise import NoiseShare
from anonhist_testing.estimators import MECHANISMS as ESTIMATORS
from anonhist_testing.sources import SeededSource

THREADS = 8
PROFILE = Profile.from_prevalences({1: 9, 2: 4, 3: 2, 7: 1, 40: 1})
GRAPH = as_graph([(node, (node * node + 1) % 24) for node in range(24)])
LABELS = tuple(f"label {number}" for number in range(20))

# How what threads share is made, and what each does with it and with words of its own.
Task = tuple[Callable[[], Any], Callable[[Any, RandomSource], Any]]

SETTINGS: dict[str, dict[str, Any]] = {
    "warner": {"alphabet": 2},
    "subset-selection": {"alphabet": LABELS, "subset_size": 3},
    "o-rr": {"buckets": 16, "cohorts": 4},
    "o-rappor": {"buckets": 16, "cohorts": 4},
    "local-hashing": {"key": "week 47"},
    "rappor": {"buckets": 16, "cohorts": 4, "f": "0.5", "p": "0.5", "q": "0.75"},
    "heavy-hitters": {"max_bytes": 4},
}


def central(name: str, epsilon: str, profile: Profile = PROFILE) -> Task:
    def make() -> Any:
        numbers = {option: 100 for option in MECHANISMS[name].options if option in PUBLIC_NUMBERS}
        return named_mechanism(name, epsilon, PrivacyUnit.item(), NeighboringRelation.ADD_OR_REMOVE, numbers)

    return make, lambda mechanism, source: mechanism.release(profile, source=source).profile


def estimator(name: str) -> Task:
    def run(mechanism: Any, source: RandomSource) -> Any:
        found = mechanism.estimate(PROFILE, source=source)
        return found.value, found.interval

    return lambda: ESTIMATORS[name](Fraction(2)), run


def graph(privacy: EdgePrivacy | NodePrivacy, mechanism: str | BoundedDegrees = "auto") -> Task:
    def run(epsilon: int, source: RandomSource) -> Any:
        return release_degrees(GRAPH, privacy=privacy, mechanism=mechanism, epsilon=epsilon, source=source).profile

    return lambda: 3, run


def local(name: str) -> Task:
    def make() -> Survey:
        kind = survey_class(name)
        own = SETTINGS.get(name, {"alphabet": LABELS})
        return kind(**own) if name == "rappor" else kind(epsilon=1, **own)

    def run(survey: Any, source: RandomSource) -> Any:
        values = ["a", "bc", "d"] if name in {"local-hashing", "o-rr", "o-rappor", "rappor", "heavy-hitters"} else None
        if values is None:
            values = [0, 1, 1] if name == "warner" else list(LABELS[:3])
        reports = survey.randomize(values * 20, source=source)
        tally = survey.tally(reports)
        return reports.survey, [each.tolist() for each in reports.columns.values()], tally.counts.tolist()

    return make, run


def sketch(**settings: Any) -> Task:
    kind = HashedSketch if "buckets" in settings else DomainSketch

    def run(shared: Any, source: RandomSource) -> Any:
        new = kind(epsilon=1, source=source, **settings)
        parts = {"unit": new.unit, "relation": new.relation, "noise": new.noise, "counters": new.counters}
        # The addresses, which find labels with an index that is made when first needed, are those of all threads.
        made = Sketch.from_parts(shared, **parts)
        made.update(LABELS[:9])
        return made.counters.tolist(), made.noise_distribution.variance

    return lambda: kind(epsilon=1, source=SeededSource(0), **settings).addresses, run


def samplers() -> Task:
    def run(gamma: Fraction, source: RandomSource) -> Any:
        return [
            discrete_laplace(gamma, 50, source=source).tolist(),
            geometric(gamma, 50, source=source).tolist(),
            bernoulli(gamma, 50, source=source).tolist(),
            bernoulli_bits(gamma, 5, 50, source=source).tolist(),
        ]

    return lambda: Fraction(1, 97), run


TASKS: dict[str, Task] = {
    "samplers": samplers(),
    **{name: central(name, "0.6") for name in MECHANISMS},
    # Far-off counts need high powers of a matrix, each made from the one before.
    "partition, far counts": central("partition", "0.05", Profile.from_counts([5000, 3000, 1])),
    "partition, far counts, flags": central("partition", "0.6", Profile.from_counts([5000, 3000, 1])),
    **{f"estimate, {name}": estimator(name) for name in ESTIMATORS},
    "degrees, one edge": graph(EdgePrivacy()),
    **{
        f"degrees, one node, {method}": graph(NodePrivacy(), BoundedDegrees(max_degree=8, method=method))
        for method in ("survival", "histogram", "partition")
    },
    "degrees, one node, flow": graph(NodePrivacy(), BoundedDegrees(bounding="flow")),
    **{f"survey, {name}": local(name) for name in RANDOMIZERS},
    "hashed sketch": sketch(buckets=50, key=b"week 47"),
    "domain sketch": sketch(alphabet=LABELS),
    "share of noise": sketch(buckets=50, key=b"week 47", noise_share=NoiseShare(honest=3, session="week 47")),
}


def caches() -> Iterator[Any]:
    """Yield the cached functions of all modules that are loaded."""
    for name, module in list(sys.modules.items()):
        if name.startswith("anonhist."):
            yield from (each for each in vars(module).values() if hasattr(each, "cache_clear"))


def results(task: Task, *, threads: int) -> tuple[list[Any], Any]:
    """Return what each thread finds, all with the same words, on something new that they share, and one afterwards."""
    make, run = task
    for cache in caches():
        cache.cache_clear()
    shared, start = make(), Barrier(threads)

    def one(_: int) -> Any:
        start.wait()
        return run(shared, SeededSource(1))

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(one, range(threads)))
    afterwards = run(shared, SeededSource(2))
    check_frozen(shared)
    return found, afterwards


def check_frozen(thing: Any) -> None:
    """Check that nobody can write to an array that a shared object, or what it keeps, holds."""
    if isinstance(thing, np.ndarray):
        assert not thing.flags.writeable
    elif isinstance(thing, tuple | list):
        for part in thing:
            check_frozen(part)
    elif isinstance(thing, dict):
        check_frozen(list(thing.values()))
    elif type(thing).__module__.startswith("anonhist."):
        check_frozen(getattr(thing, "__dict__", {}))


@pytest.mark.slow
@pytest.mark.drawn(8)
@pytest.mark.parametrize("name", TASKS)
def test_eight_threads_find_what_one_finds(name: str) -> None:
    before = sys.getswitchinterval()
    (alone,), alone_afterwards = results(TASKS[name], threads=1)
    sys.setswitchinterval(1e-6)
    try:
        found, afterwards = results(TASKS[name], threads=THREADS)
    finally:
        sys.setswitchinterval(before)
    assert alone != alone_afterwards
    assert found == [alone] * THREADS
    assert afterwards == alone_afterwards
    # A cache refers to its keys and results one by one.
    for cache in caches():
        check_frozen(gc.get_referents(cache))
