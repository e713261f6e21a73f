"""Files of releases with one changed field, for tests that such files are refused."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from anonhist.formats.tables import to_arrow

if TYPE_CHECKING:
    from pathlib import Path

    from anonhist.releases import Release

# The value that stands for a removed field.
ABSENT = object()


def change_field(document: dict[str, Any], where: str, value: object) -> dict[str, Any]:
    whole = deepcopy(document)
    *path, last = where.split(".")
    inside = whole
    for name in path:
        inside = inside[name]
    if value is ABSENT:
        del inside[last]
    else:
        inside[last] = value
    return whole


def as_json(tmp_path: Path, document: object) -> Path:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def as_parquet(tmp_path: Path, release: Release, document: object) -> Path:
    path = tmp_path / "bad.parquet"
    pq.write_table(to_arrow(release).replace_schema_metadata({"anonhist/release": json.dumps(document)}), path)
    return path
