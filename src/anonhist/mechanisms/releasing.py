"""The release of a profile: by a mechanism chosen from public facts, or by name, charged to a ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, overload

from anonhist.accounting import Ledger
from anonhist.accounting.recording import Price, account_of
from anonhist.catalogue import MechanismName
from anonhist.errors import UsageError
from anonhist.mechanisms.excess import ExcessMechanism, parse_excess_share
from anonhist.mechanisms.exponential.calibration import FamilyParameters
from anonhist.mechanisms.picking import (
    MECHANISM_NAMES,
    after_choice,
    check_options,
    choose,
    named_mechanism,
    told_of_choice,
)
from anonhist.mechanisms.privhist import BudgetShares
from anonhist.mechanisms.setting import check_profile, check_unit, whole_items
from anonhist.mechanisms.skeletons import CentralMechanism, Released
from anonhist.privacy import (
    EpsilonLike,
    Guarantee,
    NeighboringRelation,
    PrivacyUnit,
    parse_epsilon,
    parse_simulations,
    short_decimal,
)
from anonhist.profiles import Bounded, BoundedUnits, Profile
from anonhist.profiles.chosen_bound import ChosenBound, refuse_unit
from anonhist.randomness import RandomSource
from anonhist.releases import Release
from anonhist.releases.content import charged

_NEEDS_USERS = (
    "`excess_share` estimates what a bound left out: it needs a label unit, or the number of items of each user: read "
    "the profile with `user`, `max_per_user` and `count_users=True`."
)
_NO_EPSILON = "`epsilon` is missing: give the privacy budget, such as `epsilon=1`; there is no default."
_DIVIDES = "`excess_share` splits ε: give `epsilon`, and the mechanism by its name."


@overload
def release(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = ...,
    mechanism: MechanismName = "auto",
    expected_items: int | None = None,
    public_items: int | None = None,
    public_labels: int | None = None,
    public_cap: int | None = None,
    shares: BudgetShares | str | None = None,
    member: FamilyParameters | None = None,
    delta: EpsilonLike | None = None,
    excess_share: EpsilonLike | None = None,
    excess_cap: int | None = None,
    simulations: int | None = None,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Release: ...


@overload
def release(
    profile: Profile,
    *,
    mechanism: CentralMechanism,
    simulations: int | None = None,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Release: ...


def release(
    profile: Profile,
    *,
    epsilon: EpsilonLike | None = None,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    mechanism: MechanismName | CentralMechanism = "auto",
    expected_items: int | None = None,
    public_items: int | None = None,
    public_labels: int | None = None,
    public_cap: int | None = None,
    shares: BudgetShares | str | None = None,
    member: FamilyParameters | None = None,
    delta: EpsilonLike | None = None,
    excess_share: EpsilonLike | None = None,
    excess_cap: int | None = None,
    simulations: int | None = None,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Release:
    """Release a profile with differential privacy.

    Parameters
    ----------
    profile
        The private data.
    epsilon
        The whole budget, > 0; a float means its shortest decimal. There is no default; leave it out only if
        ``mechanism`` is a mechanism object, which has its own.
    unit
        The unit to protect; by default the profile's own (an item if it has none). A smaller unit is refused.
    relation
        Neighbors differ by a unit added or removed (default) or replaced by another (twice the noise); as ``epsilon``
        and ``unit``, only with the name of a mechanism.
    mechanism
        ``"auto"``, ``"partition"``, ``"frobenius"``, ``"privhist"``, ``"isotonic"``, ``"cumulative"``,
        ``"prevalence"``, ``"bounded-partition"``, ``"relaxed-partition"``, or a mechanism.
    expected_items
        A public guess of n, used by ``"auto"`` only; see :func:`choose`.
    public_items, public_labels, public_cap
        Public upper bounds on the items, the labels and the largest count: needed by ``"bounded-partition"`` and
        ``"relaxed-partition"`` (items), ``"isotonic"`` (labels), ``"cumulative"`` and ``"prevalence"`` (largest count).
    shares
        How ``"privhist"`` splits its budget, such as ``"thirds"``; by default as recommended.
    member
        Which member (c, z) of its family ``"partition"`` draws from; by default the sharpest.
    delta
        δ of ``"relaxed-partition"``; 10⁻⁹ by default.
    excess_share
        For a release for labels, or of a profile for users read with ``count_users=True``: the share of ε, at least 0
        and below 1, for an estimate of what the bound on the items of each user or label left out,
        :attr:`Release.excess`; 0 by default. It is taken from the mechanism: ``epsilon`` remains the total.
    excess_cap
        With ``excess_share``: the number of items beyond the bound m that are counted for each user or label, ≥ 1; 10·m
        by default. It is public; the noise grows with it, and further items are not counted.
    simulations
        Number of runs behind :attr:`Release.error`, from 2 to 1,000, or 0 for none; by default 32, or fewer if a run
        takes long: see :attr:`Release.simulations`.
    source
        Privacy randomness; the operating system's by default.
    ledger
        The ledger to charge before any noise is drawn, or its address; by default the one in the environment variable
        ``ANONHIST_LEDGER``, if any. A release that fails after that stays charged. A profile that was charged when it
        was read needs the same ledger and data set: one release completes that charge, and costs nothing more.
    dataset
        With a ledger: the name of the data set.
    purpose
        With a ledger: the purpose of the release, in a line of text.
    run_id
        With a ledger: the name of a run that may be started again, such as ``"daily 2026-11-25"``. It is charged once:
        a second call with this name is refused (``RunError``), unless the charge was voided.

    Returns
    -------
    Release
        The private profile with its guarantee and, on request, its errors.

    Raises
    ------
    UsageError
        If ε is missing or impossible, the unit protects less than the profile's, the name is unknown, or ``epsilon``,
        ``unit`` or ``relation`` is given with a mechanism object. Nothing is spent then. Also if the data exceed a
        public number, or the profile lacks the numbers that ``excess_share`` needs; and if a ledger has no such data
        set, or too little left of its budget (``BudgetError``).
    RunError
        If the run was charged before: its release is where it was written, or its outcome is unknown.
    DataError
        If the profile is too large for the mechanism, or the ledger cannot be read.

    Examples
    --------
    >>> from anonhist.profiles import Bounded, BoundedUnits, Profile
    >>> released = release(Profile.from_counts([8, 8, 3]), epsilon="0.5")
    >>> released.guarantee.epsilon
    Fraction(1, 2)
    """
    check_profile(profile)
    options = {
        "public_items": public_items,
        "public_labels": public_labels,
        "public_cap": public_cap,
        "shares": shares,
        "member": member,
        "delta": delta,
    }
    asked = AskedRelease(
        epsilon, unit, relation, mechanism, options, expected_items, excess_share, excess_cap, simulations
    )
    bound = None if profile.users is None else profile.users.bound
    prepared = asked.prepared(profile.unit, bound, choice=profile.choice)
    prepared.mechanism.check_unit_of(profile)
    charge = prepared
    if (choice := profile.choice) is not None:
        refuse_unit(unit)
        possible = choice.possible(profile.unit, lambda of_bound: asked.prepared(of_bound, choice=choice))
        *_, charge = possible.values()
    own = {"excess_share": excess_share, "excess_cap": excess_cap, "where": profile.where}
    account = account_of(ledger, dataset, purpose, run_id, settings=own)
    return charged(
        account,
        charge.price,
        lambda receipt: replace(prepared.release(profile, source=source), receipt=receipt),
        earlier=profile.receipt,
    )


@dataclass(frozen=True)
class PreparedRelease:
    """A release, prepared and checked once without its data; see :meth:`AskedRelease.prepared`.

    The reason for the mechanism is None if it was given by name, the excess None if it was not requested.
    """

    mechanism: CentralMechanism
    reason: str | None
    excess: ExcessMechanism | None
    simulations: int | None

    def price(self) -> Price:
        """Return the cost of the release."""
        told: Guarantee = self.mechanism.guarantee
        if self.excess is not None:
            told = replace(told, epsilon=told.epsilon + self.excess.epsilon, spending=())
        return Price(told, self.mechanism.name, self.mechanism.parameters)

    def release(self, profile: Profile, *, source: RandomSource | None = None) -> Release:
        """Spend the budget once on a private profile; a :class:`UsageError` comes before any noise is drawn."""
        units = None if self.excess is None else _bounded_units(profile, self.excess)
        released = self.mechanism.release(profile, source=source, reason=self.reason)
        if self.excess is not None and units is not None:
            excess = self.excess.release(units, source=source)
            released = replace(released, excess=excess, guarantee=excess.add_to(released.guarantee))
        released = _with_choice(released, profile)
        return released if self.simulations is None else replace(released, simulations=self.simulations)

    def release_each(self, profiles: Sequence[Profile], *, source: RandomSource | None = None) -> Iterator[Released]:
        """Spend the budget once on each of several private profiles; yield the release of each, in any order.

        A :class:`UsageError` comes before any noise is drawn.
        """
        made = self.mechanism.release_each(profiles, source=source, reason=self.reason, simulations=self.simulations)
        for each in made:
            yield each._replace(release=_with_choice(each.release, profiles[each.place]))


def _bounded_units(profile: Profile, excess: ExcessMechanism) -> BoundedUnits:
    """Return the number of items of each unit before bounding, or refuse a profile without it."""
    units = profile.users
    if excess.of is Bounded.ITEMS_OF_LABELS:
        units = BoundedUnits(excess.bound, Profile(profile.counts, profile.prevalences), excess.of)
    if units is None:
        raise UsageError(_NEEDS_USERS)
    excess.check(units)
    return units


def _with_choice(released: Release, profile: Profile) -> Release:
    """Add which rows counted: by a public condition, and an order key that was drawn independently of the data."""
    if profile.order_key is profile.where is None:
        return released
    return replace(released, order_key=profile.order_key, where=profile.where)


@dataclass(frozen=True)
class AskedRelease:
    """A requested release, with the options of :func:`release`; mechanism options that are None were not given."""

    epsilon: EpsilonLike | None
    unit: PrivacyUnit | None = None
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE
    mechanism: str | CentralMechanism = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    expected_items: int | None = None
    excess_share: EpsilonLike | None = None
    excess_cap: int | None = None
    simulations: int | None = None

    @property
    def whole(self) -> Fraction:
        """The whole budget; refused if it is missing."""
        if self.epsilon is None:
            raise UsageError(_NO_EPSILON)
        return parse_epsilon(self.epsilon)

    def prepared(
        self, read_for: PrivacyUnit, users_bound: int | None = None, *, choice: ChosenBound | None = None
    ) -> PreparedRelease:
        """Check the request before the data are read, and make its mechanism.

        Errors are those of :func:`release`, whatever the data. Without ``unit``, that of ``read_for`` is protected;
        ``users_bound`` is m, the number of items kept for each user, if users were counted. ``choice`` says how the
        bound of ``read_for`` was chosen, or that it may be.
        """
        if self.expected_items is not None:
            whole_items(self.expected_items, name="expected_items")
        runs = None if self.simulations is None else parse_simulations(self.simulations)
        share = parse_excess_share(self.excess_share, self.excess_cap)
        given = {name: option for name, option in self.options.items() if option is not None}
        if choice is not None:
            return self._after_choice(choice, read_for, given, runs)
        if not isinstance(self.mechanism, str):
            return PreparedRelease(self._own_mechanism(share, given), None, None, runs)
        if self.epsilon is None:
            raise UsageError(_DIVIDES if share else _NO_EPSILON)
        protected, epsilon, excess = read_for if self.unit is None else self.unit, self.epsilon, None
        if share:
            whole = parse_epsilon(epsilon)
            of, bound = _bound_of(protected, users_bound)
            excess = ExcessMechanism(whole * share, bound, self.excess_cap, self.relation, of)
            epsilon = whole * (1 - share)
        if self.mechanism != "auto":
            named = named_mechanism(self.mechanism, epsilon, protected, self.relation, given)
            return PreparedRelease(named, None, excess, runs)
        check_options("auto", given)
        chosen, reason = choose(
            epsilon=epsilon, unit=protected, relation=self.relation, expected_items=self.expected_items
        )
        return PreparedRelease(chosen, reason, excess, runs)

    def _after_choice(
        self, choice: ChosenBound, read_for: PrivacyUnit, given: Mapping[str, object], runs: int | None
    ) -> PreparedRelease:
        """Return a release with the rest of the budget; its bound decides nothing else, so only that was chosen."""
        own = {"excess_share": self.excess_share, "excess_cap": self.excess_cap, "unit": self.unit}
        refused = [*given, *(name for name, option in own.items() if option not in (None, read_for))]
        if refused:
            raise UsageError(f"`{refused[0]}` does not apply to a chosen bound: leave it out, or give the bound.")
        if (self.whole, self.mechanism, self.relation) != (choice.epsilon, choice.mechanism, choice.relation):
            raise UsageError(
                "The bound was chosen for another release: give the epsilon, relation and mechanism of that choice, "
                f"ε = {short_decimal(choice.epsilon)} and {choice.mechanism!r}."
            )
        made, why = after_choice(choice, read_for)
        return PreparedRelease(made, f"{told_of_choice(choice, read_for)} {why}", None, runs)

    def _own_mechanism(self, share: Fraction, given: Mapping[str, object]) -> CentralMechanism:
        """Return the given mechanism object, or refuse options that it does not take."""
        made = self.mechanism
        if share:
            raise UsageError(_DIVIDES)
        if not isinstance(made, CentralMechanism):
            raise UsageError(f"`mechanism` must be a mechanism or one of {', '.join(MECHANISM_NAMES)}, not {made!r}.")
        is_default = self.relation is NeighboringRelation.ADD_OR_REMOVE
        is_same = is_default or self.relation is made.relation
        if self.epsilon is not None or self.unit is not None or given or not is_same:
            raise UsageError(
                "A mechanism object has its own ε, unit, relation and options: leave those out, or give a name."
            )
        return made


def _bound_of(unit: PrivacyUnit, users_bound: int | None) -> tuple[Bounded, int]:
    """Return what is bounded and how many items are kept, or refuse options that do not allow an excess."""
    if users_bound is None:
        if check_unit(unit).max_count is None:
            raise UsageError(_NEEDS_USERS)
        return Bounded.ITEMS_OF_LABELS, unit.bound
    kept = check_unit(unit).max_items
    if kept is None or kept < users_bound:
        raise UsageError(
            f"`excess_share` applies only to releases for users with at least {users_bound:,} items, not {unit}."
        )
    return Bounded.ITEMS_OF_USERS, users_bound
