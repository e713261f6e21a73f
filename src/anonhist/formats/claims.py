"""What a released file says of its charge, to be compared with the ledger."""

from __future__ import annotations

import hashlib
from pathlib import Path

from anonhist.accounting import Receipt, Released
from anonhist.accounting.entry import Completed
from anonhist.errors import AnonhistError, DataError, UsageError, mask
from anonhist.formats.file_kind import read
from anonhist.local.surveys.declaration import survey_digest
from anonhist.local.surveys.survey import Survey
from anonhist.releases import Release
from anonhist.releases.content import content_digest, rest_digests
from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
from anonhist.releases.grouped import GroupedRelease

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
