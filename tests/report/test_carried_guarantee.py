"""Every number that is made from a release alone carries its guarantee; one that exact data went into carries none.

The numbers are found by walking over all public attributes and methods, so that a new one is not forgotten.
"""

import inspect
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from anonhist import graphs, properties
from anonhist.errors import AnonhistError
from anonhist.graphs import BoundedDegrees, EdgePrivacy, NodePrivacy, as_graph, release_degrees
from anonhist.mechanisms import FrobeniusMechanism, PartitionMechanism, PrivHistMechanism, compare, release
from anonhist.mechanisms.grouping import release_groups
from anonhist.mechanisms.window_release import release_cumulative, release_cumulative_groups
from anonhist.privacy import Guarantee, PrivacyUnit
from anonhist.profiles import Bounded, BoundedUnits, Profile
from anonhist.profiles.grouped import GroupedProfile
from anonhist.profiles.windows import CumulativeCounts, GroupedCumulativeCounts
from anonhist.properties.curve import Curve
from anonhist.properties.estimate import Estimate, Estimates
from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
from anonhist.releases.grouped import GroupedRelease
from anonhist.sketches import DomainSketch

PROFILE = Profile.from_counts([9, 8, 8, 3, 1, 1])
GRAPH = as_graph([(1, 2), (2, 3), (3, 4), (4, 1), (1, 5)], nodes=range(1, 8))
WINDOWS = CumulativeCounts((1, 3), ("x", "y"), [[5, 7], [1, 2]])
CAPPED = BoundedDegrees(2, "cumulative")
USERS = Profile([1, 2], [4, 1], unit=PrivacyUnit.user(max_items=2), users=BoundedUnits(2, PROFILE))
LABELS = PrivacyUnit.label(max_count=9, groups=1)
IN_GROUPS = GroupedProfile(
    ("day",),
    {("a",): PROFILE, ("b",): PROFILE},
    unit=LABELS,
    units=BoundedUnits(1, PROFILE, Bounded.GROUPS_OF_LABELS),
)
NOT_PRIVATE = re.compile("not private", re.IGNORECASE)
# What methods and functions are asked, by the names of their parameters.
ASKED = {"count": 3, "k": 3, "order": 2, "draws": 40, "guesses": 2, "share": 0.5, "alphabet_size": 50, "bootstraps": 3}
# The rooms whose values hold such numbers.
HOLD_NUMBERS = ("anonhist.releases.", "anonhist.properties.", "anonhist.graphs.degree_")
Found = Estimate | Curve


def _sketched() -> Any:
    sketch = DomainSketch(alphabet=["a", "b", "c", "d"], epsilon=8)
    sketch.update(["a", "b", "b", "c", "c", "c"])
    return sketch.reconstruct()


RELEASES: dict[str, Callable[[], Any]] = {
    "frobenius": lambda: FrobeniusMechanism(4).release(PROFILE),
    "partition": lambda: PartitionMechanism(4).release(PROFILE),
    "partition, not simulated": lambda: replace(PartitionMechanism(4).release(PROFILE), simulations=0),
    "privhist": lambda: PrivHistMechanism(4).release(PROFILE),
    "labels": lambda: release(PROFILE, epsilon=4, unit=PrivacyUnit.label(max_count=5)),
    "users": lambda: release(USERS, epsilon=8, excess_share="0.2"),
    "edges": lambda: release_degrees(GRAPH, privacy=EdgePrivacy(), epsilon=4),
    "edges, public nodes": lambda: release_degrees(GRAPH, privacy=EdgePrivacy(public_nodes=9), epsilon=4),
    "nodes": lambda: release_degrees(
        GRAPH, privacy=NodePrivacy(), mechanism=BoundedDegrees(2, "cumulative"), epsilon=4
    ),
    "groups": lambda: release_groups(
        GroupedProfile(("day",), {("a",): PROFILE, ("b",): PROFILE}, unit=PrivacyUnit.item()), epsilon=4
    ),
    "groups, with an excess": lambda: release_groups(IN_GROUPS, epsilon=8, excess_share="0.2"),
    "windows": lambda: release_cumulative(WINDOWS, epsilon=2),
    "windows of groups": lambda: release_cumulative_groups(
        GroupedCumulativeCounts(("campaign",), {("a",): WINDOWS, ("b",): WINDOWS}), epsilon=2
    ),
    "sketch": _sketched,
}


