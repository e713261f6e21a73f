"""What a released file says of its charge, to be compared with the ledger."""

from __future__ import annotations

from pathlib import Path

from anonhist.accounting import Released
from anonhist.errors import DataError, UsageError, mask
from anonhist.formats.file_kind import read
from anonhist.local.surveys.declaration import survey_digest
from anonhist.local.surveys.survey import Survey
from anonhist.releases import Release
from anonhist.releases.content import content_digest
from anonhist.releases.cumulative import CumulativeRelease
from anonhist.releases.grouped import GroupedRelease
from anonhist.releases.grouped_cumulative import GroupedCumulativeRelease
from anonhist.releases.rest import rest_digests

_ENDINGS = (".json", ".parquet")


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
