"""Guarantees of several releases together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from anonhist.errors import UsageError
from anonhist.privacy.guarantee import Guarantee
from anonhist.privacy.unit import NeighboringRelation


class Promising(Protocol):
    """What has a guarantee, such as a release."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee."""
        ...


def compose(releases: Iterable[Guarantee | Promising]) -> Guarantee:
    """Return the guarantee of several releases from the same data together.

    ε and δ add up, exactly, also if a later release was chosen by the results of earlier ones.

    Parameters
    ----------
    releases
        Guarantees, or releases with one.

    Returns
    -------
    Guarantee
        For the unit and relation that all can be converted to without assuming anything of the data
        (:meth:`Guarantee.for_neighbors`). :meth:`Guarantee.at_delta` tells ε at a larger δ.

    Raises
    ------
    UsageError
        If there are none, or there is no common unit and relation.

    Notes
    -----
    Dwork and Roth 2014, Theorem 3.16. Proof note:
    docs/proofs/composition.md.

    Examples
    --------
    >>> import anonhist as ah
    >>> profile = ah.Profile.from_counts([5, 3, 3])
    >>> weeks = [ah.release(profile, epsilon="0.1") for _ in range(3)]
    >>> compose(weeks).epsilon
    Fraction(3, 10)
    """
    return Guarantee.of_all(_guarantees(releases))


def in_parallel(releases: Iterable[Guarantee | Promising]) -> Guarantee:
    """Return the guarantee of releases from parts of the data, of which a unit is in one only.

    ε and δ are the largest of any part. :func:`anonhist.release_groups` needs no such step: the guarantee of what it
    returns is already for all groups together.

    Parameters
    ----------
    releases
        Guarantees, or releases with one, of one unit and of the relation add-or-remove. If a unit is replaced, it may
        leave one part and appear in another, which a guarantee for replaced units does not cover.

    Returns
    -------
    Guarantee
        With the condition that no unit is in more than one part. Parts must be fixed without looking at the data: by
        what a unit has of its own, not by how many others there are.

    Raises
    ------
    UsageError
        If there are none, or the unit or relation does not allow it.

    Notes
    -----
    McSherry 2009, Theorem 4. Proof note: docs/proofs/composition.md.

    Examples
    --------
    >>> import anonhist as ah
    >>> shops = [ah.release(ah.Profile.from_counts([5, 3]), epsilon=epsilon) for epsilon in ("0.5", 1)]
    >>> in_parallel(shops).epsilon
    Fraction(1, 1)
    """
    given = _guarantees(releases)
    if not given:
        raise UsageError("There is nothing to add up: give at least one guarantee.")
    if len(given) == 1:
        return given[0]
    together = Guarantee.of_all(given)
    if any(each.relation is not NeighboringRelation.ADD_OR_REMOVE for each in given):
        raise UsageError(
            "Parts of the data cannot be taken in parallel if units are replaced: a unit may leave one part and appear "
            "in another; add the guarantees up instead."
        )
    if len({each.unit.kind for each in given}) > 1:
        raise UsageError("Parts of the data can be taken in parallel only for one unit; add the guarantees up instead.")
    told = [each.for_neighbors(together.unit) for each in given]
    epsilon, toward_party = max(each.epsilon for each in told), max(each.party_epsilon or each.epsilon for each in told)
    return replace(
        together,
        epsilon=epsilon,
        delta=max(each.delta for each in told),
        conditions=(*together.conditions, f"no {together.unit.kind} is in more than one of the {len(given):,} parts"),
        party_epsilon=toward_party if toward_party > epsilon else None,
        parts=(),
    )


def _guarantees(releases: Iterable[Guarantee | Promising]) -> list[Guarantee]:
    found = [each if isinstance(each, Guarantee) else getattr(each, "guarantee", None) for each in releases]
    if not all(isinstance(each, Guarantee) for each in found):
        raise UsageError("Only guarantees, and releases, which have one, add up.")
    return [each for each in found if each is not None]
