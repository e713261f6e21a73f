"""Kinds of values: where each is read, written, tabulated and shown, one row per kind.

A value must not import the rooms that do this, because rooms import downwards only; but it must work in a fresh kernel,
where nothing else has imported them. So rows name places as ``module:name``, which are loaded on use; only this module
lists these names. A new kind of value is a row here; if its files are private, it is listed in replacing.py, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from anonhist.catalogue import load
from anonhist.errors import MissingExtraError
from anonhist.lazy import LaterModule

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
else:
    pd, pl, pa = map(LaterModule, ("pandas", "polars", "pyarrow"))


@dataclass(frozen=True)
class Kind:
    """Where one kind of value is handled, as ``module:name``; empty for what it does not support.

    Attributes
    ----------
    called
        How a sentence about its files begins.
    files
        How its files are written and, if possible, read: a :class:`~anonhist.formats.files.FileKind`.
    format
        The format that its files declare, if they can be read.
    table
        How it becomes a table: a :class:`~anonhist.formats.tables.Table`.
    cell
        Makes its notebook display: a :class:`~anonhist.report.notebook.Cell`.
    figure
        Draws it.
    page
        Writes its page, a :class:`~anonhist.report.shown.Sheet`.
    terminal
        Prints a file's value on a terminal: a function of the value and a stream.
    released
        Returns its receipt and digests, which are compared with a ledger.
    """

    called: str = ""
    files: str = ""
    format: str = ""
    table: str = ""
    cell: str = ""
    figure: str = ""
    page: str = ""
    terminal: str = ""
    released: str = ""

    def load(self, what: str) -> Any:
        """Load the object that a row names, such as ``table``; None if it names none.

        Examples
        --------
        >>> KINDS["estimate"].load("page") is None
        True
        """
        place: str = getattr(self, what)
        return load(place) if place else None


KINDS = {
    "release": Kind(
        "A release is",
        files=".formats.releases:RELEASE_FILES",
        format="anonhist/release",
        table=".formats.releases:RELEASE_TABLE",
        cell=".report.notebook:release_cell",
        figure=".report.page:release_figure",
        page=".report.page:write_release",
        terminal=".terminal.display:show_summary",
        released=".releases.content:released",
    ),
    "groups": Kind(
        "A release of groups is",
        files=".formats.releases:GROUPS_FILES",
        format="anonhist/grouped-release",
        table=".formats.releases:GROUPS_TABLE",
        cell=".report.notebook:groups_cell",
        figure=".report.groups:groups_figure",
        page=".report.groups:write_groups",
        terminal=".cli.groups:show_groups",
        released=".releases.content:released",
    ),
    "windows": Kind(
        "A release of cumulative windows is",
        files=".formats.releases:WINDOWS_FILES",
        format="anonhist/cumulative-release",
        table=".formats.releases:WINDOWS_TABLE",
        cell=".report.notebook:windows_cell",
        figure=".report.windows:windows_figure",
        page=".report.windows:write_windows",
        terminal=".cli.release:show_windows",
        released=".releases.content:released",
    ),
    "windows of groups": Kind(
        "A release of cumulative windows of groups is",
        files=".formats.releases:WINDOWS_FILES",
        format="anonhist/cumulative-release",
        table=".formats.releases:WINDOWS_TABLE",
        cell=".report.notebook:grouped_windows_cell",
        figure=".report.windows:window_groups_figure",
        page=".report.windows:write_window_groups",
        terminal=".cli.release:show_windows",
        released=".releases.content:released",
    ),
    "estimate": Kind(
        "An estimate is",
        files=".formats.tables:FILES",
        table=".formats.tables:ESTIMATE_TABLE",
        cell=".report.notebook:estimate_cell",
    ),
    "estimates": Kind(
        "Estimates are",
        files=".formats.tables:FILES",
        table=".formats.tables:ESTIMATES_TABLE",
        cell=".report.notebook:estimates_cell",
    ),
    "curve": Kind(
        "A curve is",
        files=".formats.tables:FILES",
        table=".formats.tables:CURVE_TABLE",
        cell=".report.notebook:curve_cell",
        figure=".report.curve:curve_figure",
        page=".report.curve:write_curve",
    ),
    "comparison": Kind(
        "A comparison is",
        files=".formats.tables:FILES",
        table=".formats.tables:COMPARISON_TABLE",
        cell=".report.notebook:comparison_cell",
        figure=".report.comparison:comparison_figure",
        page=".report.comparison:write_comparison",
    ),
    "release difference": Kind(
        "A difference of releases is",
        files=".formats.differences:FILES",
        table=".formats.differences:TABLE",
        cell=".report.difference:difference_cell",
        figure=".report.difference:overlay_figure",
        page=".report.difference:write_difference",
    ),
    "plan": Kind(table=".formats.tables:PLAN_TABLE", cell=".report.notebook:plan_cell"),
    "bound plan": Kind(table=".formats.tables:BOUND_PLAN_TABLE", cell=".report.notebook:bound_plan_cell"),
    "group plan": Kind(table=".formats.tables:GROUP_PLAN_TABLE", cell=".report.notebook:group_plan_cell"),
    "balance": Kind(
        cell=".report.budget:balance_cell", figure=".report.budget:budget_figure", page=".report.budget:write_budget"
    ),
    # Graphs.
    "degree statistics": Kind(table=".graphs.files:STATISTICS_TABLE", cell=".graphs.page:statistics_cell"),
    # Local privacy.
    "survey": Kind(
        "A survey is",
        files=".local.files:SURVEY_FILES",
        format="anonhist/survey",
        cell=".local.page:survey_cell",
        released=".local.mechanisms:released",
    ),
    "collection": Kind(
        "A collection is", files=".local.collection_files:COLLECTION_FILES", format="anonhist/collection"
    ),
    "reports": Kind("Reports are", files=".local.files:REPORTS_FILES", table=".local.files:REPORTS_TABLE"),
    "tally": Kind(
        "A tally is",
        files=".local.files:TALLY_FILES",
        format="anonhist/tally",
        table=".local.files:TALLY_TABLE",
        cell=".local.page:tally_cell",
    ),
    "frequencies": Kind(
        "An estimate of frequencies is",
        files=".local.files:FREQUENCIES_FILES",
        table=".local.files:FREQUENCIES_TABLE",
        cell=".local.page:frequencies_cell",
        figure=".local.page:frequencies_figure",
        page=".local.page:write_frequencies",
    ),
    "recommendation": Kind(table=".local.files:RECOMMENDATION_TABLE", cell=".local.page:recommendation_cell"),
    # Sketches.
    "sketch": Kind(
        "A sketch is", files=".sketches.files:FILES", format="anonhist/sketch", cell=".sketches.page:sketch_cell"
    ),
    "buckets": Kind(table=".sketches.release:BUCKETS_TABLE", cell=".sketches.page:buckets_cell"),
    # Species tables.
    "site comparison": Kind(
        "A comparison of sites is",
        files=".species.files:COMPARISON_FILES",
        table=".species.files:COMPARISON_TABLE",
        cell=".species.page:comparison_cell",
        figure=".species.page:comparison_figure",
        page=".species.page:write_comparison",
    ),
    "incidence release": Kind(
        "A release of incidence frequencies is",
        files=".species.release_files:INCIDENCE_FILES",
        format="anonhist/incidence-release",
        table=".species.release_files:INCIDENCE_TABLE",
        cell=".species.release_page:incidence_cell",
        terminal=".species.release_commands:show_incidence",
        released=".species.releasing:incidence_released",
    ),
}


@dataclass(frozen=True)
class ReleasedBy:
    """What distinguishes the releases of one kind of mechanism, as ``module:name``.

    Attributes
    ----------
    remake
        Rebuilds the mechanism from a file's description: a function of a
        :class:`~anonhist.formats.document.Recorded`.
    view
        How such releases are shown: a :class:`~anonhist.report.page.ReleaseView`.
    names
        The prefix of its mechanisms' names, if they are not central mechanisms.
    """

    remake: str
    view: str
    names: tuple[str, ...] = ()


# Rows by the name of the kind of release.
RELEASED_BY = {
    "central": ReleasedBy(".formats.document:remake", ".report.page:VIEW"),
    "degrees": ReleasedBy(".graphs.files:remake", ".graphs.page:VIEW", ("edge-", "node-")),
    "sketch": ReleasedBy(".sketches.release:remake", ".sketches.page:VIEW", ("hashed-sketch", "domain-sketch")),
}


def kind_of_value(value: object) -> Kind:
    """Return the row of a value; an empty row if the value is of no kind.

    Examples
    --------
    >>> kind_of_value("text") == Kind()
    True
    """
    return KINDS.get(getattr(type(value), "known_as", ""), Kind())


class Shown:
    """A value that notebooks show as a small page: a table, its guarantee and, where useful, a plot."""

    known_as: ClassVar[str]

    def _repr_html_(self) -> str:
        """Return HTML for notebooks, without scripts and with all texts escaped."""
        html: str = kind_of_value(self).load("cell")(self).html()
        return html


class Printed(Shown):
    """A table of rows that ``print`` shows as plain text, as in notebooks."""

    rows: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.rows):,} row{'' if len(self.rows) == 1 else 's'})"

    def __str__(self) -> str:
        text: str = kind_of_value(self).load("cell")(self).text()
        return text


def _missing(library: str) -> MissingExtraError:
    return MissingExtraError(f"A {library} data frame needs {library}, which is not installed: pip install {library}.")


class Tabular:
    """A value with a table that data frame libraries accept directly: ``polars.DataFrame(value)``.

    It has the columns of the CSV that the command line and :func:`~anonhist.formats.tables.csv_text` write.
    """

    known_as: ClassVar[str]

    @property
    def left_out(self) -> str:
        """What the intervals do not cover, because units were bounded; empty if they were not."""
        return ""

    def to_arrow(self) -> pa.Table:
        """Return the table as a PyArrow table.

        Examples
        --------
        >>> import anonhist as ah
        >>> release = ah.release(ah.Profile.from_counts([8, 8, 3]), epsilon=1)
        >>> release.to_arrow().column_names[:2]
        ['count', 'prevalence']
        """
        table: pa.Table = load(".formats.tables:to_arrow")(self)
        return table

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas data frame.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.

        Examples
        --------
        >>> import anonhist as ah
        >>> curve = ah.guessing_curve(ah.Profile.from_counts([6, 3, 1]))
        >>> curve.to_pandas().shape
        (3, 10)
        """
        try:
            return self.to_arrow().to_pandas()
        except ModuleNotFoundError:
            raise _missing("pandas") from None

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a Polars data frame.

        Raises
        ------
        MissingExtraError
            If Polars is not installed.

        Examples
        --------
        >>> import anonhist as ah
        >>> ah.entropy(ah.Profile.from_counts([6, 3, 1])).to_polars()["unit"].to_list()
        ['nats']
        """
        try:
            import polars as pl
        except ModuleNotFoundError:
            raise _missing("polars") from None
        return pl.DataFrame(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the table by Arrow's PyCapsule interface."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


class Saved:
    """A value that can be saved in a file."""

    known_as: ClassVar[str]
    # Why values of a class are not saved, although others of their kind are.
    not_saved: ClassVar[str] = ""

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the value to a file, completely or not at all; the path's ending chooses the format.

        Equivalent to ``ah.write(value, path)``, which lists the endings and says which of them ``ah.read`` reads.

        Parameters
        ----------
        path
            The file to write.
        overwrite
            Replace an existing file; ledgers are never replaced, and private files only by files of the same kind.

        Raises
        ------
        UsageError
            If values of this kind do not have this ending, or the file exists.
        OutputError
            If the file cannot be written; no partial file remains.

        Examples
        --------
        >>> import tempfile
        >>> import anonhist as ah
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ah.local.KRR(alphabet=3, epsilon=1).save(f"{folder}/survey.json")
        ...     ah.read(f"{folder}/survey.json")
        KRR(epsilon=1, alphabet=3)
        """
        load(".formats.files:write")(self, path, overwrite=overwrite)
