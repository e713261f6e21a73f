"""Names of Python values as Arrow has texts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError
from anonhist.numeric.value_name import value_name

if TYPE_CHECKING:
    from collections.abc import Iterable


def names_of(values: Iterable[Any], *, only_whole: bool = False) -> Any:
    """Return the names of values as an Arrow array of large texts, null where a value is missing.

    Raises
    ------
    DataError
        If a value has no name, as for :func:`~anonhist.numeric.value_name.value_name`, or one that files cannot hold.

    Examples
    --------
    >>> names_of(["bob", 7.0, None]).to_pylist()
    ['bob', '7', None]
    """
    import pyarrow as pa

    try:
        return pa.array(map(partial(value_name, only_whole=only_whole), values), pa.large_string())
    except UnicodeEncodeError:
        # Its message quotes the text.
        raise DataError(
            "A text has a lone surrogate, which is no character: decode the texts properly first."
        ) from None
