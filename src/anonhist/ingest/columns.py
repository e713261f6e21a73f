"""Columns that are not there, or not said: what anybody may read of it, and what only the operator may.

The names of a table, a database or a Parquet file are schema, and so is the header line of delimited text. But where
somebody forgot to say that a text has none, its first line is a row of data, so its words stay out of the sentence that
everybody may read. JSON lines have no schema: their keys are data, so the keys to read are said, and none is ever
listed. Names are compared exactly, with regard to case.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from anonhist.errors import AnonhistError, DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Name = TypeVar("Name", str, str | None)


class ColumnError(AnonhistError):
    """A column was not found; its text is public, its attributes are for the operator alone.

    Attributes
    ----------
    columns
        The columns there are. In delimited text without a header they would be data.
    for_operator
        The sentence that names them.
    """

    is_public = True

    # No arguments of their own: errors travel between processes, made anew from their text.
    columns: tuple[str, ...] = ()
    for_operator: str = ""


class MissingColumnError(ColumnError, DataError):
    """There is no column of that name."""


class RepeatedColumnError(ColumnError, DataError):
    """There are several columns of that name."""


class UnnamedColumnError(ColumnError, UsageError):
    """There are several columns, and none was named."""


def required_key(key: str | None, *, role: str = "label", option: str = "label") -> str:
    """Return the key of JSON lines that holds the labels, or another role; their rows must not decide it."""
    if not key:
        raise UsageError(f"JSON lines have no header: say which key holds the {role}s (`{option}`).")
    return key


@dataclass(frozen=True)
class Header:
    """The names of the columns of a source.

    Attributes
    ----------
    names
        The names.
    is_line
        Whether they are the first line of a text.
    renamed
        What the table that is read calls those of its columns whose names its engine would take for something else.
    folders
        Keys of folders, which are columns where they are named, and never otherwise.
    unclear
        Names that the engine of the table may take for another column's, since it compares them without regard to case.
    """

    names: Sequence[str]
    is_line: bool
    renamed: Mapping[str, str] = field(default_factory=dict)
    folders: Sequence[str] = ()
    unclear: frozenset[str] = frozenset()

    def require(self, **columns: str | None) -> None:
        """Refuse columns that are not there, or are there twice; each is given under its role."""
        for role, name in columns.items():
            if name is None or name in self.folders:
                continue
            if name not in self.names:
                raise self._error(MissingColumnError, f"There is no column {name!r} to use as {role}")
            if self.names.count(name) > 1:
                # A name that nobody gave, as that of an edge's end, would be one of the first line.
                called = f"have the name of the {role} column" if self.is_line else f"are called {name!r}"
                raise RepeatedColumnError(f"Several columns {called}: rename all but one of them.")
            if name in self.unclear:
                raise RepeatedColumnError(
                    f"The engine of this table compares names without regard to case, so several columns are {name!r} "
                    "to it: rename all but one of them."
                )

    def in_table(self, name: Name) -> Name:
        """Return what the table that is read calls a column; None for None."""
        return name if name is None else self.renamed.get(name, name)

    def label_column(self, label: str | None, *, role: str = "label", option: str = "label") -> str:
        """Return the column of labels, or of another role, which must be named where there are several."""
        if label is not None:
            self.require(**{role: label})
            return label
        if len(self.names) != 1:
            raise self._error(UnnamedColumnError, f"Say which column holds the {role}s (`{option}`)")
        return self.names[0]

    def without(self, *columns: str | None) -> Header:
        """Return the header without some columns."""
        return replace(self, names=[name for name in self.names if name not in columns])

    def _error(self, kind: type[ColumnError], told: str) -> ColumnError:
        columns = (*self.names, *self.folders)
        named = f"{told}; the columns are {', '.join(map(repr, columns))}."
        many = "there is 1 column" if len(self.names) == 1 else f"there are {len(self.names)} columns"
        # Standard input must have a header.
        hint = "`header=False`, if the first line of a file holds data and no names"
        if len(self.names) == 1:
            hint = f"`delimiter`, if columns are separated by something else; {hint}"
        error = kind(f"{told}; {many} ({hint})." if self.is_line else named)
        error.columns, error.for_operator = columns, named
        return error
