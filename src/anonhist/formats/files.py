"""Files of values: written and read whole, according to the path's ending and the declared format."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

from anonhist.accounting import Receipt, Released
from anonhist.accounting.entry import Completed
from anonhist.catalogue import load
from anonhist.errors import AnonhistError, DataError, UsageError, kind_of, mask
from anonhist.formats.atomic import content_of, open_whole
from anonhist.formats.untrusted import parse_json
from anonhist.kinds import KINDS, Saved, kind_of_value
from anonhist.replacing import private_kind

T = TypeVar("T")
ENDINGS = (".csv", ".json", ".parquet")
_OURS = (b"anonhist/", b"anonhist.")


def check_ending(path: str | Path, *, endings: tuple[str, ...] = ENDINGS, what: str = "A release is") -> str:
    """Return the ending in lower case, or refuse one in which this kind of value cannot be written."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise UsageError(
            f"{what} written as {', '.join(endings)}, by the ending of the path: give {mask(str(path))!r} "
            f"{'that ending' if len(endings) == 1 else 'one of these endings'}."
        )
    return ending


def write(
    written: Saved,
    path: str | Path,
    *,
    overwrite: bool = False,
) -> None:
    """Write a value to a file, whole or not at all; the path's ending chooses the format.

    Parameters
    ----------
    written
        A release, whose error is computed first if it has not been yet; a sketch; of local privacy, a survey, a
        collection, reports, a tally or an estimate of frequencies; or one or several estimates, a curve or a
        comparison. Values computed from exact data are not private in a file either.
    path
        A release: ``.json``: everything, read back by :func:`read`. ``.parquet``: the table, with everything in the
        schema's metadata, read back too. ``.csv``: the table alone, for other programs
        (:func:`~anonhist.formats.tables.csv_text`); it does not carry the guarantee and is not read back.

        A sketch: ``.sketch``. A survey or a collection: ``.json``. A tally: ``.json`` or ``.parquet``. All are read by
        :func:`read`.

        Reports: ``.parquet``, ``.csv`` or ``.ndjson`` (``.jsonl``), read by :func:`tally_reports`. An estimate of
        frequencies: ``.csv`` or ``.json``, for other programs. Estimates, a curve, a comparison: ``.csv``, likewise.
    overwrite
        Replace an existing file; ledgers are never replaced, and a part, a sketch or a tally only by one of the same
        kind.

    Raises
    ------
    UsageError
        If such values cannot be written, or not with this ending, or the file exists and is not replaced.
    OutputError
        If it cannot be written; nothing is left behind. Also if a sketch would replace a file with other names (hard
        links), which would keep the old state.

    Examples
    --------
    >>> import tempfile
    >>> from anonhist.mechanisms import release as release_privately
    >>> from anonhist.profiles import Profile
    >>> released = release_privately(Profile.from_labels("abracadabra"), epsilon=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(released, f"{folder}/release.csv")
    ...     Path(folder, "release.csv").read_text().partition(",")[0]
    'count'
    """
    if not isinstance(written, Saved):
        raise UsageError(
            "Only releases, sketches, surveys, reports, tallies, estimates, curves and comparisons can be written, not "
            f"{kind_of(written)}; a profile is exact and must stay secret: release it first."
        )
    write_recorded(written, path, overwrite=overwrite, before_naming=None)


def write_recorded(
    written: Saved, path: str | Path, *, overwrite: bool, before_naming: Callable[[], None] | None
) -> None:
    """Write as :func:`write` does, and call ``before_naming`` when the whole file is on disk, before it is named."""
    if written.not_saved:
        raise UsageError(written.not_saved)
    kind = KINDS[written.known_as]
    files: FileKind[Any] = kind.load("files")
    ending, own = check_ending(path, endings=tuple(files.encoders), what=kind.called), private_kind(written.known_as)
    with open_whole(path, overwrite=overwrite, before_naming=before_naming, kind=own) as file:
        if ending == ".sketch" and Path(path).exists():
            load(".sketches.files:check_sole_name")(Path(path).stat(), path)
        files.encoders[ending](written, file)


def read(path: str | Path) -> Any:
    """Read a file that :func:`write` made, and check all of its content.

    Parameters
    ----------
    path
        A release or a tally: ``.json`` or ``.parquet``. A survey or a collection: ``.json``. A sketch: ``.sketch``.

    Returns
    -------
    Release, GroupedRelease, CumulativeRelease, GroupedCumulativeRelease, IncidenceRelease, Sketch, Survey, Collection
    or Tally
        Equal to what was written. A release has its error recorded, a survey is of the class of its mechanism, and
        the counters of a sketch lie in the file until they first have to change.

    Raises
    ------
    DataError
        If the file is missing or unreadable, has an unknown format or version, or holds an impossible value.
    UsageError
        If the ending is not one of these. A CSV file has lost its guarantee, so it is not read.

    Examples
    --------
    >>> import tempfile
    >>> from anonhist.formats.files import write
    >>> from anonhist.mechanisms import release
    >>> from anonhist.profiles import Profile
    >>> released = release(Profile.from_labels("abracadabra"), epsilon=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(released, f"{folder}/release.json")
    ...     read(f"{folder}/release.json") == released
    True
    """
    ending = Path(path).suffix.lower()
    if ending == ".sketch":
        return load(".sketches.files:read_sketch")(path)
    if ending not in (".json", ".parquet"):
        raise UsageError(f"Give a file ending in .json, .parquet or .sketch; {mask(str(path))!r} does not.")
    content = content_of(path)
    with naming_file("file of this program", path):
        document = _parsed(content, ending)
        kind = _kind(_format(document))
    with naming_file(kind.name, path):
        if ending not in kind.decoders:
            raise DataError(f"no {kind.name} is in a file that ends in {ending}")
        return kind.decoders[ending](document)


