"""The JSON document of a release: to a dictionary and, checking everything, back.

Every document has every field; those that a release lacks are null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonhist.accounting import Receipt
from anonhist.catalogue import MECHANISMS, load
from anonhist.errors import DataError, UsageError
from anonhist.formats.untrusted import check_version, floats, mapping, member, optional, text, whole
from anonhist.kinds import RELEASED_BY
from anonhist.mechanisms.picking import from_parameters, told_of_choice
from anonhist.mechanisms.skeletons import CentralMechanism
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon, parse_simulations
from anonhist.profiles import Bounded, FrobeniusCoordinates, Profile
from anonhist.profiles.chosen_bound import CHOSEN
from anonhist.properties.estimate import Estimate
from anonhist.releases import Excess, KPlusBand, Mechanism, PrevalenceBand, Release, ReleaseError
from anonhist.releases.grouped import ON_FOUND_GROUPS, SumOfReleases
from anonhist.releases.made import LEAST_RUNS
from anonhist.releases.runs import BY_POSTERIOR, by_posterior, expected_distance


@dataclass(frozen=True)
class Recorded:
    """The mechanism, the guarantee and, if released, the excess, as recorded in a file."""

    name: str
    parameters: Mapping[str, Any]
    guarantee: Guarantee
    excess: Excess | None


@dataclass(frozen=True)
class Remade:
    """A mechanism rebuilt from a file, and the release's guarantee with the mechanism's own unit.

    ``check`` refuses a profile, items and zeros that the mechanism does not release, with a DataError.
    """

    mechanism: Mechanism
    guarantee: Guarantee
    check: Callable[[Profile, int | None, int | None], None]


def remade(recorded: Recorded) -> Remade:
    """Rebuild the mechanism of a release of any kind, or refuse a mechanism without the guarantee in the file."""
    kinds = (kind for kind in RELEASED_BY.values() if recorded.name.startswith(kind.names or tuple(MECHANISMS)))
    kind = next(kinds, RELEASED_BY["central"])
    made: Remade = load(kind.remake)(recorded)
    return made


def unknown_mechanism(name: str) -> str:
    """Return the error for an unknown mechanism in a file."""
    return f"The file names a mechanism unknown to this version: {name!r:.80}."


def remake(recorded: Recorded) -> Remade:
    """Rebuild a mechanism; for a release with an excess, one with the budget that the excess left."""
    mechanism, guarantee = from_parameters(recorded.name, recorded.parameters), recorded.guarantee
    if recorded.excess is None:
        _check_promise(guarantee, mechanism)
    elif recorded.excess.add_to(mechanism.guarantee) != guarantee:
        raise DataError("the guarantee is not that of the mechanism and the excess together")
    # Equal units may have been bounded in different ways; the mechanism knows how.
    return Remade(mechanism, replace(guarantee, unit=mechanism.unit), partial(_check, mechanism))


def _check(mechanism: CentralMechanism, profile: Profile, items: int | None, zeros: int | None) -> None:
    check_profile(mechanism, profile, items)
    check_no_zeros(zeros)


def check_profile(mechanism: CentralMechanism, profile: Profile, items: int | None) -> None:
    """Refuse a profile, or a number of items beside it, that the mechanism does not release."""
    if reason := mechanism.impossible(profile, items):
        raise DataError(reason)
    try:
        mechanism.admit(profile)
    except UsageError:
        raise DataError("the profile is beyond the public numbers of the mechanism") from None


def check_choice(mechanism: Mechanism, reason: str) -> None:
    """Refuse a reason that states another choice of the bound than the parameters of the mechanism."""
    choice = getattr(mechanism, "bound_choice", None)
    if choice is not None and CHOSEN in reason and told_of_choice(choice, mechanism.guarantee.unit) not in reason:
        raise DataError("the reason states another choice of the bound than the parameters of the mechanism")


def check_no_excess(excess: Excess | None) -> None:
    """Refuse an excess in a release that cannot have one."""
    if excess is not None:
        raise DataError("an excess belongs to a release of users or labels, and no other")


def check_no_zeros(zeros: int | None) -> None:
    """Refuse a number of labels that never occur in a release that cannot have one."""
    if zeros is not None:
        raise DataError("zeros belong to a release of degrees that counts nodes without an edge, and no other")


def _check_promise(guarantee: Guarantee, mechanism: CentralMechanism) -> None:
    """Refuse a guarantee that is not the mechanism's, or rests on conditions that the mechanism does not have."""
    promised = mechanism.guarantee
    if (mechanism.unit, mechanism.relation) != (guarantee.unit, guarantee.relation):
        raise DataError("the guarantee and the mechanism name different units or relations")
    if (guarantee.epsilon, guarantee.spending) != (promised.epsilon, promised.spending):
        raise DataError("the guarantee and the mechanism name different steps or epsilons")
    own = tuple(each for each in guarantee.conditions if not each.startswith(ON_FOUND_GROUPS))
    if (own, guarantee.party_epsilon) != (promised.conditions, promised.party_epsilon):
        raise DataError("the guarantee has conditions that the mechanism does not need")
    if (guarantee.delta, guarantee.arithmetic) != (mechanism.delta, mechanism.arithmetic):
        raise DataError("the guarantee's delta or arithmetic is not that of the mechanism")


