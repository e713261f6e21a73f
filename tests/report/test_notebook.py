"""What notebooks show: escaped, without scripts, on any paper; and nothing that was not published."""

import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anonhist.accounting import Balance, Budget, Charge, Cost, Entry
from anonhist.accounting.balance import Item
from anonhist.accounting.entry import Charged
from anonhist.graphs import EdgePrivacy, as_graph, degree_statistics, release_degrees
from anonhist.kinds import KINDS, Shown
from anonhist.local import KRR, HeavyHitters, recommend
from anonhist.mechanisms import PartitionMechanism, compare, plan, plan_bounds, plan_groups, release
from anonhist.mechanisms.grouping import FindGroups, release_groups
from anonhist.mechanisms.window_release import release_cumulative, release_cumulative_groups
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.grouped import GroupedProfile
from anonhist.profiles.windows import CumulativeCounts, GroupedCumulativeCounts
from anonhist.properties.by_name import estimate_all
from anonhist.properties.entropy import entropy
from anonhist.properties.estimate import Estimates
from anonhist.properties.guessing_curve import guessing_curve
from anonhist.releases import Release
from anonhist.releases.difference import compare_releases
from anonhist.releases.grouped import GroupedRelease
from anonhist.report import plot
from anonhist.sketches import DomainSketch
from anonhist.sketches.kinds import BucketRecommendation, BucketRow
from anonhist.species.comparison import compare_sites
from anonhist.species.releasing import release_incidence
from anonhist.species.sampling_units import SamplingUnits

PROFILE = Profile.from_counts([9, 8, 8, 3, 1, 1])
EVIL = "<script>alert('1')</script>\"&"


GROUPED = GroupedProfile(
    (EVIL, "day"),
    {(EVIL, f"{at:02}") if at % 2 else (None, f"{at:02}"): PROFILE for at in range(23)},
    unit=PrivacyUnit.item(),
)

WINDOWS = CumulativeCounts((1, 3), (EVIL, "x"), [[5, 2], [1, 1]])
WINDOW_GROUPS = GroupedCumulativeCounts(
    ("campaign", EVIL), {(EVIL, f"{at:02}") if at % 2 else (None, f"{at:02}"): WINDOWS for at in range(23)}
)
FOUND = GroupedProfile(("day",), {("Mon",): PROFILE}, unit=PrivacyUnit.item(), finding=FindGroups("0.1", "1e-9"))

PAID_FOR = PartitionMechanism(1).guarantee
PAID = Charge(EVIL, PAID_FOR, "partition", purpose=EVIL)
PAID_ENTRY = Charged(PAID, Cost(PAID_FOR.epsilon, PAID_FOR.delta))
BALANCE = Balance(
    Budget(EVIL, "item", epsilon=2),
    (Item(Entry("0" * 32, 2, PAID_ENTRY, "2026-11-24T02:46:38Z", EVIL, "0.1.0"), PAID_ENTRY, None),),
)
BUCKETS = BucketRecommendation(
    (BucketRow(100, 0.5, 800, 0.1, 0.02, 0.01), BucketRow(50, 1, 400, 9, 0.03, 0.01)), 100, "Fewest."
)


@pytest.fixture(scope="module")
def values() -> dict[str, Shown]:
    made = release(PROFILE, epsilon=2)
    survey = KRR(alphabet=["cat", EVIL, "<b>"], epsilon=2, title=f"title {EVIL}")
    tally = survey.tally(survey.randomize([EVIL] * 50 + ["cat"] * 20))
    return {
        "release": made,
        "release difference": compare_releases(made, release(PROFILE, epsilon=1), names=(EVIL, "second")),
        "groups": release_groups(GROUPED, epsilon=9, simulations=2),
        "windows": release_cumulative(WINDOWS, epsilon=2),
        "windows of groups": release_cumulative_groups(WINDOW_GROUPS, epsilon=2),
        "degrees": release_degrees(as_graph([(1, 2), (2, 3), (3, 4)]), privacy=EdgePrivacy(), epsilon=1),
        "capped": release(PROFILE, epsilon=40, unit=PrivacyUnit.label(max_count=5)),
        "estimate": entropy(made),
        "estimates": Estimates(estimate_all(made).named[:3]),
        "no estimates": Estimates(()),
        "curve": guessing_curve(made, bootstraps=3),
        "balance": BALANCE,
        "comparison": compare(PROFILE, epsilons=[1], mechanisms=["isotonic"], repeats=2),
        "survey": survey,
        "any text": HeavyHitters(epsilon=1, max_bytes=4),
        "tally": tally,
        "frequencies": survey.estimate(tally),
        "sketch": DomainSketch(alphabet=["a", "b"], epsilon=1),
        "plan": plan(epsilons=[1, 2], items=1000),
        "bound plan": plan_bounds({1: 9, 5: 2}, epsilons=[2], candidates=(1, 2)),
        "group plan": plan_groups({(EVIL,): 9000, (None,): 40}, by=["campaign"], epsilon=1, simulations=2),
        "degree statistics": degree_statistics(as_graph([(1, 2), (2, 3), (3, 4)])),
        "recommendation": recommend(alphabet_size=100, epsilon=1, users=1000),
        "buckets": BUCKETS,
        "site comparison": compare_sites(
            {EVIL: Profile.from_counts([9, 4, 2, 1, 1])}, points=4, bootstraps=3, rng=np.random.default_rng(0)
        ),
        "incidence release": release_incidence(SamplingUnits([[EVIL, "<b>"]] * 90), epsilon=1, max_per_unit=1),
    }


