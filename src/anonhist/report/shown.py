"""The figure and the page of any value that can be shown, and what all pages have in common."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from anonhist.errors import UsageError, kind_of
from anonhist.formats.atomic import check_free, write_whole
from anonhist.formats.tables import csv_text
from anonhist.kinds import Shown, kind_of_value
from anonhist.lazy import LaterModule
from anonhist.privacy import warning
from anonhist.releases import Release
from anonhist.report.wording import exclusions, interval, lead
from anonhist.report.wording import meaning as meaning_of
from anonhist.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jinja2 import Environment
    from matplotlib import figure as matplotlib_figure

    from anonhist.kinds import Tabular
    from anonhist.privacy import Guarantee
    from anonhist.releases.content import AnyRelease
else:
    matplotlib_figure = LaterModule("matplotlib.figure")

_LONGEST_TITLE = 200


def check_report_path(path: str | Path) -> None:
    """Refuse a report path that does not end in ``.html``."""
    if Path(path).suffix.lower() != ".html":
        raise UsageError(f"A report is an HTML page: end its path in .html, not {str(path)!r}.")


@dataclass(frozen=True)
class Sheet:
    """The path of a page, and what its maker says about it, which is published with the page.

    ``command`` makes such a page again; ``label`` is the column whose values are the labels, if somebody named it.
    """

    path: str | Path
    title: str | None = None
    data_name: str | None = None
    command: str | None = None
    overwrite: bool = False
    label: str | None = None

    def check(self) -> None:
        """Refuse a path that does not end in ``.html`` or exists already, and an empty or very long title."""
        check_report_path(self.path)
        check_free(self.path, overwrite=self.overwrite)
        if self.title is not None and not (self.title.strip() and len(self.title) <= _LONGEST_TITLE):
            raise UsageError(f"`title` must have between 1 and {_LONGEST_TITLE} characters, one of them visible.")

    def write(
        self, template: str, *, warning: str, banner: str = "", version: str = __version__, **shown: object
    ) -> None:
        """Fill in a template that extends ``anonhist.report/frame.html``, and write the page, whole or not at all.

        ``shown`` has a headline, a subtitle and all other names in the template. ``warning`` stands first below the
        title; ``banner`` stands above everything else, and first in the title of the window. ``version`` is the version
        of this package that made the value, if it is not this one.
        """
        told = {"warning": warning, "banner": banner, "version": version, "today": datetime.now(UTC).date()}
        page = render(template, sheet=self, **told, **shown)
        write_whole(self.path, page.encode("utf-8"), overwrite=self.overwrite)

    def write_release(self, template: str, release: AnyRelease, **shown: Any) -> None:
        """Do the same for a release, with a template that extends ``anonhist.report/release.html``."""
        said, version = warning(release.guarantee.epsilon), release.library_version
        self.write(template, release=release, warning=said, version=version, **shown)


def render(template: str, **shown: object) -> str:
    """Fill in a template, named ``package/file``; text that is not yet HTML is escaped."""
    page = _templates().get_template(template).render(shown)
    # Shell arguments and labels need not be valid text; invalid parts are shown escaped.
    return page.encode("utf-8", "backslashreplace").decode()


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    templates = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["whole"] = _with_whole_intervals
    return templates


_BETWEEN_ENDS = re.compile(r"(?<=[\d%]) to (?=[−\d])")


def _with_whole_intervals(text: str) -> str:
    """Return a text in which no line breaks between the ends of an interval."""
    return _BETWEEN_ENDS.sub("\u00a0to\u00a0", text)


def _template(name: str) -> str:
    package, _, file = name.partition("/")
    return files(package).joinpath(file).read_text(encoding="utf-8")


# The counts k for which tables show how many labels have k or more, and the number of single counts they list.
LEVELS = (1, 2, 3, 5, 10, 20, 50, 100, 1_000, 10_000, 100_000, 1_000_000)
_ROWS = 12
# In rows: a table that is larger than the rest of the page stays in its maker's files.
_MOST_DOWNLOADED = 5_000


def released(release: Release, *, noun: str) -> dict[str, Any]:
    """Return what the pages of all releases show; ``noun`` says what the numbers belong to: counts or degrees."""
    profile, limit = release.profile, release.guarantee.unit.max_count
    largest = int(profile.counts[-1]) if len(profile) else 1
    most = largest if limit is None else limit
    levels = sorted({level for level in (*LEVELS, most if limit else 1) if level <= most})
    shown = profile.counts[:_ROWS].tolist()
    return {
        "k_plus": [
            (f"{k:,} or more", f"{profile.k_plus(k):,}", interval(*release.error.k_plus(profile, k).interval))
            for k in levels
        ],
        "prevalences": [
            (
                f"{r:,} or more" if r == limit else f"{r:,}",
                f"{profile.prevalence(r):,}",
                interval(*release.prevalence(r).interval),
            )
            for r in shown
        ],
        "more": f"These are the first {_ROWS} of {len(profile):,} released {noun}." if len(profile) > _ROWS else "",
        "download": download(release, rows=len(profile)),
    }


def promised(
    guarantee: Guarantee,
    *,
    sentence: str | None = None,
    meaning: Sequence[str] | None = None,
    not_covered: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the promise: its worth, its meaning, what it does not cover, and the exact statement."""
    return {
        "lead": sentence or lead(guarantee),
        "meaning": meaning or meaning_of(guarantee),
        "not_covered": exclusions(guarantee.unit) if not_covered is None else not_covered,
        "exact": guarantee,
    }


