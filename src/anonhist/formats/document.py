"""The JSON document of a release: to a dictionary and, checking everything, back.

Each release is written in the oldest version that holds all of it. Version 2, of releases from sketches and with node
privacy, brought three fields of the guarantee: in how many sketches a user may be, conditions of the promise, and what
holds toward a party. Version 3 brought bands, intervals for φ_{k+} from noisy values and, where what is released was
smoothed, for φ_r and φ_0; the key of the order in which items of users were kept; and releases of which no error was
simulated: their ``sorted_l1`` is null, and their tables of errors are empty. Version 4 brought the excess:
what the bound on items of users left out. Version 5 brought units of several groups.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.formats.fields import check_version, file_wording, floats, mapping, member, text, whole
from anonhist.formats.json_text import document_text
from anonhist.formats.kinds import RECORDS, Recorded, records_with
from anonhist.formats.release_fields import OPTIONAL_FIELDS, check_since, optional_document, optional_fields
from anonhist.mechanisms.basis.skeletons import CentralMechanism
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon, parse_simulations
from anonhist.profiles import Profile
from anonhist.releases import KPlusBand, PrevalenceBand, Release, ReleaseError
from anonhist.releases.error import expected_distance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anonhist.properties.estimate import Estimate

_UNSIMULATED = "not simulated"
_OF_GROUPS = 5
FORMAT, VERSION = "anonhist.release", 5
_FIELDS = {"format", "version", "library_version", "guarantee", "mechanism", "reason", "profile", "error"}
_ERROR_FIELDS = {
    *("method", "simulations", "sorted_l1"),
    *("levels", "prevalence_standard_errors", "k_plus_standard_errors"),
}
_OWN_ERROR_FIELDS = {"zeros_standard_error", "band", "prevalence_band", "zeros_interval"}


def to_document(release: Release) -> dict[str, Any]:
    """Return everything a release says, as JSON values.

    Exact fractions are text, such as ``"1/2"``. ``guarantee.sentence`` says the rest of the guarantee to people; what
    is read back is the rest. The keys and what they mean are fixed for each version. Standard errors are those of runs:
    whether intervals are made of them follows from the mechanism (:class:`~anonhist.releases.protocols.TrustsRuns`).
    """
    guarantee, error = release.guarantee, release.error
    expected = error.sorted_l1
    version = _version(release)
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
        "error": {
            "method": _UNSIMULATED if expected is None else expected.method,
            "simulations": error.simulations,
            "sorted_l1": None
            if expected is None
            else {"mean": expected.value, "standard_error": expected.standard_error},
            "levels": error.levels.tolist(),
            "prevalence_standard_errors": error.prevalence_errors.tolist(),
            "k_plus_standard_errors": error.k_plus_errors.tolist(),
            **({} if error.zeros_error is None else {"zeros_standard_error": error.zeros_error}),
            **({} if error.band is None else {"band": _band_document(error.band)}),
            **({} if error.prevalence_band is None else {"prevalence_band": _band_document(error.prevalence_band)}),
            **({} if error.zeros_interval is None else {"zeros_interval": list(error.zeros_interval)}),
        },
    }


def release_text(release: Release) -> str:
    """Return the JSON file of a release."""
    return document_text(to_document(release))


def _version(release: Release) -> int:
    by_error = 3 if release.error.band is not None or not release.error.simulations else 1
    fields = [each.since for name, each in OPTIONAL_FIELDS.items() if getattr(release, name) is not None]
    own = RECORDS[release.mechanism.kind.name].versions[release.mechanism.name]
    # Version 1 has no conditions, and version 2 is of other mechanisms.
    has_more = release.guarantee.unit.groups > 1 or (own == 1 and release.guarantee.conditions)
    return max(by_error, _OF_GROUPS if has_more else 1, own, *fields)


def _since_version_2(guarantee: Guarantee) -> dict[str, Any]:
    return {
        "sketches": guarantee.unit.sketches,
        "conditions": list(guarantee.conditions),
        "party_epsilon": None if guarantee.party_epsilon is None else str(guarantee.party_epsilon),
    }


def _band_document(band: KPlusBand | PrevalenceBand) -> dict[str, list[int]]:
    return {"ends": band.ends.tolist(), "lows": band.lows.tolist(), "highs": band.highs.tolist()}


def from_document(document: object) -> Release:
    """Rebuild a release, refusing whatever a release cannot be.

    Raises
    ------
    DataError
        With what is wrong in one clause; :func:`read_release` puts the name of the file before it.
    """
    top = mapping(document, _FIELDS | (_names(document) & OPTIONAL_FIELDS.keys()), "a release")
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
    error = _error(top["error"], version)
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
            text(fields["unit"], "the unit"), fields["bound"], fields.get("sketches", 1), fields.get("groups", 1)
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


def _error(value: object, version: int) -> ReleaseError:
    own = _OWN_ERROR_FIELDS if version > 2 else {"zeros_standard_error"}
    fields = mapping(value, _ERROR_FIELDS | (_names(value) & own), "the error")
    simulations = fields["simulations"]
    if type(simulations) is not int:
        raise DataError("the number of simulations must be a whole number")
    runs = parse_simulations(simulations)
    if not runs and version < 3:
        raise DataError(f"a release of version {version} has simulations")
    bands = {
        name: _band(made_by, fields[name])
        for name, made_by in (("band", KPlusBand), ("prevalence_band", PrevalenceBand))
        if name in fields
    }
    return ReleaseError(
        _read_expected_error(fields["sorted_l1"], text(fields["method"], "the method"), runs),
        runs,
        whole(fields["levels"], "levels"),
        floats(fields["prevalence_standard_errors"], "prevalence_standard_errors"),
        floats(fields["k_plus_standard_errors"], "k_plus_standard_errors"),
        float(floats([fields[zeros]], zeros)[0]) if (zeros := "zeros_standard_error") in fields else None,
        zeros_interval=_zeros_interval(fields["zeros_interval"]) if "zeros_interval" in fields else None,
        **bands,
    )


def _read_expected_error(value: object, method: str, runs: int) -> Estimate | None:
    if not runs:
        if value is not None:
            raise DataError("without simulations there is no sorted ℓ1 error: it must be null")
        return None
    fields = mapping(value, {"mean", "standard_error"}, "the sorted ℓ1 error")
    mean, spread = (float(floats([fields[name]], name)[0]) for name in ("mean", "standard_error"))
    if min(mean, spread) < 0:
        raise DataError("the expected sorted ℓ1 error must not be negative")
    return expected_distance(mean, spread, runs, method=method)


def _band(made_by: Callable[..., Any], value: object) -> Any:
    fields = mapping(value, {"ends", "lows", "highs"}, "a band")
    return made_by(*(whole(fields[name], name) for name in ("ends", "lows", "highs")))


def _zeros_interval(value: object) -> tuple[int, int]:
    ends = whole(value, "zeros_interval").tolist()
    if len(ends) != 2:
        raise DataError("the interval of zeros must have two ends")
    return ends[0], ends[1]


def _names(value: object) -> set[str]:
    """Return the names of the fields of an object, none of what is no object."""
    return set(value) if isinstance(value, dict) else set()


def _clause(error: UsageError) -> str:
    return str(error).removesuffix(".")
