"""Releases to report on, and the page of each."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from anonhist.mechanisms import CentralMechanism, FrobeniusMechanism, PartitionMechanism, PrevalenceMechanism
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.releases import Estimate, Release, ReleaseError
from anonhist.releases.error import METHOD
from anonhist.report import write_report

ReportOf = Callable[..., str]

COMMAND = "anonhist release 'a <b> & \"c\".csv' --epsilon 1 --report out.html"


def made(
    profile: Profile, mechanism: CentralMechanism, *, delta: Fraction = Fraction(0), spread: float = 3.0
) -> Release:
    """Make a release without noise, its errors of k+ counts falling evenly from ``spread`` to none."""
    counts = profile.counts.tolist()
    levels = np.array(sorted({1, *counts, *(count + 1 for count in counts if count < 2**63 - 1)}))
    return Release(
        profile=profile.with_unit(mechanism.unit),
        guarantee=Guarantee(mechanism.unit, mechanism.relation, mechanism.epsilon, delta, "noise is exact"),
        mechanism=mechanism,
        reason="<script>alert('reason')</script> & so it was picked.",
        library_version="0.1.0<i>",
        recorded_error=ReleaseError(
            Estimate(3.5, 0.25, (3.0, 4.0), METHOD),
            32,
            levels,
            np.linspace(spread / 2, 0.1, levels.size),
            np.linspace(spread, 0.0, levels.size),
        ),
    )


RELEASES = {
    "item": lambda: made(
        Profile.from_counts(np.maximum(1, (900 / np.arange(1, 400) ** 0.9).astype(np.int64))), FrobeniusMechanism(1)
    ),
    "user": lambda: made(
        Profile([1, 2, 200_000], [11_884_632, 1_323_615, 2]),
        PartitionMechanism(2, PrivacyUnit.user(max_items=5), NeighboringRelation.SUBSTITUTE),
        delta=Fraction(3, 2**68),
    ),
    "label": lambda: made(
        Profile([1, 2, 5, 30], [4000, 30, 8, 150]), PrevalenceMechanism("0.5", PrivacyUnit.label(max_count=30))
    ),
    "empty": lambda: made(Profile([], []), FrobeniusMechanism("0.5")),
    "one count": lambda: made(Profile([1], [1]), FrobeniusMechanism(1)),
    "largest": lambda: made(Profile([1, 2**63 - 2], [1, 1]), FrobeniusMechanism(1)),
}


@cache
def named_release(name: str) -> Release:
    return RELEASES[name]()


def written(release: Release, command: str | None = COMMAND) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        write_report(release, path, command=command)
        return path.read_text(encoding="utf-8")


# Tests come in random order, and pytest keeps the values of one parameter at a time: these are kept here.
@cache
def named_page(name: str) -> str:
    return written(named_release(name))


@pytest.fixture(params=RELEASES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def release(name: str) -> Release:
    return named_release(name)


@pytest.fixture
def page(name: str) -> str:
    return named_page(name)


@pytest.fixture(scope="session")
def named() -> Callable[[str], Release]:
    return named_release


@pytest.fixture(scope="session")
def page_named() -> Callable[[str], str]:
    return named_page


@pytest.fixture(scope="session")
def make_release() -> Callable[..., Release]:
    return made


@pytest.fixture(scope="session")
def page_of() -> ReportOf:
    return written


@pytest.fixture(scope="session")
def command() -> str:
    return COMMAND
