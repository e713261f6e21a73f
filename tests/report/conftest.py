"""Releases to report on, and the page of each."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.graphs import BoundedDegrees, Degrees, EdgeMechanism, EdgePolicy, NodePrivacy, as_graph, release_degrees
from anonhist.local import KRR, FrequencyEstimate
from anonhist.local.estimate import NormalLimits
from anonhist.mechanisms import (
    CentralMechanism,
    Comparison,
    FrobeniusMechanism,
    PartitionMechanism,
    PrevalenceMechanism,
    compare,
)
from anonhist.mechanisms.grouping import release_groups
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.grouped import GroupedProfile
from anonhist.properties.curve import Curve
from anonhist.properties.estimate import Estimate
from anonhist.properties.guessing_curve import guessing_curve
from anonhist.properties.orders import hill_curve
from anonhist.properties.support_coverage import rarefaction_curve
from anonhist.releases import KPlusBand, PrevalenceBand, Release, ReleaseError
from anonhist.releases.evidence import whole_interval
from anonhist.releases.made import runs_fall_short
from anonhist.releases.runs import METHOD, prevalences_at
from anonhist.report import write_report
from anonhist_testing.sources import SeededSource

ReportOf = Callable[..., str]

VOID = {"meta", "link", "br", "hr", "img", "input", "col", "area", "base", "embed", "source", "track", "wbr"}
Attributes = list[tuple[str, str | None]]


class Reader(HTMLParser):
    """Keeps what a page consists of, and fails on a tag that is closed out of turn or never."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute twice in <{tag}>"
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        assert "svg" in self.open, f"<{tag}/> outside of a drawing"
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


COMMAND = "anonhist release 'a <b> & \"c\".csv' --epsilon 1 --report out.html"


def bands(
    profile: Profile, levels: NDArray[np.int64], single: NDArray[np.float64], reaching: NDArray[np.float64]
) -> dict[str, Any]:
    """Return bands of the intervals that standard errors at the levels give."""
    least, most = (end.astype(np.int64) for end in whole_interval(prevalences_at(profile, levels), single))
    low, high = (end.astype(np.int64) for end in whole_interval(profile.cumulative_prevalence(levels), reaching))
    return {
        "band": KPlusBand(levels, np.minimum.accumulate(low), high),
        "prevalence_band": PrevalenceBand(levels, least, most),
    }


def make_release_by_hand(
    profile: Profile, mechanism: CentralMechanism, *, delta: Fraction = Fraction(0), spread: float = 3.0
) -> Release:
    """Make a release without noise, its errors of k+ counts falling evenly from ``spread`` to none.

    Where the mechanism does not trust its runs, bands as wide as these stand in their place: all have intervals.
    """
    counts = profile.counts.tolist()
    levels = np.array(sorted({1, *counts, *(count + 1 for count in counts if count < 2**63 - 1)}))
    errors = np.linspace(spread / 2, 0.1, levels.size), np.linspace(spread, 0.0, levels.size)
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
            *errors,
            **(bands(profile, levels, *errors) if runs_fall_short(mechanism) else {}),
        ),
    )


RELEASES = {
    "item": lambda: make_release_by_hand(
        Profile.from_counts(np.maximum(1, (900 / np.arange(1, 400) ** 0.9).astype(np.int64))), FrobeniusMechanism(1)
    ),
    "user": lambda: make_release_by_hand(
        Profile([1, 2, 200_000], [11_884_632, 1_323_615, 2]),
        PartitionMechanism(2, PrivacyUnit.user(max_items=5), NeighboringRelation.SUBSTITUTE),
        delta=Fraction(3, 2**68),
    ),
    "label": lambda: make_release_by_hand(
        Profile([1, 2, 5, 30], [4000, 30, 8, 150]), PrevalenceMechanism("0.5", PrivacyUnit.label(max_count=30))
    ),
    "empty": lambda: make_release_by_hand(Profile([], []), FrobeniusMechanism("0.5")),
    "one count": lambda: make_release_by_hand(Profile([1], [1]), FrobeniusMechanism(1)),
    "largest": lambda: make_release_by_hand(Profile([1, 2**63 - 2], [1, 1]), FrobeniusMechanism(1)),
}


@cache
def named_release(name: str) -> Release:
    return RELEASES[name]()


def write_page(release: Release, command: str | None = COMMAND) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        write_report(release, path, command=command)
        return path.read_text(encoding="utf-8")


# Every mechanism at several budgets, one budget, no data at all, labels protected, and what does not apply.
SMALL = Profile.from_counts([90, 40, 40, 17, 9, 5, 5, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1])
COMPARISONS: dict[str, Callable[[], Comparison]] = {
    "all": lambda: compare(SMALL, epsilons=["0.2", "0.5", 1, 2], repeats=2, source=SeededSource(3)),
    "one budget": lambda: compare(SMALL, epsilons=["1/3"], repeats=2, source=SeededSource(4)),
    "no data": lambda: compare(
        Profile([], []), epsilons=["0.1", 1, "1.01", 40], mechanisms=["auto", "frobenius"], repeats=2
    ),
    "labels": lambda: compare(SMALL, epsilons=[2, 1], repeats=2, unit=PrivacyUnit.label(max_count=9)),
    "large": lambda: compare(Profile([3, 10**9], [2**16, 7]), epsilons=[1, 30], repeats=2),
}
COMPARE_COMMAND = "anonhist compare 'a <b> & \"c\".csv' --epsilon 1 --report out.html"


