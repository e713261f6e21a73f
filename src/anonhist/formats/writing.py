"""Writing by type and by the path's ending."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anonhist.catalogue import load
from anonhist.errors import UsageError, kind_of, mask
from anonhist.formats.atomic import check_free, open_whole
from anonhist.formats.reports import ENDINGS as REPORT_ENDINGS
from anonhist.outward import Saved
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
        from anonhist.formats.sketches import check_sole_name

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
            ".json": _text(".formats.grouped_cumulative_releases:grouped_cumulative_release_text"),
            ".parquet": _binary(".formats.tables:write_parquet"),
        },
    ),
    "sketch": ("A sketch is", {".sketch": _binary(".formats.sketches:write_sketch")}),
    "survey": ("A survey is", {".json": _text(".formats.surveys:survey_text")}),
    "tally": (
        "A tally is",
        {".json": _text(".formats.tallies:tally_text"), ".parquet": _binary(".formats.tables:write_parquet")},
    ),
    "reports": ("Reports are", {each: _binary(".formats.reports:write_reports", each) for each in REPORT_ENDINGS}),
    "frequencies": (
        "An estimate of frequencies is",
        {".csv": _text(".formats.tables:csv_text"), ".json": _text(".formats.estimates:estimate_json")},
    ),
    "estimate": ("An estimate is", _CSV),
    "estimates": ("Estimates are", _CSV),
    "curve": ("A curve is", _CSV),
    "comparison": ("A comparison is", _CSV),
}
