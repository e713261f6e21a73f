"""The figure, the page and the notebook cell of whatever there is to show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError, kind_of
from anonhist.kinds import Shown, kind_of_value
from anonhist.lazy import LaterModule
from anonhist.releases import Release
from anonhist.report.frame import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib import figure as matplotlib_figure

    from anonhist.report.notebook import Cell
else:
    matplotlib_figure = LaterModule("matplotlib.figure")


def plot(
    shown: Shown,
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
    figure: matplotlib_figure.Figure = _place(shown, "figure")(shown)
    return figure


def write_report(
    shown: Shown,
    path: str | Path,
    *,
    title: str | None = None,
    data_name: str | None = None,
    command: str | None = None,
    overwrite: bool = False,
    not_private_truth: Any = None,
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
    shown: Shown,
    sheet: Sheet,
    *,
    not_private_truth: Any = None,
) -> None:
    """Write the page of what there is to show; :func:`write_report` says more."""
    write = _place(shown, "page")
    if not_private_truth is None:
        write(shown, sheet)
    elif isinstance(shown, Release):
        write(shown, sheet, not_private_truth)
    else:
        raise UsageError("`not_private_truth` applies only to releases of degrees; leave it out.")


def _place(shown: object, what: str) -> Callable[..., Any]:
    """Return what draws a value, or writes its page."""
    found: Callable[..., Any] | None = kind_of_value(shown).load(what)
    if found is None:
        raise UsageError(
            "A Release, a GroupedRelease, a CumulativeRelease, a Curve, a FrequencyEstimate, a Comparison or a Balance "
            f"is needed, such as rarefaction_curve(profile), not {kind_of(shown)}."
        )
    return found


def html_of(value: Shown) -> str:
    """Return what a notebook shows of a value."""
    cell: Cell = kind_of_value(value).load("cell")(value)
    return cell.html()
