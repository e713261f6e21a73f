"""Columns that are not there, or not said: what anybody may read of it, and what only the operator may.

The names of a table, a database or a Parquet file are schema. The first line of delimited text is taken for names, but
where the file has none it is a row of data, so its words stay out of the sentence that everybody may read. JSON lines
have no schema: their keys are data, so the keys to read are said, and none is ever listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import AnonhistError, DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


class ColumnError(AnonhistError):
    """A column was not found; its text is public, its attributes are for the operator alone.

    Attributes
    ----------
    columns
        The columns there are. In delimited text without a header they would be data.
    for_operator
        The sentence that names them.
    """

    # No arguments of their own: errors travel between processes, made anew from their text.
    columns: tuple[str, ...] = ()
    for_operator: str = ""


class MissingColumnError(ColumnError, DataError):
    """There is no column of that name."""


class UnnamedColumnError(ColumnError, UsageError):
    """There are several columns, and none was named."""


def require(names: Sequence[str], wanted: str, *, role: str, first_line: bool) -> None:
    """Refuse a column that is not there; ``first_line`` says that the names are the first line of a text."""
    if wanted not in names:
        raise _with_columns(MissingColumnError, f"There is no column {wanted!r} to use as {role}", names, first_line)


def required_key(key: str | None, *, role: str = "label", option: str = "label") -> str:
    """Return the key of JSON lines that holds the labels, or another role; their rows must not decide it."""
    if not key:
        message = f"JSON lines have no header: say which key holds the {role}s (`{option}`)."
        raise UsageError(message)
    return key


def label_column(
    names: Sequence[str], label: str | None, *, first_line: bool, role: str = "label", option: str = "label"
) -> str:
    """Return the column of labels, or of another role, which must be named where there are several."""
    if label is not None:
        require(names, label, role=role, first_line=first_line)
        return label
    if len(names) != 1:
        raise _with_columns(UnnamedColumnError, f"Say which column holds the {role}s (`{option}`)", names, first_line)
    return names[0]


def _with_columns(
    kind: type[ColumnError],
    told: str,
    names: Sequence[str],
    first_line: bool,  # noqa: FBT001
) -> ColumnError:
    named = f"{told}; the columns are {', '.join(map(repr, names))}."
    many = "there is 1 column" if len(names) == 1 else f"there are {len(names)} columns"
    # Standard input must have a header.
    hint = "`header=False`, if the first line of a file holds data and no names"
    if len(names) == 1:
        hint = f"`delimiter`, if columns are separated by something else; {hint}"
    counted = f"{told}; {many} ({hint})."
    error = kind(counted if first_line else named)
    error.columns, error.for_operator = tuple(names), named
    return error
