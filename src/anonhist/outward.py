"""How values use rooms above them: to be shown in a notebook, to become tables, to be saved in files.

A value must not import those rooms, because rooms import downwards only; but it must work in a fresh kernel, where
nothing else has imported them. So values import those rooms by name, on use, and only this module has the names. The
rooms register what they know about a kind of value under :attr:`known_as`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from anonhist.lazy import LaterModule

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
else:
    pd, pl, pa = map(LaterModule, ("pandas", "polars", "pyarrow"))

_NOTEBOOK, _TABLES, _FILES = "anonhist.report.shown", "anonhist.formats.tables", "anonhist.formats.writing"


class Shown:
    """A value that notebooks show as a small page: a table, its promise and, where that helps, a plot."""

    known_as: ClassVar[str]

    def _repr_html_(self) -> str:
        """Return what a notebook shows: HTML without scripts, in which all texts are escaped."""
        html: str = import_module(_NOTEBOOK).html_of(self)
        return html


class Tabular:
    """A value with a table that data frame libraries accept directly: ``polars.DataFrame(value)``.

    It has the columns of the CSV that the command line and :func:`~anonhist.formats.tables.csv_text` write.
    """

    known_as: ClassVar[str]

    @property
    def left_out(self) -> str:
        """What its intervals leave out, because units were bounded; empty if they were not."""
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
        table: pa.Table = import_module(_TABLES).to_arrow(self)
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
        frame: pd.DataFrame = import_module(_TABLES).to_pandas(self)
        return frame

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
        frame: pl.DataFrame = import_module(_TABLES).to_polars(self)
        return frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the table by Arrow's PyCapsule interface."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


class Saved:
    """A value that can be saved in a file."""

    known_as: ClassVar[str]

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the value to a file, completely or not at all; the path's ending chooses the format.

        The same as ``ah.write(value, path)``, which lists the endings, and which of them ``ah.read`` reads.

        Parameters
        ----------
        path
            The file to write.
        overwrite
            Replace an existing file: never a ledger, and private files only by their like.

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
        import_module(_FILES).write(self, path, overwrite=overwrite)
