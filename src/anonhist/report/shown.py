"""The figure and the page of whatever there is to show: a choice by type."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from anonhist.accounting.balance import Balance
from anonhist.catalogue import load
from anonhist.errors import UsageError, kind_of
from anonhist.lazy import LaterModule
from anonhist.local.page import frequencies_figure, write_frequencies
from anonhist.local.surveys.estimate import FrequencyEstimate
from anonhist.mechanisms import METRICS, Comparison
from anonhist.profiles import Profile
from anonhist.properties.curve import Curve
from anonhist.releases import Release
from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
from anonhist.releases.grouped import GroupedRelease
from anonhist.report.budget import budget_figure, write_budget
from anonhist.report.comparison import comparison_figure, write_comparison
from anonhist.report.curve import curve_figure, write_curve
from anonhist.report.frame import Sheet
from anonhist.report.groups import write_groups
from anonhist.report.kinds import view_of
from anonhist.report.windows import windows_figure, write_window_groups, write_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib import figure as matplotlib_figure

    from anonhist.graphs import graph
    from anonhist.outward import Shown
    from anonhist.report.notebook import Cell
else:
    matplotlib_figure, graph = map(LaterModule, ("matplotlib.figure", "anonhist.graphs.graph"))

T = TypeVar("T")


def plot(
    shown: Release | CumulativeRelease | Curve | FrequencyEstimate | Comparison | Balance,
) -> matplotlib_figure.Figure:
    """Draw a release, also of cumulative windows, a curve, an estimate, a comparison of mechanisms, or a budget.

    Of a release, the prevalences φ_r against the count r, both on log scales, with 95 % intervals; of large profiles
    some 400 counts, evenly spread on the log scale and chosen by their place alone. Of released degrees, the share of
    the nodes with at least each degree, with its band. Of cumulative windows, a line for each threshold over the days,
    with its band. Of a curve, its values with their band, dashed where they are extrapolated. Of an estimate, the
    shares of at most 30 values with their intervals, those significantly above zero first. Of a comparison, the mean
    of its first metric against ε, a line for each mechanism. Of a budget, ε spent against time. Matplotlib is loaded
    when this is first called; pyplot never is. A notebook shows the figure as the last expression of a cell, once,
    whether pyplot was loaded or not; ``figure.savefig(path)`` keeps it.

    Raises
    ------
    UsageError
        If it is none of these.

    Examples
    --------
    >>> from anonhist.mechanisms import release
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.support_coverage import rarefaction_curve
    >>> profile = Profile.from_counts([8, 8, 3])
    >>> plot(release(profile, epsilon=9)).axes[0].get_xlabel()
    'count'
    >>> plot(rarefaction_curve(profile)).axes[0].get_xlabel()
    'draws'
    """
    return _of(FIGURES, shown)(shown)


def write_report(
    shown: Release
    | GroupedRelease
    | CumulativeRelease
    | GroupedCumulativeRelease
    | Curve
    | FrequencyEstimate
    | Comparison
    | Balance,
    path: str | Path,
    *,
    title: str | None = None,
    data_name: str | None = None,
    command: str | None = None,
    overwrite: bool = False,
    not_private_truth: Profile | graph.Graph | graph.Degrees | None = None,
) -> None:
    """Write a page about a release of any kind, a curve, an estimate, a comparison of mechanisms or a budget.

    It says what it is, what was promised, and how far off it may be; of a budget, what is spent, for what, and what is
    left.

    Parameters
    ----------
    shown
        The error of a release is computed first if it has not been yet. The page of a comparison, or of a curve that
        was not made from a release, says first that it is not private. That of a balance says that the ledger was not
        verified; the command line verifies it first.
    path
        Must end in ``.html``.
    title
        What stands at the head of the page, in place of its usual title.
    data_name
        What the data are called.
    command
        The command that makes such a page again. Title, name and command are published with the page, as is the day on
        which it was written.
    overwrite
        Replace an existing file: never a ledger or a private file.
    not_private_truth
        Of released degrees, the true ones, to be drawn beside them: the page is **not private** then, and says so in a
        red banner, its title and its figure.

    Raises
    ------
    UsageError
        If it is none of these, the path does not end in ``.html`` or exists already, or a truth is given for what is
        no release of degrees.
    OutputError
        If it cannot be written; nothing is left behind.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from anonhist.mechanisms import release
    >>> from anonhist.profiles import Profile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "out.html"
    ...     write_report(release(Profile.from_counts([8, 8, 3]), epsilon=1), page)
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    write_sheet(shown, Sheet(path, title, data_name, command, overwrite), not_private_truth=not_private_truth)


