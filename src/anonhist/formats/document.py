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

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.accounting import Receipt
from anonhist.errors import DataError, UsageError
from anonhist.formats.central_releases import RECORDS, Recorded, records_with
from anonhist.formats.fields import check_version, document_text, file_wording, floats, mapping, member, text, whole
from anonhist.mechanisms.skeletons import CentralMechanism
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon, parse_simulations
from anonhist.profiles import Bounded, Profile
from anonhist.releases import Excess, KPlusBand, PrevalenceBand, Release, ReleaseError
from anonhist.releases.runs import expected_distance
from anonhist.releases.totals import SumOfReleases

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anonhist.properties.estimate import Estimate

_UNSIMULATED = "not simulated"
_ERROR_FIELDS = {
    *("method", "simulations", "sorted_l1"),
    *("levels", "prevalence_standard_errors", "k_plus_standard_errors"),
}
_OWN_ERROR_FIELDS = {"zeros_standard_error", "band", "prevalence_band", "zeros_interval", "items_interval"}
# The first versions with an interval for the number of items, and with a range of the sorted ℓ1 error.
OF_ITEMS, OF_RANGE = 5, 7


def version_of(error: ReleaseError) -> int:
    """Return the first version that can hold the errors."""
    by_bands = 3 if error.band is not None or not error.simulations else 1
    of_items = 1 if error.items_interval is None else OF_ITEMS
    return max(by_bands, of_items, 1 if error.simulated_range is None else OF_RANGE)


def error_document(error: ReleaseError) -> dict[str, Any]:
    """Return the errors of a release as JSON values."""
    expected = error.sorted_l1
    return {
        "method": _UNSIMULATED if expected is None else expected.method,
        "simulations": error.simulations,
        "sorted_l1": None if expected is None else _expected_document(expected, error.simulated_range),
        "levels": error.levels.tolist(),
        "prevalence_standard_errors": error.prevalence_errors.tolist(),
        "k_plus_standard_errors": error.k_plus_errors.tolist(),
        **({} if error.zeros_error is None else {"zeros_standard_error": error.zeros_error}),
        **({} if error.band is None else {"band": _band_document(error.band)}),
        **({} if error.prevalence_band is None else {"prevalence_band": _band_document(error.prevalence_band)}),
        **({} if error.zeros_interval is None else {"zeros_interval": list(error.zeros_interval)}),
        **({} if error.items_interval is None else {"items_interval": list(error.items_interval)}),
    }


def _expected_document(expected: Estimate, within: tuple[float, float] | None) -> dict[str, Any]:
    found = {"mean": expected.value, "standard_error": expected.standard_error}
    return found if within is None else {**found, "range": list(within)}


def _band_document(band: KPlusBand | PrevalenceBand) -> dict[str, list[int]]:
    return {"ends": band.ends.tolist(), "lows": band.lows.tolist(), "highs": band.highs.tolist()}


def error_from(value: object, version: int) -> ReleaseError:
    """Return the errors in a document of this version.

    Raises
    ------
    DataError
        With what is wrong in one clause.
    """
    own = _OWN_ERROR_FIELDS if version > 2 else {"zeros_standard_error"}
    if version < OF_ITEMS:
        own = own - {"items_interval"}
    fields = mapping(value, _ERROR_FIELDS | (names_of(value) & own), "the error")
    simulations = fields["simulations"]
    if type(simulations) is not int:
        raise DataError("the number of simulations must be a whole number")
    runs = parse_simulations(simulations)
    if not runs and version < 3:
        raise DataError(f"a release of version {version} has simulations")
    bands: dict[str, Any] = {
        name: _band(made_by, fields[name])
        for name, made_by in (("band", KPlusBand), ("prevalence_band", PrevalenceBand))
        if name in fields
    }
    bands |= {name: _interval(fields[name], name) for name in ("zeros_interval", "items_interval") if name in fields}
    expected, within = _read_expected_error(fields["sorted_l1"], text(fields["method"], "the method"), runs, version)
    return ReleaseError(
        expected,
        runs,
        whole(fields["levels"], "levels"),
        floats(fields["prevalence_standard_errors"], "prevalence_standard_errors"),
        floats(fields["k_plus_standard_errors"], "k_plus_standard_errors"),
        float(floats([fields[zeros]], zeros)[0]) if (zeros := "zeros_standard_error") in fields else None,
        **bands,
        simulated_range=within,
    )


def _read_expected_error(
    value: object, method: str, runs: int, version: int
) -> tuple[Estimate | None, tuple[float, float] | None]:
    if not runs:
        if value is not None:
            raise DataError("without simulations there is no sorted ℓ1 error: it must be null")
        if method != _UNSIMULATED:
            raise DataError(f"without simulations, the method of its errors must be {_UNSIMULATED!r}")
        return None, None
    own = {"range"} & names_of(value) if version >= OF_RANGE else set()
    fields = mapping(value, {"mean", "standard_error", *own}, "the sorted ℓ1 error")
    mean, spread = (float(floats([fields[name]], name)[0]) for name in ("mean", "standard_error"))
    if min(mean, spread) < 0:
        raise DataError("the expected sorted ℓ1 error must not be negative")
    expected = expected_distance(mean, spread, runs, method=method)
    if "range" not in fields:
        return expected, None
    ends = floats(fields["range"], "range").tolist()
    if len(ends) != 2:
        raise DataError("range must have two ends")
    return expected, (ends[0], ends[1])


