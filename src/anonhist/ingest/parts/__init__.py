"""Daily parts: exact counts in private files, which are added up without reading their events again."""

from anonhist.ingest.parts.write import count_into, write_part

__all__ = ["count_into", "write_part"]
