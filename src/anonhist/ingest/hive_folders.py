"""Keys in the names of folders, as Hive and Spark write them: ``day=2026-11-01/part-0.parquet`` has the key ``day``.

The name of a folder is public, as every path is. Its value is text as it is spelled, but for escapes such as ``%2F``,
and never a number or a date because all folders could be one: one more file would give the values of others other
names. Only what names a key reads it, so that no folder decides which column holds the labels.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FOLDER = re.compile(r"([^=/\\]+)=[^/\\]*[/\\]")
_MISSING = "__HIVE_DEFAULT_PARTITION__"


def folder_keys(paths: Iterable[str]) -> Mapping[str, str]:
    """Return the keys that all paths have, if all have the same; and how they are spelled.

    A key that a path has twice is none.

    Examples
    --------
    >>> folder_keys(["log/day=1/a.csv", "log/day=2/a.csv"])
    {'day': 'day'}
    >>> folder_keys(["log/day=1/a.csv", "log/day=2/city=Rome/a.csv"])
    {}
    """
    found = [keys_of_path(path) for path in paths]
    return found[0] if found and all(keys == found[0] for keys in found) else {}


def keys_of_path(path: str) -> dict[str, str]:
    """Return the keys of the folders of a path, and how they are spelled.

    Examples
    --------
    >>> keys_of_path("day=1/first%20name=Ada/x.csv")
    {'day': 'day', 'first name': 'first%20name'}
    """
    # What follows a question mark in a URL is no folder.
    spelled = _FOLDER.findall(path.split("?", 1)[0] if "://" in path else path)
    names = [unquote(each) for each in spelled]
    return {name: each for name, each in zip(names, spelled, strict=True) if names.count(name) == 1}


def value_in_folder(file: str, key: str) -> str:
    """Return SQL of DuckDB for the value of a key in the name of a file, null where there is none.

    Parameters
    ----------
    file
        SQL for the name of the file.
    key
        The key as it is spelled there.
    """
    pattern = rf"(?:^|[/\\]){re.escape(key)}=([^/\\]*)[/\\]".replace("'", "''")
    spelled = f"regexp_extract({file}, '{pattern}', 1)"
    return f"url_decode(nullif(nullif({spelled}, ''), '{_MISSING}'))"
