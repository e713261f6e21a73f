"""Guarantees of one release, and of several together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

from anonhist.errors import UsageError
from anonhist.privacy.conversion import Neighbors, common_neighbors, convert, delta_after
from anonhist.privacy.parameters import WEAK_ABOVE, EpsilonLike, parse_epsilon, protection, round_up, with_power
from anonhist.privacy.unit import NeighboringRelation, PrivacyUnit

# Up to this value, sentences about ε do not repeat δ; the guarantee itself always states it.
_TINY = Fraction(1, 10**9)
_SHORT = 8


@dataclass(frozen=True)
class Guarantee:
    """A complete differential privacy guarantee: whom it protects, between which data sets, and how strongly.

    For any two neighboring data sets x, x' and any set E of outputs,
    ``P(M(x) ∈ E) ≤ exp(epsilon) · P(M(x') ∈ E) + delta``.

    Parameters
    ----------
    unit, relation
        Whom the guarantee protects, and which data sets are neighbors.
    epsilon
        Exact, > 0. It includes the budgeted steps of an automatic choice and the rounding of floating-point
        arithmetic.
    delta
        Exact, in [0, 1).
    arithmetic
        One clause: what floating-point rounding costs in the program that ran, and where that is accounted for.
    spending
        (purpose, epsilon) of each budgeted step, when there was more than one; each is > 0, and they add up to
        ``epsilon``.
    conditions
        Clauses that must all be true for the guarantee to hold, and that no program can check.
    party_epsilon
        If parties share the noise, so that ``epsilon`` holds only toward outsiders: the epsilon toward each party,
        which knows its own share; greater than ``epsilon``. Otherwise None.
    parts
        (epsilon, delta) of each release, if it is the guarantee of several together; they add up to ``epsilon`` and
        ``delta``.

    Raises
    ------
    UsageError
        If a number is not an exact Fraction in its range, the steps do not add up, or a field is of another type.

    Notes
    -----
    Guarantees of releases from the same data add up, even if a later release was chosen by the results of an earlier
    one: ``first + second``. Those for different units or relations are converted if that is sound, as
    :meth:`for_neighbors` says, and refused otherwise. Proof: docs/proofs/composition.md.

    :attr:`sentence` is the guarantee in one sentence, with δ rounded up to two digits. ``str(guarantee)`` says it with
    powers of ten, and also if epsilon is so large that it gives weak or practically no protection
    (:func:`~anonhist.privacy.parameters.protection`).

    Examples
    --------
    >>> relation = NeighboringRelation.ADD_OR_REMOVE
    >>> print(Guarantee(PrivacyUnit.item(), relation, Fraction(1, 2), arithmetic="noise is exact"))
    0.5-differentially private (δ = 0) when one item is added or removed; noise is exact.
    >>> print(Guarantee(PrivacyUnit.item(), relation, Fraction(20), arithmetic="noise is exact"))
    20-differentially private (δ = 0) when one item is added or removed; noise is exact. An epsilon of 20 is
    practically no protection.
    >>> half = Guarantee(PrivacyUnit.item(), relation, Fraction(1, 2), arithmetic="noise is exact")
    >>> print(half + half)
    1-differentially private (δ = 0) for 2 releases together when one item is added or removed; noise is exact.
    """

    unit: PrivacyUnit
    relation: NeighboringRelation
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    arithmetic: str = "what floating-point rounding costs is not accounted for"
    spending: tuple[tuple[str, Fraction], ...] = ()
    conditions: tuple[str, ...] = ()
    party_epsilon: Fraction | None = None
    parts: tuple[tuple[Fraction, Fraction], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.unit, PrivacyUnit) or not isinstance(self.relation, NeighboringRelation):
            raise UsageError("A guarantee needs a PrivacyUnit and a NeighboringRelation.")
        if not isinstance(self.epsilon, Fraction) or self.epsilon <= 0:
            message = f"epsilon of a guarantee must be an exact Fraction greater than zero, not {self.epsilon!r:.80}."
            raise UsageError(message)
        if not isinstance(self.delta, Fraction) or not 0 <= self.delta < 1:
            raise UsageError(
                "delta of a guarantee must be an exact Fraction from 0 up to, not including, 1,"
                f" not {self.delta!r:.80}."
            )
        if not isinstance(self.arithmetic, str) or not self.arithmetic:
            raise UsageError("A guarantee must state the cost of arithmetic in a clause of text.")
        if not all(isinstance(spent, Fraction) and spent > 0 for _, spent in self.spending):
            raise UsageError("Each step of a guarantee must spend an exact Fraction greater than zero.")
        if self.spending and sum(spent for _, spent in self.spending) != self.epsilon:
            raise UsageError("The steps of a guarantee must add up to its epsilon.")
        if not all(isinstance(each, str) and each for each in self.conditions):
            raise UsageError("The conditions of a guarantee must be clauses of text.")
        if self.party_epsilon is not None and (
            not isinstance(self.party_epsilon, Fraction) or self.party_epsilon <= self.epsilon or not self.conditions
        ):
            raise UsageError("Toward a party, the epsilon of a guarantee is an exact Fraction greater than epsilon.")
        if self.parts and (sum(each for each, _ in self.parts), sum(each for _, each in self.parts)) != (
            self.epsilon,
            self.delta,
        ):
            raise UsageError("The parts of a guarantee must add up to its epsilon and delta.")

    @property
    def sentence(self) -> str:
        """The guarantee in one sentence, as written in files."""
        return self._told(round_up)

    @property
    def for_people(self) -> str:
        """The same sentence, in which a small δ has a power of ten."""
        return self._told(with_power)

    def _told(self, write: Callable[[Fraction], str]) -> str:
        change = "added or removed" if self.relation is NeighboringRelation.ADD_OR_REMOVE else "replaced by another"
        delta = "δ = 0" if self.delta == 0 else f"δ ≤ {write(self.delta)}"
        spent = ", ".join(f"{short_decimal(part)} for {purpose}" for purpose, part in self.spending)
        steps = f", spent in steps ({spent})" if spent else ""
        toward = " toward outsiders" if self.party_epsilon is not None else ""
        party = (
            f", and {short_decimal(self.party_epsilon)}-differentially private toward each party, which knows its "
            "own share of the noise"
            if self.party_epsilon is not None
            else ""
        )
        together = f" for {len(self.parts):,} releases together" if self.parts else ""
        conditions = f", provided that {', and that '.join(self.conditions)}" if self.conditions else ""
        return (
            f"{short_decimal(self.epsilon)}-differentially private ({delta}){toward}{together} when {self.unit} is "
            f"{change}{steps}{party}{conditions}; {self.arithmetic}."
        )

    def __str__(self) -> str:
        toward = "An epsilon" if self.party_epsilon is None else "Toward outsiders an epsilon"
        said = [self.for_people, _describe_epsilon(self.epsilon, toward)]
        if self.party_epsilon is not None:
            said.append(_describe_epsilon(self.party_epsilon, "Toward a party an epsilon"))
        return " ".join(filter(None, said))

    @property
    def neighbors(self) -> Neighbors:
        """The neighboring data sets between which it holds."""
        return Neighbors(self.unit, self.relation)

    @property
    def losses(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """ε and δ of each release: those of :attr:`parts`, or its own."""
        return self.parts or ((self.epsilon, self.delta),)

    def __add__(self, other: Guarantee) -> Guarantee:
        return Guarantee.of_all([self, other]) if isinstance(other, Guarantee) else NotImplemented

    def for_neighbors(self, unit: PrivacyUnit, relation: NeighboringRelation | None = None) -> Guarantee:
        """Return the guarantee for another unit or relation.

        For k steps between the new neighbors, ε is k times as large. k is 2 from users, labels or nodes to an item or
        edge of theirs, which is changed by taking them away and putting them back; and 2 from added or removed to
        replaced. From items to users or labels with at most m items, k is m, and the result names as a condition that
        nobody has more. No guarantee for items is divided by m.

        Parameters
        ----------
        unit, relation
            What to protect, and which data sets are neighbors; by default, the same relation.

        Raises
        ------
        UsageError
            If it promises nothing for that unit and relation.

        Examples
        --------
        >>> relation = NeighboringRelation.ADD_OR_REMOVE
        >>> of_users = Guarantee(PrivacyUnit.user(max_items=5), relation, Fraction(1, 2), arithmetic="noise is exact")
        >>> print(of_users.for_neighbors(PrivacyUnit.item()))
        1-differentially private (δ = 0) when one item is added or removed; noise is exact.
        """
        wanted = Neighbors(unit, self.relation if relation is None else relation)
        steps, assumption = convert(self.neighbors, wanted)
        if wanted == self.neighbors:
            return self
        losses = [(steps * epsilon, delta_after(steps, epsilon, delta)) for epsilon, delta in self.losses]
        return replace(
            self,
            unit=wanted.unit,
            relation=wanted.relation,
            epsilon=steps * self.epsilon,
            delta=_total_delta(losses),
            spending=tuple((purpose, steps * spent) for purpose, spent in self.spending),
            conditions=_distinct([*self.conditions, *([assumption] if assumption else [])]),
            party_epsilon=None if self.party_epsilon is None else steps * self.party_epsilon,
            parts=tuple(losses) if self.parts else (),
        )

    @classmethod
    def of_all(cls, guarantees: Iterable[Guarantee]) -> Guarantee:
        """Return the joint guarantee of several releases from the same data, each chosen in any way."""
        given = list(guarantees)
        if not given:
            raise UsageError("There is nothing to add up: give at least one guarantee.")
        if len(given) == 1:
            return given[0]
        common = common_neighbors(each.neighbors for each in given)
        told = [each.for_neighbors(*common) for each in given]
        parts = [part for each in told for part in each.losses]
        has_parties = any(each.party_epsilon is not None for each in told)
        # A party may hold a share in each of them.
        toward_party = sum((each.party_epsilon or each.epsilon for each in told), Fraction(0))
        return cls(
            *common,
            sum((epsilon for epsilon, _ in parts), Fraction(0)),
            _total_delta(parts),
            ", and ".join(_distinct(each.arithmetic for each in told)),
            conditions=_distinct(clause for each in told for clause in each.conditions),
            party_epsilon=toward_party if has_parties else None,
            parts=tuple(parts),
        )

    def at_delta(self, delta: EpsilonLike) -> Guarantee:
        """Return the same guarantee at a larger δ, at which ε of many releases together is smaller.

        The losses of the releases are composed as distributions by dp-accounting (the extra ``accounting``): those of
        the worst mechanism with the ε and δ of each release, rounded upward on a grid, with a margin for its
        floating-point rounding that is measured, not proved. The plain sum remains the exact guarantee.

        It holds if the number of releases, and the ε and δ of each, were fixed beforehand. Everything else, such as the
        mechanism, may depend on earlier results; the plain sum holds even if ε and δ do.

        Parameters
        ----------
        delta
            δ of the whole, such as ``"1e-9"``.

        Raises
        ------
        UsageError
            If δ is 1 or more, or smaller than the least that the releases have, or dp-accounting is not installed.

        Notes
        -----
        The result makes no statement toward parties that share the noise: the plain sum holds for them.

        Examples
        --------
        >>> relation = NeighboringRelation.ADD_OR_REMOVE
        >>> daily = Guarantee(PrivacyUnit.item(), relation, Fraction("0.05"), arithmetic="noise is exact")
        >>> year = Guarantee.of_all([daily] * 365)
        >>> year.epsilon, year.at_delta("1e-9").epsilon  # doctest: +SKIP
        (Fraction(73, 4), Fraction(2909, 500))
        """
        from anonhist.privacy.conversion import ROUNDING, epsilon_at

        if self.party_epsilon is not None:
            raise UsageError("Where parties share the noise, guarantees add up plainly: use the sum.")
        asked = parse_epsilon(delta, name="delta")
        if asked >= 1:
            raise UsageError(f"`delta` must be below 1, such as 1e-9, not {short_decimal(asked)}.")
        return replace(
            self,
            epsilon=epsilon_at(self.losses, asked),
            delta=asked,
            arithmetic=", and ".join(_distinct([self.arithmetic, ROUNDING])),
            spending=(),
            parts=(),
        )

    def to_dp_event(self, *, delta_apart: bool = False) -> Any:
        """Return the guarantee as an event of dp-accounting (the extra ``accounting``), for its ``PLDAccountant``.

        An event does not name units: compose only events for the same unit. Each release is represented by the worst
        mechanism with its ε, which rounds upward; releases of equal ε are one ``SelfComposedDpEvent``.

        Parameters
        ----------
        delta_apart
            Leave :attr:`delta` out of the event. An accountant's result then holds at a δ that is larger by
            :attr:`delta`.

        Returns
        -------
        dp_accounting.DpEvent
            For an accountant of the relation ``ADD_OR_REMOVE_ONE``.

        Raises
        ------
        UsageError
            If there is a δ and ``delta_apart`` is false, because no event of dp-accounting has one; if units are
            replaced, because dp-accounting 0.6 counts its only event for that once, however often it is repeated; if
            parties share the noise; or if dp-accounting is not installed.

        Notes
        -----
        Proof: docs/proofs/composition.md, section 5.

        Examples
        --------
        >>> half = Guarantee(PrivacyUnit.item(), NeighboringRelation.ADD_OR_REMOVE, Fraction(1, 2))
        >>> (half + half).to_dp_event()  # doctest: +SKIP
        SelfComposedDpEvent(event=DiscreteLaplaceDpEvent(noise_parameter=0.5, sensitivity=1), count=2)
        """
        from anonhist.privacy.conversion import event_of

        if self.party_epsilon is not None:
            raise UsageError("Where parties share the noise, guarantees add up plainly: use the sum.")
        if self.relation is not NeighboringRelation.ADD_OR_REMOVE:
            raise UsageError(
                "dp-accounting has no event for replaced units that it composes correctly; use the sum, or `at_delta`."
            )
        if self.delta and not delta_apart:
            raise UsageError(
                "No event of dp-accounting has a δ: ask for one with `delta_apart=True`, and add the guarantee's delta "
                "to the δ that an accountant tells."
            )
        return event_of(epsilon for epsilon, _ in self.losses)

    @property
    def rho(self) -> Fraction:
        """ρ of zero-concentrated differential privacy: the sum of ε²/2 over all releases, if none has a δ.

        As for :meth:`at_delta`, the number of releases and the ε of each must have been fixed beforehand.

        Raises
        ------
        UsageError
            If one has a δ.

        Notes
        -----
        Bun and Steinke 2016, Proposition 3.3.
        """
        if self.delta:
            raise UsageError("A guarantee with a δ has no ρ: only releases with δ = 0 are zero-concentrated.")
        return sum((epsilon**2 / 2 for epsilon, _ in self.losses), Fraction(0))


def short_decimal(value: Fraction) -> str:
    """Write an exact number as a decimal if that is exact and short, otherwise as a fraction."""
    try:
        as_float = float(value)
    except OverflowError:
        return exact_text(value)
    return repr(as_float).removesuffix(".0") if Fraction(repr(as_float)) == value else exact_text(value)


def exact_text(value: Fraction) -> str:
    """Write a fraction exactly, even with more than the 4,300 digits that Python writes of a whole number."""
    above, below = (f"{Decimal(each):f}" for each in value.as_integer_ratio())
    return above if below == "1" else f"{above}/{below}"


def delta_apart(delta: Fraction) -> str:
    """Return the clause about δ in a sentence about ε; empty if δ is at most 10⁻⁹."""
    if delta <= _TINY:
        return ""
    exact = short_decimal(delta)
    is_short = len(exact) <= _SHORT and "/" not in exact and "e" not in exact
    return f", apart from δ = {exact}" if is_short else f", apart from δ ≤ {with_power(delta)}"


def _describe_epsilon(epsilon: Fraction, subject: str) -> str:
    """Return a warning about a large epsilon; empty otherwise."""
    return f"{subject} of {short_decimal(epsilon)} is {protection(epsilon)}." if epsilon > WEAK_ABOVE else ""


def _distinct(clauses: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clauses))


def _total_delta(parts: Iterable[tuple[Fraction, Fraction]]) -> Fraction:
    total = sum((delta for _, delta in parts), Fraction(0))
    if total >= 1:
        raise UsageError("Together these releases promise nothing: their δ add up to 1 or more.")
    return total


class Promising(Protocol):
    """A value with a guarantee, such as a release."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee."""
        ...


def compose(releases: Iterable[Guarantee | Promising]) -> Guarantee:
    """Return the joint guarantee of several releases from the same data.

    ε and δ add up, exactly, even if a later release was chosen by the results of earlier ones.

    Parameters
    ----------
    releases
        Guarantees, or releases with one.

    Returns
    -------
    Guarantee
        For the unit and relation to which all convert without an assumption about the data
        (:meth:`Guarantee.for_neighbors`). :meth:`Guarantee.at_delta` gives ε at a larger δ.

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
    """Return the joint guarantee of releases from disjoint parts of the data, where each unit is in only one part.

    ε and δ are the largest of any part. Results of :func:`anonhist.release_groups` need no such step: their guarantee
    already covers all groups together.

    Parameters
    ----------
    releases
        Guarantees, or releases with one, of one unit and of the relation add-or-remove. If a unit is replaced, it may
        leave one part and appear in another, which a guarantee for replaced units does not cover.

    Returns
    -------
    Guarantee
        With the condition that no unit is in more than one part. Parts must be fixed without looking at the data: by a
        unit's own attributes, not by the number of other units.

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
    together = Guarantee.of_all(given)
    if len(given) == 1:
        return together
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
        raise UsageError("Only guarantees, or releases, which have one, can be added up.")
    return [each for each in found if each is not None]