_UNSIMULATED = "not simulated"
# Profiles have fewer than 2^63 items, and so do released profiles.
_LARGEST_ERROR = 2.0**64
_ERROR_FIELDS = {
    *("method", "simulations", "sorted_l1"),
    *("levels", "prevalence_standard_errors", "k_plus_standard_errors", "zeros_standard_error"),
    *("band", "prevalence_band", "zeros_interval", "items_interval"),
}


def error_document(error: ReleaseError, simulations: int) -> dict[str, Any]:
    """Return a release's errors as JSON values, with its number of simulations."""
    expected = error.sorted_l1
    return {
        "method": _UNSIMULATED if expected is None else expected.method,
        "simulations": simulations,
        "sorted_l1": None
        if expected is None
        else {
            "mean": expected.value,
            "standard_error": expected.standard_error,
            "range": optional(list, error.simulated_range),
        },
        "levels": error.levels.tolist(),
        "prevalence_standard_errors": error.prevalence_errors.tolist(),
        "k_plus_standard_errors": error.k_plus_errors.tolist(),
        "zeros_standard_error": error.zeros_error,
        "band": optional(_band_document, error.band),
        "prevalence_band": optional(_band_document, error.prevalence_band),
        "zeros_interval": optional(list, error.zeros_interval),
        "items_interval": optional(list, error.items_interval),
    }


def _band_document(band: KPlusBand | PrevalenceBand) -> dict[str, list[int]]:
    return {"ends": band.ends.tolist(), "lows": band.lows.tolist(), "highs": band.highs.tolist()}


def error_from(value: object) -> tuple[ReleaseError, int]:
    """Return the errors in a document, and the number of simulations of the release."""
    fields = mapping(value, _ERROR_FIELDS, "the error")
    simulations = fields["simulations"]
    if type(simulations) is not int:
        raise DataError("the number of simulations must be a whole number")
    method = text(fields["method"], "the method")
    asked = parse_simulations(simulations)
    # If the noisy values gave the expected distance, few runs gave the standard errors.
    runs = min(asked, LEAST_RUNS) if method == BY_POSTERIOR else asked
    expected, within = _read_expected_error(fields["sorted_l1"], method, runs)
    zeros = "zeros_standard_error"
    error = ReleaseError(
        expected,
        runs,
        whole(fields["levels"], "levels"),
        floats(fields["prevalence_standard_errors"], "prevalence_standard_errors"),
        floats(fields["k_plus_standard_errors"], "k_plus_standard_errors"),
        optional(lambda number: float(floats([number], zeros)[0]), fields[zeros]),
        band=optional(partial(_band, KPlusBand), fields["band"]),
        prevalence_band=optional(partial(_band, PrevalenceBand), fields["prevalence_band"]),
        zeros_interval=optional(partial(_ends, whole, "zeros_interval"), fields["zeros_interval"]),
        items_interval=optional(partial(_ends, whole, "items_interval"), fields["items_interval"]),
        simulated_range=within,
    )
    return error, asked


