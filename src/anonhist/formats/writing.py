"""Writing by type and by the path's ending."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from anonhist.accounting import Receipt, Released
from anonhist.accounting.entry import Completed
from anonhist.catalogue import load
from anonhist.errors import AnonhistError, DataError, UsageError, kind_of, mask
from anonhist.formats.atomic import check_free, open_whole
from anonhist.formats.fields import read
from anonhist.local.files import ENDINGS as REPORT_ENDINGS
from anonhist.local.surveys.declaration import survey_digest
from anonhist.local.surveys.survey import Survey
from anonhist.outward import Saved
from anonhist.releases import Release
from anonhist.releases.content import content_digest, rest_digests
from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
from anonhist.releases.grouped import GroupedRelease
from anonhist.replacing import private_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, BinaryIO

    Encoder = Callable[[Any, BinaryIO], Any]

ENDINGS = (".csv", ".json", ".parquet")


def check_ending(path: str | Path, *, endings: tuple[str, ...] = ENDINGS, what: str = "A release is") -> str:
    """Return the ending in small letters, or refuse one that is not a format of what is to be written."""
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
    """Write what there is to keep to a file, whole or not at all; the path's ending chooses the format.

    Parameters
    ----------
    written
        A release, whose error is computed first if it has not been yet; a sketch; of local privacy, a survey, reports,
        a tally or an estimate of frequencies; or an estimate, several, a curve or a comparison. What was computed from
        exact data is not private in a file either.
    path
        A release: ``.json``: everything, read back by :func:`read`. ``.parquet``: the table, with everything in the
        schema's metadata, read back too. ``.csv``: the table alone, for other programs (:func:`csv_text`); it does not
        carry the guarantee and is not read back.

        A sketch: ``.sketch``. A survey: ``.json``. A tally: ``.json`` or ``.parquet``. All are read by :func:`read`.

        Reports: ``.parquet``, ``.csv`` or ``.ndjson`` (``.jsonl``), read by :func:`tally_reports`. An estimate of
        frequencies: ``.csv`` or ``.json``, for other programs. Estimates, a curve, a comparison: ``.csv``, likewise.
    overwrite
        Replace an existing file: never a ledger, and a part, a sketch or a tally only by one of the same kind.

    Raises
    ------
    UsageError
        If it is nothing that is written, the ending is none of its own, or the file exists and is not replaced.
    OutputError
        If it cannot be written; nothing is left behind. Also if a sketch would replace a file that has other names
        (hard links), which would keep the old state.

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
    what, encoders = _KINDS[written.known_as]
    ending = check_ending(path, endings=tuple(encoders), what=what)
    target = check_free(path, overwrite=overwrite, kind=private_kind(written.known_as))
    if ending == ".sketch" and target.exists():
        from anonhist.sketches.files import check_sole_name

        check_sole_name(target.stat(), path)
    write_recorded(written, path, overwrite=overwrite, before_naming=None)


def write_recorded(
    written: Saved, path: str | Path, *, overwrite: bool, before_naming: Callable[[], None] | None
) -> None:
    """Write as :func:`write`, and call ``before_naming`` when all of it is on the disk, before it gets its name."""
    what, encoders = _KINDS[written.known_as]
    ending = check_ending(path, endings=tuple(encoders), what=what)
    kind = private_kind(written.known_as)
    with open_whole(path, overwrite=overwrite, before_naming=before_naming, kind=kind) as file:
        encoders[ending](written, file)


def _text(home: str) -> Encoder:
    """Write all at once what a function makes of a value; it is loaded when it is needed."""
    return lambda written, file: file.write(load(home)(written).encode())


def _binary(home: str, *options: str) -> Encoder:
    """Let a function write to the file."""
    return lambda written, file: load(home)(written, file, *options)


