"""Which mechanism for which promise: decided by public facts alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from anonhist.errors import UsageError
from anonhist.mechanisms.additive.prevalence import PrevalenceMechanism
from anonhist.mechanisms.basis.setting import check_profile, check_unit, whole_items
from anonhist.mechanisms.basis.skeletons import CentralMechanism
from anonhist.mechanisms.excess import ExcessMechanism, parse_excess_share
from anonhist.mechanisms.exponential.calibration import LARGEST_EPSILON, MAX_DURFEE_SIZE
from anonhist.mechanisms.exponential.partition import PartitionMechanism
from anonhist.mechanisms.frobenius.frobenius import FrobeniusMechanism
from anonhist.mechanisms.names import MECHANISM_NAMES, check_name, check_options, named_mechanism
from anonhist.privacy import (
    EpsilonLike,
    NeighboringRelation,
    PrivacyUnit,
    parse_epsilon,
    parse_simulations,
    short_decimal,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.mechanisms.exponential.calibration import FamilyParameters
    from anonhist.mechanisms.privhist.privhist import BudgetShares
    from anonhist.profiles import Profile
    from anonhist.randomness import RandomSource
    from anonhist.releases import Release

# Just above ln 3 = 1.0986…: from here on the partition mechanism passes the whole budget on.
_WHOLE_BUDGET = Fraction(11, 10)
MechanismName = Literal[
    "auto",
    "partition",
    "frobenius",
    "privhist",
    "isotonic",
    "cumulative",
    "prevalence",
    "bounded-partition",
    "relaxed-partition",
]


def choose(
    *,
    epsilon: EpsilonLike,
    unit: PrivacyUnit,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    expected_items: int | None = None,
) -> tuple[CentralMechanism, str]:
    """Pick a mechanism by the promise and public hints alone; also return why, in one sentence.

    Labels: prevalence noise. Else, with ε the budget per cell: from 1.1 up (and a whole budget of at most 20) the
    partition mechanism, which loses nothing of the budget there; below, the Frobenius mechanism. Each errs least there
    on all real data tried, from 168 to 725 million items, so a look at the data would buy nothing, and none is paid
    for. It is a choice for data with a heavy tail: with all counts different the Frobenius mechanism errs less from 1.1
    on, too, by an eighth (docs/benchmarks.md).

    Parameters
    ----------
    epsilon, unit, relation
        The promise, as in :func:`release`.
    expected_items
        A public guess of n: above 2^40, where the partition mechanism's public domain may end, the Frobenius
        mechanism is picked at every epsilon.

    Returns
    -------
    mechanism, reason

    Raises
    ------
    UsageError
        If epsilon, the unit or the guess is impossible.

    Examples
    --------
    >>> mechanism, _ = choose(epsilon="0.5", unit=PrivacyUnit.item())
    >>> mechanism.name
    'frobenius'
    """
    budget = parse_epsilon(epsilon)
    check_unit(unit)
    items = None if expected_items is None else whole_items(expected_items, name="expected_items")
    if unit.max_count is not None:
        return PrevalenceMechanism(budget, unit, relation), "Labels are protected, so the noise is on the prevalences."
    frobenius = FrobeniusMechanism(budget, unit, relation)
    per_cell = frobenius.epsilon_per_cell
    if items is not None and items > MAX_DURFEE_SIZE**2:
        return frobenius, "More than 2^40 items are expected, beyond the partition mechanism's public domain."
    if per_cell >= _WHOLE_BUDGET and budget <= LARGEST_EPSILON:
        reason = f"At {short_decimal(per_cell)} per cell (1.1 or more) the partition mechanism errs least on real data."
        return PartitionMechanism(budget, unit, relation), reason
    if per_cell >= _WHOLE_BUDGET:
        return frobenius, f"The partition mechanism takes an epsilon of at most {LARGEST_EPSILON}."
    reason = f"At {short_decimal(per_cell)} per cell (below 1.1) the Frobenius mechanism errs least on real data."
    return frobenius, reason


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
) -> Release:
    """Release a profile with differential privacy.

    Parameters
    ----------
    profile
        The private data.
    epsilon
        The whole budget, > 0; a float means its shortest decimal. There is no default; leave it out only where
        ``mechanism`` is a mechanism, which has its own.
    unit
        Whom to protect; the profile's own unit by default (an item where it has none). Less is refused.
    relation
        Neighbours differ by a unit added or removed (default) or exchanged for another (twice the noise); as epsilon
        and unit, for a mechanism's name only.
    mechanism
        ``"auto"``, ``"partition"``, ``"frobenius"``, ``"privhist"``, ``"isotonic"``, ``"cumulative"``,
        ``"prevalence"``, ``"bounded-partition"``, ``"relaxed-partition"``, or a mechanism.
    expected_items
        A public guess of n, used by ``"auto"`` only; see :func:`choose`.
    public_items, public_labels, public_cap
        Numbers that everybody knows and that the items, the labels, and the largest count do not exceed: for the names
        ``"bounded-partition"`` and ``"relaxed-partition"``, ``"isotonic"``, and ``"cumulative"`` and ``"prevalence"``,
        which need them.
    shares
        How ``"privhist"`` divides its budget, such as ``"thirds"``; by default as recommended.
    member
        Which member (c, z) of its family ``"partition"`` draws from; by default the sharpest.
    delta
        δ of ``"relaxed-partition"``; 10^−9 by default.
    excess_share
        Of a profile read with ``count_users=True``: the share of epsilon, at least 0 and below 1, that goes to an
        estimate of what the bound on the items of each user left out, :attr:`Release.excess`; none by default. It is
        taken from the mechanism: ``epsilon`` stays the whole.
    excess_cap
        With ``excess_share``: how many items beyond the bound m count of each user, ≥ 1; 10·m by default. A public
        number: the noise grows with it, and beyond it nothing is seen.
    simulations
        How many runs :attr:`Release.error` will rest on, from 2 to 1,000, or 0 for none; by default
        32 or, where a run is much work, fewer: see :attr:`Release.simulations`.
    source
        Privacy randomness; the operating system's by default.

    Returns
    -------
    Release
        The private profile with its guarantee and, when asked for, its errors.

    Raises
    ------
    UsageError
        If epsilon is missing or impossible, the unit protects less than the profile's, the name is unknown, or a
        mechanism is given together with a promise of its own. Nothing is spent then.
        Also if the data exceed a public number, or the profile does not know what ``excess_share`` asks for.
    DataError
        If the profile is beyond what the mechanism can hold.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> released = release(Profile.from_counts([8, 8, 3]), epsilon="0.5")
    >>> released.guarantee.epsilon
    Fraction(1, 2)
    """
    check_profile(profile)
    if expected_items is not None:
        whole_items(expected_items, name="expected_items")
    runs = None if simulations is None else parse_simulations(simulations)
    share = parse_excess_share(excess_share)
    if excess_cap is not None and not share:
        raise UsageError(
            "`excess_cap` belongs to `excess_share`: give a share of epsilon, such as 0.05, or leave it out."
        )
    beyond = None
    if share:
        beyond, epsilon = _divided(
            profile, epsilon, share, excess_cap, profile.unit if unit is None else unit, relation, mechanism
        )
    given: dict[str, object] = {"public_items": public_items, "public_labels": public_labels, "public_cap": public_cap}
    given |= {"shares": shares, "member": member, "delta": delta}
    options = {name: option for name, option in given.items() if option is not None}
    reason = None
    if isinstance(mechanism, str):
        chosen, reason = _named(
            mechanism, epsilon, profile.unit if unit is None else unit, relation, expected_items, options
        )
    elif isinstance(mechanism, CentralMechanism):
        chosen = mechanism
        is_default = relation is NeighboringRelation.ADD_OR_REMOVE
        if epsilon is not None or unit is not None or options or not (is_default or relation is chosen.relation):
            raise UsageError(
                "A mechanism brings its own epsilon, unit, relation and options: leave those out, or give a name."
            )
    else:
        message = f"`mechanism` must be a mechanism or one of {', '.join(MECHANISM_NAMES)}, not {mechanism!r}."
        raise UsageError(message)
    released = chosen.release(profile, source=source, reason=reason)
    if beyond is not None and profile.users is not None:
        excess = beyond.release(profile.users, source=source)
        released = replace(released, excess=excess, guarantee=excess.added_to(released.guarantee))
    if profile.order_key is not None:
        # Drawn independently of the data, so it may be told.
        released = replace(released, order_key=profile.order_key)
    return released if runs is None else replace(released, simulations=runs)


def _divided(
    profile: Profile,
    epsilon: EpsilonLike | None,
    share: Fraction,
    cap: int | None,
    unit: PrivacyUnit,
    relation: NeighboringRelation,
    mechanism: object,
) -> tuple[ExcessMechanism, Fraction]:
    """Return what releases the excess of users, and what is left of epsilon for the profile."""
    if epsilon is None or not isinstance(mechanism, str):
        raise UsageError("`excess_share` divides epsilon: give epsilon, and the mechanism by its name.")
    if profile.users is None:
        raise UsageError(
            "`excess_share` needs to know how many items each user has: read the profile with `user`, `max_per_user` "
            "and `count_users=True`."
        )
    check_unit(unit)
    if unit.max_items is None or unit.max_items < profile.users.bound:
        message = (
            f"`excess_share` belongs to releases for users with at least {profile.users.bound:,} items, not {unit}."
        )
        raise UsageError(message)
    whole = parse_epsilon(epsilon)
    return ExcessMechanism(whole * share, profile.users.bound, cap, relation), whole * (1 - share)


def _named(
    name: str,
    epsilon: EpsilonLike | None,
    unit: PrivacyUnit,
    relation: NeighboringRelation,
    expected_items: int | None,
    options: Mapping[str, object],
) -> tuple[CentralMechanism, str | None]:
    if epsilon is None:
        raise UsageError(
            "`epsilon` is missing: say how much privacy to spend, such as `epsilon=1`; there is no default."
        )
    check_name(name)
    if name == "auto":
        check_options(name, options)
        return choose(epsilon=epsilon, unit=unit, relation=relation, expected_items=expected_items)
    return named_mechanism(name, parse_epsilon(epsilon), unit, relation, options), None
