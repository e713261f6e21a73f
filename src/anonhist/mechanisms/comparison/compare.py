"""Comparison of mechanisms on data that need no protection: real releases against the truth."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from time import perf_counter
from typing import TYPE_CHECKING, cast

import numpy as np

from anonhist.catalogue.mechanisms import takers
from anonhist.errors import DataError, UsageError
from anonhist.mechanisms.basis.setting import Setting, check_unit
from anonhist.mechanisms.comparison.entrants import check_public_numbers, entrants_of, public_numbers_of
from anonhist.mechanisms.comparison.metrics import ERRORS, METRICS, SECONDS
from anonhist.mechanisms.comparison.rows import Comparison, ComparisonRow, Skipped
from anonhist.mechanisms.names import MECHANISM_NAMES, check_name
from anonhist.numeric.pulse import tell_share
from anonhist.privacy import (
    EpsilonLike,
    NeighboringRelation,
    PrivacyUnit,
    parse_epsilon,
    parse_whole_number,
    short_decimal,
)
from anonhist.profiles import Profile
from anonhist.releases import Release
from anonhist.releases.runs import part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anonhist.mechanisms.basis.skeletons import CentralMechanism
    from anonhist.mechanisms.privhist.privhist import BudgetShares
    from anonhist.mechanisms.releasing import MechanismName
    from anonhist.randomness import RandomSource


def compare(
    profile: Profile | Release,
    *,
    epsilons: Iterable[EpsilonLike],
    mechanisms: Iterable[MechanismName] | None = None,
    repeats: int = 20,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    public_items: int | None = None,
    public_labels: int | None = None,
    public_cap: int | None = None,
    shares: BudgetShares | str | None = None,
    source: RandomSource | None = None,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Run mechanisms on data that need no protection, and measure their errors and time.

    Comparing on private data is not private: every number returned reveals something about the data. Each mechanism
    makes ``repeats`` real releases at each budget, after one that is not counted, and each is compared with the truth.

    Parameters
    ----------
    profile
        Data that need no protection, such as public data or a release.
    epsilons
        Budgets.
    mechanisms
        Names as for :func:`~anonhist.mechanisms.releasing.release`; all by default.
    repeats
        Releases per mechanism and budget, ≥ 2.
    unit, relation
        As in :func:`release`.
    public_items, public_labels, public_cap
        Upper bounds on the items, the labels and the largest count, as in :func:`release`. Those left out are taken
        from the data: the labels as they are, items and cap rounded up to 1, 2 or 5 times a power of ten. With label
        privacy, the unit's ``max_count`` is the cap.
    shares
        How ``"privhist"`` splits its budget, as in :func:`release`.
    source
        Privacy randomness; the operating system's by default.
    progress
        Called with the share done, in (0, 1], after each release and within those that take long.

    Returns
    -------
    Comparison
        Rows for sorted ℓ1 and ℓ2, the number of items, labels that occur once, the number of labels, the guessing curve
        (:mod:`anonhist.mechanisms.comparison.metrics` has the formulas) and seconds, and what was skipped.

    Raises
    ------
    UsageError
        If a budget, a name or a number is impossible, a budget or a name comes twice, the unit protects less than the
        profile's, or no mechanism applies.

    Examples
    --------
    >>> found = compare(Profile.from_counts([8, 8, 3]), epsilons=[1], mechanisms=["frobenius"], repeats=2)
    >>> [(row.mechanism, str(row.epsilon), row.metric) for row in found.rows][:2]
    [('frobenius', '1', 'sorted_l1'), ('frobenius', '1', 'sorted_l2')]
    """
    if isinstance(profile, Release):
        profile = profile.profile
    if not isinstance(profile, Profile):
        message = (
            "A profile is needed, such as read_profile(data) returns, or the profile of a release, not a "
            f"{type(profile).__name__}."
        )
        raise UsageError(message)
    budgets, names, runs = check_comparison(epsilons=epsilons, mechanisms=mechanisms, repeats=repeats)
    given = {"public_items": public_items, "public_labels": public_labels, "public_cap": public_cap}
    known = check_public_numbers(given, names)
    protected = profile.unit if unit is None else unit
    truth = _truth(profile, protected, relation)
    taken = public_numbers_of(truth, protected, known, names)
    owners = takers("shares")
    if shares is not None and not set(owners) & set(names):
        message = f"`shares` belongs to {' and '.join(owners)}, which is not compared: leave it out."
        raise UsageError(message)
    options = {**known, **taken, **({} if shares is None else {"shares": shares})}
    entrants, skipped = entrants_of(budgets, names, protected, relation, options, items=truth.n)
    rows: list[ComparisonRow] = []
    for number, (name, mechanism) in enumerate(entrants):
        part = part_of(progress, number / len(entrants), (number + 1) / len(entrants))
        try:
            measured = _measure(truth, mechanism, runs, source, part)
        except (UsageError, DataError) as error:
            skipped.append((name, mechanism.epsilon, error.sentence))
            continue
        for metric, numbers in measured.items():
            spread = float(np.std(numbers, ddof=1)) / runs**0.5
            rows.append(ComparisonRow(name, mechanism.epsilon, metric, float(np.mean(numbers)), spread, runs))
    if not rows:
        name, _, reason = skipped[0]
        message = f"No mechanism applies. The reason for {name}: {reason}"
        raise UsageError(message)
    return Comparison(
        tuple(rows),
        _merge(skipped),
        tuple((mechanism.epsilon, mechanism.name) for name, mechanism in entrants if name == "auto"),
        tuple(taken.items()),
        truth.n,
        truth.num_labels,
        protected,
        relation,
        runs,
    )


