"""The JSON document of a release, version 1: to a dictionary and, checking everything, back."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.formats.fields import floats, mapping, text, whole
from anonhist.mechanisms import CentralMechanism, PrevalenceMechanism, PrivHistMechanism, from_parameters
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon
from anonhist.profiles import Profile
from anonhist.properties import Estimate
from anonhist.releases import Release, ReleaseError
from anonhist.releases.error import NORMAL_95

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.sketches.mechanism import SketchMechanism

FORMAT, VERSION = "anonhist.release", 1
SKETCH_NAMES = ("hashed-sketch", "domain-sketch")
_FIELDS = {"format", "version", "library_version", "guarantee", "mechanism", "reason", "profile", "error"}


def to_document(release: Release) -> dict[str, Any]:
    """Return everything a release says, as JSON values.

    Exact fractions are text, such as ``"1/2"``. ``guarantee.sentence`` says the rest of the guarantee to people; what
    is read back is the rest. The keys and what they mean are fixed for version 1.
    """
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
        **({} if release.items is None else {"items": release.items}),
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
    """Rebuild a release, refusing whatever a release cannot be.

    Raises
    ------
    DataError
        With what is wrong in one clause; :func:`read_release` puts the name of the file before it.
    """
    has_items = isinstance(document, dict) and "items" in document
    top = mapping(document, _FIELDS | {"items"} if has_items else _FIELDS, "a release")
    if top["format"] != FORMAT:
        message = f"its format is not {FORMAT!r}"
        raise DataError(message)
    if type(top["version"]) is not int or top["version"] != VERSION:
        message = f"its version is not {VERSION}, the one that this program reads; a newer program may read it"
        raise DataError(message)
    try:
        return _release(top)
    except UsageError as error:
        raise DataError(_clause(error)) from None


def _release(top: Mapping[str, Any]) -> Release:
    guarantee = _guarantee(top["guarantee"])
    made_by = mapping(top["mechanism"], {"name", "parameters"}, "the mechanism")
    if not isinstance(made_by["parameters"], dict):
        raise DataError("the mechanism's parameters must be an object")
    name = text(made_by["name"], "the mechanism's name")
    mechanism: CentralMechanism | SketchMechanism
    if name in SKETCH_NAMES:
        # Loaded for those alone who read sketches.
        from anonhist.formats.sketch_releases import sketch_mechanism

        mechanism = sketch_mechanism(name, made_by["parameters"], guarantee)
    else:
        mechanism = from_parameters(name, made_by["parameters"])
        _check_promise(guarantee, mechanism)
    if top["guarantee"]["sentence"] != str(guarantee):
        raise DataError("the sentence of the guarantee is not what the guarantee says")
    fields = mapping(top["profile"], {"counts", "prevalences"}, "the profile")
    counts, prevalences = (whole(fields[name], name) for name in ("counts", "prevalences"))
    profile = Profile(counts, prevalences, unit=guarantee.unit)
    _check_profile(top, mechanism, profile)
    error = _error(top["error"])
    if not error.levels.size or error.levels[0] != 1 or not bool(np.all(np.isin(profile.counts, error.levels))):
        raise DataError("the levels of the error must be 1 and every released count, at least")
    return Release(
        profile=profile,
        guarantee=guarantee,
        mechanism=mechanism,
        reason=text(top["reason"], "the reason"),
        library_version=text(top["library_version"], "the library version"),
        simulations=error.simulations,
        recorded_error=error,
        items=_items(top["items"]) if "items" in top else None,
    )


def _check_promise(guarantee: Guarantee, mechanism: CentralMechanism) -> None:
    """Refuse a guarantee that the mechanism does not give."""
    if (mechanism.unit, mechanism.relation) != (guarantee.unit, guarantee.relation):
        raise DataError("the guarantee and the mechanism name different units or relations")
    _check_budget(guarantee, mechanism)
    # Should a mechanism ever say this in other words, those of older versions must go on being accepted here.
    if (guarantee.delta, guarantee.arithmetic) != (mechanism.delta, mechanism.arithmetic):
        raise DataError("the guarantee's delta or arithmetic is not that of the mechanism")


def _check_profile(top: Mapping[str, Any], mechanism: CentralMechanism | SketchMechanism, profile: Profile) -> None:
    """Refuse a profile that the mechanism does not release."""
    _check_items(top, mechanism, profile)
    if not isinstance(mechanism, CentralMechanism):
        return
    if isinstance(mechanism, PrevalenceMechanism) and profile.k_plus(mechanism.largest_count + 1):
        raise DataError("a count is beyond the largest that the mechanism can release")
    try:
        mechanism.admit(profile)
    except UsageError:
        raise DataError("the profile is beyond the public numbers of the mechanism") from None


def _check_items(top: Mapping[str, Any], mechanism: CentralMechanism | SketchMechanism, profile: Profile) -> None:
    """Refuse a number of items that the mechanism does not release, or with which it would not release this profile."""
    if not isinstance(mechanism, PrivHistMechanism):
        if "items" in top:
            raise DataError("items belong to a release of PrivHist, which publishes their number, and no other")
        return
    if "items" not in top:
        raise DataError("items, their number as PrivHist publishes it, are missing")
    items = _items(top["items"])
    reach = 2 * items if mechanism.epsilon_per_cell <= 1 else 2**63
    if items >= 0 and ((not items and profile.n) or profile.k_plus(reach + 1)):
        raise DataError("the profile is not one that PrivHist publishes with so few items")


def _check_budget(guarantee: Guarantee, mechanism: CentralMechanism) -> None:
    """Refuse a guarantee that says another budget than the mechanism; in older files a look may have come first."""
    promised = mechanism.guarantee
    if (guarantee.epsilon, guarantee.spending) == (promised.epsilon, promised.spending):
        return
    if promised.spending:
        raise DataError("the guarantee and the mechanism name different steps or epsilons")
    if mechanism.epsilon > guarantee.epsilon or (mechanism.epsilon < guarantee.epsilon and not guarantee.spending):
        raise DataError("the guarantee and the mechanism name different epsilons")
    if guarantee.spending and mechanism.epsilon not in [spent for _, spent in guarantee.spending]:
        raise DataError("none of the guarantee's steps is what the mechanism spent")


def _guarantee(value: object) -> Guarantee:
    names = {"sentence", "unit", "bound", "relation", "epsilon", "delta", "arithmetic", "spending"}
    fields = mapping(value, names, "the guarantee")
    text(fields["sentence"], "the sentence of the guarantee")
    relations = {relation.value: relation for relation in NeighboringRelation}
    relation = relations.get(text(fields["relation"], "the relation"))
    if relation is None:
        message = f"the relation must be one of {', '.join(relations)}"
        raise DataError(message)
    if type(fields["bound"]) is not int:
        raise DataError("the bound of the unit must be a whole number")
    spending = fields["spending"]
    if not isinstance(spending, list) or not all(isinstance(step, list) and len(step) == 2 for step in spending):
        raise DataError("the steps of the guarantee must be pairs")
    delta = text(fields["delta"], "delta")
    return Guarantee(
        PrivacyUnit(text(fields["unit"], "the unit"), fields["bound"]),
        relation,
        parse_epsilon(text(fields["epsilon"], "epsilon")),
        Fraction(0) if delta == "0" else parse_epsilon(delta, name="delta"),
        text(fields["arithmetic"], "the clause on arithmetic"),
        tuple(
            (text(purpose, "the purpose of a step"), parse_epsilon(text(spent, "what a step spent")))
            for purpose, spent in spending
        ),
    )


def _error(value: object) -> ReleaseError:
    names = {"method", "simulations", "sorted_l1", "levels", "prevalence_standard_errors", "k_plus_standard_errors"}
    fields = mapping(value, names, "the error")
    expected = mapping(fields["sorted_l1"], {"mean", "standard_error"}, "the sorted ℓ1 error")
    simulations = fields["simulations"]
    if type(simulations) is not int or simulations < 2:
        raise DataError("the number of simulations must be a whole number of at least 2")
    mean, spread = (float(floats([expected[name]], name)[0]) for name in ("mean", "standard_error"))
    if min(mean, spread) < 0:
        raise DataError("the expected sorted ℓ1 error must not be negative")
    half = NORMAL_95 * spread
    return ReleaseError(
        Estimate(mean, spread, (max(0.0, mean - half), mean + half), text(fields["method"], "the method")),
        simulations,
        whole(fields["levels"], "levels"),
        floats(fields["prevalence_standard_errors"], "prevalence_standard_errors"),
        floats(fields["k_plus_standard_errors"], "k_plus_standard_errors"),
    )


def _items(value: object) -> int:
    # Whether it is in range, the release checks.
    if type(value) is not int:
        raise DataError("items must be a whole number")
    return value


def _clause(error: UsageError) -> str:
    return str(error).removesuffix(".")