def _band(made_by: Callable[..., Any], value: object) -> Any:
    fields = mapping(value, {"ends", "lows", "highs"}, "a band")
    return made_by(*(whole(fields[name], name) for name in ("ends", "lows", "highs")))


def _interval(value: object, name: str) -> tuple[int, int]:
    ends = whole(value, name).tolist()
    if len(ends) != 2:
        raise DataError(f"{name} must have two ends")
    return ends[0], ends[1]


def names_of(value: object) -> set[str]:
    """Return the names of the fields of an object, none of what is no object."""
    return set(value) if isinstance(value, dict) else set()


_NUMBERS = ("bound", "cap", "noisy_within", "noisy_above", "noisy_items")
_RECEIPT = ("ledger", "entry", "head")
_EPSILONS = ("users_epsilon", "items_epsilon")
# The first version with an excess of labels.
_OF_OTHERS = 7


def excess_document(excess: Excess) -> dict[str, Any]:
    """Return the excess as JSON values; between which neighbors it holds, the guarantee says.

    What was bounded is not written where it is items of users, as in version 4.
    """
    numbers = {name: getattr(excess, name) for name in _NUMBERS}
    of = {} if excess.of is Bounded.ITEMS_OF_USERS else {"of": excess.of.value}
    return numbers | {name: str(getattr(excess, name)) for name in _EPSILONS} | of


def excess_from(value: object, guarantee: Guarantee) -> Excess:
    """Return the excess in a document, having refused what none can be.

    Raises
    ------
    DataError
        With what is wrong in one clause; numbers out of their range raise a UsageError.
    """
    fields = mapping(value, {*_NUMBERS, *_EPSILONS} | (names_of(value) & {"of"}), "the excess")
    of = member(Bounded, fields.get("of", Bounded.ITEMS_OF_USERS.value), "what the excess is of")
    if "of" in fields and of is Bounded.ITEMS_OF_USERS:
        raise DataError("an excess of items of users does not say what it is of")
    if any(type(fields[name]) is not int for name in _NUMBERS):
        raise DataError("the numbers of the excess must be whole")
    for_users, for_items = (parse_epsilon(text(fields[name], name), name=name) for name in _EPSILONS)
    numbers = {name: fields[name] for name in _NUMBERS}
    return Excess(relation=guarantee.relation, users_epsilon=for_users, items_epsilon=for_items, of=of, **numbers)


@dataclass(frozen=True)
class OptionalField:
    """A field of :class:`~anonhist.releases.release.Release` that may be None, and is not in the document then.

    Attributes
    ----------
    since
        The first version of the document that has it, of what the document holds.
    read
        Returns the value, of what the document holds and the guarantee of the release; or raises a DataError.
    write
        Returns a JSON value.
    """

    since: Callable[[Any], int]
    read: Callable[[object, Guarantee], Any]
    write: Callable[[Any], Any] = lambda value: value


def _text(what: str) -> Callable[[object, Guarantee], str]:
    return lambda value, _: text(value, what)


def _number(what: str) -> Callable[[object, Guarantee], int]:
    def read(value: object, _: Guarantee) -> int:
        # Whether it is in range, the release checks.
        if type(value) is not int:
            raise DataError(f"{what} must be a whole number")
        return value

    return read


def receipt_document(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as JSON values."""
    return {name: getattr(receipt, name) for name in _RECEIPT}


def receipt_from(value: object, _: Guarantee | None = None) -> Receipt:
    """Return the receipt in a document; it refuses what none can be.

    Raises
    ------
    DataError
        With what is wrong in one clause; values out of their range raise a UsageError.
    """
    # What each must be, the receipt checks.
    return Receipt(**mapping(value, {*_RECEIPT}, "the receipt"))


OPTIONAL_FIELDS = {
    "order_key": OptionalField(lambda _: 3, _text("the order key")),
    "excess": OptionalField(lambda value: _OF_OTHERS if "of" in names_of(value) else 4, excess_from, excess_document),
    "items": OptionalField(lambda _: 1, _number("items")),
    "zeros": OptionalField(lambda _: 1, _number("zeros")),
    "receipt": OptionalField(lambda _: 6, receipt_from, receipt_document),
}


def optional_document(release: Release) -> dict[str, Any]:
    """Return those fields that a release has, as JSON values."""
    values = {name: getattr(release, name) for name in OPTIONAL_FIELDS}
    return {name: OPTIONAL_FIELDS[name].write(value) for name, value in values.items() if value is not None}


def optional_fields(document: Mapping[str, Any], guarantee: Guarantee) -> dict[str, Any]:
    """Return those fields that a document has.

    Raises
    ------
    DataError
        If one is not what it must be.
    """
    return {name: each.read(document[name], guarantee) for name, each in OPTIONAL_FIELDS.items() if name in document}


def check_since(document: Mapping[str, Any], version: int) -> None:
    """Refuse a document with fields that came in a later version.

    Raises
    ------
    DataError
        If it has one.
    """
    for name, each in OPTIONAL_FIELDS.items():
        if name in document and version < each.since(document[name]):
            raise DataError(f"a release of version {version} has no {name.replace('_', ' ')}")


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