def check_comparison(
    *, epsilons: Iterable[EpsilonLike], mechanisms: Iterable[str] | None, repeats: int
) -> tuple[tuple[Fraction, ...], tuple[MechanismName, ...], int]:
    """Return parsed budgets, names and repeats, or refuse what is wrong for all data.

    Raises
    ------
    UsageError
        As :func:`compare`.

    Examples
    --------
    >>> check_comparison(epsilons=["0.5"], mechanisms=["auto"], repeats=2)
    ((Fraction(1, 2),), ('auto',), 2)
    """
    budgets = tuple(parse_epsilon(each) for each in _as_tuple(epsilons, "epsilons", "[0.1, 1]"))
    names = MECHANISM_NAMES if mechanisms is None else _as_tuple(mechanisms, "mechanisms", '["auto", "privhist"]')
    for name in names:
        if not isinstance(name, str):
            message = f"`mechanisms` must be names such as 'frobenius', not {name!r}."
            raise UsageError(message)
        check_name(name)
    for listed in (names, tuple(map(short_decimal, budgets))):
        twice = next((each for place, each in enumerate(listed) if each in listed[:place]), None)
        if twice is not None:
            message = f"{twice} is listed twice: list each mechanism and each ε once."
            raise UsageError(message)
    return budgets, cast("tuple[MechanismName, ...]", names), parse_whole_number(repeats, name="repeats", least=2)


def _as_tuple(given: Iterable[object], name: str, example: str) -> tuple[object, ...]:
    listed = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
    if not listed:
        message = f"`{name}` must be a list that is not empty, such as {example}."
        raise UsageError(message)
    return listed


def _truth(profile: Profile, unit: PrivacyUnit, relation: NeighboringRelation) -> Profile:
    """Return the truth that a release is measured against: the data, capped if the unit has a cap."""
    check_unit(unit)
    if not isinstance(relation, NeighboringRelation):
        message = f"`relation` must be a NeighboringRelation, such as SUBSTITUTE, not {relation!r}."
        raise UsageError(message)
    # ε = 1 per cell: only the unit matters here.
    return Setting(Fraction(unit.max_distance * relation.distance), unit, relation).admit(profile)


def _measure(
    truth: Profile,
    mechanism: CentralMechanism,
    repeats: int,
    source: RandomSource | None,
    progress: Callable[[float], None] | None,
) -> dict[str, list[float]]:
    """Release repeatedly; return each metric of each release but the first, which loads and prepares."""
    measured: dict[str, list[float]] = {metric.name: [] for metric in METRICS}
    for repeat in range(repeats + 1):
        # Steps of a release reveal something about the data, which need no protection here.
        with tell_share(progress, repeat / (repeats + 1), (repeat + 1) / (repeats + 1)):
            start = perf_counter()
            release = mechanism.release(truth, source=source)
            seconds = perf_counter() - start
        if repeat:
            measured[SECONDS.name].append(seconds)
            for metric, error in ERRORS.items():
                measured[metric.name].append(float(error(truth, release)))
    return measured


def _merge(skipped: Sequence[tuple[str, Fraction, str]]) -> tuple[Skipped, ...]:
    """List each reason once, with all its budgets."""
    budgets: dict[tuple[str, str], list[Fraction]] = {}
    for name, epsilon, reason in skipped:
        budgets.setdefault((name, reason), []).append(epsilon)
    return tuple(Skipped(name, tuple(epsilons), reason) for (name, reason), epsilons in budgets.items())
