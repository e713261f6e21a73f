"""The JSON document of a release: to a dictionary and, checking everything, back.

Each release is written in the oldest version that holds all of it. Version 2, of releases from sketches and with node
privacy, brought three fields of the guarantee: in how many sketches a user may be, conditions of the promise, and what
holds toward a party. Version 3 brought bands, intervals for φ_{k+} from noisy values and, where what is released was
smoothed, for φ_r and φ_0; the key of the order in which items of users were kept; and releases of which no error was
simulated: their ``sorted_l1`` is null, and their tables of errors are empty. Version 4 brought the excess:
what the bound on items of users left out. Version 5 brought units of several groups, and an interval for the
number of items. Version 6 brought the receipt: where the release was charged. Version 7 brought the excess
of labels, which says what it is of, and the range of the sorted ℓ1 error, which is no factor of the error alone.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.formats.error_fields import error_document, error_from, names_of, version_of
from anonhist.formats.fields import check_version, file_wording, mapping, member, text, whole
from anonhist.formats.json_text import document_text
from anonhist.formats.kinds import RECORDS, Recorded, records_with
from anonhist.formats.release_fields import OPTIONAL_FIELDS, check_since, optional_document, optional_fields
from anonhist.mechanisms.skeletons import CentralMechanism
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon
from anonhist.profiles import Profile
from anonhist.releases import Release
from anonhist.releases.totals import SumOfReleases

if TYPE_CHECKING:
    from collections.abc import Mapping

_OF_GROUPS = 5
FORMAT, VERSION = "anonhist.release", 7
_FIELDS = {"format", "version", "library_version", "guarantee", "mechanism", "reason", "profile", "error"}


def to_document(release: Release, *, least: int = 1) -> dict[str, Any]:
    """Return everything a release says, as JSON values.

    Exact fractions are text, such as ``"1/2"``. ``guarantee.sentence`` says the rest of the guarantee to people; what
    is read back is the rest. The keys and what they mean are fixed for each version. Standard errors are those of runs:
    whether intervals are made of them follows from the mechanism (:class:`~anonhist.releases.protocols.TrustsRuns`).

    Parameters
    ----------
    release
        The release.
    least
        The oldest version to write, if an older one would do.

    Raises
    ------
    UsageError
        If it is a sum of several releases, which none of its own could say.
    """
    if isinstance(release.mechanism, SumOfReleases):
        raise UsageError(
            "A total of groups is a sum of them, and has no file of its own: save the release of all groups."
        )
    guarantee, error = release.guarantee, release.error
    version = max(least, release_version(release))
    return {
        "format": FORMAT,
        "version": version,
        "library_version": release.library_version,
        "guarantee": {
            "sentence": file_wording(guarantee.sentence),
            "unit": guarantee.unit.kind,
            "bound": guarantee.unit.bound,
            "relation": guarantee.relation.value,
            "epsilon": str(guarantee.epsilon),
            "delta": str(guarantee.delta),
            "arithmetic": guarantee.arithmetic,
            "spending": [[purpose, str(spent)] for purpose, spent in guarantee.spending],
            **({} if version == 1 else _since_version_2(guarantee)),
            **({} if version < _OF_GROUPS else {"groups": guarantee.unit.groups}),
        },
        "mechanism": {"name": release.mechanism.name, "parameters": dict(release.mechanism.parameters)},
        "reason": release.reason,
        "profile": {"counts": release.profile.counts.tolist(), "prevalences": release.profile.prevalences.tolist()},
        **optional_document(release),
        "error": error_document(error),
    }


def release_text(release: Release) -> str:
    """Return the JSON file of a release."""
    return document_text(to_document(release))


def release_version(release: Release) -> int:
    """Return the oldest version that can say what a release says."""
    fields = [OPTIONAL_FIELDS[name].since(value) for name, value in optional_document(release).items()]
    own = RECORDS[release.mechanism.kind.name].versions[release.mechanism.name]
    # Version 1 has no conditions, and version 2 is of other mechanisms.
    has_more = release.guarantee.unit.groups > 1 or (own == 1 and release.guarantee.conditions)
    return max(version_of(release.error), _OF_GROUPS if has_more else 1, own, *fields)


def _since_version_2(guarantee: Guarantee) -> dict[str, Any]:
    return {
        "sketches": guarantee.unit.sketches,
        "conditions": list(guarantee.conditions),
        "party_epsilon": None if guarantee.party_epsilon is None else str(guarantee.party_epsilon),
    }


def from_document(document: object) -> Release:
    """Rebuild a release, refusing whatever a release cannot be.

    Raises
    ------
    DataError
        With what is wrong in one clause; :func:`read_release` puts the name of the file before it.
    """
    top = mapping(document, _FIELDS | (names_of(document) & OPTIONAL_FIELDS.keys()), "a release")
    version = check_version(top, FORMAT, VERSION, oldest=1)
    try:
        release = _release(top, version)
    except UsageError as error:
        raise DataError(_clause(error)) from None
    check_since(top, version)
    return release


def _release(top: Mapping[str, Any], version: int) -> Release:
    made_by = mapping(top["mechanism"], {"name", "parameters"}, "the mechanism")
    if not isinstance(made_by["parameters"], dict):
        raise DataError("the mechanism's parameters must be an object")
    name = text(made_by["name"], "the mechanism's name")
    guarantee = _guarantee(top["guarantee"], version)
    own = optional_fields(top, guarantee)
    records = records_with(name)
    made = records.remake(Recorded(name, made_by["parameters"], guarantee, own.get("excess"), version))
    if version == 2 and records.versions[name] != 2:
        raise DataError("only releases from sketches and with node privacy are of version 2")
    if top["guarantee"]["sentence"] != file_wording(guarantee.sentence):
        raise DataError("the sentence of the guarantee is not what the guarantee says")
    mechanism, guarantee = made.mechanism, made.guarantee
    fields = mapping(top["profile"], {"counts", "prevalences"}, "the profile")
    counts, prevalences = (whole(fields[name], name) for name in ("counts", "prevalences"))
    profile = Profile(counts, prevalences, unit=guarantee.unit.total_unit)
    zeros = own.get("zeros")
    made.check(profile, own.get("items"), zeros)
    error = error_from(top["error"], version)
    if (error.zeros_error is None) != (zeros is None or not error.simulations):
        raise DataError("zeros and their standard error belong together")
    inside = getattr(mechanism, "central", mechanism)
    bands = (error.band, error.prevalence_band, error.zeros_interval)
    if (
        isinstance(inside, CentralMechanism)
        and not inside.keeps_noisy_values
        and any(each is not None for each in bands)
    ):
        raise DataError("bands belong to mechanisms that keep noisy values, and no other")
    if error.zeros_interval is not None and zeros is None:
        raise DataError("zeros and their interval belong together")
    if error.simulations and (error.levels[0] != 1 or not bool(np.all(np.isin(profile.counts, error.levels)))):
        raise DataError("the levels of the error must be 1 and every released count, at least")
    return Release(
        profile=profile,
        guarantee=guarantee,
        mechanism=mechanism,
        reason=text(top["reason"], "the reason"),
        library_version=text(top["library_version"], "the library version"),
        simulations=error.simulations,
        recorded_error=error,
        **own,
    )


def _guarantee(value: object, version: int) -> Guarantee:
    names = {"sentence", "unit", "bound", "relation", "epsilon", "delta", "arithmetic", "spending"}
    if version > 1:
        names |= {"sketches", "conditions", "party_epsilon"}
    if version >= _OF_GROUPS:
        names |= {"groups"}
    fields = mapping(value, names, "the guarantee")
    text(fields["sentence"], "the sentence of the guarantee")
    relation = member(NeighboringRelation, fields["relation"], "the relation")
    if type(fields["bound"]) is not int:
        raise DataError("the bound of the unit must be a whole number")
    spending = fields["spending"]
    if not isinstance(spending, list) or not all(isinstance(step, list) and len(step) == 2 for step in spending):
        raise DataError("the steps of the guarantee must be pairs")
    conditions, party = fields.get("conditions", []), fields.get("party_epsilon")
    if not isinstance(conditions, list) or type(fields.get("sketches", 1)) is not int:
        raise DataError("the conditions of the guarantee must be a list, and its sketches a whole number")
    if type(fields.get("groups", 1)) is not int:
        raise DataError("the groups of the unit must be a whole number")
    delta = text(fields["delta"], "delta")
    return Guarantee(
        PrivacyUnit(
            text(fields["unit"], "the unit"),
            fields["bound"],
            fields.get("sketches", 1),
            fields.get("groups", 1),
        ),
        relation,
        parse_epsilon(text(fields["epsilon"], "epsilon")),
        Fraction(0) if delta == "0" else parse_epsilon(delta, name="delta"),
        text(fields["arithmetic"], "the clause on arithmetic"),
        tuple(
            (text(purpose, "the purpose of a step"), parse_epsilon(text(spent, "what a step spent")))
            for purpose, spent in spending
        ),
        tuple(text(each, "a condition") for each in conditions),
        None if party is None else parse_epsilon(text(party, "party_epsilon")),
    )


def _clause(error: UsageError) -> str:
    return str(error).removesuffix(".")
