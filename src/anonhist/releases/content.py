"""The content of a release, independent of the file format: all its files have the same digest."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, TypeVar

from anonhist.accounting import Receipt, Released
from anonhist.accounting.entry import canonical
from anonhist.accounting.recording import Account, Price, completing, recording
from anonhist.profiles.profile import Bounded
from anonhist.releases.cumulative import CumulativeRelease, Windows, in_groups
from anonhist.releases.error import ReleaseError
from anonhist.releases.grouped import GroupedRelease, NestedTotals
from anonhist.releases.release import Release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from anonhist.privacy import Guarantee
    from anonhist.profiles import Profile
    from anonhist.profiles.grouped import GroupedProfile
    from anonhist.properties.estimate import Estimate
    from anonhist.releases.evidence import KPlusBand, PrevalenceBand
    from anonhist.releases.excess import Excess
    from anonhist.releases.made import OneRelease

    Made = TypeVar("Made", bound="AnyRelease")

AnyRelease = Release | GroupedRelease | Windows
_EXCESS = ("bound", "cap", "noisy_within", "noisy_above", "noisy_items")


def content_digest(released: AnyRelease) -> str:
    """Return the SHA-256 digest of a release: its numbers, its guarantee and how it was made.

    Errors and intervals are left out: they follow from the rest, and are estimated again if they were not kept. A
    ledger stores this digest to detect files that were changed later.
    """
    if isinstance(released, GroupedRelease):
        return digest_of(_of_groups(released))
    if isinstance(released, Windows):
        grouped = in_groups(released)
        groups = [[list(group), _of_windows(each)] for group, each in grouped.items()]
        return digest_of({"by": list(grouped.by), "groups": groups})
    return digest_of(content(released))


def charged(
    account: Account | None,
    price: Callable[[], Price],
    make: Callable[[Receipt | None], Made],
    *,
    earlier: Receipt | None = None,
) -> Made:
    """Charge a release of private data in memory, make it with its receipt, and complete the charge.

    One that was charged ``earlier``, when its data were read, only completes that charge.
    """
    with recording(account, price) if earlier is None else completing(account, earlier) as recorded:
        # Whatever fails from here on may depend on the data.
        recorded.keep()
        released = make(recorded.receipt)
        recorded.complete(lambda: content_digest(released), lambda: rest_digest(released))
    return released


def found_digest(read: GroupedProfile) -> str:
    """Return the digest of the groups that were found, without their contents.

    It completes the charge of finding groups, which has no file: the released result is the list of groups.
    """
    return digest_of({"by": list(read.by), "groups": [list(group) for group in read]})


def _of_groups(release: GroupedRelease) -> dict[str, Any]:
    found = release.found_with
    return {
        "guarantee": _guarantee(release.guarantee),
        "by": list(release.by),
        # Ledgers hold digests of releases without an excess, which must not change.
        **({} if release.excess is None else {"excess": _excess(release.excess)}),
        "found_with": None if found is None else [str(each) for each in found],
        # Totals of nested levels follow from their groups.
        "groups": [[list(group), content(each)] for group, each in release.drawn.items()],
        # Adjusted numbers follow from those, too, but whether they were published does not.
        **({} if release.adjusted is None else {"adjusted": True}),
    }


def _of_windows(release: CumulativeRelease) -> dict[str, Any]:
    return {
        **_made(release),
        "thresholds": list(release.thresholds),
        "days": list(release.days),
        "values": release.values.tolist(),
    }


def estimates_digest(estimates: Iterable[tuple[str, Estimate]]) -> str:
    """Return the digest of private estimates: their values, intervals and guarantee."""
    return digest_of(
        [
            [
                *(name, repr(each.value), repr(each.standard_error), [repr(end) for end in each.interval], each.method),
                None if each.guarantee is None else _guarantee(each.guarantee),
                *([] if each.where is None else [each.where]),
            ]
            for name, each in estimates
        ]
    )


def digest_of(value: Any) -> str:
    """Return the SHA-256 digest of a JSON value."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def content(release: Release) -> dict[str, Any]:
    """Return the content of a release as JSON values."""
    return {
        **_made(release),
        **_numbers(release.profile),
        "items": release.items,
        "zeros": release.zeros,
        "excess": None if release.excess is None else _excess(release.excess),
        **({} if release.draw is None else {"draw": _numbers(release.draw)}),
    }


