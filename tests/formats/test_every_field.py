"""Whatever a release says is in its file: a field that is added to any part of it must be written and read back."""

import json
from dataclasses import MISSING, fields, is_dataclass, replace
from fractions import Fraction
from inspect import get_annotations
from typing import Any

import numpy as np
import pytest

from anonhist.accounting import Receipt
from anonhist.formats.document import from_document, to_document
from anonhist.graphs import BoundedDegrees, EdgePolicy, EdgePrivacy, NodePrivacy, as_graph, release_degrees
from anonhist.graphs.graph import Direction
from anonhist.mechanisms import FrobeniusMechanism, PartitionMechanism, PrevalenceMechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Bounded, Profile
from anonhist.profiles.chosen_bound import ChosenBound
from anonhist.releases import Excess, Release
from anonhist.sketches import Adversary, DomainSketch, HashedSketch, NoiseShare
from anonhist_testing.sources import SeededSource

# The expected sorted ℓ1 distance is an estimate like others, of which a release says value, errors and method.
BY_DEFAULT = {f"Estimate.{name}" for name in ("assumes", "level", "parts", "warnings", "unit", "where", "bounded_unit")}
# What noisy values say is told by the error that is made from it: its band, and errors that are larger.
BY_DEFAULT |= {"Release.evidence", "Estimate.statement", "Statement.holds", "Statement.reason"}
# A release is one; only several together have parts.
BY_DEFAULT |= {"Guarantee.parts"}
# Of releases of groups alone, where it is how many there are.
BY_DEFAULT |= {"Excess.groups", "Release.unadjusted", "ReleaseError.around"}
SUBSTITUTE = NeighboringRelation.SUBSTITUTE
USER = PrivacyUnit.user(max_items=3)


def _of_degrees(
    privacy: EdgePrivacy | NodePrivacy, policy: EdgePolicy, mechanism: str | BoundedDegrees = "auto"
) -> Release:
    graph = as_graph([(f"n{i}", f"n{i * i % 7}") for i in range(9)], policy=policy, nodes=[f"n{i}" for i in range(12)])
    source = SeededSource(1)
    return release_degrees(graph, privacy=privacy, epsilon=5, mechanism=mechanism, simulations=2, source=source)


def _of_sketches() -> list[Release]:
    hashed = HashedSketch(buckets=50, epsilon=1, key=b"week 47", unit=USER, relation=SUBSTITUTE, sampling_rate="1/3")
    listed = DomainSketch(alphabet=["a", "b", "c"], epsilon=2)
    share = NoiseShare(honest=2, session="s", adversary=Adversary.OUTSIDER)
    setting: dict[str, Any] = {"epsilon": 1, "key": b"week 47", "unit": USER, "noise_share": share}
    merged = HashedSketch(buckets=50, **setting) + HashedSketch(buckets=50, **setting)
    named = HashedSketch(buckets=9, epsilon=1, key=b"k", unit=PrivacyUnit.user(max_items=2, name="patient"))
    return [sketch.reconstruct("three-tap", simulations=2) for sketch in (hashed, listed, merged, named)]