def download(shown: Tabular, *, rows: int) -> str:
    """Return a value's CSV as a link within the page itself; empty without rows, and with very many."""
    if not 0 < rows <= _MOST_DOWNLOADED:
        return ""
    try:
        text = csv_text(shown)
    except UsageError:  # no table may hold the names of its groups
        return ""
    # A label need not be valid text.
    return "data:text/csv;charset=utf-8," + quote(text, safe=",.:/+-_()", errors="backslashreplace")


def plot(
    shown: Shown,
) -> matplotlib_figure.Figure:
    """Draw a release of any kind, a curve, an estimate, a comparison of mechanisms, or a budget.

    The figure of a release shows the prevalences φ_r against the count r, both on log scales, with 95% intervals; for
    large profiles it shows some 400 counts, evenly spread on the log scale and chosen by their position alone. The
    figure of released degrees shows the share of nodes with at least each degree, with its band; that of cumulative
    windows shows a line for each threshold over the days, with its band. Groups have a small figure of k+ counts or
    windows for each of the first 24, in their order and to one scale. The figure of a curve shows its values with their
    band, dashed where they are extrapolated; that of an estimate shows the shares of at most 30 values with their
    intervals, those significantly above zero first. The figure of a comparison shows the mean of its first metric
    against ε, with a line for each mechanism, and that of a budget shows ε spent against time.

    The first call loads Matplotlib, and no call loads pyplot. A notebook shows the figure once, as the last expression
    of a cell, whether pyplot was loaded or not; ``figure.savefig(path)`` saves it.

    Raises
    ------
    UsageError
        If ``shown`` is none of these.

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
    label: str | None = None,
    not_private_truth: Any = None,
) -> None:
    """Write a page about a release of any kind, a curve, an estimate, a comparison of mechanisms or a budget.

    The page says what the value is, what was promised, and how far off it may be. For a budget, it says what is spent,
    for what, and what is left.

    Parameters
    ----------
    shown
        The value. The error of a release is computed first if need be. The page of a comparison or curve that was not
        made from a release says first that it is not private. The page of a balance says that the ledger was not
        verified; the command line verifies it first.
    path
        Must end in ``.html``.
    title
        The title of the page, in place of the usual one.
    data_name
        The name of the data.
    command
        The command that makes such a page again. Title, name and command are published with the page, as is the day on
        which it was written.
    overwrite
        Replace an existing file, but never a ledger or a private file.
    label
        The column whose values are the labels. It is published with the page, too.
    not_private_truth
        For released degrees, the true degrees, to be drawn beside them: the page is then **not private**, and says so
        in a red banner, its title and its figure.

    Raises
    ------
    UsageError
        If ``shown`` is none of these, if the path does not end in ``.html`` or exists already, or if a truth is given
        for anything but a release of degrees.
    OutputError
        If the page cannot be written; nothing is left behind.

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
    write_sheet(shown, Sheet(path, title, data_name, command, overwrite, label), not_private_truth=not_private_truth)


def write_sheet(
    shown: Shown,
    sheet: Sheet,
    *,
    not_private_truth: Any = None,
) -> None:
    """Write the page of a value; :func:`write_report` says more."""
    write = _place(shown, "page")
    sheet.check()
    if not_private_truth is None:
        write(shown, sheet)
    elif isinstance(shown, Release):
        write(shown, sheet, not_private_truth)
    else:
        raise UsageError("`not_private_truth` applies only to releases of degrees; leave it out.")


def _place(shown: object, what: str) -> Callable[..., Any]:
    """Return the function that draws a value, or that writes its page."""
    found: Callable[..., Any] | None = kind_of_value(shown).load(what)
    if found is None:
        raise UsageError(
            "A release, a curve, an estimate of frequencies, a comparison or a balance is needed, such as "
            f"rarefaction_curve(profile), not {kind_of(shown)}."
        )
    return found
