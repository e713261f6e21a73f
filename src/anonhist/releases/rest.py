"""What a release says besides its content: why, by which version, its expected errors and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.releases.content import digest_of
from anonhist.releases.cumulative import CumulativeRelease
from anonhist.releases.error import ReleaseError
from anonhist.releases.grouped import GroupedRelease
from anonhist.releases.grouped_cumulative import GroupedCumulativeRelease
from anonhist.releases.totals import NestedTotals

if TYPE_CHECKING:
    from anonhist.releases.evidence import KPlusBand, PrevalenceBand
    from anonhist.releases.release import Release

    AnyRelease = Release | GroupedRelease | CumulativeRelease | GroupedCumulativeRelease


def rest_digests(released: AnyRelease) -> tuple[str, ...]:
    """Return the SHA-256 digests of what the content of a release leaves out, the most complete first.

    Errors of profiles may be simulated after the release was charged and completed. So there are two digests of a
    profile whose errors are known: with them, and without. Releases of cumulative windows have their intervals from the
    beginning, and one digest.

    Examples
    --------
    >>> from anonhist.mechanisms import FrobeniusMechanism
    >>> from anonhist.profiles import Profile
    >>> released = FrobeniusMechanism(1).release(Profile.from_counts([3, 1]))
    >>> later = released.with_error()
    >>> rest_digests(later)[-1] == rest_digest(released), rest_digest(later) == rest_digest(released)
    (True, False)
    """
    if isinstance(released, GroupedCumulativeRelease):
        return (digest_of([[list(group), _of_windows(each)] for group, each in released.items()]),)
    if isinstance(released, CumulativeRelease):
        return (digest_of(_of_windows(released)),)
    words, errors = _words(released), _errors(released)
    without = digest_of([words, None])
    return (without,) if errors is None else (digest_of([words, errors]), without)


def rest_digest(released: AnyRelease) -> str:
    """Return the most complete of these digests: with expected errors, if they are known by now."""
    return rest_digests(released)[0]


def _of_windows(release: CumulativeRelease) -> list[Any]:
    return [release.reason, release.library_version, release.lows.tolist(), release.highs.tolist()]


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