_CSV = {".csv": _text(".formats.tables:csv_text")}
# By the name that a value is known as: how a sentence about it begins, and by ending what writes it.
_KINDS: dict[str, tuple[str, Mapping[str, Encoder]]] = {
    "release": (
        "A release is",
        {
            ".csv": _text(".formats.tables:csv_text"),
            ".json": _text(".formats.document:release_text"),
            ".parquet": _binary(".formats.tables:write_parquet"),
        },
    ),
    "groups": (
        "A release of groups is",
        {
            ".csv": _text(".formats.tables:csv_text"),
            ".json": _text(".formats.grouped_releases:grouped_release_text"),
            ".parquet": _binary(".formats.tables:write_parquet"),
        },
    ),
    "windows": (
        "A release of cumulative windows is",
        {
            ".csv": _text(".formats.tables:csv_text"),
            ".json": _text(".formats.cumulative_releases:cumulative_release_text"),
            ".parquet": _binary(".formats.tables:write_parquet"),
        },
    ),
    "windows of groups": (
        "A release of cumulative windows of groups is",
        {
            ".csv": _text(".formats.tables:csv_text"),
            ".json": _text(".formats.cumulative_releases:grouped_cumulative_release_text"),
            ".parquet": _binary(".formats.tables:write_parquet"),
        },
    ),
    "sketch": ("A sketch is", {".sketch": _binary(".sketches.files:write_sketch")}),
    "survey": ("A survey is", {".json": _text(".local.files:survey_text")}),
    "tally": (
        "A tally is",
        {".json": _text(".local.files:tally_text"), ".parquet": _binary(".formats.tables:write_parquet")},
    ),
    "reports": ("Reports are", {each: _binary(".local.files:write_reports", each) for each in REPORT_ENDINGS}),
    "frequencies": (
        "An estimate of frequencies is",
        {".csv": _text(".formats.tables:csv_text"), ".json": _text(".local.files:estimate_json")},
    ),
    "estimate": ("An estimate is", _CSV),
    "estimates": ("Estimates are", _CSV),
    "curve": ("A curve is", _CSV),
    "comparison": ("A comparison is", _CSV),
}


_ENDINGS = (".json", ".parquet")


def is_released_as(path: str | Path, receipt: Receipt, completed: Completed) -> bool:
    """Tell whether a file is the release of a charge, as its entries say.

    A file in CSV is known by its bytes, if the ledger has their digest; others by their receipt and what they say.

    Parameters
    ----------
    path
        The file, which need not be there.
    receipt, completed
        Where the charge stands, and the entry that completed it.

    Examples
    --------
    >>> is_released_as("nothing.json", Receipt("0" * 32, 2, "0" * 64), Completed("letters", 2, "0" * 64))
    False
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
    """Return the receipt in a file and the digests of what it says.

    Raises
    ------
    DataError
        If it is no file of a release or a survey.
    UsageError
        If its ending is that of a file without a receipt, such as a table in CSV, or a sketch.

    Examples
    --------
    >>> import tempfile
    >>> from anonhist.formats.writing import write
    >>> from anonhist.mechanisms import FrobeniusMechanism
    >>> from anonhist.profiles import Profile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(FrobeniusMechanism(1).release(Profile.from_counts([3, 1])), f"{folder}/release.json")
    ...     claim_of(f"{folder}/release.json").receipt is None
    True
    """
    if Path(path).suffix.lower() not in _ENDINGS:
        raise UsageError(
            f"{mask(str(path))!r} holds no receipt: budget verify takes releases (.json, .parquet) and surveys (.json)."
        )
    found = read(path)
    if isinstance(found, Survey):
        return Released(Path(path).name, found.receipt, survey_digest(found))
    if not isinstance(found, Release | GroupedRelease | CumulativeRelease | GroupedCumulativeRelease):
        raise DataError(f"{mask(str(path))!r} is not a release or a survey: name files that one was written to.")
    return Released(Path(path).name, found.receipt, content_digest(found), rest_digests(found))