@pytest.fixture(scope="module")
def cells(values: dict[str, Shown]) -> dict[str, str]:
    return {name: value._repr_html_() for name, value in values.items()}


def test_every_kind_is_shown(values: dict[str, Shown]) -> None:
    assert {value.known_as for value in values.values()} == {name for name, kind in KINDS.items() if kind.cell}


def test_tables_are_printed_in_columns(values: dict[str, Shown]) -> None:
    assert str(BUCKETS) == (
        "Use 100 buckets.\n\n"
        "buckets  labels in each      MB  ± of labels  ± of prevalences\n"
        "   *100             0.5  0.0008          10%              2.0%\n"
        "     50               1  0.0004         900%              3.0%\n\n"
        "Reason: Fewest.\n"
        "*: recommended."
    )
    for name in ("plan", "bound plan", "group plan", "recommendation"):
        title, table, told = str(values[name]).split("\n\n")
        assert title.startswith(("Plan of ", "Use ")), name
        assert len(table.split("\n")) > 2, name
        assert ": " in told, name
        assert not re.search(r"\de[+-]?\d", table), name
    first, second = str(values["plan"]).split("\n\n")[1].split("\n")[1:]
    assert [line.split()[1:3] for line in (first, second)] == [["1", "997"], ["2", "997"]]


@pytest.mark.full
def test_cells_are_whole_and_have_no_script(cells: dict[str, str], whole_piece: Any) -> None:
    for name, html in cells.items():
        whole_piece(html)
        assert len(html) < 40_000, name


def test_texts_of_users_are_escaped(cells: dict[str, str]) -> None:
    for name in ("survey", "frequencies", "groups", "windows", "windows of groups", "balance", "group plan"):
        assert "&lt;script&gt;alert(" in cells[name], name
        assert "&lt;b&gt;" in cells["frequencies"]


def test_ink_and_paper_are_those_of_the_notebook(cells: dict[str, str]) -> None:
    for name, html in cells.items():
        style, rest = html.split("</style>", 1)
        assert "--ink:currentColor" in style, name
        assert not re.search(r"background(-color)?:(?!none)|[^-]color:", style), name
        # What a figure draws has the colors of the style, none of its own.
        assert re.findall(r"#[0-9a-fA-F]{3,6}\b", rest) == [], name


def test_colors_are_legible_on_black_and_on_white(cells: dict[str, str]) -> None:
    found = re.findall(r"--(?:accent|alarm|series-\d):#(\w{6})", cells["release"])
    assert len(found) == 9
    for color in found:
        lightness = _luminance(color)
        # WCAG 2.1, 1.4.11: lines and marks need a contrast of 3.
        assert 1.05 / (lightness + 0.05) >= 3, color
        assert (lightness + 0.05) / (_luminance("111111") + 0.05) >= 3, color


