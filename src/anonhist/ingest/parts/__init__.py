"""Daily parts: exact counts in private files, which are added up without reading their events again."""

from anonhist.ingest.parts.onto import count_into
from anonhist.ingest.parts.write import write_part

__all__ = ["count_into", "write_part"]