@cache
def get_comparison(name: str) -> Comparison:
    return COMPARISONS[name]()


@cache
def get_comparison_page(name: str) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        write_report(get_comparison(name), path, command=COMPARE_COMMAND)
        return path.read_text(encoding="utf-8")


# Tests come in random order, and pytest keeps the values of one parameter at a time: these are kept here.
@cache
def named_page(name: str) -> str:
    return write_page(named_release(name))


# Of data and of a release, of each kind, and of no data.
CURVES: dict[str, Callable[[], Curve]] = {
    "rarefaction": lambda: rarefaction_curve(SMALL),
    "guessing": lambda: guessing_curve(named_release("item"), bootstraps=5),
    "hill": lambda: hill_curve(SMALL, bootstraps=5),
    "nothing": lambda: hill_curve(Profile([], []), bootstraps=5),
}
CURVE_COMMAND = "anonhist curve hill 'a <b> & \"c\".csv' --report out.html"


@cache
def get_curve_page(name: str) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        write_report(CURVES[name](), path, command=CURVE_COMMAND)
        return path.read_text(encoding="utf-8")


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
    return make_release_by_hand


@pytest.fixture(scope="session")
def page_of() -> ReportOf:
    return write_page


@pytest.fixture(scope="session")
def command() -> str:
    return COMMAND


@pytest.fixture(scope="session")
def reader_of() -> Callable[[str], Reader]:
    return Reader


@pytest.fixture(params=COMPARISONS)
def comparison_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def comparison(comparison_name: str) -> Comparison:
    return get_comparison(comparison_name)


@pytest.fixture
def comparison_page(comparison_name: str) -> str:
    return get_comparison_page(comparison_name)


@pytest.fixture(scope="session")
def compared() -> Callable[[str], Comparison]:
    return get_comparison


@pytest.fixture(scope="session")
def compared_page() -> Callable[[str], str]:
    return get_comparison_page


@pytest.fixture(scope="session")
def curve_page() -> Callable[[str], str]:
    return get_curve_page


def estimate_shares(labels: tuple[str, ...], *, candidates: bool = False) -> FrequencyEstimate:
    """Make an estimate of shares that fall like 1/rank, without chance."""
    ranks = np.arange(1, len(labels) + 1)
    raw = 0.3 / ranks - 0.005 * (ranks % 7 == 0)
    errors = np.full(len(labels), 0.004)
    return FrequencyEstimate(
        labels=labels,
        users=40_000,
        frequencies=np.maximum(raw, 0),
        raw=raw,
        standard_errors=errors,
        p_values=np.clip(ranks / 1000, 0, 1),
        significant=raw > 0.02,
        level=0.95,
        decoder="projected",
        correction="holm",
        other=0.25 if candidates else 0.0,
        other_standard_error=0.011 if candidates else 0.0,
        note="It stopped early." if candidates else "",
        guarantee=KRR(alphabet=2, epsilon=2).guarantee,
        limits=NormalLimits(raw, errors),
    )


# Many values, few candidates with names of all kinds, and one value.
ESTIMATES: dict[str, Callable[[], FrequencyEstimate]] = {
    "many": lambda: estimate_shares(tuple(f"value {rank}" for rank in range(300))),
    "candidates": lambda: estimate_shares(
        (
            "<script>alert(1)</script> & more that is so long that it must be cut somewhere",
            "猫",
            "a\x1b[2J",
            "",
            "x" * 99,
        ),
        candidates=True,
    ),
    "one": lambda: estimate_shares(("cat",), candidates=True),
}
LOCAL_COMMAND = "anonhist local estimate 'a <b> & \"c\".json' tally.json --report out.html"


@cache
def get_local_page(name: str) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        write_report(ESTIMATES[name](), path, command=LOCAL_COMMAND)
        return path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def local_page() -> Callable[[str], str]:
    return get_local_page


@pytest.fixture(scope="session")
def local_estimate() -> Callable[[str], FrequencyEstimate]:
    return lambda name: ESTIMATES[name]()


@pytest.fixture(scope="session")
def make_estimate() -> Callable[..., FrequencyEstimate]:
    return estimate_shares


EDGE = PrivacyUnit.edge()
UNDIRECTED = EdgePolicy()
LADDER = Profile.from_counts(np.maximum(1, (60 / np.arange(1, 121) ** 0.8).astype(np.int64)), unit=EDGE)


def release_edges(profile: Profile, *, epsilon: int = 3, public_nodes: int | None = None) -> Release:
    """Release degrees with edge privacy, always with the same noise and the same errors."""
    mechanism = EdgeMechanism(PartitionMechanism(epsilon, EDGE), UNDIRECTED, public_nodes)
    drawn = mechanism.release(Degrees(profile, UNDIRECTED), source=SeededSource(7))
    return replace(drawn, simulations=4, reason="<script>alert('reason')</script> & so it was picked.")


