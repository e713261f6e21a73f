"""Versioned files: written whole or not at all, validated on reading."""

from anonhist.formats.atomic import check_free, write_whole, written_whole
from anonhist.formats.reading import read_release
from anonhist.formats.tables import csv_text, to_arrow
from anonhist.formats.writing import ENDINGS, write

__all__ = [
    "ENDINGS",
    "check_free",
    "csv_text",
    "read_release",
    "to_arrow",
    "write",
    "write_whole",
    "written_whole",
]
