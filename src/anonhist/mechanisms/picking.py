"""Which mechanism makes a release: by its name, picked by public facts, or left by the choice of a bound."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from anonhist.catalogue import MECHANISMS, load
from anonhist.errors import DataError, UsageError
from anonhist.mechanisms.additive import PrevalenceMechanism
from anonhist.mechanisms.exponential.calibration import LARGEST_EPSILON, MAX_DURFEE_SIZE
from anonhist.mechanisms.exponential.partition import PartitionMechanism
from anonhist.mechanisms.frobenius.mechanism import FrobeniusMechanism
from anonhist.mechanisms.setting import CHOSEN_BY_NAME, check_relation, check_unit, whole_items
from anonhist.mechanisms.skeletons import CentralMechanism
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit, parse_epsilon, short_decimal
from anonhist.profiles.chosen_bound import ChosenBound

MECHANISM_NAMES = ("auto", *MECHANISMS)


def mechanism_class(name: str) -> type[CentralMechanism]:
    """Return the class of a mechanism (not ``auto``), and load it if necessary."""
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
    """Make a mechanism by name (not ``auto``), with its options."""
    check_name(name)
    check_options(name, options)
    return mechanism_class(name)(epsilon, unit, relation, **options)


def from_parameters(name: str, parameters: Mapping[str, object]) -> CentralMechanism:
    """Rebuild a mechanism from its name and public parameters, as a release file records them."""
    if name not in MECHANISMS:
        raise DataError(f"The file names a mechanism unknown to this version: {name!r:.80}.")
    try:
        made = mechanism_class(name).from_parameters(parameters)
        _check_choice(made)
    except UsageError as error:
        raise DataError(f"The parameters of the {name} mechanism in the file are invalid: {error}") from None
    return made


def _check_choice(made: CentralMechanism) -> None:
    """Refuse a mechanism that the choice of its bound would not have left the rest of the budget to."""
    if made.bound_choice is not None and after_choice(made.bound_choice, made.unit)[0].name != made.name:
        raise UsageError("the bound was chosen for a release by another mechanism.")


# Just above ln 3 = 1.0986…: from here on, the partition mechanism uses the whole budget.
_WHOLE_BUDGET = Fraction(11, 10)


def choose(
    *,
    epsilon: EpsilonLike,
    unit: PrivacyUnit,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    expected_items: int | None = None,
) -> tuple[CentralMechanism, str]:
    """Pick a mechanism by the guarantee and public hints alone; also return the reason, in one sentence.

    With label privacy, it is the prevalence mechanism. Otherwise it depends on ε/Δ, where Δ is
    ``l1_sensitivity``. From 1.1 on (if ε is at most 20) it is the partition mechanism, which uses the whole budget
    there; below, it is the Frobenius mechanism. Each had the lowest error in its range on all real data tried, from 168
    to 725 million items, so a private choice would gain nothing, and no budget is spent on choosing. The rule is for
    data with a heavy tail: if all counts differ, the Frobenius mechanism has an error one eighth lower above 1.1, too
    (docs/benchmarks/accuracy.md).

    Parameters
    ----------
    epsilon, unit, relation
        The guarantee, as in :func:`release`.
    expected_items
        A public guess of n: above 2⁴⁰, where the partition mechanism's errors may not be simulated, the Frobenius
        mechanism is picked for every ε.

    Returns
    -------
    mechanism, reason

    Raises
    ------
    UsageError
        If ε, the unit or the guess is impossible.

    Examples
    --------
    >>> mechanism, _ = choose(epsilon="0.5", unit=PrivacyUnit.item())
    >>> mechanism.name
    'frobenius'
    """
    budget = parse_epsilon(epsilon)
    made, reason = _best(budget, unit, relation, expected_items)
    return made(budget, unit, relation), reason


def _best(
    budget: Fraction, unit: PrivacyUnit, relation: NeighboringRelation, expected_items: int | None
) -> tuple[type[CentralMechanism], str]:
    cells = check_unit(unit).max_distance * check_relation(relation).distance
    items = None if expected_items is None else whole_items(expected_items, name="expected_items")
    if unit.max_count is not None:
        return PrevalenceMechanism, "With label privacy, noise is added to the prevalences."
    per_cell = budget / cells
    compared, why = _compared(unit, relation)
    least = f"The {{}} mechanism has the lowest error on real data where {compared} is {{}} 1.1 (here "
    least += f"{short_decimal(per_cell)}{why})."
    if items is not None and items > MAX_DURFEE_SIZE**2:
        reason = "More than 2^40 items are expected, for which the partition mechanism may have no intervals."
    elif per_cell < _WHOLE_BUDGET:
        reason = least.format("Frobenius", "below")
    elif budget > LARGEST_EPSILON:
        reason = f"The partition mechanism takes an ε of at most {LARGEST_EPSILON}."
    else:
        reason = least.format("partition", "at least")
        return PartitionMechanism, reason
    return FrobeniusMechanism, reason


def _compared(unit: PrivacyUnit, relation: NeighboringRelation) -> tuple[str, str]:
    """Return the text of ε/Δ, which is compared with 1.1, and a clause on what one unit may change, if Δ is not 1."""
    cells = unit.max_distance * relation.distance
    if cells == 1:
        return "ε", ""
    one = f"replacing {unit.one} changes" if relation is NeighboringRelation.SUBSTITUTE else f"{unit.one} changes"
    changes = one if relation is NeighboringRelation.SUBSTITUTE or unit.max_items is None else f"{unit.one} has"
    return f"ε per {unit.part}", f", as {changes} up to {cells:,} {unit.part}s"


def after_choice(choice: ChosenBound, unit: PrivacyUnit) -> tuple[CentralMechanism, str]:
    """Return the mechanism that a choice of the bound leaves the rest of the budget to, and the reason for it."""
    why = CHOSEN_BY_NAME
    if choice.mechanism == "auto":
        found, why = _best(choice.rest, unit, choice.relation, choice.expected_items)
    else:
        found = mechanism_class(choice.mechanism)
    return found(choice.rest, unit, choice.relation, bound_choice=choice), why


def told_of_choice(choice: ChosenBound, unit: PrivacyUnit) -> str:
    """Return which bound was chosen, and among which that the budget allows."""
    return choice.told(unit, choice.possible(unit, lambda each: after_choice(choice, each)))
