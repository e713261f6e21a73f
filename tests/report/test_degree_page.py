"""The page of released degrees: what it says, in whose words, and how loudly it says that it is not private."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from anonhist.errors import UsageError
from anonhist.graphs import EdgePolicy
from anonhist.graphs.degree_numbers import degree_statistics
from anonhist.graphs.page import NOT_PRIVATE, ends_text, number_text
from anonhist.mechanisms import FrobeniusMechanism, release
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimate
from anonhist.releases import Release
from anonhist.report import write_report
from anonhist.report.page import view_of
from anonhist_testing.sources import SeededSource

PageOf = Callable[[str], str]
ReleaseOf = Callable[[str], Release]
NAMES = ("edge", "public", "node", "empty", "one", "huge")


def words(page: str) -> str:
    """Return what is read, without drawings."""
    body = re.sub(r"<svg.*?</svg>", "", page[page.index("<main>") :], flags=re.DOTALL)
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))).replace("\u00a0", " ")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_speaks_of_nodes_and_edges(degrees_page: PageOf, name: str) -> None:
    said = words(degrees_page(name))
    assert not re.search(r"\b(labels?|items?|counts)\b", said), said
    assert "nodes with an edge" in said
    assert "expected ℓ1 error" in said


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_statistic_is_told_with_its_interval(
    degrees_page: PageOf, released_degrees: ReleaseOf, name: str
) -> None:
    said = words(degrees_page(name))
    for told, number in degree_statistics(released_degrees(name)).by_name():
        row = " ".join(f"{told} {number_text(number)} {ends_text(number)}".split())
        assert row in said


def test_promise_policy_mechanism_and_command_are_there(degrees_page: PageOf, released_degrees: ReleaseOf) -> None:
    said, made = words(degrees_page("edge")), released_degrees("edge")
    assert str(made.guarantee) in said
    assert "Adding or removing any one edge changes the probability" in said
    assert "by at most a factor of 20.1." in said
    assert "That somebody has many edges" in said
    assert str(EdgePolicy()) in said
    assert "Mechanism: edge-partition" in " ".join(said.split())
    assert "self_loops = drop" in said
    assert "<script>alert('reason')</script> & so it was picked." in said
    assert "anonhist degrees 'a <b> & \"c\".txt'" in said
    assert NOT_PRIVATE not in degrees_page("edge")


@pytest.mark.full
def test_node_privacy_says_what_is_missing(degrees_page: PageOf) -> None:
    said = words(degrees_page("node"))
    assert "Adding or removing any one node with all its edges changes" in said
    assert "At most 6 edges of each node are counted. Errors and intervals do not cover what this leaves out." in said
    assert "more without" in said  # nodes without an edge, which were listed
    assert "of each node are counted" not in words(degrees_page("edge"))


def test_the_truth_is_shown_only_under_a_loud_banner(degrees_page: PageOf) -> None:
    private, page = degrees_page("edge"), degrees_page("edge and truth")
    said = words(page)
    assert said.strip().startswith(NOT_PRIVATE)
    assert f"<title>{NOT_PRIVATE}" in page
    assert re.search(rf'<p class="banner" role="alert">{NOT_PRIVATE}</p>', page)
    assert (
        f'aria-label="Share of nodes with at least a given degree, both on log scales, with a 95% band. {NOT_PRIVATE}'
        in page
    )
    assert f"{NOT_PRIVATE}, dashed." in said
    # The color of the alarm is in the figure as well; no private page has either.
    assert "var(--alarm)" in page.partition("<svg")[2]
    assert 'class="banner"' not in private
    assert "var(--alarm)" not in private.partition("<svg")[2]


@pytest.mark.slow
def test_nothing_is_promised_for_a_page_with_the_truth(degrees_page: PageOf) -> None:
    private, said = words(degrees_page("edge")), words(degrees_page("edge and truth"))
    for sentence in (
        "This stays true whatever is done with the results.",
        "changes the probability of any result by at most",
    ):
        assert sentence in private
        assert sentence not in said
    assert "promised for the release alone" in said
    assert "This page, which shows the true degrees." in said
    # The tables are those of the release: nothing but the figure and the banner differ.
    assert said[said.index("The graph in numbers") :] == private[private.index("The graph in numbers") :]


def test_a_truth_belongs_to_true_degrees_and_to_released_ones(
    released_degrees: ReleaseOf, true_degrees: Profile, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    with pytest.raises(UsageError, match="not a release"):
        write_report(released_degrees("edge"), path, not_private_truth=released_degrees("one"))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="releases of degrees"):
        write_report(release(Profile([1], [9]), epsilon=1), path, not_private_truth=true_degrees)
    assert not path.exists()


@pytest.mark.slow
def test_a_release_that_no_graph_was_read_for_has_the_page_of_profiles(tmp_path: Path, true_degrees: Profile) -> None:
    plain = FrobeniusMechanism(1, PrivacyUnit.edge()).release(true_degrees, source=SeededSource(7))
    assert (plain.mechanism.kind.name, plain.words.labels) == ("central", "nodes")
    assert view_of(plain).facts(plain) == []
    write_report(plain, tmp_path / "page.html")
    assert "How often things occur" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_what_is_mostly_noise_is_said_to_be(degrees_page: PageOf, released_degrees: ReleaseOf) -> None:
    assert released_degrees("empty").mostly_noise
    assert "mostly noise" in words(degrees_page("empty"))
    assert "mostly noise" not in words(degrees_page("edge"))


@pytest.mark.parametrize(
    ("estimate", "number", "ends"),
    [
        (Estimate(4039.0, 2.3, (4034.0, 4044.0), "", unit="nodes"), "4,039", "4,034 to 4,044"),
        (Estimate(88234.5, 23.8, (88187.8, 88281.2), "", unit="edges"), "88,234", "88,187 to 88,282"),
        (Estimate(2.0**63, 5.0, (2.0**63 - 1e4, 2.0**63 + 1e4), "", unit="edges"), "9.22 × 10^18", None),
        (Estimate(3e290, 1e289, (2.111e290, 3.888e290), "", unit="stars"), "3.00 × 10^290", "2.11 × 10^290 to 3.89 ×"),
        (Estimate(0.5, 0.0, (0.5, 0.5), ""), "0.5", "exact"),
    ],
)
def test_numbers_are_written_as_far_as_they_are_known(estimate: Estimate, number: str, ends: str | None) -> None:
    assert number_text(estimate) == number
    assert ends is None or ends_text(estimate).startswith(ends)