@pytest.fixture(scope="module")
def every_kind(releases: dict[str, Release]) -> list[Release]:
    member = PartitionMechanism(2, member=PartitionMechanism("1.9").family)
    degrees = [
        _of_degrees(EdgePrivacy(12, SUBSTITUTE), EdgePolicy(self_loops="count", duplicates="count")),
        _of_degrees(NodePrivacy(SUBSTITUTE), EdgePolicy(), BoundedDegrees(candidates=(2, 4))),
        _of_degrees(NodePrivacy(), EdgePolicy(Direction.OUT), BoundedDegrees(3, "histogram")),
        _of_degrees(NodePrivacy(SUBSTITUTE), EdgePolicy(), BoundedDegrees(3, "survival", "flow")),
        _of_degrees(EdgePrivacy(), EdgePolicy(Direction.IN)),
    ]
    banded = replace(FrobeniusMechanism("0.5").release(Profile.from_counts([9, 4, 4, 1])), simulations=2)
    of_member = replace(releases["partition"], mechanism=member, guarantee=member.guarantee)
    made = [*releases.values(), *degrees, *_of_sketches(), of_member, banded]
    made.append(replace(releases["frobenius"], order_key="0123456789abcdef" * 2, where="day >= '2026-11-01' or n = 7"))
    named = PrivacyUnit.user(max_items=5, name="viewer")
    made.append(FrobeniusMechanism("0.75", named).release(Profile.from_counts([9, 4, 4, 1])))
    excess = Excess(3, 20, SUBSTITUTE, Fraction(1, 7), Fraction(2, 7), 900, -4, 2**62)
    whole = FrobeniusMechanism("0.5", USER, SUBSTITUTE).release(Profile.from_counts([9, 4, 4, 1]))
    made.append(replace(whole, simulations=2, excess=excess, guarantee=excess.add_to(whole.guarantee)))
    charged = Receipt("0123456789abcdef" * 2, 12, "fedcba9876543210" * 4)
    made[-1] = replace(made[-1], receipt=charged)
    of_labels = PrevalenceMechanism(1, PrivacyUnit.label(max_count=3)).release(Profile.from_counts([9, 4, 1]))
    spent = (NeighboringRelation.ADD_OR_REMOVE, Fraction(1, 7), Fraction(2, 7))
    excess = Excess(3, 20, *spent, 9, 4, -2, Bounded.ITEMS_OF_LABELS)
    made.append(replace(of_labels, simulations=2, excess=excess, guarantee=excess.add_to(of_labels.guarantee)))
    units = PrivacyUnit.user(max_items=3, groups=2), replace(USER, in_one_group=True)
    of_groups = [FrobeniusMechanism("0.5", unit).release(Profile.from_counts([4, 1])) for unit in units]
    made.extend(replace(each, simulations=2) for each in of_groups)
    asked = ChosenBound("0.75", 1_000, "1/5", (1, 3), SUBSTITUTE, "frobenius")
    chosen = FrobeniusMechanism(asked.rest, USER, SUBSTITUTE, bound_choice=asked)
    made.append(replace(chosen.release(Profile.from_counts([4, 1])), simulations=2))
    pairs = ChosenBound("0.75", 1_000, "1/5", (1, 3), mechanism="frobenius", group_candidates=(1, 2))
    both = FrobeniusMechanism(pairs.rest, PrivacyUnit.label(max_count=3, groups=2), bound_choice=pairs)
    made.append(replace(both.release(Profile.from_counts([3, 1])), simulations=2))
    fitted = PartitionMechanism("1.2").release(Profile.from_counts([*range(1, 60), *[50] * 50]), source=SeededSource(1))
    made.append(replace(fitted, simulations=2))
    return [replace(release.with_error(), evidence=None) for release in made]


def _fields_of(value: object) -> Any:
    """Return all that a value says in its public fields, of any depth, to be compared."""
    if is_dataclass(value) and not isinstance(value, type):
        return {"": type(value).__name__, **{name: _fields_of(getattr(value, name)) for name in _public(value)}}
    if isinstance(value, Profile):
        return {name: _fields_of(getattr(value, name)) for name in Profile.__annotations__ if not name.startswith("_")}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_fields_of(each) for each in value] if isinstance(value, tuple) else value


def _public(value: Any) -> list[str]:
    return [each.name for each in fields(value) if not each.name.startswith("_")]


def _owner(kind: type, name: str) -> type:
    """Return the class that declares a field: what its heirs do not say, its others do."""
    return next(each for each in reversed(kind.__mro__) if name in get_annotations(each))


def _parts(value: object) -> list[Any]:
    """Return a value and all values inside it that have fields."""
    if isinstance(value, tuple):
        return [part for each in value for part in _parts(each)]
    if isinstance(value, type) or not is_dataclass(value):
        return []
    return [value, *(part for name in _public(value) for part in _parts(getattr(value, name)))]


@pytest.mark.full
def test_every_field_of_every_kind_of_release_survives(every_kind: list[Release]) -> None:
    for release in every_kind:
        read = from_document(json.loads(json.dumps(to_document(release))))
        assert _fields_of(read) == _fields_of(release)


@pytest.mark.slow
def test_every_field_has_a_value_of_its_own_in_some_release(every_kind: list[Release]) -> None:
    # A field that is everywhere as it is by default would be read back right without ever having been written.
    seen: dict[str, bool] = {}
    for part in [part for release in every_kind for part in _parts(release)]:
        for each in fields(part):
            if each.name in _public(part) and each.default is not MISSING:
                name = f"{_owner(type(part), each.name).__name__}.{each.name}"
                seen[name] = seen.get(name, False) or _fields_of(getattr(part, each.name)) != _fields_of(each.default)
    assert {name for name, has_own in seen.items() if not has_own} == BY_DEFAULT
    assert {
        "Release.zeros",
        "Release.excess",
        "Guarantee.spending",
        "ReleaseError.zeros_error",
        "ReleaseError.band",
        "EdgePolicy.direction",
    } <= seen.keys()


def test_no_two_kinds_say_the_same(every_kind: list[Release]) -> None:
    mechanisms = {repr(release.mechanism) for release in every_kind}
    assert len(mechanisms) >= len(every_kind) - 1
    assert {type(release.guarantee.epsilon) for release in every_kind} == {Fraction}
    assert isinstance(every_kind[0].mechanism, FrobeniusMechanism)
