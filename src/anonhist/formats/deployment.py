"""A release as a record of the public registry of deployments of differential privacy: docs/budget.md shows one.

The registry is that of OpenDP, NIST and others (https://registry.opendp.org). Field names and their allowed values are
those of its schema: ``schemas/deployments-schema.yaml`` of github.com/opendp/deployments-registry-data, commit
057e5d81cf60150dd3307e0cf4504b957802fb3b. tests/formats/registry-schema.json is a copy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from typing import Any

from anonhist.errors import UsageError
from anonhist.frozen import Checked, converted, frozen
from anonhist.privacy import Guarantee, NeighboringRelation, short_decimal
from anonhist.releases.content import AnyRelease
from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
from anonhist.releases.grouped import GroupedRelease
from anonhist.releases.release import Release

CURATOR_TYPES = {"government": "Government", "industry": "Industry", "nonprofit": "Nonprofit"}
_ANY_USER = "Any one user is protected, however many rows they have: at most a fixed number of them were counted."


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
    """Facts that a record needs beyond the release; a person fills in those that are None.

    The curator publishes the release and is ``"government"``, ``"industry"`` or ``"nonprofit"``; the author writes the
    record. The region is where the data or the applicable laws are from; the day of publication has the form
    ``"2026-01-31"``.
    """

    curator: str
    curator_type: Checked[str] = converted(_parse_type)
    published: Checked[str] = converted(_parse_day)
    title: str | None = None
    purpose: str | None = None
    region: str | None = None
    author: str | None = None


def registry_record(release: AnyRelease, deployment: Deployment) -> dict[str, Any]:
    """Return the record of a release, as plain JSON values.

    It contains what the release and ``deployment`` state, and nothing else: other required fields are empty text, and
    other optional fields are left out.
    """
    guarantee = release.guarantee
    is_shared = guarantee.party_epsilon is not None  # Each party adds a share of the noise.
    return {
        "url_slug": "",
        "deployment": {
            "basic": _basic(release, deployment),
            "dp_variant": {"variant_name": "Approximate DP" if guarantee.delta else "Pure DP"},
            "privacy_loss": {
                "privacy_unit": str(guarantee.unit),
                "privacy_unit_details": _neighbors(release),
                "privacy_parameters": {
                    # If parties share the noise, the ε toward a party: a ledger charges it.
                    "epsilon": _number(guarantee.party_epsilon or guarantee.epsilon),
                    **({"delta": _number(guarantee.delta)} if guarantee.delta else {}),
                },
                "privacy_parameters_details": _parameters(guarantee),
            },
            **({} if is_shared else {"deployment_model": {"model_name": "Central"}}),
            "implementation": _implementation(release),
            "administrative": {"status": "Draft", "registry_authors": [deployment.author or ""], "tier": 1},
        },
    }


def empty_fields(value: object, name: str = "") -> Iterator[str]:
    """Name the fields of a record that are left for a person to fill in."""
    if value == "":
        yield name
    elif isinstance(value, dict):
        for field, inner in value.items():
            yield from empty_fields(inner, field)
    elif isinstance(value, list):
        for inner in value:
            yield from empty_fields(inner, name)


def _number(exact: Fraction) -> float:
    """Return the float that JSON writes exactly if 15 digits are enough, and otherwise one that is never less.

    The written text counts: 0.3 is written as 0.3, although it is read as a float that is 10⁻¹⁷ less.
    """
    nearest = float(exact)
    return nearest if Fraction(repr(nearest)) >= exact else math.nextafter(nearest, math.inf)


def _one(release: AnyRelease) -> Release | CumulativeRelease:
    """Return the release, or the release of the first group."""
    return release.first if isinstance(release, GroupedRelease | GroupedCumulativeRelease) else release


def _what(release: AnyRelease) -> str:
    """Describe the released statistic."""
    one = _one(release)
    if isinstance(one, CumulativeRelease):
        thresholds = ", ".join(f"{each:,}" for each in one.thresholds)
        what = f"How many labels have reached a count of {thresholds} by the end of each of {len(one.days):,} days"
    else:
        what = f"How many {one.words.labels} have each {one.words.count}, without saying which"
    if isinstance(release, GroupedRelease | GroupedCumulativeRelease):
        what += f", for each of {len(release):,} groups by {', '.join(release.by)}"
    return f"{what}." if release.where is None else f"{what}; only rows where {release.where} were counted."


def _basic(release: AnyRelease, deployment: Deployment) -> dict[str, Any]:
    return {
        "name": deployment.title or "",
        "data_curators": [
            {
                "data_curator_name": deployment.curator,
                "data_curator_type": CURATOR_TYPES[deployment.curator_type],
            },
        ],
        "description": _what(release),
        "intended_use": deployment.purpose or "",
        "data_product_type": "Summary statistics",
        "data_product_region": deployment.region or "",
        "publication_date": deployment.published,
    }


def _neighbors(release: AnyRelease) -> str:
    guarantee, one = release.guarantee, _one(release)
    # Only a reading that limits what counts draws a key, and only such a reading reports what it left out.
    has_limited = one.order_key is not None or (isinstance(one, Release) and one.excess is not None)
    replaced = guarantee.relation is NeighboringRelation.SUBSTITUTE
    change = "replaced by another" if replaced else "added or removed"
    return f"Neighboring data sets differ in {guarantee.unit}, {change} (relation: {guarantee.relation.value}). " + (
        _ANY_USER
        if has_limited and guarantee.unit.max_items is not None
        else f"Not covered: {guarantee.unit.not_covered}"
    )


def _parameters(guarantee: Guarantee) -> str:
    epsilon, party = short_decimal(guarantee.epsilon), guarantee.party_epsilon
    if party is not None:
        epsilon = f"{short_decimal(party)} toward each party and {epsilon} toward outsiders"
    exact = f"Exactly: ε = {epsilon}, δ = {short_decimal(guarantee.delta)}."
    return f"{exact} The guarantee: {guarantee.sentence}"


def _implementation(told: AnyRelease) -> dict[str, str]:
    parameters = ", ".join(f"{name}={value}" for name, value in told.mechanism.parameters.items())
    steps = ", ".join(f"{short_decimal(spent)} for {purpose}" for purpose, spent in told.guarantee.spending)
    return {
        "mechanisms": (
            f"{told.mechanism.name} ({parameters}), by anonhist {told.library_version}. {told.reason} "
            f"Arithmetic: {told.guarantee.arithmetic}.{told.left_out and f' {told.left_out}'}"
        ),
        "composition": (
            f"{f'The steps of this release add up: {steps}. ' if steps else ''}The parameters are those of this one "
            "release; further releases of the same data add up."
        ),
    }