def _numbers(profile: Profile) -> dict[str, list[int]]:
    return {"counts": profile.counts.tolist(), "prevalences": profile.prevalences.tolist()}


def _made(release: OneRelease) -> dict[str, Any]:
    return {
        "guarantee": _guarantee(release.guarantee),
        "mechanism": release.mechanism.name,
        "parameters": dict(release.mechanism.parameters),
        "order_key": release.order_key,
        # Ledgers hold digests of releases of all rows, which must not change.
        **({} if release.where is None else {"where": release.where}),
        "receipt": receipt_content(release.receipt),
    }


def receipt_content(receipt: Receipt | None) -> list[Any] | None:
    """Return a receipt as a JSON value."""
    return None if receipt is None else [receipt.ledger, receipt.entry, receipt.head]


def _guarantee(told: Guarantee) -> list[Any]:
    unit = told.unit
    return [
        *(unit.kind, unit.bound, unit.sketches, unit.groups, told.relation.value),
        *(str(told.epsilon), str(told.delta), list(told.conditions)),
        None if told.party_epsilon is None else str(told.party_epsilon),
    ]


def _excess(told: Excess) -> list[Any]:
    of = [] if told.of is Bounded.ITEMS_OF_USERS else [told.of.value]
    return [str(told.users_epsilon), str(told.items_epsilon), *(getattr(told, name) for name in _EXCESS), *of]


def rest_digests(released: AnyRelease) -> tuple[str, ...]:
    """Return SHA-256 digests of what the content of a release omits, the most complete first.

    Errors of profiles may be simulated after the release was charged and completed. So a profile with known errors has
    two digests: with and without them. Releases of cumulative windows have intervals from the start, and one digest.
    """
    if isinstance(released, Windows):
        # Words and intervals.
        rest = [
            [list(group), [each.reason, each.library_version, each.lows.tolist(), each.highs.tolist()]]
            for group, each in in_groups(released).items()
        ]
        return (digest_of(rest),)
    words, errors = _words(released), _errors(released)
    without = digest_of([words, None])
    return (without,) if errors is None else (digest_of([words, errors]), without)


def rest_digest(released: AnyRelease) -> str:
    """Return the most complete of these digests: with expected errors, if they are already known."""
    return rest_digests(released)[0]


def _words(release: Release | GroupedRelease) -> list[Any]:
    drawn = release.drawn.values() if isinstance(release, GroupedRelease) else [release]
    return [[each.reason, each.library_version, each.guarantee.arithmetic] for each in drawn]


def _errors(release: Release | GroupedRelease) -> list[Any] | None:
    """Return the errors, or None if not all of them are known."""
    known: list[Any]
    if isinstance(release, GroupedRelease):
        known = [each.recorded_error for each in release.drawn.values()]
        if isinstance(release.totals, NestedTotals):
            known += release.totals.known.values()
    else:
        known = [release.recorded_error]
    return [_error(each) for each in known] if all(isinstance(each, ReleaseError) for each in known) else None


def _error(error: ReleaseError) -> dict[str, Any]:
    expected = error.sorted_l1
    return {
        "simulations": error.simulations,
        "sorted_l1": None if expected is None else [expected.method, *_floats(expected.value, expected.standard_error)],
        "levels": error.levels.tolist(),
        "prevalence_errors": error.prevalence_errors.tolist(),
        "k_plus_errors": error.k_plus_errors.tolist(),
        "zeros_error": None if error.zeros_error is None else float(error.zeros_error),
        "band": _band(error.band),
        "prevalence_band": _band(error.prevalence_band),
        "zeros_interval": _ends(error.zeros_interval),
        "items_interval": _ends(error.items_interval),
        **({} if error.simulated_range is None else {"range": _floats(*error.simulated_range)}),
    }


def _floats(*values: float) -> list[float]:
    return [float(each) for each in values]


def _band(band: KPlusBand | PrevalenceBand | None) -> list[Any] | None:
    return None if band is None else [band.ends.tolist(), band.lows.tolist(), band.highs.tolist()]


def _ends(interval: tuple[int, int] | None) -> list[int] | None:
    return None if interval is None else [int(end) for end in interval]


def released(value: AnyRelease, name: str) -> Released:
    """Return a release's receipt and the digests of its content, as in a ledger."""
    return Released(name, value.receipt, content_digest(value), rest_digests(value))