def _luminance(color: str) -> float:
    parts = np.array([int(color[at : at + 2], 16) / 255 for at in (0, 2, 4)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_every_cell_says_what_was_promised_or_that_nothing_was(cells: dict[str, str]) -> None:
    private = (
        "release",
        "groups",
        "windows",
        "windows of groups",
        "degrees",
        "capped",
        "estimate",
        "estimates",
        "curve",
        "survey",
        "frequencies",
        "sketch",
    )
    for name in private:
        assert re.search(r"<b>Promise[^<]*:</b> [\d.]+-differentially private", cells[name]), name
        assert "not private" not in cells[name].lower(), name
    assert "not private" in cells["comparison"]
    exact = {"entropy": entropy(PROFILE), "curve": guessing_curve(PROFILE, bootstraps=3)}
    for name, value in exact.items():
        assert re.search(r'<p class="alarm">[^<]*not private', value._repr_html_(), re.IGNORECASE), name
        assert "Promise" not in value._repr_html_()


def test_a_large_epsilon_is_warned_of(cells: dict[str, str]) -> None:
    assert '<p class="alarm">' in cells["capped"]
    assert '<p class="alarm">' not in cells["release"]


def test_a_release_shows_nothing_but_what_it_holds() -> None:
    # The same published numbers give the same cell, whatever the data were.
    made = PartitionMechanism(3).release(PROFILE).with_error()
    again = Release(**{name: getattr(made, name) for name in made.__dataclass_fields__})
    assert again._repr_html_() == made._repr_html_()


def test_a_sketch_shows_nothing_of_what_was_counted() -> None:
    sketch = DomainSketch(alphabet=["a", "b"], epsilon=1)
    before = sketch._repr_html_()
    sketch.update(["a"] * 1000)
    assert sketch._repr_html_() == before


def test_what_is_too_large_to_be_simulated_is_shown_without_intervals() -> None:
    made = PartitionMechanism(3).release(PROFILE)
    huge = replace(made, profile=Profile.from_prevalences({2**22: 2**22}), simulations=None)
    html = huge._repr_html_()
    assert "not simulated (0 simulations)" in html
    assert "no interval" in html


def test_of_many_groups_some_are_shown_and_what_it_cost_to_find_them(cells: dict[str, str]) -> None:
    html = cells["groups"]
    assert html.count("<tr>") == 1 + 20
    assert "<b>More:</b> 3 more groups, in the table of to_pandas()." in html
    assert '<th scope="row">(missing)</th><td>00</td>' in html
    assert "The groups were found" not in html
    found = release_groups(FOUND, epsilon=1, simulations=2)
    assert "with ε = 0.1 and δ ≤ 10⁻⁹ of the whole budget" in found._repr_html_()


def test_groups_that_no_memory_holds_are_shown_without_intervals() -> None:
    made = PartitionMechanism(3).release(PROFILE)
    huge = replace(made, profile=Profile.from_prevalences({2**22: 2**22}), simulations=None)
    html = GroupedRelease(("day",), {("Mon",): huge})._repr_html_()
    assert "no interval" in html
    assert "Private release of 1 group by day" in html


def test_two_cells_do_not_share_names(cells: dict[str, str]) -> None:
    names = [set(re.findall(r'\bid="([^"]+)"', html)) for html in cells.values()]
    assert sum(map(len, names)) == len(set.union(*names)) > 10


def test_a_figure_is_its_own_picture() -> None:
    figure = plot(guessing_curve(PROFILE, bootstraps=3))
    picture, size = figure._repr_png_()  # type: ignore[attr-defined]
    assert picture.startswith(b"\x89PNG")
    pixels = {"width": int.from_bytes(picture[16:20]), "height": int.from_bytes(picture[20:24])}
    # Two pixels a point, so that it is sharp; as small as a figure in a text.
    assert all(abs(pixels[side] - 2 * size[side]) <= 1 for side in pixels)
    assert 300 < size["height"] < size["width"] < 600


def test_representations_are_one_short_line(values: dict[str, Shown]) -> None:
    for name, value in values.items():
        assert "\n" not in repr(value), name
        assert len(repr(value)) < 300, name
        assert "Fraction(" not in repr(value), name
    assert re.fullmatch(r"Release\(\w+, epsilon=2, one item, n=\d+, num_labels=\d+\)", repr(values["release"]))
    bounded = release(PROFILE, epsilon=1, mechanism="bounded-partition", public_items=2**20)
    assert re.match(r"Release\(bounded-partition, epsilon=1, delta=\S+e-\d+, one item, n=", repr(bounded))
    assert repr(KRR(alphabet=10**6, epsilon="1/3")) == "KRR(epsilon=1/3, alphabet=1000000)"
    assert repr(KRR(alphabet=list("abc"), epsilon=1)) == "KRR(epsilon=1, alphabet=Alphabet(3 labels))"


@pytest.mark.slow
def test_nothing_but_what_is_shown_is_loaded() -> None:
    program = (
        "import sys, anonhist as ah\n"
        "html = ah.local.KRR(alphabet=3, epsilon=1)._repr_html_()\n"
        "assert html.startswith('<div')\n"
        "rooms = {name.split('.')[1] for name in sys.modules if name.startswith('anonhist.')}\n"
        "print('sketches' in rooms, 'pyarrow' in sys.modules, 'matplotlib' in sys.modules, 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False False False False\n"


def test_a_comparison_of_a_release_is_not_called_private_data(values: dict[str, Shown]) -> None:
    made: Any = values["release"]
    found = compare(made, epsilons=[1], mechanisms=["isotonic"], repeats=2)
    assert "not private" not in found._repr_html_()
    assert plot(found).axes[0].get_xlabel() == "epsilon"
