"""What all files that are read whole have in common: an ending, a content, and one sentence if it cannot be used."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from anonhist.errors import DataError, UsageError, mask
from anonhist.formats.json_text import content_of, parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

T = TypeVar("T")
# What JSON files of ours hold, as their formats are called.
_KINDS = ("release", "survey", "tally")


@dataclass(frozen=True)
class FileKind(Generic[T]):
    """How files of one kind are read.

    Attributes
    ----------
    name
        What such a file holds, such as release.
    decoders
        By ending, what makes it: of a JSON document, or of the content of a Parquet file.
    """

    name: str
    decoders: Mapping[str, Callable[[Any], T]]

    def read(self, path: str | Path) -> T:
        """Read a file of this kind.

        Raises
        ------
        DataError
            If it cannot be read, or not as this kind.
        UsageError
            If the ending is that of another.
        """
        ending = Path(path).suffix.lower()
        if ending not in self.decoders:
            endings, none = " or ".join(self.decoders), "neither" if len(self.decoders) > 1 else "none"
            message = f"A {self.name} is read from a {endings} file; {mask(str(path))!r} is {none}."
            raise UsageError(message)
        content = content_of(Path(path))
        with naming_file(self.name, path):
            document = load(content, ending)
            said = document.get("format") if isinstance(document, dict) else None
            if other := next((kind for kind in _KINDS if said == f"anonhist.{kind}" and kind != self.name), None):
                message = f"its format says that it is a {other}"
                raise DataError(message)
            return self.decoders[ending](document)


def load(content: bytes, ending: str) -> Any:
    """Return the document that a JSON file holds, and the content of any other."""
    return parse_json(content) if ending == ".json" else content


@contextmanager
def naming_file(name: str, path: str | Path) -> Iterator[None]:
    """Say of which file it is, if it is not what it should be."""
    try:
        yield
    except (DataError, UsageError) as error:
        message = f"{str(path)!r} is not a {name} that can be read: {str(error).removesuffix('.')}."
        raise DataError(message) from None
