"""The errors of a release in its document: written, and read back with every check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError
from anonhist.formats.fields import floats, mapping, text, whole
from anonhist.privacy import parse_simulations
from anonhist.releases import KPlusBand, PrevalenceBand, ReleaseError
from anonhist.releases.runs import expected_distance

if TYPE_CHECKING:
    from collections.abc import Callable

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
