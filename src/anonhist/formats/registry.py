"""A release as a record of the public registry of deployments of differential privacy, in YAML.

The registry is that of OpenDP, NIST and others (https://registry.opendp.org). Names of fields and the words that they
take are those of its schema: ``schemas/deployments-schema.yaml`` of github.com/opendp/deployments-registry-data, commit
057e5d81cf60150dd3307e0cf4504b957802fb3b. tests/formats/registry-schema.json says the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from anonhist.errors import UsageError
from anonhist.frozen import Checked, converted, frozen
from anonhist.privacy import NeighboringRelation, short_decimal
from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
from anonhist.releases.grouped import GroupedRelease
from anonhist.releases.release import Release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anonhist.privacy import Guarantee
    from anonhist.releases.protocols import Words

    Value: TypeAlias = "str | int | Fraction | Gap | tuple[Value, ...] | Mapping[str, Value]"
    AnyRelease = Release | GroupedRelease | CumulativeRelease | GroupedCumulativeRelease

_DIGITS = 15
_PLAIN = (Decimal("1e-4"), Decimal("1e15"))
# What JSON leaves as it is in quotes, and YAML 1.1 takes for the end of a line, a mark of byte order, or nothing.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Gap:
    """What a person is to fill in: a hint, which is a line of our own, without anybody's text.

    A field that ``is_left_out`` stands in a comment; otherwise it is empty text.
    """

    hint: str
    is_left_out: bool = False


def yaml_text(record: Mapping[str, Value]) -> str:
    """Write a record as a YAML block."""
    return "".join(f"{line}\n" for line in _block(record, ""))


def _block(record: Mapping[str, Value], indent: str) -> Iterator[str]:
    for name, value in record.items():
        if isinstance(value, Gap) and value.is_left_out:
            yield f"{indent}# {name}:  # fill in: {value.hint}"
        elif isinstance(value, Mapping):
            yield f"{indent}{name}:"
            yield from _block(value, f"{indent}  ")
        elif isinstance(value, tuple):
            yield f"{indent}{name}:"
            yield from (line for each in value for line in _item(each, f"{indent}  "))
        else:
            yield f"{indent}{name}: {_scalar(value)}"


def _item(value: Value, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        first, *others = _block(value, f"{indent}  ")
        yield f"{indent}- {first.lstrip()}"
        yield from others
    else:
        yield f"{indent}- {_scalar(value)}"


def _scalar(value: Value) -> str:
    if isinstance(value, Gap):
        return f'""  # fill in: {value.hint}'
    if isinstance(value, Fraction):
        return number(value)
    return str(value) if isinstance(value, int) else quoted(str(value))


def quoted(text: str) -> str:
    """Write text in double quotes, on one line, whatever is in it.

    Half a surrogate pair, which no file can hold, becomes a replacement character.
    """
    whole = _SURROGATE.sub("\ufffd", text)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(whole, ensure_ascii=False))


def number(value: Fraction) -> str:
    """Write a number ≥ 0 with a decimal point: exactly if 15 digits are enough, otherwise rounded upward.

    Readers of YAML 1.1 take ``1e-9`` for text: a number has a point, and its exponent a sign.
    """
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    least, most = _PLAIN
    digits, mark, power = f"{rounded:{'f' if not rounded or least <= rounded < most else 'e'}}".partition("e")
    return f"{digits if '.' in digits else digits + '.0'}{mark}{power}"


CURATOR_TYPES = {"government": "Government", "industry": "Industry", "nonprofit": "Nonprofit"}
_HEAD = """\
# A record for the Differential Privacy Deployments Registry (https://registry.opendp.org), made from a release.
# What the release does not say is marked "fill in". The registry takes file names of a-z, 0-9 and _.
"""
_ANY_USER = "Any one user is protected, however many rows they have: only so many of them were counted."


def _parse_day(given: str) -> str:
    try:
        is_day = date.fromisoformat(given).isoformat() == given
    except (TypeError, ValueError):
        is_day = False
    if not is_day:
        raise UsageError(f"`published` must be a day such as 2026-01-31, not {given!r:.80}.")
    return given


def _parse_type(given: str) -> str:
    if given not in CURATOR_TYPES:
        raise UsageError(f"`curator_type` must be one of {', '.join(CURATOR_TYPES)}, not {given!r:.80}.")
    return given


@frozen(kw_only=True)
class Deployment:
    """What a record needs and no release says; what is None is left for a person to fill in.

    The curator publishes the release and is ``"government"``, ``"industry"`` or ``"nonprofit"``; the author writes the
    record. The region is that whose data or laws it is about; the day of publication is such as ``"2026-01-31"``.
    """

    curator: str
    curator_type: Checked[str] = converted(_parse_type)
    published: Checked[str] = converted(_parse_day)
    title: str | None = None
    purpose: str | None = None
    region: str | None = None
    author: str | None = None


def registry_text(release: AnyRelease, deployment: Deployment) -> str:
    """Return the record of a release, as YAML.

    What neither the release nor ``deployment`` says is empty or a comment, each with what to fill in.
    """
    told = _told(release)
    guarantee = told.guarantee
    record: dict[str, Any] = {
        "url_slug": Gap("a short name for the address of the record: a-z, 0-9 and -"),
        "deployment": {
            "basic": _basic(told, deployment),
            "dp_variant": {
                "variant_name": "Approximate DP" if guarantee.delta else "Pure DP",
                "data_domain": Gap("what data sets there can be"),
                "unprotected_quantities": Gap("what is published without noise, such as names of groups, or nothing"),
            },
            "privacy_loss": {
                "privacy_unit": str(guarantee.unit),
                "privacy_unit_details": _neighbors(told),
                "number_of_privacy_units": Gap("about how many units there are, if that is public", is_left_out=True),
                "privacy_parameters": {
                    # Toward a party where parties share the noise: what a ledger charges.
                    "epsilon": guarantee.party_epsilon or guarantee.epsilon,
                    **({"delta": guarantee.delta} if guarantee.delta else {}),
                },
                "privacy_parameters_details": _parameters(guarantee),
            },
            "deployment_model": _model(guarantee),
            "implementation": _implementation(told),
            "administrative": {
                "status": "Draft",
                "registry_authors": (_or_gap(deployment.author, "who writes this record"),),
                "tier": 1,
            },
        },
    }
    return _HEAD + yaml_text(record)


class _Told(NamedTuple):
    """What releases of all types say."""

    guarantee: Guarantee
    mechanism: Any
    reason: str
    library_version: str
    what: str
    has_limited_users: bool
    left_out: str


def _told(release: AnyRelease) -> _Told:
    grouped = ""
    one: Release | CumulativeRelease
    if isinstance(release, GroupedRelease):
        one = next(iter(release.values()))
    elif isinstance(release, GroupedCumulativeRelease):
        one = release.first
    else:
        one = release
    if isinstance(release, GroupedRelease | GroupedCumulativeRelease):
        grouped = f", for each of {len(release):,} groups by {', '.join(release.by)}"
    if isinstance(one, CumulativeRelease):
        thresholds = ", ".join(f"{each:,}" for each in one.thresholds)
        what = f"How many labels have reached a count of {thresholds} by the end of each of {len(one.days):,} days"
    else:
        what = _frequencies(one.words)
    # A reading that limits what counts draws a key, and only such a reading tells what it left out.
    has_limited = one.order_key is not None or (isinstance(one, Release) and one.excess is not None)
    return _Told(
        release.guarantee,
        release.mechanism,
        one.reason,
        one.library_version,
        f"{what}{grouped}.",
        has_limited and release.guarantee.unit.max_items is not None,
        release.left_out,
    )


def _frequencies(words: Words) -> str:
    return f"How many {words.labels} have each {words.count}, without saying which"


def _basic(told: _Told, deployment: Deployment) -> dict[str, Any]:
    sectors = "Technology, Healthcare, Education, Government, Energy or Finance"
    return {
        "name": _or_gap(deployment.title, "the name of what is published"),
        "data_curators": (
            {
                "data_curator_name": deployment.curator,
                "data_curator_type": CURATOR_TYPES[deployment.curator_type],
            },
        ),
        "description": told.what,
        "intended_use": _or_gap(deployment.purpose, "what it is for"),
        "data_product_type": "Summary statistics",
        "data_product_region": _or_gap(deployment.region, "which region the data are about, or whose laws apply"),
        "data_product_sector": Gap(sectors, is_left_out=True),
        "publication_date": deployment.published,
    }


def _neighbors(told: _Told) -> str:
    guarantee = told.guarantee
    replaced = guarantee.relation is NeighboringRelation.SUBSTITUTE
    change = "replaced by another" if replaced else "added or removed"
    return f"Neighboring data sets differ in {guarantee.unit}, {change} (relation: {guarantee.relation.value}). " + (
        _ANY_USER if told.has_limited_users else f"Not covered: {guarantee.unit.not_covered}"
    )


def _parameters(guarantee: Guarantee) -> str:
    epsilon, party = short_decimal(guarantee.epsilon), guarantee.party_epsilon
    if party is not None:
        epsilon = f"{short_decimal(party)} toward each party and {epsilon} toward outsiders"
    exact = f"Exactly: ε = {epsilon}, δ = {short_decimal(guarantee.delta)}."
    return f"{exact} The guarantee: {guarantee.sentence}"


def _model(guarantee: Guarantee) -> dict[str, Any]:
    model: str | Gap = "Central"
    if guarantee.party_epsilon is not None:  # each party adds a share of the noise
        model = Gap("Local, Central, Shuffle, Federated or Varies", is_left_out=True)
    return {
        "model_name": model,
        "trust_assumptions": Gap("who sees the data or the release, and who is trusted with what"),
        "release_type": Gap("One release, or Many releases", is_left_out=True),
        "data_source_type": Gap("Static, or Dynamic if new data come in", is_left_out=True),
        "access_type": Gap("Non-interactive, or Interactive if people query the data", is_left_out=True),
    }


def _implementation(told: _Told) -> dict[str, Any]:
    parameters = ", ".join(f"{name}={value}" for name, value in told.mechanism.parameters.items())
    steps = ", ".join(f"{short_decimal(spent)} for {purpose}" for purpose, spent in told.guarantee.spending)
    return {
        "preprocessing_and_hyperparameter_tuning": Gap("what was done with the data before, and how ε was chosen"),
        "mechanisms": (
            f"{told.mechanism.name} ({parameters}), by anonhist {told.library_version}. {told.reason} "
            f"Arithmetic: {told.guarantee.arithmetic}.{told.left_out and f' {told.left_out}'}"
        ),
        "composition": (
            f"{f'The steps of this release add up: {steps}. ' if steps else ''}The parameters are those of this one "
            "release; further releases of the same data add up."
        ),
        "justification": Gap("why this unit, ε and mechanism"),
        "utility": Gap("how accurate it is, and whether that is enough"),
    }


def _or_gap(given: str | None, hint: str) -> str | Gap:
    return given or Gap(hint)
