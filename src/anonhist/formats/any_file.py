"""Reading any file that :func:`write` made: its content says what it is."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from anonhist.errors import DataError, UsageError, mask
from anonhist.formats.file_kind import load, naming_file
from anonhist.formats.json_text import content_of

if TYPE_CHECKING:
    from anonhist.formats.file_kind import FileKind
    from anonhist.local.surveys.survey import Survey
    from anonhist.local.surveys.tally import Tally
    from anonhist.releases import Release
    from anonhist.sketches.sketch import Sketch

# Where the kind of each format is, as FILES; loaded for those alone who read such a file.
_KINDS = {"anonhist.release": "reading", "anonhist.survey": "surveys", "anonhist.tally": "tallies"}


def read(path: str | Path) -> Release | Sketch | Survey | Tally:
    """Read a file that :func:`write` made, and check everything it says.

    Parameters
    ----------
    path
        A release or a tally: ``.json`` or ``.parquet``. A survey: ``.json``. A sketch: ``.sketch``. Of this or an older
        version of its format, which says what is in it.

    Returns
    -------
    Release, Sketch, Survey or Tally
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
        from anonhist.formats.sketches import read_sketch

        return read_sketch(path)
    if ending not in (".json", ".parquet"):
        message = f"Give a file ending in .json, .parquet or .sketch; {mask(str(path))!r} does not."
        raise UsageError(message)
    content = content_of(Path(path))
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


def _kind(name: object) -> FileKind[Release | Survey | Tally]:
    """Return how files of a format are read."""
    if not isinstance(name, str) or name not in _KINDS:
        message = f"its format is none of {', '.join(_KINDS)}"
        raise DataError(message)
    kind: FileKind[Release | Survey | Tally] = import_module(f"anonhist.formats.{_KINDS[name]}").FILES
    return kind
