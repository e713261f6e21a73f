"""Writing releases by the path's ending."""

from __future__ import annotations

import io
import json
from pathlib import Path

from anonhist.errors import UsageError
from anonhist.formats.atomic import check_free, write_whole
from anonhist.formats.document import to_document
from anonhist.formats.tables import csv_text, to_arrow
from anonhist.releases import Release

ENDINGS = (".csv", ".json", ".parquet")


def check_ending(path: str | Path) -> str:
    """Return the ending in small letters, or refuse one that is not a release format."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        message = (
            f"A release is written as {', '.join(ENDINGS)}, by the ending of its path; {str(path)!r} ends in none."
        )
        raise UsageError(message)
    return ending


def write(release: Release, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a release to a file, whole or not at all; the path's ending chooses the format.

    Parameters
    ----------
    release
        Its error is computed first if it has not been yet.
    path
        ``.json``: everything, read back by :func:`read_release`. ``.parquet``: the table, with everything in the
        schema's metadata, read back too. ``.csv``: the table alone, for other programs (:func:`csv_text`); it does
        not carry the guarantee and is not read back.
    overwrite
        Replace an existing file.

    Raises
    ------
    UsageError
        If the ending is none of the three, or the file exists.
    OutputError
        If it cannot be written; nothing is left behind.

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
    if not isinstance(release, Release):
        message = f"Only releases are written, not a {type(release).__name__}: a profile is private, release it first."
        raise UsageError(message)
    ending = check_ending(path)
    check_free(path, overwrite=overwrite)
    write_whole(path, _ENCODERS[ending](release), overwrite=overwrite)


def _csv(release: Release) -> bytes:
    return csv_text(release).encode()


def _json(release: Release) -> bytes:
    document = to_document(release)
    # Objects are spread out, lists stay on one line: readable, and no longer than needed.
    return (_spread(document, 0) + "\n").encode()


def _spread(value: object, depth: int) -> str:
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = "  " * (depth + 1)
    fields = [f"{inner}{json.dumps(name)}: {_spread(field, depth + 1)}" for name, field in value.items()]
    return "{\n" + ",\n".join(fields) + "\n" + "  " * depth + "}"


def _parquet(release: Release) -> bytes:
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(to_arrow(release), buffer)
    return buffer.getvalue()


_ENCODERS = {".csv": _csv, ".json": _json, ".parquet": _parquet}