def write_sheet(
    shown: Release
    | GroupedRelease
    | CumulativeRelease
    | GroupedCumulativeRelease
    | Curve
    | FrequencyEstimate
    | Comparison
    | Balance,
    sheet: Sheet,
    *,
    not_private_truth: Profile | graph.Graph | graph.Degrees | None = None,
) -> None:
    """Write the page of what there is to show; :func:`write_report` says more."""
    if not_private_truth is None:
        _of(PAGES, shown)(shown, sheet)
    elif isinstance(shown, Release):
        view_of(shown).write(shown, sheet, not_private_truth)
    else:
        raise UsageError("`not_private_truth` applies only to releases of degrees; leave it out.")


# By the type of what is shown.
FIGURES: dict[type[Any], Callable[[Any], matplotlib_figure.Figure]] = {
    Release: lambda shown: view_of(shown).figure(shown),
    CumulativeRelease: windows_figure,
    Curve: curve_figure,
    FrequencyEstimate: frequencies_figure,
    Comparison: lambda shown: comparison_figure(shown, METRICS[0], legend=True),
    Balance: budget_figure,
}
PAGES: dict[type[Any], Callable[[Any, Sheet], None]] = {
    Release: lambda shown, sheet: view_of(shown).write(shown, sheet, None),
    GroupedRelease: write_groups,
    CumulativeRelease: write_windows,
    GroupedCumulativeRelease: write_window_groups,
    Curve: write_curve,
    FrequencyEstimate: write_frequencies,
    Comparison: write_comparison,
    Balance: write_budget,
}


def _of(choices: Mapping[type[Any], T], shown: object) -> T:
    """Return the choice for the type of what is shown."""
    for kind, choice in choices.items():
        if isinstance(shown, kind):
            return choice
    message = (
        "A Release, a GroupedRelease, a CumulativeRelease, a Curve, a FrequencyEstimate, a Comparison or a Balance is "
        f"needed, such as rarefaction_curve(profile), not {kind_of(shown)}."
    )
    raise UsageError(message)


# Where the cell of each kind of value is made, by the name it is known as: loaded for those alone who look at such.
CELLS = {
    "release": ".report.notebook:release_cell",
    "groups": ".report.notebook:groups_cell",
    "windows": ".report.notebook:windows_cell",
    "windows of groups": ".report.notebook:grouped_windows_cell",
    "estimate": ".report.notebook:estimate_cell",
    "estimates": ".report.notebook:estimates_cell",
    "curve": ".report.notebook:curve_cell",
    "comparison": ".report.notebook:comparison_cell",
    "balance": ".report.budget:balance_cell",
    "survey": ".local.page:survey_cell",
    "tally": ".local.page:tally_cell",
    "frequencies": ".local.page:frequencies_cell",
    "sketch": ".report.notebook:sketch_cell",
}


def html_of(value: Shown) -> str:
    """Return what a notebook shows of a value.

    Examples
    --------
    >>> from anonhist.local import KRR
    >>> html_of(KRR(alphabet=["<b>", "c"], epsilon=1))[:22]
    '<div class="anonhist">'
    """
    cell: Callable[[Shown], Cell] = load(CELLS[value.known_as])
    return cell(value).html()