def _read_expected_error(value: object, method: str, runs: int) -> tuple[Estimate | None, tuple[float, float] | None]:
    if not runs:
        if value is not None:
            raise DataError("without simulations there is no sorted ℓ1 error: it must be null")
        if method != _UNSIMULATED:
            raise DataError(f"without simulations, the method of its errors must be {_UNSIMULATED!r}")
        return None, None
    fields = mapping(value, {"mean", "standard_error", "range"}, "the sorted ℓ1 error")
    mean, spread = (float(floats([fields[name]], name)[0]) for name in ("mean", "standard_error"))
    if min(mean, spread) < 0:
        raise DataError("the expected sorted ℓ1 error must not be negative")
    if max(mean, spread) > _LARGEST_ERROR:
        raise DataError("the expected sorted ℓ1 error exceeds the largest distance between profiles")
    within = optional(partial(_ends, floats, "range"), fields["range"])
    if method == BY_POSTERIOR:
        if within is None:
            raise DataError("an error expected by noisy values must have a range")
        return by_posterior(mean, within), within
    return expected_distance(mean, spread, runs, method=method), within


def _band(made_by: Callable[..., Any], value: object) -> Any:
    fields = mapping(value, {"ends", "lows", "highs"}, "a band")
    return made_by(*(whole(fields[name], name) for name in ("ends", "lows", "highs")))


def _ends(read: Callable[[object, str], NDArray[Any]], name: str, value: object) -> tuple[Any, Any]:
    ends = read(value, name).tolist()
    if len(ends) != 2:
        raise DataError(f"{name} must have two ends")
    return ends[0], ends[1]


_NUMBERS = ("bound", "cap", "noisy_within", "noisy_above", "noisy_items")
_RECEIPT = ("ledger", "entry", "head")
_EPSILONS = ("users_epsilon", "items_epsilon")


def excess_document(excess: Excess) -> dict[str, Any]:
    """Return the excess as JSON values; the guarantee states its neighboring relation."""
    numbers = {name: getattr(excess, name) for name in _NUMBERS}
    return numbers | {name: str(getattr(excess, name)) for name in _EPSILONS} | {"of": excess.of.value}


def excess_from(guarantee: Guarantee, value: object) -> Excess:
    """Return the excess in a document, or refuse an invalid one."""
    fields = mapping(value, {*_NUMBERS, *_EPSILONS, "of"}, "the excess")
    of = member(Bounded, fields["of"], "the subject of the excess")
    if any(type(fields[name]) is not int for name in _NUMBERS):
        raise DataError("the numbers of the excess must be whole")
    for_users, for_items = (parse_epsilon(text(fields[name], name), name=name) for name in _EPSILONS)
    numbers = {name: fields[name] for name in _NUMBERS}
    return Excess(relation=guarantee.relation, users_epsilon=for_users, items_epsilon=for_items, of=of, **numbers)


