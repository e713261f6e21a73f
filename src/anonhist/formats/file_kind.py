"""Files that are read whole: an ending, a content that says what it is, and one sentence if it cannot be used."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from anonhist.errors import DataError, UsageError, mask
from anonhist.formats.json_text import parse_json
from anonhist.formats.whole_file import content_of
from anonhist.lazy import LaterModule
from anonhist.local.surveys.reports import Tally
from anonhist.local.surveys.survey import Survey
from anonhist.releases import Release
from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
from anonhist.releases.grouped import GroupedRelease

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from anonhist.sketches import sketch

    _Read = Release | GroupedRelease | CumulativeRelease | GroupedCumulativeRelease | Survey | Tally
else:
    sketch = LaterModule("anonhist.sketches.sketch")

# The module that has FILES for each format; loaded only when a file of that format is read.
_KINDS = {
    "anonhist.release": "reading",
    "anonhist.grouped-release": "grouped_releases",
    "anonhist.cumulative-release": "cumulative_releases",
    "anonhist.grouped-cumulative-release": "grouped_cumulative_releases",
    "anonhist.survey": "surveys",
    "anonhist.tally": "tallies",
}
T = TypeVar("T")


def read(
    path: str | Path,
) -> Release | GroupedRelease | CumulativeRelease | GroupedCumulativeRelease | sketch.Sketch | Survey | Tally:
    """Read a file that :func:`write` made, and check everything it says.

    Parameters
    ----------
    path
        A release or a tally: ``.json`` or ``.parquet``. A survey: ``.json``. A sketch: ``.sketch``. Of this or an older
        version of its format, which says what is in it.

    Returns
    -------
    Release, GroupedRelease, CumulativeRelease, GroupedCumulativeRelease, Sketch, Survey or Tally
        The same that was written: a release has its error recorded, a survey is of the class of its mechanism, and
        the counters of a sketch lie in the file until they first have to change.

    Raises
    ------
    DataError
        If the file is missing or unreadable, of an unknown format or version, or says something that cannot be.
    UsageError
        If the ending is none of these. A CSV file has lost its guarantee, so it is not read.

    Examples
    --------
    >>> import tempfile
    >>> from anonhist.formats.writing import write
    >>> from anonhist.mechanisms import release
    >>> from anonhist.profiles import Profile
    >>> released = release(Profile.from_labels("abracadabra"), epsilon=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(released, f"{folder}/release.json")
    ...     read(f"{folder}/release.json").profile == released.profile
    True
    """
    ending = Path(path).suffix.lower()
    if ending == ".sketch":
        counted: sketch.Sketch = import_module("anonhist.formats.sketches").read_sketch(path)
        return counted
    if ending not in (".json", ".parquet"):
        raise UsageError(f"Give a file ending in .json, .parquet or .sketch; {mask(str(path))!r} does not.")
    content = content_of(path)
    with naming_file("file of this program", path):
        document = load(content, ending)
        kind = _kind(_format(document))
    with naming_file(kind.name, path):
        return kind.decoders[ending](document)


def _format(document: object) -> object:
    """Return what a JSON document, or the content of a Parquet file, says it is."""
    if isinstance(document, bytes):
        from anonhist.formats.parquet_content import open_parquet, refuse_damage

        with refuse_damage():
            metadata = open_parquet(document).schema_arrow.metadata or {}
        return next((name for name in _KINDS if name.encode() in metadata), None)
    return document.get("format") if isinstance(document, dict) else None


def _kind(name: object) -> FileKind[_Read]:
    """Return how files of a format are read."""
    if not isinstance(name, str) or name not in _KINDS:
        raise DataError(f"its format is not one of {', '.join(_KINDS)}")
    kind: FileKind[_Read] = import_module(f"anonhist.formats.{_KINDS[name]}").FILES
    return kind


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
            endings = " or ".join(self.decoders)
            raise UsageError(f"{mask(str(path))!r} is not a {self.name} file: name one that ends in {endings}.")
        content = content_of(path)
        with naming_file(self.name, path):
            document = load(content, ending)
            said = document.get("format") if isinstance(document, dict) else None
            if isinstance(said, str) and said in _KINDS and said != f"anonhist.{self.name}":
                raise DataError(f"its format says that it is a {said.removeprefix('anonhist.')}")
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
        raise DataError(f"{str(path)!r} is not a {name} that can be read: {str(error).removesuffix('.')}.") from None
