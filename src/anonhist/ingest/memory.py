"""Data in memory: tables of many packages, lists of labels, and counted data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from anonhist.errors import DataError, UsageError
from anonhist.ingest.files import COUNTED
from anonhist.ingest.naming import names_of
from anonhist.ingest.plain_types import whole_count
from anonhist.numeric.value_name import check_one_dimension

TABLES = (
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "ibis",
    "_duckdb",
    "narwhals",
    "modin",
    "pyspark",
    "sqlframe",
    "dask",
)


def is_table(source: Any) -> bool:
    """Return whether an object in memory is a table or a column of one, judged by its package."""
    return package_of(source) in TABLES


def package_of(source: Any) -> str:
    """Return the package of an object in memory; for subclasses of NumPy or table types, that of the base."""
    names = [each.__module__.split(".")[0] for each in type(source).__mro__]
    return next((name for name in names if name in (*TABLES, "numpy")), names[0])


def plain_labels(source: Any) -> list[Any] | None:
    """Return the labels of an array or iterable, or None if the source is something else."""
    if isinstance(source, str | bytes) or is_table(source):
        return None
    if isinstance(source, Mapping):
        raise UsageError("A mapping is not a list: pass its keys, or a table with named columns.")
    if package_of(source) == "numpy":
        check_one_dimension(source)
        return list(source.tolist())
    return list(source) if isinstance(source, Iterable) else None


_SERIES = (
    "This Series has an index or a name like counts: give format='counts' if its values count the labels in its index, "
    "as from value_counts(), or format='labels' if its values are labels."
)
_COLUMN = (
    "This Series has a name like counts: give format='labels' if its values are labels; if they count labels, pass the "
    "table with both, or make a profile of them with Profile.from_counts."
)
_MAPPING = (
    "Name what the mapping holds: format='counts' for {label: count}, format='prevalences' for {count: prevalence}."
)
# The names that pandas and Polars give to counts.
_COUNT_NAMES = ("count", "proportion")


def counted_table(source: Any, format: str | None) -> Any:  # noqa: A002
    """Return a mapping or a counted Series as a table with the columns of its format, and another Series unchanged.

    If the type of a Series leaves open whether it is counted, the caller must say so; values never decide it. This is
    the case if numbers have a named index or one without whole numbers, or are called "count". It applies to pandas and
    Modin and, as far as names go, to Polars, even if Narwhals wraps the Series.
    """
    if isinstance(source, Mapping):
        return _of_mapping(source, format)
    package = package_of(source)
    if package == "narwhals":
        # A Series may be counted, whatever wraps it.
        return counted_table(source.to_native(), format)
    if package in ("pandas", "modin"):
        return _of_series(with_known_texts(source), format)
    is_number = package == "polars" and source.dtype.is_numeric()
    if is_number and format is None and source.name in _COUNT_NAMES:
        raise UsageError(_COLUMN)
    return source


def _of_mapping(source: Mapping[Any, Any], format: str | None) -> Any:  # noqa: A002
    import pyarrow as pa

    if format not in COUNTED:
        raise UsageError(_MAPPING)
    keys, values = COUNTED[format]
    held = names_of(source) if keys == "label" else _counts(source)
    return pa.table({keys: held, values: _counts(source.values())})


def _counts(values: Iterable[Any]) -> Any:
    """Return counts as an Arrow array, and refuse invalid ones: each by itself, whatever the others are."""
    import pyarrow as pa

    counts = [whole_count(value) for value in values]
    if None in counts:
        raise DataError("Counts and prevalences must be whole numbers from 0 to 2^63 − 1.")
    return pa.array(counts, pa.int64())


def _of_series(source: Any, format: str | None) -> Any:  # noqa: A002
    from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype

    index = source.index
    if format in COUNTED and index.nlevels > 1:
        raise UsageError("An index of several levels holds no labels: join them into one text, or pass a table.")
    if format in COUNTED:
        keys, values = COUNTED[format]
        return source.rename_axis(keys).reset_index(name=values)
    is_number = is_numeric_dtype(source.dtype) and not is_bool_dtype(source.dtype)
    has_names = index.nlevels > 1 or index.name is not None or not is_integer_dtype(index.dtype)
    if format is None and is_number and (has_names or source.name in _COUNT_NAMES):
        raise UsageError(_SERIES)
    return source


def with_known_texts(source: Any) -> Any:
    """Return a table or series of pandas without texts stored as Arrow views, which pandas hardly supports."""
    if type(source).__module__.partition(".")[0] != "pandas" or not hasattr(source, "dtypes"):
        return source
    if not hasattr(source, "columns"):
        return _known(source) if _is_view(source.dtype) else source
    views = [at for at, kind in enumerate(source.dtypes) if _is_view(kind)]
    table = source.copy(deep=False) if views else source
    for at in views:
        table.isetitem(at, _known(source.iloc[:, at]))
    return table


def _is_view(kind: Any) -> bool:
    return str(getattr(kind, "pyarrow_dtype", "")) == "string_view"


def _known(views: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    texts = pd.arrays.ArrowExtensionArray(pa.array(views.array).cast(pa.large_string()))
    return pd.Series(texts, index=views.index, name=views.name)