def _format(document: object) -> object:
    """Return the format that a JSON document, or a Parquet file, declares."""
    if isinstance(document, bytes):
        from anonhist.formats.untrusted import open_parquet, refuse_damage

        with refuse_damage():
            metadata = open_parquet(document).schema_arrow.metadata or {}
        return next((name.decode("ascii", "replace") for name in metadata if name.startswith(_OURS)), None)
    return document.get("format") if isinstance(document, dict) else None


def _kind(name: object) -> FileKind[Any]:
    """Return how files of a format are read."""
    known = {kind.format: kind for kind in KINDS.values() if kind.format}
    if not isinstance(name, str) or name not in known:
        check_not_older(name)
        raise DataError(f"its format is not one of {', '.join(known)}")
    found: FileKind[Any] = known[name].load("files")
    return found


def check_not_older(name: object) -> None:
    """Refuse a file that a version before 1.0 wrote."""
    if isinstance(name, str) and name.startswith("anonhist."):
        raise DataError("it was written by a version before 1.0, whose files this one does not read")


@dataclass(frozen=True)
class FileKind(Generic[T]):
    """How files of one kind are written and read, by ending; ``name`` is their content, such as a release.

    Decoders take a JSON document, or the content of a Parquet file.
    """

    name: str
    encoders: Mapping[str, Callable[[Any, BinaryIO], Any]]
    decoders: Mapping[str, Callable[[Any], T]] = field(default_factory=dict)

    def read(self, path: str | Path) -> T:
        """Read a file of this kind."""
        ending = Path(path).suffix.lower()
        if ending not in self.decoders:
            endings = " or ".join(self.decoders)
            raise UsageError(f"{mask(str(path))!r} is not a {self.name} file: name one that ends in {endings}.")
        content = content_of(path)
        with naming_file(self.name, path):
            document = _parsed(content, ending)
            said = document.get("format") if isinstance(document, dict) else None
            check_not_older(said)
            if (
                isinstance(said, str)
                and said in {kind.format for kind in KINDS.values()}
                and said != f"anonhist/{self.name}"
            ):
                raise DataError(f"its format says that it is a {_in_words(said.removeprefix('anonhist/'))}")
            return self.decoders[ending](document)


def as_text(text_of: Callable[[Any], str]) -> Callable[[Any, BinaryIO], Any]:
    """Return an encoder that writes a function's text of a value all at once."""
    return lambda written, file: file.write(text_of(written).encode())


def _parsed(content: bytes, ending: str) -> Any:
    """Return the document of a JSON file, or the content of any other file."""
    return parse_json(content) if ending == ".json" else content


@contextmanager
def naming_file(name: str, path: str | Path) -> Iterator[None]:
    """Add the file's name to errors about its content."""
    try:
        yield
    except (DataError, UsageError) as error:
        what = f"a {_in_words(name)} that can be read"
        raise DataError(f"{str(path)!r} is not {what}: {str(error).removesuffix('.')}.") from None


def _in_words(name: str) -> str:
    """Return the name of a kind of file as words, such as "grouped release" for "grouped-release"."""
    return name.replace("-", " ")


_ENDINGS = (".json", ".parquet")


def is_released_as(path: str | Path, receipt: Receipt, completed: Completed) -> bool:
    """Return whether a file, which need not exist, is the release of a charge, according to its entries.

    A CSV file is recognized by its bytes, if the ledger has their digest; other files by their receipt and content.
    """
    if Path(path).suffix.lower() not in _ENDINGS:
        try:
            with Path(path).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == completed.file
        except (OSError, ValueError):
            return False
    try:
        found = claim_of(path)
    except AnonhistError:
        return False
    is_same_rest = completed.rest is None or completed.rest in found.rest
    return found.receipt == receipt and found.digest == completed.digest and is_same_rest


def claim_of(path: str | Path) -> Released:
    """Return the receipt in the file of a release or a survey, and the digests of its content."""
    if Path(path).suffix.lower() not in _ENDINGS:
        raise UsageError(
            f"{mask(str(path))!r} holds no receipt: budget verify takes releases (.json, .parquet) and surveys (.json)."
        )
    found = read(path)
    released = kind_of_value(found).load("released")
    if released is None:
        raise DataError(f"{mask(str(path))!r} is not a release or a survey: name files that one was written to.")
    told: Released = released(found, Path(path).name)
    return told
