"""Releases to write and read, made without noise: what is tested here is the files."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anonhist.mechanisms import (
    BoundedPartitionMechanism,
    BudgetShares,
    CentralMechanism,
    CumulativeMechanism,
    FrobeniusMechanism,
    IsotonicMechanism,
    PartitionMechanism,
    PrevalenceMechanism,
    PrivHistMechanism,
    RelaxedPartitionMechanism,
)
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.releases import Release, ReleaseError
from anonhist.releases.runs import expected_distance

MakeRelease = Callable[..., Release]

METHOD_OF_OLD_FILES = "normal interval from re-simulating the mechanism on the released profile"


def _make_release(
    profile: Profile,
    mechanism: CentralMechanism,
    *,
    epsilon: Fraction | None = None,
    spending: tuple[tuple[str, Fraction], ...] = (),
    spread: float = 3.0,
    items: int | None = None,
) -> Release:
    promised = mechanism.guarantee
    counts = profile.counts.tolist()
    levels = np.array(sorted({1, *counts, *(count + 1 for count in counts if count < 2**63 - 1)}), dtype=np.int64)
    return Release(
        profile=profile.with_unit(mechanism.unit),
        guarantee=promised if epsilon is None else replace(promised, epsilon=epsilon, spending=spending),
        mechanism=mechanism,
        reason="At 1/3 per cell it errs least, „so“ <b>it</b> is.",
        library_version="0.1.0",
        recorded_error=ReleaseError(
            # How errors are found may change; files say how theirs were.
            expected_distance(3.5, 0.25, 32, method=METHOD_OF_OLD_FILES),
            32,
            levels,
            np.linspace(0, spread, levels.size),
            np.linspace(spread / 3, 0.1, levels.size),
        ),
        items=items,
    )


@pytest.fixture(scope="session")
def make_release() -> MakeRelease:
    return _make_release


@pytest.fixture(scope="session")
def releases() -> dict[str, Release]:
    third = Fraction(1, 3)
    return {
        "frobenius": _make_release(
            Profile([1, 2, 7, 2**62 + 1], [4, 3, 2, 1]),
            FrobeniusMechanism(third, PrivacyUnit.user(max_items=5), NeighboringRelation.SUBSTITUTE),
        ),
        "partition": _make_release(Profile([3, 8], [1, 2]), PartitionMechanism(Fraction(2))),
        "prevalence": _make_release(
            Profile([1, 5], [40, 2]), PrevalenceMechanism(Fraction(1, 2), PrivacyUnit.label(max_count=5))
        ),
        "empty": _make_release(Profile([], []), FrobeniusMechanism(Fraction(1, 1000))),
        "privhist": _make_release(Profile([1, 2, 900], [40, 7, 1]), PrivHistMechanism(Fraction(1, 2)), items=2**62 + 1),
        "privhist-thirds": _make_release(
            Profile([], []),
            PrivHistMechanism(6, PrivacyUnit.user(max_items=2), shares=BudgetShares.thirds()),
            items=0,
        ),
        "isotonic": _make_release(Profile([1, 9], [3, 2]), IsotonicMechanism(Fraction(1, 2), public_labels=5)),
        "cumulative": _make_release(
            Profile([1, 9], [3, 2]),
            CumulativeMechanism(third, relation=NeighboringRelation.SUBSTITUTE, public_cap=9),
        ),
        "prevalence-items": _make_release(Profile([1, 9], [3, 2]), PrevalenceMechanism(1, public_cap=9)),
        "bounded-partition": _make_release(Profile([1, 9], [3, 2]), BoundedPartitionMechanism(1, public_items=21)),
        "relaxed-partition": _make_release(
            Profile([1, 9], [3, 2]), RelaxedPartitionMechanism(2, public_items=21, delta=Fraction(1, 10**6))
        ),
    }


@pytest.fixture(scope="session")
def assert_same() -> Callable[[Release, Release], None]:
    def parts(release: Release) -> list[Any]:
        error = release.error
        tables = [table.tolist() for table in (error.levels, error.prevalence_errors, error.k_plus_errors)]
        told = (release.reason, release.library_version, release.simulations, error.simulations, error.sorted_l1)
        return [release.profile, release.items, release.guarantee, release.mechanism, told, *tables]

    def compare(first: Release, second: Release) -> None:
        assert parts(first) == parts(second)

    return compare
