"""Readers that are broken on purpose: the values of some rows decide the names of other rows."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anonhist_testing.way_in.values import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from anonhist_testing.way_in.sources import Held, Rows, Source

    #: Returns the texts that a broken reader makes of a column's values.
    Renaming = Callable[[list[Any]], list[str | None]]

# The number of rows at which narwhals looks, as this program once did.
_HEAD = 100


def by_the_first_rows(values: list[Any]) -> list[str | None]:
    """Name whole numbers as floats if the first rows hold only text, or nothing.

    Examples
    --------
    >>> by_the_first_rows([None] * 100 + [7])[-1], by_the_first_rows([1] + [None] * 99 + [7])[-1]
    ('7.0', '7')
    """
    is_text = all(value is None or isinstance(value, str) for value in values[:_HEAD])
    return [_as_float(value) if is_text else name_of(value) for value in values]


def by_the_first_value(values: list[Any]) -> list[str | None]:
    """Name whole numbers as floats if the first value is text or a float.

    Examples
    --------
    >>> by_the_first_value([1.5, 7]), by_the_first_value([None, 7, "a"])
    (['1.5', '7.0'], [None, '7', 'a'])
    """
    first = next((value for value in values if value is not None), None)
    return [_as_float(value) if isinstance(first, float | str) else name_of(value) for value in values]


def by_any_missing_value(values: list[Any]) -> list[str | None]:
    """Name whole numbers as floats if any value is missing, as inferred types do.

    Examples
    --------
    >>> by_any_missing_value([7, None]), by_any_missing_value([7, 8])
    (['7.0', None], ['7', '8'])
    """
    return [_as_float(value) if None in values else name_of(value) for value in values]


def _as_float(value: Any) -> str | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(float(value)) if is_number else name_of(value)


BREAKS: tuple[Renaming, ...] = (by_the_first_rows, by_the_first_value, by_any_missing_value)


def broken(source: Source, renaming: Renaming) -> Source:
    """Return a source of text that takes values of any types, and is read as if names were found in this way.

    Parameters
    ----------
    source
        The source of the texts.
    renaming
        The way in which values are named.
    """

    @contextmanager
    def hold(columns: dict[str, str], rows: Rows, folder: Path) -> Iterator[Held]:
        renamed = [renaming([row[place] for row in rows]) for place in range(len(columns))]
        texts = list(zip(*renamed, strict=True))
        with source.hold(dict.fromkeys(columns, "text"), texts, folder) as held:
            yield held

    name = f"broken {source.name}"
    return replace(source, name=name, hold=hold, fit=lambda value, _: value, kinds=None, binds=False)
