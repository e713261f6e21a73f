"""Values in memory as a list of them: of a column of Arrow, or a table of one column, by whatever package."""

from __future__ import annotations

from typing import Any

import numpy as np

from anonhist.errors import UsageError


def one_column(values: Any) -> Any:
    """Return what goes through the values one by one, as lists do; anything else as it is.

    Going through a table gives its columns' names in pandas, and through a column of Arrow what is no text.

    Parameters
    ----------
    values
        A list, array, column, or table of one column, of pandas, Polars, Arrow or a package like them.

    Raises
    ------
    UsageError
        If a table has several columns or is not in memory, or an array has fields or several dimensions.

    Examples
    --------
    >>> import pandas as pd
    >>> import pyarrow as pa
    >>> one_column(pa.array(["yes", "no"])), list(one_column(pd.DataFrame({"answer": ["yes", "no"]})))
    (['yes', 'no'], ['yes', 'no'])
    """
    if isinstance(values, np.ndarray):
        if values.ndim:  # a single value is no list, which callers say themselves
            check_one_dimension(values)
        return values
    if hasattr(values, "collect_schema") and not hasattr(values, "shape"):
        raise UsageError("This table is not in memory yet: collect it first, and pass its column of values.")
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple) and len(shape) == 2:
        if shape[1] != 1:
            raise UsageError(f"This table has {shape[1]:,} columns: pass the one that holds the values.")
        if hasattr(values, "iloc"):
            return values.iloc[:, 0]
        values = values.to_series() if hasattr(values, "to_series") else values.column(0)
    return values.to_pylist() if hasattr(values, "to_pylist") else values


def check_one_dimension(values: np.ndarray[Any, Any]) -> None:
    """Refuse an array that is not a list of single values.

    Raises
    ------
    UsageError
        If it has fields, as structured arrays and those of records have, or not one dimension.
    """
    if values.dtype.names:
        field = values.dtype.names[0]
        raise UsageError(
            f"This array has fields ({', '.join(map(repr, values.dtype.names))}): pass one of them, as in "
            f"array[{field!r}], or all as a table, as in pandas.DataFrame(array)."
        )
    if values.ndim != 1:
        raise UsageError(
            f"An array of values must be one-dimensional, and this one has {values.ndim} dimensions: pass one of its "
            "columns, a list, or a table."
        )