@pytest.fixture(scope="module", params=RELEASES)
def made(request: pytest.FixtureRequest) -> Any:
    return RELEASES[request.param]()


def test_numbers_of_a_release_carry_its_guarantee(made: Any) -> None:
    found = dict(_numbers(made, "release", set()))
    assert found, "no number was found: the walk is broken"
    for path, each in found.items():
        assert isinstance(each.guarantee, Guarantee), path
        assert not NOT_PRIVATE.search(each._repr_html_()), path
    estimate = next(each for each in found.values() if isinstance(each, Estimate))
    assert estimate.to_pandas()["guarantee"].item() == str(estimate.guarantee)
    with tempfile.TemporaryDirectory() as folder:
        estimate.save(f"{folder}/number.csv")
        assert "not private" not in Path(folder, "number.csv").read_text("utf-8")


@pytest.mark.full
@pytest.mark.first(2)
@pytest.mark.parametrize("name", ["users", "edges", "frobenius", "sketch"])
def test_estimates_from_a_release_carry_its_guarantee(name: str) -> None:
    made = RELEASES[name]()
    for path, each in _of_functions(made, graphs if name == "edges" else properties):
        assert each.guarantee == made.guarantee, path
        assert not NOT_PRIVATE.search(each._repr_html_()), path


@pytest.mark.full
def test_numbers_of_exact_data_carry_none() -> None:
    for path, each in (*_of_functions(PROFILE, properties), *_of_functions(GRAPH, graphs)):
        assert each.guarantee is None, path
        assert NOT_PRIVATE.search(each._repr_html_()), path


def test_what_comes_from_a_release_and_exact_data_carries_none() -> None:
    made = RELEASES["frobenius"]()
    assert NOT_PRIVATE.search(made.error.k_plus(Profile.from_counts([3] * 400), 3)._repr_html_())
    assert NOT_PRIVATE.search(made.error.of_zeros(12)._repr_html_())
    assert NOT_PRIVATE.search(compare(PROFILE, epsilons=[1], mechanisms=["isotonic"], repeats=2)._repr_html_())


def _of_functions(data: Any, module: Any) -> Iterator[tuple[str, Found]]:
    """Yield all numbers that the functions of a module give of some data."""
    for name in dir(module):
        function = getattr(module, name)
        if inspect.isfunction(function) and "data" in inspect.signature(function).parameters:
            yield from _numbers(_called(partial(function, data), of=function), name, set())


def _numbers(value: Any, path: str, seen: set[int]) -> Iterator[tuple[str, Found]]:
    """Yield the estimates and curves that a value gives: by its attributes and methods, and in what it holds."""
    if isinstance(value, Found):
        yield path, value
        return
    if id(value) in seen or not type(value).__module__.startswith(HOLD_NUMBERS):
        return
    seen.add(id(value))
    held = (
        value.items()
        if isinstance(value, GroupedRelease | GroupedCumulativeRelease)
        else value
        if isinstance(value, Estimates)
        else ()
    )
    for name, each in held:
        yield from _numbers(each, f"{path}[{name!r}]", seen)
    if isinstance(value, CumulativeRelease):
        yield f"{path}[…]", value[value.days[0], value.thresholds[0]]
    for name in dir(value):
        if name.startswith("_"):
            continue
        try:
            found = getattr(value, name)
        except AnonhistError:
            continue  # No such number for this unit.
        if inspect.ismethod(found):
            is_number = str(inspect.signature(found).return_annotation) in {"Estimate", "Curve"}
            found = _called(found, of=found, value=value) if is_number else None
        yield from _numbers(found, f"{path}.{name}", seen)


def _called(function: Callable[..., Any], *, of: Callable[..., Any], value: Any = None) -> Any:
    """Return what a function gives when asked for what it needs; of a release, its own profile and zeros are given."""
    parameters = inspect.signature(of).parameters
    needed = {name for name, each in parameters.items() if each.default is inspect.Parameter.empty} - {"data"}
    released = getattr(value, "released", None)
    own = {} if released is None else {"profile": released.profile, "zeros": released.zeros}
    if needed & {"zeros"} and own["zeros"] is None:
        return None
    given = {**ASKED, **own}
    return function(**{name: given[name] for name in needed | (parameters.keys() & {"bootstraps"})})
