"""Reading: one group-by, on the engine that holds the data; only distinct counts reach Python."""

from anonhist.ingest.engine import EngineLimits
from anonhist.ingest.files import SparkFiles
from anonhist.ingest.parts import count_into, write_part
from anonhist.ingest.read import FORMATS, read_profile

__all__ = [
    "FORMATS",
    "EngineLimits",
    "SparkFiles",
    "count_into",
    "read_profile",
    "write_part",
]