def receipt_document(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as JSON values."""
    return {name: getattr(receipt, name) for name in _RECEIPT}


def receipt_from(value: object) -> Receipt:
    """Return the receipt in a document, or refuse an invalid one."""
    # The receipt checks each value.
    return Receipt(**mapping(value, {*_RECEIPT}, "the receipt"))


def _number(what: str, value: object) -> int:
    # The release checks the range.
    if type(value) is not int:
        raise DataError(f"{what} must be a whole number")
    return value


FORMAT = "anonhist/release"
_FIELDS = {
    *("format", "version", "library_version", "guarantee", "mechanism", "reason", "profile", "error"),
    *("order_key", "where", "excess", "items", "zeros", "draw", "receipt"),
}
_GUARANTEE_FIELDS = {
    *("sentence", "unit", "bound", "sketches", "groups", "relation", "epsilon", "delta", "arithmetic", "spending"),
    *("conditions", "party_epsilon"),
}


def to_document(release: Release) -> dict[str, Any]:
    """Return a release's content as JSON values; refuse a sum of several releases, which has no file.

    Exact fractions are text, such as ``"1/2"``. ``guarantee.sentence`` is for people; only the guarantee's other fields
    are read back. The keys and their meanings are fixed. Standard errors come from runs; whether they give intervals
    follows from the mechanism (:class:`~anonhist.releases.made.TrustsRuns`).
    """
    if isinstance(release.mechanism, SumOfReleases):
        raise UsageError(
            "A total of groups is a sum of them, and has no file of its own: save the release of all groups."
        )
    if release.unadjusted is not None:
        raise UsageError(
            "This profile was moved to agree with other groups, and has no file of its own: save the release of all "
            "groups, or this one as it was drawn."
        )
    guarantee, error = release.guarantee, release.error
    return {
        "format": FORMAT,
        "version": 1,
        "library_version": release.library_version,
        "guarantee": {
            "sentence": guarantee.sentence,
            "unit": guarantee.unit.kind,
            "bound": guarantee.unit.bound,
            "sketches": guarantee.unit.sketches,
            "groups": guarantee.unit.groups,
            "relation": guarantee.relation.value,
            "epsilon": str(guarantee.epsilon),
            "delta": str(guarantee.delta),
            "arithmetic": guarantee.arithmetic,
            "spending": [[purpose, str(spent)] for purpose, spent in guarantee.spending],
            "conditions": list(guarantee.conditions),
            "party_epsilon": optional(str, guarantee.party_epsilon),
        },
        "mechanism": {"name": release.mechanism.name, "parameters": dict(release.mechanism.parameters)},
        "reason": release.reason,
        "profile": profile_document(release.profile),
        "order_key": release.order_key,
        "where": release.where,
        "excess": optional(excess_document, release.excess),
        "items": release.items,
        "zeros": release.zeros,
        "draw": optional(profile_document, release.draw),
        "receipt": optional(receipt_document, release.receipt),
        "error": error_document(error, release.simulations),
    }


def from_document(document: object) -> Release:
    """Rebuild a release, refusing every value that a release cannot have.

    :func:`~anonhist.formats.releases.read_release` adds the file's name to the error.
    """
    check_version(document, FORMAT)
    top = mapping(document, _FIELDS, "a release")
    try:
        return _release(top)
    except UsageError as error:
        raise DataError(str(error).removesuffix(".")) from None


def _release(top: Mapping[str, Any]) -> Release:
    name, parameters = made_by(top["mechanism"])
    guarantee = _guarantee(top["guarantee"])
    excess = optional(partial(excess_from, guarantee), top["excess"])
    items, zeros = (optional(partial(_number, each), top[each]) for each in ("items", "zeros"))
    made = remade(Recorded(name, parameters, guarantee, excess))
    mechanism, guarantee = made.mechanism, made.guarantee
    if top["guarantee"]["sentence"] != guarantee.sentence:
        raise DataError("the sentence of the guarantee does not match the guarantee")
    check_choice(mechanism, text(top["reason"], "the reason"))
    profile = profile_from(guarantee, "the profile", top["profile"])
    draw = optional(partial(profile_from, guarantee, "the draw"), top["draw"])
    made.check(profile, items, zeros)
    error, simulations = error_from(top["error"])
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
    if draw is not None:
        _check_draw(inside, draw, profile, zeros)
    if error.zeros_interval is not None and zeros is None:
        raise DataError("zeros and their interval belong together")
    if error.simulations and (error.levels[0] != 1 or not bool(np.all(np.isin(profile.counts, error.levels)))):
        raise DataError("the levels of the error must be 1 and every released count, at least")
    return Release(
        profile=profile,
        guarantee=guarantee,
        mechanism=mechanism,
        simulations=simulations,
        recorded_error=error,
        excess=excess,
        items=items,
        zeros=zeros,
        draw=draw,
        **how_made(top),
    )


def _check_draw(mechanism: object, draw: Profile, profile: Profile, zeros: int | None) -> None:
    """Refuse a draw to which the profile was not fitted: all but the legs are the same, within public numbers."""
    if not (isinstance(mechanism, CentralMechanism) and mechanism.fits_draws):
        raise DataError("a draw belongs to mechanisms that fit a profile to it, and no other")
    check_profile(mechanism, draw, None)
    if zeros is not None and draw.num_labels > profile.num_labels + zeros:
        raise DataError("the draw has more labels than there are")
    drawn, fitted = (FrobeniusCoordinates.of(each) for each in (draw, profile))
    if not np.array_equal(drawn.arms, fitted.arms):
        raise DataError("the draw and the profile must differ in nothing but the prevalences of small counts")


def profile_document(profile: Profile) -> dict[str, list[int]]:
    """Return a profile as JSON values."""
    return {"counts": profile.counts.tolist(), "prevalences": profile.prevalences.tolist()}


def profile_from(guarantee: Guarantee, what: str, value: object) -> Profile:
    """Return the profile in a document, or refuse an invalid one."""
    fields = mapping(value, {"counts", "prevalences"}, what)
    counts, prevalences = (whole(fields[name], name) for name in ("counts", "prevalences"))
    return Profile(counts, prevalences, unit=guarantee.unit.total_unit)


def made_by(value: object) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of a mechanism."""
    fields = mapping(value, {"name", "parameters"}, "the mechanism")
    if not isinstance(fields["parameters"], dict):
        raise DataError("the mechanism's parameters must be an object")
    return text(fields["name"], "the mechanism's name"), fields["parameters"]


def how_made(top: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a document of any kind of release, except its mechanism."""
    return {
        "reason": text(top["reason"], "the reason"),
        "library_version": text(top["library_version"], "the library version"),
        "order_key": optional(partial(text, what="the order key"), top["order_key"]),
        "where": optional(partial(text, what="the condition on rows"), top["where"]),
        "receipt": optional(receipt_from, top["receipt"]),
    }


def _guarantee(value: object) -> Guarantee:
    fields = mapping(value, _GUARANTEE_FIELDS, "the guarantee")
    text(fields["sentence"], "the sentence of the guarantee")
    relation = member(NeighboringRelation, fields["relation"], "the relation")
    if type(fields["bound"]) is not int:
        raise DataError("the bound of the unit must be a whole number")
    spending = fields["spending"]
    if not isinstance(spending, list) or not all(isinstance(step, list) and len(step) == 2 for step in spending):
        raise DataError("the steps of the guarantee must be pairs")
    if not isinstance(fields["conditions"], list):
        raise DataError("the conditions of the guarantee must be a list")
    if any(type(fields[name]) is not int for name in ("sketches", "groups")):
        raise DataError("the sketches and the groups of the unit must be whole numbers")
    delta = text(fields["delta"], "delta")
    return Guarantee(
        PrivacyUnit(
            text(fields["unit"], "the unit"),
            fields["bound"],
            fields["sketches"],
            fields["groups"],
        ),
        relation,
        parse_epsilon(text(fields["epsilon"], "epsilon")),
        Fraction(0) if delta == "0" else parse_epsilon(delta, name="delta"),
        text(fields["arithmetic"], "the clause on arithmetic"),
        tuple(
            (text(purpose, "the purpose of a step"), parse_epsilon(text(spent, "the epsilon of a step")))
            for purpose, spent in spending
        ),
        tuple(text(each, "a condition") for each in fields["conditions"]),
        optional(
            lambda party: parse_epsilon(text(party, "party_epsilon"), name="party_epsilon"), fields["party_epsilon"]
        ),
    )
