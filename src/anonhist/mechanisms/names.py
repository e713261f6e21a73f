"""Mechanisms by name, for options and for release files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.catalogue import load
from anonhist.catalogue.mechanisms import MECHANISMS
from anonhist.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.mechanisms.skeletons import CentralMechanism
    from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit

MECHANISM_NAMES = ("auto", *MECHANISMS)


def mechanism_class(name: str) -> type[CentralMechanism]:
    """Return the class of a mechanism (not ``auto``), and load it if necessary.

    Examples
    --------
    >>> mechanism_class("frobenius").__name__
    'FrobeniusMechanism'
    """
    found: type[CentralMechanism] = load(MECHANISMS[name].home)
    return found


def check_name(name: str) -> None:
    """Refuse a name that is neither ``auto`` nor that of a mechanism."""
    if name not in MECHANISM_NAMES:
        raise UsageError(f"There is no mechanism called {name!r:.80}; choose one of {', '.join(MECHANISM_NAMES)}.")


def check_options(name: str, options: Mapping[str, object]) -> None:
    """Refuse options that a mechanism does not take, and require those that it needs."""
    own = {} if name == "auto" else mechanism_class(name).own_options()
    foreign = sorted(options.keys() - own.keys())
    if foreign:
        message = f"`{foreign[0]}` does not apply to `mechanism={name!r}`; leave it out, or choose another mechanism."
        raise UsageError(message)
    missing = [option for option, required in own.items() if required and option not in options]
    if missing:
        raise UsageError(f"`mechanism={name!r}` needs `{missing[0]}`: a public number that the data do not exceed.")


def named_mechanism(
    name: str, epsilon: EpsilonLike, unit: PrivacyUnit, relation: NeighboringRelation, options: Mapping[str, Any]
) -> CentralMechanism:
    """Make a mechanism by name (not ``auto``), with its options.

    Raises
    ------
    UsageError
        If there is no such mechanism, or an option is missing or foreign.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.privacy import NeighboringRelation, PrivacyUnit
    >>> relation = NeighboringRelation.ADD_OR_REMOVE
    >>> named_mechanism("cumulative", Fraction(1), PrivacyUnit.item(), relation, {"public_cap": 100}).public_cap
    100
    """
    check_name(name)
    check_options(name, options)
    return mechanism_class(name)(epsilon, unit, relation, **options)


def from_parameters(name: str, parameters: Mapping[str, object]) -> CentralMechanism:
    """Make a mechanism again from its name and public parameters, as a release file records them.

    Raises
    ------
    DataError
        If the name is unknown or the parameters are not those of such a mechanism.

    Examples
    --------
    >>> from anonhist.mechanisms.frobenius.mechanism import FrobeniusMechanism
    >>> mechanism = FrobeniusMechanism("1/3")
    >>> from_parameters(mechanism.name, mechanism.parameters) == mechanism
    True
    """
    if name not in MECHANISMS:
        raise DataError(f"The file names a mechanism unknown to this version: {name!r:.80}.")
    try:
        return mechanism_class(name).from_parameters(parameters)
    except UsageError as error:
        raise DataError(f"The parameters of the {name} mechanism in the file are invalid: {error}") from None
