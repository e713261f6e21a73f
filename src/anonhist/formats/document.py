"""The JSON document of a release, version 1: to a dictionary and, checking everything, back."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.mechanisms import from_parameters
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon
from anonhist.profiles import Profile
from anonhist.releases import Estimate, Release, ReleaseError
from anonhist.releases.error import METHOD

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT, VERSION = "anonhist.release", 1
_FIELDS = {"format", "version", "library_version", "guarantee", "mechanism", "reason", "profile", "error"}


def to_document(release: Release) -> dict[str, Any]:
    """Return everything a release says, as JSON values; exact numbers are text."""
    guarantee, error = release.guarantee, release.error
    return {
        "format": FORMAT,
        "version": VERSION,
        "library_version": release.library_version,
        "guarantee": {
            "sentence": str(guarantee),
            "unit": guarantee.unit.kind,
            "bound": guarantee.unit.bound,
            "relation": guarantee.relation.value,
            "epsilon": str(guarantee.epsilon),
            "delta": str(guarantee.delta),
            "arithmetic": guarantee.arithmetic,
            "spending": [[purpose, str(spent)] for purpose, spent in guarantee.spending],
        },
        "mechanism": {"name": release.mechanism.name, "parameters": dict(release.mechanism.parameters)},
        "reason": release.reason,
        "profile": {"counts": release.profile.counts.tolist(), "prevalences": release.profile.prevalences.tolist()},
        "error": {
            "method": error.sorted_l1.method,
            "simulations": error.simulations,
            "sorted_l1": {"mean": error.sorted_l1.value, "standard_error": error.sorted_l1.standard_error},
            "levels": error.levels.tolist(),
            "prevalence_standard_errors": error.prevalence_errors.tolist(),
            "k_plus_standard_errors": error.k_plus_errors.tolist(),
        },
    }


def from_document(document: object) -> Release:
    """Rebuild a release, refusing whatever a release cannot be."""
    top = _mapping(document, _FIELDS, "a release")
    if top["format"] != FORMAT:
        raise DataError("This is not a release file: its format is not 'anonhist.release'.")
    if top["version"] != VERSION or isinstance(top["version"], bool):
        message = f"This release file is of version {top['version']!r}; this program reads version {VERSION}."
        raise DataError(message)
    try:
        guarantee = _guarantee(top["guarantee"])
        mechanism = _mapping(top["mechanism"], {"name", "parameters"}, "the mechanism")
        parameters = mechanism["parameters"]
        if not isinstance(parameters, dict):
            raise DataError("The mechanism's parameters must be an object.")
        profile = _mapping(top["profile"], {"counts", "prevalences"}, "the profile")
        return Release(
            profile=Profile(
                _whole(profile["counts"], "counts"), _whole(profile["prevalences"], "prevalences"), unit=guarantee.unit
            ),
            guarantee=guarantee,
            mechanism=from_parameters(_text(mechanism["name"], "the mechanism's name"), parameters),
            reason=_text(top["reason"], "the reason"),
            library_version=_text(top["library_version"], "the library version"),
            simulations=(error := _error(top["error"])).simulations,
            recorded_error=error,
        )
    except UsageError as error_in_values:
        message = f"The release file is invalid: {error_in_values}"
        raise DataError(message) from None


def _guarantee(value: object) -> Guarantee:
    names = {"sentence", "unit", "bound", "relation", "epsilon", "delta", "arithmetic", "spending"}
    fields = _mapping(value, names, "the guarantee")
    relations = {relation.value: relation for relation in NeighboringRelation}
    if fields["relation"] not in relations:
        raise DataError("The guarantee names an unknown relation.")
    if not isinstance(fields["bound"], int) or isinstance(fields["bound"], bool):
        raise DataError("The bound of the guarantee's unit must be a whole number.")
    spending = fields["spending"]
    if not isinstance(spending, list) or not all(isinstance(step, list) and len(step) == 2 for step in spending):
        raise DataError("The steps of the guarantee must be pairs.")
    delta = _text(fields["delta"], "delta")
    return Guarantee(
        PrivacyUnit(_text(fields["unit"], "the unit"), fields["bound"]),
        relations[fields["relation"]],
        parse_epsilon(_text(fields["epsilon"], "epsilon")),
        Fraction(0) if delta == "0" else parse_epsilon(delta, name="delta"),
        _text(fields["arithmetic"], "the clause on arithmetic"),
        tuple((_text(purpose, "a purpose"), parse_epsilon(_text(spent, "a step"))) for purpose, spent in spending),
    )


def _error(value: object) -> ReleaseError:
    names = {"method", "simulations", "sorted_l1", "levels", "prevalence_standard_errors", "k_plus_standard_errors"}
    fields = _mapping(value, names, "the error")
    mean = _mapping(fields["sorted_l1"], {"mean", "standard_error"}, "the sorted ℓ1 error")
    simulations = fields["simulations"]
    if not isinstance(simulations, int) or isinstance(simulations, bool) or simulations < 2:
        raise DataError("The number of simulations must be a whole number of at least 2.")
    center, spread = (float(_floats([mean[name]], name)[0]) for name in ("mean", "standard_error"))
    if min(center, spread) < 0:
        raise DataError("The expected sorted ℓ1 error must not be negative.")
    half = 1.959963984540054 * spread
    return ReleaseError(
        Estimate(center, spread, (max(0.0, center - half), center + half), METHOD),
        simulations,
        _whole(fields["levels"], "levels"),
        _floats(fields["prevalence_standard_errors"], "prevalence_standard_errors"),
        _floats(fields["k_plus_standard_errors"], "k_plus_standard_errors"),
    )


def _mapping(value: object, names: set[str], what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict) or set(value) != names:
        message = f"The file does not describe {what}: it must have exactly the fields {', '.join(sorted(names))}."
        raise DataError(message)
    return value


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or len(value) > 4096:
        message = f"In the release file, {what} must be text."
        raise DataError(message)
    return value


def _whole(value: object, what: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    if not isinstance(value, list) or not all(type(number) is int and abs(number) < 2**63 for number in value):
        message = f"In the release file, {what} must be a list of whole numbers below 2^63."
        raise DataError(message)
    return np.array(value, dtype=np.int64)


def _floats(value: object, what: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    if not isinstance(value, list) or not all(type(number) in (int, float) for number in value):
        message = f"In the release file, {what} must be a list of numbers."
        raise DataError(message)
    array = np.array(value, dtype=np.float64)
    if not bool(np.all(np.isfinite(array))):
        message = f"In the release file, {what} must be finite."
        raise DataError(message)
    return array
