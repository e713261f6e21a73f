"""Values out of a document that may hold anything, each refused unless it is of its kind."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

import numpy as np

from anonhist.catalogue import load as load_row
from anonhist.errors import DataError, UsageError, mask
from anonhist.formats.atomic import content_of
from anonhist.lazy import LaterModule
from anonhist.local.surveys.reports import Tally
from anonhist.local.surveys.survey import Survey
from anonhist.releases import Release
from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
from anonhist.releases.grouped import GroupedRelease

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from anonhist.sketches import sketch

    _Read = Release | GroupedRelease | CumulativeRelease | GroupedCumulativeRelease | Survey | Tally
else:
    sketch = LaterModule("anonhist.sketches.sketch")

Member = TypeVar("Member", bound=Enum)
_LONGEST_TEXT = 4096
_LARGEST_FLOAT = sys.float_info.max


def mapping(value: object, names: set[str], what: str) -> Mapping[str, Any]:
    """Return an object that has exactly these fields."""
    if not isinstance(value, dict) or set(value) != names:
        raise DataError(f"it must describe {what} by exactly the fields {', '.join(sorted(names))}")
    return value


def text(value: object, what: str) -> str:
    """Return text that is short and can be shown anywhere."""
    # Control characters could take over the terminal the text is shown on; half characters could not be written.
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT or not all(map(_is_plain, value)):
        raise DataError(f"{what} must be plain text")
    return value


def member(members: type[Member], value: object, what: str) -> Member:
    """Return the member of an enumeration that has this text as its value."""
    known = {each.value: each for each in members}
    if (found := known.get(text(value, what))) is None:
        raise DataError(f"{what} must be one of {', '.join(known)}")
    return found


def _is_plain(character: str) -> bool:
    return character.isprintable() or character in "\n\t"


def whole(value: object, what: str) -> NDArray[np.int64]:
    """Return a list of whole numbers."""
    if not isinstance(value, list) or not all(type(number) is int and abs(number) < 2**63 for number in value):
        raise DataError(f"{what} must be a list of whole numbers below 2^63")
    return np.array(value, dtype=np.int64)


def floats(value: object, what: str) -> NDArray[np.float64]:
    """Return a list of finite numbers."""
    numbers: list[Any] = value if isinstance(value, list) else [None]
    # The comparison also refuses infinities and NaN; whole numbers may be longer than a float can hold.
    if not all(type(number) in (int, float) and abs(number) <= _LARGEST_FLOAT for number in numbers):
        raise DataError(f"{what} must be finite numbers")
    return np.array(numbers, dtype=np.float64)


def check_version(document: object, kind: str, version: int, *, oldest: int | None = None) -> int:
    """Return the version of a document; refuse another format, or a version that this program does not know.

    Versions from ``oldest`` on are read; by default this one alone.
    """
    top = document if isinstance(document, dict) else {}
    if top.get("format") != kind:
        raise DataError(f"its format is not {kind!r}")
    first = version if oldest is None else oldest
    if type(top.get("version")) is not int or not first <= top["version"] <= version:
        known = f"{version}, the one" if first == version else f"from {first} to {version}, the ones"
        raise DataError(f"its version is not {known} that this program reads; a newer program may read it")
    found: int = top["version"]
    return found


# What guarantees say today, and what the first files say.
_FIRST_WORDS = (
    ("is replaced by another", "is exchanged for another"),
    ("is randomized on the device", "is randomised on the device"),
    ("nobody has to be trusted with it as long as the device follows the survey", "nobody need be trusted with it"),
)


def file_wording(guarantee: str) -> str:
    """Return what a guarantee says in the words of the first files; readers compare it.

    Examples
    --------
    >>> file_wording("private when one item is replaced by another; noise is exact.")
    'private when one item is exchanged for another; noise is exact.'
    """
    for today, first in _FIRST_WORDS:
        guarantee = guarantee.replace(today, first, 1)
    return guarantee


def document_text(document: Mapping[str, Any]) -> str:
    """Write a document: objects are spread out, lists stay on one line, readable and no longer than needed."""
    return _spread(document, 0) + "\n"


def _spread(value: object, depth: int) -> str:
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = "  " * (depth + 1)
    fields = [f"{inner}{json.dumps(name)}: {_spread(field, depth + 1)}" for name, field in value.items()]
    return "{\n" + ",\n".join(fields) + "\n" + "  " * depth + "}"


def parse_json(content: bytes) -> object:
    """Return what a JSON text says, each field once; reject NaN and infinities."""
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_no_constant, object_pairs_hook=_unique)
    except DataError:
        raise
    except (ValueError, RecursionError):  # besides bad syntax: bad UTF-8, endless numbers, endless nesting
        raise DataError("it is not valid JSON") from None


def _no_constant(name: str) -> NoReturn:
    raise DataError(f"it holds {name} where a number must be")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise DataError("it names a field twice")
    return fields


# The module that has FILES for each format; loaded only when a file of that format is read.
_KINDS = {
    "anonhist.release": ".formats.reading:FILES",
    "anonhist.grouped-release": ".formats.grouped_releases:FILES",
    "anonhist.cumulative-release": ".formats.cumulative_releases:FILES",
    "anonhist.grouped-cumulative-release": ".formats.cumulative_releases:GROUPED_FILES",
    "anonhist.survey": ".local.files:SURVEY_FILES",
    "anonhist.tally": ".local.files:TALLY_FILES",
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
        counted: sketch.Sketch = import_module("anonhist.sketches.files").read_sketch(path)
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
    kind: FileKind[_Read] = load_row(_KINDS[name])
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
