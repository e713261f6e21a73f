"""Where runs on a release err less than it does, numbers stand without an interval, and say why, everywhere."""

import csv
import io
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from anonhist.formats.files import write
from anonhist.formats.releases import read_release
from anonhist.formats.tables import csv_text
from anonhist.graphs.degree_numbers import degree_ccdf, nodes_with_edges, num_nodes
from anonhist.graphs.edge_privacy import EdgeMechanism
from anonhist.graphs.graph import SIMPLE, Degrees
from anonhist.graphs.node_degrees import PartitionDegrees
from anonhist.mechanisms import (
    BoundedPartitionMechanism,
    FrobeniusMechanism,
    PartitionMechanism,
    RelaxedPartitionMechanism,
    calibrate,
)
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.properties.entropy import entropy
from anonhist.properties.estimate import Holds
from anonhist.properties.support_coverage import rarefaction_curve
from anonhist.properties.support_size import support_size
from anonhist.releases import Mechanism, Release
from anonhist.releases.made import runs_fall_short
from anonhist.report import Guessing, write_report
from anonhist.report.wording import no_intervals
from anonhist_testing.cases import each_of

DATA = Profile.from_prevalences({1: 30, 2: 12, 7: 3, 20: 1})
EDGE = PrivacyUnit.edge()


@pytest.fixture(scope="module")
def short_release() -> Release:
    return replace(PartitionMechanism("1/2").release(DATA), simulations=4).with_error()


@each_of(
    ("mechanism", "is_trusted"),
    [
        (PartitionMechanism("1.1"), True),
        (PartitionMechanism("1.09"), False),
        (BoundedPartitionMechanism("1.5", public_items=99), True),
        (BoundedPartitionMechanism("1.49", public_items=99), False),
        (RelaxedPartitionMechanism(2, public_items=99), True),
        (RelaxedPartitionMechanism("1.99", public_items=99), False),
        # The budget per cell is what counts: that of one of five items, of one of an edge's two degrees.
        (PartitionMechanism("5.5", PrivacyUnit.user(max_items=5)), True),
        (PartitionMechanism(5, PrivacyUnit.user(max_items=5)), False),
        (EdgeMechanism(PartitionMechanism("2.2", EDGE), SIMPLE), True),
        (EdgeMechanism(PartitionMechanism(2, EDGE), SIMPLE), False),
        (PartitionDegrees(epsilon=20, max_degree=2), True),
        # Its releases have intervals from noisy values; where these are missing, nothing is known.
        (PartitionDegrees(epsilon=1, max_degree=2), False),
        (FrobeniusMechanism(4), False),
        # Of members of the family that nobody asks for, nothing was measured.
        (PartitionMechanism(2, member=calibrate(Fraction(2))), True),
        (PartitionMechanism(2, member=calibrate(Fraction(3, 2))), False),
    ],
)
def test_runs_are_trusted_from_a_budget_per_cell_on(mechanism: Mechanism, *, is_trusted: bool) -> None:
    assert (runs_fall_short(mechanism) == "") is is_trusted


def test_numbers_say_why_they_have_no_interval(short_release: Release) -> None:
    for number in (short_release.prevalence(1), short_release.k_plus(2)):
        assert number.statement.holds is Holds.NONE
        assert "below ε/Δ = 1.1" in str(number)
        assert "±" not in str(number)
        assert np.isnan(number.standard_error)
    assert short_release.error.sorted_l1 is not None
    assert "below ε/Δ = 1.1" in no_intervals(short_release.error)
    assert no_intervals(replace(short_release.error, runs_fall_short="")) == ""


def test_tables_and_figures_leave_intervals_out(short_release: Release) -> None:
    for row in csv.DictReader(io.StringIO(csv_text(short_release))):
        for name in ("prevalence", "k_plus"):
            assert [row[f"{name}_{part}"] for part in ("standard_error", "low", "high")] == ["", "", ""]
    guessing = Guessing.of(short_release)
    assert not guessing.is_known
    assert short_release.num_items().statement.holds is Holds.NONE


@pytest.mark.slow
def test_properties_and_curves_say_why(short_release: Release) -> None:
    for estimate in (entropy(short_release), support_size(short_release)):
        assert estimate.statement.holds is Holds.NONE
        assert "below ε/Δ = 1.1" in estimate.statement.reason
    curve = rarefaction_curve(short_release, bootstraps=3)
    assert "below ε/Δ = 1.1" in curve.why_unknown


def test_a_release_that_is_read_again_says_the_same(short_release: Release, tmp_path: Path) -> None:
    write(short_release, tmp_path / "release.json")
    again = read_release(tmp_path / "release.json")
    assert str(again.k_plus(1)) == str(short_release.k_plus(1))
    assert again.error.expected_range == short_release.error.expected_range


def test_statistics_of_degrees_say_why() -> None:
    edges = EdgeMechanism(PartitionMechanism(2, EDGE), SIMPLE)
    degrees = Degrees(DATA.with_unit(EDGE), SIMPLE)
    release = replace(edges.release(degrees), simulations=4)
    assert "below ε/Δ = 1.1" in str(nodes_with_edges(release))
    assert "below ε/Δ = 1.1" in degree_ccdf(release).why_unknown


def test_a_public_number_of_nodes_is_exact_whatever_runs_are_worth() -> None:
    edges = EdgeMechanism(PartitionMechanism(2, EDGE), SIMPLE, public_nodes=60)
    release = edges.release(Degrees(DATA.with_unit(EDGE), SIMPLE))
    for simulations in (4, 0):
        known = num_nodes(replace(release, simulations=simulations))
        assert (known.value, known.interval, known.statement.holds) == (60, (60, 60), Holds.BOTH)


@pytest.mark.slow
def test_pages_speak_of_no_interval_where_there_is_none(short_release: Release, tmp_path: Path) -> None:
    edges = EdgeMechanism(PartitionMechanism(2, EDGE), SIMPLE, public_nodes=60)
    degrees = edges.release(Degrees(DATA.with_unit(EDGE), SIMPLE))
    curve = rarefaction_curve(short_release, bootstraps=3)
    for name, shown in (("release", short_release), ("degrees", replace(degrees, simulations=4)), ("curve", curve)):
        write_report(shown, tmp_path / f"{name}.html")
        page = (tmp_path / f"{name}.html").read_text()
        assert "below ε/Δ = 1.1" in page
        for wrong in (
            "interval no interval",
            "Bars and bands are",
            "no bias)",
            "meant to hold",
            "The interval holds",
            "with the 95% interval",
            "joined in squares",
            "± is one standard error.",
        ):
            assert wrong not in page, (name, wrong)


def test_nodes_without_an_edge_have_the_interval_of_those_with_one() -> None:
    edges = EdgeMechanism(FrobeniusMechanism(2, EDGE), SIMPLE, public_nodes=60)
    release = edges.release(Degrees(DATA.with_unit(EDGE), SIMPLE))
    (low, high), zeros = release.k_plus(1).interval, release.prevalence(0)
    assert release.evidence is not None
    assert zeros.interval == (max(60 - high, 0), max(60 - low, 0))
