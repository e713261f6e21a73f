"""Parts for tests: tables to count, and both ways of reading them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from anonhist.ingest import read_profile
from anonhist.ingest.parts import files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.profiles import Profile

Row = tuple[str | None, str | None]
KEY = "0123456789abcdef" * 2
ROWS: list[Row] = [("u", "a"), ("u", "a"), ("u", "b"), ("v", "a"), ("v", "b")]


def table_of(rows: Iterable[Row]) -> pa.Table:
    """Return a table with the columns user and label."""
    held = list(rows)
    columns = {"user": [user for user, _ in held], "label": [label for _, label in held]}
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


def read_both_ways(source: Any, **options: Any) -> Profile:
    """Read parts by a merge, as for few parts, and by the engine, as for many: both give the same."""
    by_merge = read_profile(source, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "FEW", 0)
        assert read_profile(source, **options) == by_merge
    return by_merge
