"""Files of releases of cumulative windows: one JSON document, and a table with a row a threshold and day.

Version 2 brought the receipt: where the release was charged.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.formats.error_fields import names_of
from anonhist.formats.fields import check_version, file_wording, mapping, text, whole
from anonhist.formats.file_kind import FileKind
from anonhist.formats.json_text import document_text, parse_json
from anonhist.formats.parquet_content import check_codecs, open_parquet, refuse_damage
from anonhist.formats.release_fields import receipt_document, receipt_from
from anonhist.formats.tables import Table
from anonhist.mechanisms.windows.release import WINDOW_MECHANISMS
from anonhist.releases.cumulative import CumulativeRelease

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from anonhist.formats.tables import Columns
    from anonhist.mechanisms.windows.window_mechanism import WindowMechanism

NAME = "cumulative-release"
FORMAT, VERSION = f"anonhist.{NAME}", 2
METADATA_KEY = FORMAT.encode()
NUMBERS = ("values", "lows", "highs")
SHARED = ("library_version", "guarantee", "mechanism", "reason", "order_key", "thresholds", "days")


def to_cumulative_document(release: CumulativeRelease) -> dict[str, Any]:
    """Return everything a release of cumulative windows says, as JSON values: of the numbers, a list a threshold.

    ``guarantee`` says it to people; it follows from the mechanism.
    """
    version = 1 if release.receipt is None else VERSION
    return {"format": FORMAT, "version": version, **shared_document(release), **numbers_document(release)}


def shared_document(release: CumulativeRelease) -> dict[str, Any]:
    """Return what releases of several groups share."""
    return {
        "library_version": release.library_version,
        "guarantee": file_wording(release.guarantee.sentence),
        "mechanism": {"name": release.mechanism.name, "parameters": dict(release.mechanism.parameters)},
        "reason": release.reason,
        "order_key": release.order_key,
        "thresholds": list(release.thresholds),
        "days": list(release.days),
        **({} if release.receipt is None else {"receipt": receipt_document(release.receipt)}),
    }


def numbers_document(release: CumulativeRelease) -> dict[str, Any]:
    """Return the numbers, of each a list a threshold."""
    return {name: getattr(release, name).tolist() for name in NUMBERS}


def cumulative_release_text(release: CumulativeRelease) -> str:
    """Return the JSON file of a release of cumulative windows."""
    return document_text(to_cumulative_document(release))


def from_cumulative_document(document: object) -> CumulativeRelease:
    """Rebuild a release of cumulative windows, refusing whatever it cannot be.

    Raises
    ------
    DataError
        With what is wrong in one clause.
    """
    top = mapping(document, {*shared_names(document), *NUMBERS}, "a release of cumulative windows")
    check_receipt(top, check_version(top, FORMAT, VERSION, oldest=1))
    return next(releases_from(top, [top]))


def shared_names(document: object) -> set[str]:
    """Return the names of the fields that a document shares with those of several groups."""
    return {"format", "version", *SHARED, *({"receipt"} & names_of(document))}


def check_receipt(document: Mapping[str, Any], version: int) -> None:
    """Refuse a receipt in version 1, and its absence in version 2.

    Raises
    ------
    DataError
        If it is there, or missing.
    """
    if (version == VERSION) is not ("receipt" in document):
        raise DataError("a release of version 2 has a receipt, and one of version 1 has none")


def releases_from(shared: Mapping[str, Any], each_with: Iterable[Mapping[str, Any]]) -> Iterator[CumulativeRelease]:
    """Rebuild releases from what they share, and the numbers of each.

    Raises
    ------
    DataError
        With what is wrong in one clause.
    """
    if not isinstance(shared["days"], list):
        raise DataError("its days must be a list")
    days = tuple(text(day, "a day") for day in shared["days"])
    given: dict[str, Any] = {
        "thresholds": whole(shared["thresholds"], "its thresholds").tolist(),
        "days": days,
        "mechanism": _mechanism(shared["mechanism"]),
        "reason": text(shared["reason"], "the reason"),
        "library_version": text(shared["library_version"], "the library version"),
        "order_key": None if shared["order_key"] is None else text(shared["order_key"], "the order key"),
    }
    if "receipt" in shared:
        try:
            given["receipt"] = receipt_from(shared["receipt"])
        except UsageError as error:
            raise DataError(str(error).removesuffix(".")) from None
    for own in each_with:
        try:
            release = CumulativeRelease(**given | {name: _table(own[name], len(days), name) for name in NUMBERS})
        except UsageError as error:
            raise DataError(str(error).removesuffix(".")) from None
        if shared["guarantee"] != file_wording(release.guarantee.sentence):
            raise DataError("the sentence of the guarantee is not what the guarantee says")
        yield release


def _mechanism(value: object) -> WindowMechanism:
    made_by = mapping(value, {"name", "parameters"}, "the mechanism")
    name = text(made_by["name"], "the mechanism's name")
    if name not in WINDOW_MECHANISMS:
        raise DataError(f"the mechanism must be one of {', '.join(WINDOW_MECHANISMS)}")
    if not isinstance(made_by["parameters"], dict):
        raise DataError("the mechanism's parameters must be an object")
    try:
        return WINDOW_MECHANISMS[name].from_parameters(made_by["parameters"])
    except UsageError as error:
        raise DataError(f"of the parameters of the mechanism: {str(error).removesuffix('.')}") from None


def _table(value: object, days: int, what: str) -> NDArray[np.int64]:
    if not isinstance(value, list) or not value:
        raise DataError(f"{what} must have a list for each threshold")
    rows = [whole(row, what) for row in value]
    if any(row.size != days for row in rows):
        raise DataError(f"{what} must have a number for each day")
    return np.stack(rows)


def columns_of(release: CumulativeRelease) -> Columns:
    """Return the columns: one day after the other for the first threshold, then for the next."""
    return {
        "k": np.repeat(np.array(release.thresholds, dtype=np.int64), len(release.days)),
        "day": [*release.days] * len(release.thresholds),
        "value": release.values.ravel(),
        "low": release.lows.ravel(),
        "high": release.highs.ravel(),
    }


TABLE = Table(columns_of, metadata=lambda release: {METADATA_KEY: json.dumps(to_cumulative_document(release))})


def _from_parquet(content: bytes) -> CumulativeRelease:
    with refuse_damage():
        document = (open_parquet(content).schema_arrow.metadata or {}).get(METADATA_KEY)
        if document is None:
            raise DataError("it is a Parquet file, but not one of a release of cumulative windows")
        release = from_cumulative_document(parse_json(document))
        check_codecs(content)
        table = open_parquet(content).read()
        # Tools that filter a table keep its metadata: the two must still say the same.
        expected = {name: list(column) for name, column in columns_of(release).items()}
        is_same = table.column_names == list(expected) and table.to_pydict() == expected
    if not is_same:
        raise DataError("its rows are not those that were released; they were changed later")
    return release


FILES = FileKind(NAME, {".json": from_cumulative_document, ".parquet": _from_parquet})
