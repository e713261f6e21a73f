"""Every figure of every kind of value, on a page, in a notebook and by itself: all text is whole and legible.

The kinds are those that the product itself lists, so that a new one without values here fails.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonhist.accounting import Balance, Budget, Charge, Cost, Entry
from anonhist.accounting.balance import Item
from anonhist.accounting.entry import Charged, Completed, Voided
from anonhist.graphs import (
    BoundedDegrees,
    Degrees,
    EdgeMechanism,
    EdgePolicy,
    NodePrivacy,
    as_graph,
    degree_statistics,
    release_degrees,
)
from anonhist.kinds import KINDS, RELEASED_BY
from anonhist.local import KRR, FrequencyEstimate, recommend
from anonhist.local.estimate import NormalLimits
from anonhist.mechanisms import (
    MECHANISM_NAMES,
    METRICS,
    PartitionMechanism,
    compare,
    plan,
    plan_bounds,
    plan_groups,
    release,
)
from anonhist.mechanisms.comparison import Comparison, ComparisonRow
from anonhist.mechanisms.grouping import release_groups
from anonhist.mechanisms.window_release import release_cumulative, release_cumulative_groups
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.grouped import GroupedProfile
from anonhist.profiles.windows import CumulativeCounts, GroupedCumulativeCounts
from anonhist.properties.by_name import estimate_all
from anonhist.properties.curve import Curve
from anonhist.properties.entropy import entropy
from anonhist.properties.guessing_curve import guessing_curve
from anonhist.properties.orders import hill_curve
from anonhist.properties.support_coverage import rarefaction_curve
from anonhist.releases import Release
from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
from anonhist.releases.difference import compare_releases
from anonhist.releases.grouped import GroupedRelease
from anonhist.report import plot, write_report
from anonhist.report.curve import VIEWS as CURVES
from anonhist.sketches import DomainSketch, HashedSketch, recommend_buckets
from anonhist.species.comparison import SiteComparison, compare_sites
from anonhist.species.releasing import release_incidence
from anonhist.species.sampling_units import SamplingUnits
from anonhist_testing.drawings import faults, record
from anonhist_testing.sources import SeededSource

LONG = "a name that goes on and on, " * 9
HUGE = 2**62
Make = Callable[[], Any]


def uneven(labels: int, largest: float) -> Profile:
    return Profile.from_counts(np.maximum(1, (largest / np.arange(1, labels + 1) ** 0.9)).astype(np.int64))


DATA = {
    "nothing": Profile([], []),
    "one label": Profile([1], [1]),
    "few labels": Profile.from_counts([8, 8, 3]),
    "one large count": Profile([777], [5]),
    "uneven": uneven(399, 900),
    "huge counts": Profile([1, 2, HUGE], [40, 3, 1]),
    "huge prevalences": Profile([1, 2, 3], [2**61, 2**40, 1]),
}


def released(data: str, epsilon: str = "1", simulations: int = 4, **options: Any) -> Release:
    return release(DATA[data], epsilon=epsilon, simulations=simulations, source=SeededSource(3), **options)


def degrees(counts: list[int], public_nodes: int | None = None, *, epsilon: str = "3", simulations: int = 4) -> Release:
    unit = PrivacyUnit.edge()
    mechanism = EdgeMechanism(PartitionMechanism(epsilon, unit), EdgePolicy(), public_nodes)
    data = Degrees(Profile.from_counts(counts, unit=unit), EdgePolicy())
    return replace(mechanism.release(data, source=SeededSource(7)), simulations=simulations)


def node_degrees() -> Release:
    graph = as_graph([(u, v) for u in range(9) for v in range(u)], nodes=range(40))
    how = BoundedDegrees(max_degree=6, method="cumulative")
    return release_degrees(
        graph, privacy=NodePrivacy(), mechanism=how, epsilon=4, simulations=4, source=SeededSource(7)
    )


def from_sketch(labels: int) -> Release:
    sketch = HashedSketch(buckets=100, epsilon=1, key=b"week 47", source=SeededSource(7))
    sketch.update(f"label {number}" for number in range(labels))
    return sketch.reconstruct(simulations=2)


def groups(number: int, data: tuple[str, ...] = ("few labels", "uneven", "nothing")) -> GroupedRelease:
    profiles = {(f"{at:02} {LONG * (at % 2)}",): DATA[data[at % len(data)]] for at in range(number)}
    grouped = GroupedProfile(("campaign",), profiles, unit=PrivacyUnit.item())
    return release_groups(grouped, epsilon=2, simulations=2, source=SeededSource(3))


def counts_of_days(days: int, thresholds: tuple[int, ...], size: int, name: str) -> CumulativeCounts:
    start = datetime(2026, 11, 1, tzinfo=UTC)
    named = tuple(name.format(start + timedelta(days=day)) for day in range(days))
    return CumulativeCounts(thresholds, named, np.full((len(thresholds), days), size))


def windows(
    days: int,
    thresholds: tuple[int, ...] = (1, 2, 3),
    size: int = 40,
    *,
    name: str = "{:%Y-%m-%d}",
    epsilon: str = "2",
) -> CumulativeRelease:
    counts = counts_of_days(days, thresholds, size, name)
    return release_cumulative(counts, epsilon=epsilon, source=SeededSource(5))


def window_groups(number: int, days: int, thresholds: tuple[int, ...], size: int) -> GroupedCumulativeRelease:
    counts = {
        (f"{at:02} {LONG * (at % 2)}",): counts_of_days(days, thresholds, size * (at % 3), "{:%Y-%m-%d %H:%M}")
        for at in range(number)
    }
    return release_cumulative_groups(GroupedCumulativeCounts(("campaign",), counts), epsilon=2)


MANY_THRESHOLDS = (1, 2, 5, 10, 100, 10_000, 10**6, 10**9)


def plain_curve(points: int, largest: float) -> Curve:
    """Make a curve of no kind that is known, with the longest name that a band can have."""
    x = np.linspace(0, largest, points)
    return Curve(
        x_name="some places",
        value_name="some values",
        x=x,
        value=x + 1,
        standard_error=x / 10,
        low=x / 2,
        high=2 * x + 1,
        kinds=("interpolated",) * (points - 2) + ("observed", "extrapolated"),
        method="none",
        assumes="nothing",
        level=0.999999999,
        bias="too low",
        guarantee=PartitionMechanism(1).guarantee,
    )


def compared(budgets: tuple[str, ...], mechanisms: tuple[str, ...], means: tuple[float, ...]) -> Comparison:
    """Make a comparison in which every mechanism has these means, each times its place, at the budgets."""
    rows = tuple(
        ComparisonRow(name, Fraction(at), metric.name, place * mean, mean / 9, 9)
        for at, mean in zip(budgets, means, strict=True)
        for place, name in enumerate(mechanisms, start=1)
        for metric in METRICS
    )
    relation = PartitionMechanism(1).relation
    return Comparison(rows, (), (), (), items=10, labels=4, unit=PrivacyUnit.item(), relation=relation, repeats=9)


def sites(many: int, data: str = "few labels", *, name: str = "$x_1$ & <b>", **options: Any) -> SiteComparison:
    named = {f"{at} {name}": DATA[data] for at in range(many)}
    return compare_sites(named, bootstraps=3, rng=np.random.default_rng(1), **options)


def balance(charges: int, every: timedelta, *, limit: str = "2", cost: str = "1/7") -> Balance:
    budget = Budget("data set", "item", epsilon=Fraction(limit))
    guarantee = PartitionMechanism(1).guarantee
    items = []
    for at in range(charges):
        charged = Charged(Charge(budget.dataset, guarantee, "partition"), Cost(Fraction(cost), Fraction(0)))
        outcomes = (Completed(budget.dataset, at + 2, "0" * 64), None, Voided(budget.dataset, at + 2, "why"))
        time = (datetime(2026, 1, 12, 9, 30, tzinfo=UTC) + at * every).isoformat().replace("+00:00", "Z")
        items.append(Item(Entry("0" * 32, at + 2, charged, time, "eve", "0.1.0"), charged, outcomes[at % 3]))
    return Balance(budget, tuple(items))


def shares(labels: list[str], largest: float = 0.3, *, error: float = 0.004, level: float = 0.95) -> FrequencyEstimate:
    raw = largest / np.arange(1, len(labels) + 1)
    errors = np.full(len(labels), error)
    return FrequencyEstimate(
        labels=tuple(labels),
        users=40_000,
        frequencies=raw,
        raw=raw,
        standard_errors=errors,
        p_values=np.full(len(labels), 0.01),
        significant=raw > 5 * error,
        level=level,
        decoder="projected",
        correction="holm",
        other=0.0,
        other_standard_error=0.0,
        note="",
        guarantee=KRR(alphabet=2, epsilon=2).guarantee,
        limits=NormalLimits(raw, errors),
    )


CURVE_OF: dict[str, Callable[[Any], Curve]] = {
    "rarefaction": rarefaction_curve,
    "guesses": partial(guessing_curve, bootstraps=3),
    "hill": partial(hill_curve, bootstraps=3),
}

# By the kind that a notebook knows it as, and what is special about it.
VALUES: dict[str, dict[str, Make]] = {
    "release": {
        **{data: lambda data=data: released(data) for data in DATA if data != "huge prevalences"},
        "hardly any budget": lambda: released("few labels", "0.01", simulations=2),
        "much budget": lambda: released("uneven", "50"),
        "no intervals": lambda: released("uneven", simulations=0),
        "users": lambda: release(
            uneven(300, 40).with_unit(PrivacyUnit.user(max_items=5)), epsilon=1, simulations=4, source=SeededSource(3)
        ),
        "labels": lambda: released("few labels", unit=PrivacyUnit.label(max_count=30)),
        "degrees": lambda: degrees([8, 4, 4, 3, 2, 2, 1, 1, 1]),
        "degrees of a public number of nodes": lambda: degrees([8, 4, 4, 3, 2, 2, 1, 1, 1], 150),
        "no degrees": lambda: degrees([], epsilon="12"),
        "degrees of one edge": lambda: degrees([1, 1], epsilon="12"),
        "huge degrees": lambda: degrees([1] * 2000 + [2] * 50 + [10**15, 10**15, HUGE // 2]),
        "degrees at hardly any budget": lambda: degrees([8, 4, 4, 3, 2, 2, 1, 1, 1], epsilon="0.05", simulations=2),
        "bounded degrees": node_degrees,
        "a sketch": lambda: from_sketch(40),
        "an empty sketch": lambda: from_sketch(0),
    },
    "groups": {
        "one": lambda: groups(1),
        "many": lambda: groups(4),
        "more than are drawn": lambda: groups(30),
        "empty": lambda: groups(2, ("nothing",)),
        "huge": lambda: groups(2, ("huge counts", "one label")),
    },
    "windows": {
        "one day": lambda: windows(1),
        "two days": lambda: windows(2),
        "a year": lambda: windows(365),
        "hours": lambda: windows(48, name="{:%Y-%m-%d %H:%M:%S}"),
        "long names": lambda: windows(5, name="{:%Y-%m-%d} " + LONG),
        "many thresholds": lambda: windows(30, MANY_THRESHOLDS),
        "nobody": lambda: windows(30, size=0, epsilon="50"),
        "huge": lambda: windows(3, (1, 2, 2**30), 2**48),
        "hardly any budget": lambda: windows(30, epsilon="0.001"),
    },
    "windows of groups": {
        "small": lambda: window_groups(1, 1, (1,), 0),
        "many": lambda: window_groups(4, 30, (1, 2, 3), 40),
        "many thresholds": lambda: window_groups(3, 30, MANY_THRESHOLDS, 40),
        "huge": lambda: window_groups(3, 3, (1, 2**30), 2**48),
    },
    "curve": {
        **{
            f"{name} of data, {data}": lambda draw=draw, data=data: draw(DATA[data])
            for name, draw in CURVE_OF.items()
            for data in DATA
        },
        **{
            f"{name} of a release, {data}": lambda draw=draw, data=data: draw(released(data))
            for name, draw in CURVE_OF.items()
            for data in ("nothing", "one label", "uneven", "huge counts")
        },
        "rarefaction of a release without intervals": lambda: rarefaction_curve(released("uneven", simulations=0)),
        "rarefaction at hardly any budget": lambda: rarefaction_curve(released("few labels", "0.05", simulations=2)),
        "rarefaction at another level": lambda: rarefaction_curve(released("uneven"), level=0.999999999),
        "guesses at another level": lambda: guessing_curve(released("uneven"), bootstraps=3, level=0.999999999),
        "hill at another level": lambda: hill_curve(released("uneven"), bootstraps=3, level=0.999999999),
        "other": lambda: plain_curve(9, 40.0),
        "other, huge": lambda: plain_curve(3, 1e19),
        "other, small": lambda: plain_curve(3, 1e-9),
    },
    "comparison": {
        "of each kind": lambda: compare(
            DATA["few labels"], epsilons=["0.2", "0.5", 1, 2], repeats=2, source=SeededSource(3)
        ),
        "one": lambda: compared(("1/3",), ("auto",), (2.0,)),
        "all mechanisms": lambda: compared(("0.1", "1"), MECHANISM_NAMES, (3e5, 2e-3)),
        "many budgets": lambda: compared(
            tuple(f"{at}/1000003" for at in range(1, 40)), ("auto", "frobenius"), (9.0,) * 39
        ),
        "distant budgets": lambda: compared(("1/1000000000", "1", "1000000"), ("auto",), (1e18, 1.0, 1e-9)),
        "no error": lambda: compared(("1", "2"), ("auto", "partition"), (0.0, 0.0)),
    },
    "release difference": {
        "two": lambda: compare_releases(released("few labels"), released("uneven")),
        "long names": lambda: compare_releases(
            released("uneven"), released("one label"), names=(LONG, f"$x^2$ {LONG}")
        ),
        "nothing": lambda: compare_releases(released("nothing"), released("nothing", "2")),
        "huge": lambda: compare_releases(released("huge counts"), released("one large count")),
    },
    "balance": {
        "no charges": lambda: balance(0, timedelta(days=3)),
        "one charge": lambda: balance(1, timedelta(days=3)),
        "hours": lambda: balance(7, timedelta(hours=3)),
        "seconds": lambda: balance(7, timedelta(seconds=1)),
        "months": lambda: balance(9, timedelta(days=40)),
        "years": lambda: balance(30, timedelta(days=400), limit="100"),
        "many charges": lambda: balance(300, timedelta(days=1), limit="1000000"),
        "tiny": lambda: balance(5, timedelta(days=1), limit="1/1000000", cost="1/10000000"),
        "overspent": lambda: balance(5, timedelta(days=1), limit="1/1000000", cost="123456"),
    },
    "frequencies": {
        "none": lambda: shares([]),
        "one": lambda: shares(["cat"]),
        "many": lambda: shares([f"value {at}" for at in range(300)]),
        "long names": lambda: shares([f"{at} {LONG}" for at in range(30)]),
        "wide names": lambda: shares(["W" * 80, "$x^2$ " * 20, "", "a\nb", "%" * 80]),
        "tiny": lambda: shares(["a", "b"], 1e-9, error=1e-11),
        "all": lambda: shares(["a", "b"], 1.0),
        "wide intervals": lambda: shares(["a", "b", "c"], error=3.0),
        "another level": lambda: shares(["a", "b", "c"], level=0.999999999),
    },
    "estimate": {"one": lambda: entropy(DATA["uneven"])},
    "estimates": {"all": lambda: estimate_all(DATA["few labels"])},
    "survey": {"one": lambda: KRR(alphabet=["a", "b"], epsilon=1)},
    "tally": {"one": lambda: KRR(alphabet=["a", "b"], epsilon=1).empty_tally()},
    "sketch": {"one": lambda: DomainSketch(alphabet=["a", "b"], epsilon=1)},
    "plan": {"one": lambda: plan(epsilons=[1], items=1000)},
    "bound plan": {"one": lambda: plan_bounds({1: 9, 5: 2}, epsilons=[2], candidates=(1, 2))},
    "group plan": {"one": lambda: plan_groups({("DE",): 40}, by=["country"], epsilon=1, simulations=2)},
    "degree statistics": {"one": lambda: degree_statistics(as_graph([(1, 2), (2, 3)]))},
    "recommendation": {"one": lambda: recommend(alphabet_size=100, epsilon=1, users=1000)},
    "buckets": {"one": lambda: recommend_buckets(labels=9, epsilon=1)},
    "site comparison": {
        "one site": lambda: sites(1, orders=(0,)),
        "two sites": lambda: sites(2, orders=(0, 1)),
        "many sites": lambda: sites(30, points=4),
        "long names": lambda: sites(3, name=LONG),
        "large": lambda: sites(2, "uneven", points=4),
        "no curves": lambda: sites(1, points=0),
    },
    "incidence release": {
        "one": lambda: release_incidence(SamplingUnits([["oak"]] * 90), epsilon=1, max_per_unit=1),
    },
}


FIGURES, PAGES = ({name for name, kind in KINDS.items() if getattr(kind, what)} for what in ("figure", "page"))


@cache
def value_of(kind: str, name: str) -> Any:
    return VALUES[kind][name]()


def test_no_kind_is_forgotten() -> None:
    assert set(VALUES) == {name for name, kind in KINDS.items() if kind.cell} >= {*FIGURES, *PAGES}


@pytest.mark.slow
def test_no_mechanism_and_no_curve_is_forgotten() -> None:
    assert {value_of("release", name).mechanism.kind.name for name in VALUES["release"]} == set(RELEASED_BY)
    assert {value_of("curve", name).x_name for name in VALUES["curve"]} > set(CURVES)


@pytest.mark.slow
@pytest.mark.drawn(18)
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, makes in VALUES.items() for name in makes])
def test_all_text_is_whole_and_legible(kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    value, drawn = value_of(kind, name), record(monkeypatch)
    ways: dict[str, Callable[[], Any]] = {"in a notebook": value._repr_html_}
    if kind in FIGURES:
        ways["by itself"] = lambda: plot(value)
    if kind in PAGES:
        ways["on a page"] = lambda: write_report(value, tmp_path / "page.html")
    found, seen = {}, 0
    for way, show in ways.items():
        drawn.clear()
        show()
        seen += len(drawn)
        # Matplotlib warns where axes have no room at all, and warnings are errors here.
        found |= {f"{way}, figure {at}": said for at, figure in enumerate(drawn) if (said := faults(figure))}
    assert found == {}
    assert bool(seen) == (len(ways) > 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["degrees", "no degrees", "huge degrees"])
def test_so_it_is_beside_the_truth(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release, drawn = value_of("release", name), record(monkeypatch)
    truth = Profile.from_counts([9, 4, 4, 3, 2, 2, 1, 1], unit=PrivacyUnit.edge())
    write_report(release, tmp_path / "page.html", not_private_truth=truth)
    assert len(drawn) == 2
    assert [faults(figure) for figure in drawn] == [[], []]