def release_nodes() -> Release:
    ends = np.minimum(np.random.default_rng(5).zipf(1.9, size=(240, 2)), 80)
    graph = as_graph([(int(u), int(v)) for u, v in ends], nodes=range(1, 81))
    how = BoundedDegrees(max_degree=6, method="cumulative")
    return release_degrees(
        graph, privacy=NodePrivacy(), mechanism=how, epsilon=4, simulations=4, source=SeededSource(7)
    )


# With edge privacy and node privacy, the number of nodes public or not, no data, and numbers beyond reason.
DEGREES: dict[str, Callable[[], Release]] = {
    "edge": lambda: release_edges(LADDER),
    "public": lambda: release_edges(LADDER, public_nodes=150),
    "node": release_nodes,
    "empty": lambda: release_edges(Profile([], [], unit=EDGE), epsilon=12),
    "one": lambda: release_edges(Profile([1], [2], unit=EDGE), epsilon=12),
    "huge": lambda: release_edges(Profile([1, 2, 10**15, 2**61], [10**6, 10**3, 2, 1], unit=EDGE)),
}
DEGREES_COMMAND = "anonhist degrees 'a <b> & \"c\".txt' --unit edge --epsilon 1"


@cache
def get_degrees(name: str) -> Release:
    return DEGREES[name]()


@cache
def get_degrees_page(name: str) -> str:
    """Return the page of a release, or with " and truth" after its name, that with the true degrees."""
    release_name, _, truth = name.partition(" and ")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        known = LADDER if truth else None
        write_report(get_degrees(release_name), path, command=DEGREES_COMMAND, not_private_truth=known)
        return path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def degrees_page() -> Callable[[str], str]:
    return get_degrees_page


@pytest.fixture(scope="session")
def released_degrees() -> Callable[[str], Release]:
    return get_degrees


@pytest.fixture(scope="session")
def true_degrees() -> Profile:
    return LADDER


def write_groups_page(number: int) -> str:
    """Return the page of a release of groups, with long names and without breaks in them."""
    profiles = {("x" * (at % 3 * 60 + 1), f"day {at:02}"): SMALL for at in range(number)}
    grouped = GroupedProfile(("campaign", "day"), profiles, unit=PrivacyUnit.item())
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        write_report(release_groups(grouped, epsilon=2, simulations=2, source=SeededSource(3)), path, command=COMMAND)
        return path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def groups_page() -> Callable[[int], str]:
    return write_groups_page


# What a browser would fetch or follow.
LOADS = {"src", "href", "xlink:href", "action", "data", "poster", "srcset", "background", "formaction"}


def assert_whole(page: str) -> None:
    """Assert that a page is whole by itself: well formed, loading and running nothing, leading nowhere else."""
    read = Reader(page)
    assert page.startswith("<!doctype html>")
    assert [len(read.all(tag)) for tag in ("html", "head", "body", "main", "h1")] == [1] * 5
    # Those in drawings are what a browser tells whoever points at them.
    assert page.partition("<body>")[0].count("<title>") == 1
    assert not re.search(r"{[{%#]", page.partition("</style>")[2])
    assert_nothing_is_loaded_and_nothing_runs(page, read)
    assert_loading_is_forbidden(read)
    assert_names_are_unique_and_references_lead_somewhere(page, read)


def assert_nothing_is_loaded_and_nothing_runs(page: str, read: Reader) -> None:
    for tag, attributes in read.elements:
        assert tag not in {"script", "iframe", "object", "embed", "img", "form", "base"}
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in LOADS:
                assert value.startswith(("#", "data:")), (tag, name)
            elif "//" in value:
                assert name.startswith("xmlns"), (tag, name, value)
    assert all(target.startswith("#") for target in re.findall(r"url\((.*?)\)", page))
    assert "@import" not in page


def assert_loading_is_forbidden(read: Reader) -> None:
    # The page forbids itself to load anything, should something ever slip in.
    policies = [each for each in read.all("meta") if each.get("http-equiv") == "Content-Security-Policy"]
    assert policies[0]["content"].startswith("default-src 'none'")


def assert_names_are_unique_and_references_lead_somewhere(page: str, read: Reader) -> None:
    names = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(names) == len(set(names))
    references = re.findall(r'(?:href="|url\()#([^")]+)', page)
    assert references
    assert set(references) <= set(names)


@pytest.fixture(scope="session")
def whole() -> Callable[[str], None]:
    """Give the check of pages; each kind is checked where its pages are made, which takes longer than to check them."""
    return assert_whole


@pytest.fixture(scope="session")
def whole_piece() -> Callable[[str], None]:
    """Give the check of what stands inside somebody else's page: well formed, and it loads and runs nothing."""
    return lambda html: assert_nothing_is_loaded_and_nothing_runs(html, Reader(html))


@pytest.fixture(scope="session")
def local_names() -> list[str]:
    return list(ESTIMATES)


@pytest.fixture(scope="session")
def degrees_names() -> list[str]:
    return list(DEGREES)
