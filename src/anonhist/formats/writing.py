"""Writing by type and by the path's ending."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anonhist.errors import UsageError, mask
from anonhist.formats.atomic import check_free, open_whole
from anonhist.formats.document import to_document
from anonhist.formats.json_text import document_text
from anonhist.formats.tables import csv_text, write_parquet
from anonhist.releases import Release

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, BinaryIO

    from anonhist.local.surveys.estimate import FrequencyEstimate
    from anonhist.local.surveys.reports import Reports
    from anonhist.local.surveys.survey import Survey
    from anonhist.local.surveys.tally import Tally
    from anonhist.sketches import Sketch

ENDINGS = (".csv", ".json", ".parquet")


def check_ending(path: str | Path, *, endings: tuple[str, ...] = ENDINGS, what: str = "A release is") -> str:
    """Return the ending in small letters, or refuse one that is not a format of what is to be written."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        message = (
            f"{what} written as {', '.join(endings)}, by the ending of its path; {mask(str(path))!r} ends in none."
        )
        raise UsageError(message)
    return ending


def write(
    written: Release | Sketch | Survey | Tally | Reports | FrequencyEstimate,
    path: str | Path,
    *,
    overwrite: bool = False,
) -> None:
    """Write what there is to keep to a file, whole or not at all; the path's ending chooses the format.

    Parameters
    ----------
    written
        A release, whose error is computed first if it has not been yet; a sketch; or, of local privacy, a survey,
        reports, a tally or an estimate of frequencies.
    path
        A release: ``.json``: everything, read back by :func:`read`. ``.parquet``: the table, with everything in the
        schema's metadata, read back too. ``.csv``: the table alone, for other programs (:func:`csv_text`); it does not
        carry the guarantee and is not read back.

        A sketch: ``.sketch``. A survey: ``.json``. A tally: ``.json`` or ``.parquet``. All are read by :func:`read`.

        Reports: ``.parquet``, ``.csv`` or ``.ndjson`` (``.jsonl``), read by :func:`tally_reports`. An estimate:
        ``.csv`` or ``.json``, for other programs.
    overwrite
        Replace an existing file.

    Raises
    ------
    UsageError
        If it is nothing that is written, the ending is none of its own, or the file exists.
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
    what, encoders = "A release is", _RELEASE
    if not isinstance(written, Release):
        what, encoders = _others(written)
    ending = check_ending(path, endings=tuple(encoders), what=what)
    target = check_free(path, overwrite=overwrite)
    if ending == ".sketch" and target.exists():
        from anonhist.formats.sketches import check_sole_name

        check_sole_name(target.stat(), path)
    with open_whole(path, overwrite=overwrite) as file:
        encoders[ending](written, file)


def _others(written: object) -> tuple[str, Mapping[str, Callable[[Any, BinaryIO], None]]]:
    """Return how a sentence about another object begins, and its encoders, loaded when needed."""
    from anonhist.sketches import Sketch

    if isinstance(written, Sketch):
        from anonhist.formats.sketches import ENCODERS

        return "A sketch is", ENCODERS
    from anonhist.formats.local_files import encoders_of

    return encoders_of(written)


def _csv(release: Release, file: BinaryIO) -> None:
    file.write(csv_text(release).encode())


def _json(release: Release, file: BinaryIO) -> None:
    file.write(document_text(to_document(release)).encode())


_RELEASE: Mapping[str, Callable[[Any, BinaryIO], None]] = {".csv": _csv, ".json": _json, ".parquet": write_parquet}
