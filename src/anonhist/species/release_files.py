"""Files of private incidence frequencies: the number of units beside the release of the frequencies, all checked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.formats.document import from_document, receipt_document, receipt_from, to_document
from anonhist.formats.releases import RELEASE_TABLE, columns
from anonhist.formats.tables import Table, document_files
from anonhist.formats.untrusted import check_version, holds, mapping, optional, text
from anonhist.privacy import NeighboringRelation, parse_epsilon
from anonhist.species.releasing import IncidenceRelease
from anonhist.species.sampling_units import sampling_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow.parquet as pq

FORMAT = "anonhist/incidence-release"
_FIELDS = {"format", "version", "library_version", "guarantee", "sampling_units", "units_epsilon", "receipt", "release"}
_UNITS = "sampling_units"


def incidence_document(made: IncidenceRelease) -> dict[str, Any]:
    """Return everything as JSON values: ``release`` is the document of the frequencies, with their own guarantee.

    ``guarantee`` is the sentence for everything, for people.
    """
    return {
        "format": FORMAT,
        "version": 1,
        "library_version": made.release.library_version,
        "guarantee": made.guarantee.sentence,
        _UNITS: made.sampling_units,
        "units_epsilon": optional(str, made.units_epsilon),
        "receipt": optional(receipt_document, made.receipt),
        "release": to_document(made.alone()),
    }


def incidence_from(document: object) -> IncidenceRelease:
    """Rebuild a release, refusing every value that one cannot have."""
    check_version(document, FORMAT)
    top = mapping(document, _FIELDS, "a release of incidence frequencies")
    if type(top[_UNITS]) is not int:
        raise DataError("the number of sampling units must be a whole number")
    release = from_document(top["release"])
    unit, relation = release.guarantee.unit, release.guarantee.relation
    own = sampling_unit(unit.bound)
    if (unit, unit.name) != (own, own.name):
        raise DataError("it protects something other than sampling units")
    if any(each is not None for each in (release.receipt, release.excess, release.order_key, release.where)):
        raise DataError("the release of the frequencies says what belongs to other releases")
    if text(top["library_version"], "the library version") != release.library_version:
        raise DataError("it names two versions of this package")
    try:
        spent = optional(_epsilon, top["units_epsilon"])
        made = IncidenceRelease.of(release, top[_UNITS], spent, optional(receipt_from, top["receipt"]))
    except UsageError as error:
        raise DataError(str(error).removesuffix(".")) from None
    adds = relation is NeighboringRelation.ADD_OR_REMOVE
    if adds != (spent is not None):
        raise DataError("the number of units costs a part of epsilon if and only if units are added or removed")
    if adds and len(release.profile) and int(release.profile.counts[-1]) > made.sampling_units:
        raise DataError("a species is in more sampling units than there are")
    if top["guarantee"] != made.guarantee.sentence:
        raise DataError("the sentence of the guarantee does not match the guarantee")
    return made


def _epsilon(value: object) -> Any:
    return parse_epsilon(text(value, "units_epsilon"), name="units_epsilon")


def _columns(made: IncidenceRelease) -> Mapping[str, Any]:
    """Return the columns of the frequencies, and the number of units in each row."""
    table = columns(made.release)
    return {**table, _UNITS: np.full(table["count"].size, made.sampling_units, dtype=np.int64)}


INCIDENCE_TABLE = Table(
    _columns,
    lambda made: RELEASE_TABLE.texts(made.release),
    lambda made: {FORMAT.encode(): json.dumps(incidence_document(made))},
)


def _is_same(file: pq.ParquetFile, made: IncidenceRelease) -> bool:
    expected = {name: values.tolist() for name, values in _columns(made).items() if name in ("count", "prevalence")}
    return holds(file, {**expected, _UNITS: [made.sampling_units] * len(expected["count"])})


INCIDENCE_FILES = document_files(
    FORMAT, "a release of incidence frequencies", incidence_document, incidence_from, _is_same
)
