"""Comparison of mechanisms on data that need no protection: real releases against the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from time import perf_counter
from typing import Any, cast

import numpy as np

from anonhist.catalogue import PUBLIC_NUMBERS, MechanismName, takers
from anonhist.errors import DataError, UsageError, kind_of, spell_out
from anonhist.frozen import frozen
from anonhist.kinds import Saved, Shown, Tabular
from anonhist.mechanisms.picking import MECHANISM_NAMES, check_name, choose, mechanism_class, named_mechanism
from anonhist.mechanisms.privhist import BudgetShares
from anonhist.mechanisms.setting import Setting, check_relation, check_unit, whole_items
from anonhist.mechanisms.skeletons import CentralMechanism
from anonhist.numeric.pulse import tell_share
from anonhist.privacy import (
    EpsilonLike,
    NeighboringRelation,
    PrivacyUnit,
    parse_epsilon,
    parse_whole_number,
    short_decimal,
)
from anonhist.profiles import Profile, sorted_l1, sorted_l2
from anonhist.properties.most_frequent import covered_share, log_grid
from anonhist.randomness import RandomSource
from anonhist.releases import Release
from anonhist.releases.runs import part_of

_MARKS = 200


@dataclass(frozen=True)
class Metric:
    """A metric of a release: lower is better.

    Attributes
    ----------
    name
        The name in CSV tables, such as ``"sorted_l1"``.
    title, unit
        The title and the unit in displayed tables.
    meaning
        Its meaning, in a few words.
    """

    name: str
    title: str
    unit: str
    meaning: str


def guessing_error(truth: Profile, release: Release) -> float:
    """Return the mean of ``|Λ̃_β − Λ_β|`` over β, a share of the items in [0, 1].

    ``Λ_β = Σ_{i≤β} λ_i / n`` is the share that the β most frequent labels cover. β runs through at most 200 whole
    numbers from 1 to the true number of labels, evenly spaced on a log scale, so that few guesses have as much weight
    as many.
    """
    marks = np.array(log_grid(max(1, truth.num_labels), points=_MARKS), dtype=np.int64)
    return float(np.abs(covered_share(release.profile, marks) - covered_share(truth, marks)).mean())


# Metrics in order of interest.
ERRORS: dict[Metric, Callable[[Profile, Release], float]] = {
    Metric(
        "sorted_l1", "Sorted ℓ1", "items", "items to move between labels, add or remove to correct the release"
    ): lambda truth, release: sorted_l1(truth, release.profile),
    Metric(
        "sorted_l2",
        "Sorted ℓ2",
        "items",
        "the Euclidean distance, in which a few large errors weigh more than many small ones",
    ): lambda truth, release: sorted_l2(truth, release.profile),
    Metric("items", "Number of items, n", "items", "error of the released number of items"): lambda truth, release: abs(
        release.n - truth.n
    ),
    Metric(
        "singletons", "Labels seen once, φ₁", "labels", "error of the number of labels that occur exactly once"
    ): lambda truth, release: abs(release.profile.prevalence(1) - truth.prevalence(1)),
    Metric("labels", "Number of labels", "labels", "error of the number of different labels"): lambda truth, release: (
        abs(release.profile.num_labels - truth.num_labels)
    ),
    Metric(
        "guessing",
        "Guessing curve",
        "share of items",
        "error of the share of items that the β most frequent labels cover, a mean over β on a log scale",
    ): guessing_error,
}
SECONDS = Metric("seconds", "Time", "seconds", "how long one release takes on this machine, data in memory")
METRICS = (*ERRORS, SECONDS)


NOT_PRIVATE = (
    "Comparing on private data is not private: every number here reveals something about the data, and so does a "
    "choice based on it. Compare on public data or on an earlier release."
)


@frozen
class ComparisonRow:
    """One metric of one mechanism at one budget.

    Attributes
    ----------
    mechanism, epsilon
        The name of the mechanism, and its whole budget.
    metric
        Name of a metric of ``anonhist.mechanisms.comparison``.
    mean, standard_error
        Mean over the releases, and its standard error: the standard deviation over √repeats.
    repeats
        The number of releases.
    """

    mechanism: str
    epsilon: Fraction
    metric: str
    mean: float
    standard_error: float
    repeats: int


@dataclass(frozen=True)
class Skipped:
    """A mechanism that does not apply.

    Attributes
    ----------
    mechanism, epsilons
        Its name, and the budgets at which it does not apply.
    sentence
        The reason, as in the error, with parameters in backticks.
    """

    mechanism: str
    epsilons: tuple[Fraction, ...]
    sentence: str

    @property
    def reason(self) -> str:
        """The reason, with parameters in Python's spelling."""
        return spell_out(self.sentence)


@dataclass(frozen=True)
class Comparison(Shown, Tabular, Saved):
    """The result of :func:`compare`.

    Attributes
    ----------
    rows
        One row for each budget, mechanism and metric, nested in this order.
    skipped
        Mechanisms that do not apply, and the reasons.
    picked
        (budget, name) of each mechanism that ``"auto"`` picked.
    taken
        (name, number) of each missing public number that was taken from the data.
    items, labels
        Size of the data, with capped counts if labels are protected.
    unit, relation, repeats
        As requested.
    of_release
        Whether the data are a release, so that nothing here is less private than the release.
    """

    known_as = "comparison"
    rows: tuple[ComparisonRow, ...]
    skipped: tuple[Skipped, ...]
    picked: tuple[tuple[Fraction, str], ...]
    taken: tuple[tuple[str, int], ...]
    items: int
    labels: int
    unit: PrivacyUnit
    relation: NeighboringRelation
    repeats: int
    of_release: bool = False

    def __repr__(self) -> str:
        budgets = ", ".join(map(short_decimal, self.epsilons))
        return f"Comparison({', '.join(self.mechanisms)}; epsilon={budgets}; {self.repeats} releases each)"

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """Names of the mechanisms that were run at some budget, in the requested order."""
        return tuple(dict.fromkeys(row.mechanism for row in self.rows))

    @property
    def epsilons(self) -> tuple[Fraction, ...]:
        """Budgets at which some mechanism was run, in the requested order."""
        return tuple(dict.fromkeys(row.epsilon for row in self.rows))

    def row(self, mechanism: str, epsilon: Fraction, metric: str) -> ComparisonRow | None:
        """Return one row, or None if the mechanism does not apply."""
        asked = (mechanism, epsilon, metric)
        return next((row for row in self.rows if (row.mechanism, row.epsilon, row.metric) == asked), None)

    def best(self, epsilon: Fraction, metric: str) -> frozenset[str]:
        """Return the mechanism with the lowest error, and those not significantly worse.

        Their means are larger by at most two standard errors of the difference. A mechanism's own standard error counts
        only up to a quarter of its mean, so that a large variance does not make it look good.
        """
        rows = [row for row in self.rows if (row.epsilon, row.metric) == (epsilon, metric)]
        least = min(rows, key=lambda row: row.mean)
        return frozenset(
            row.mechanism
            for row in rows
            if row.mean - least.mean <= 2 * float(np.hypot(min(row.standard_error, row.mean / 4), least.standard_error))
        )


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

    Comparing on private data is not private: every number returned reveals something about the data. At each budget,
    each mechanism makes one release that is not counted, and then ``repeats`` real releases, each compared with the
    truth.

    Parameters
    ----------
    profile
        Data that need no protection, such as public data or a release, which may be compared for any unit.
    epsilons
        Budgets.
    mechanisms
        Names as in :func:`~anonhist.mechanisms.releasing.release`; all by default.
    repeats
        Releases per mechanism and budget, ≥ 2.
    unit, relation
        As in :func:`release`.
    public_items, public_labels, public_cap
        Upper bounds on the items, the labels and the largest count, as in :func:`release`. Missing ones are taken
        from the data: the number of labels unchanged, items and cap rounded up to 1, 2 or 5 times a power of ten. With
        label privacy, the unit's ``max_count`` is the cap.
    shares
        How ``"privhist"`` splits its budget, as in :func:`release`.
    source
        Privacy randomness; the operating system's by default.
    progress
        Called with the share done, in (0, 1], after each release and during long ones.

    Returns
    -------
    Comparison
        Rows for sorted ℓ1 and ℓ2, the number of items, labels that occur once, the number of labels, the guessing curve
        (:mod:`anonhist.mechanisms.comparison` has the formulas) and seconds, and what was skipped.

    Raises
    ------
    UsageError
        If a budget, a name or a number is impossible, a budget or a name is listed twice, the unit protects less than
        the profile's, or no mechanism applies.

    Examples
    --------
    >>> found = compare(Profile.from_counts([8, 8, 3]), epsilons=[1], mechanisms=["frobenius"], repeats=2)
    >>> [(row.mechanism, str(row.epsilon), row.metric) for row in found.rows][:2]
    [('frobenius', '1', 'sorted_l1'), ('frobenius', '1', 'sorted_l2')]
    """
    of_release = isinstance(profile, Release)
    if isinstance(profile, Release):
        # The data are public, so releases of them may protect any unit.
        profile = profile.profile.with_unit(profile.profile.unit if unit is None else check_unit(unit))
    if not isinstance(profile, Profile):
        raise UsageError(
            "A profile is needed, such as read_profile(data) returns, or the profile of a release, not "
            f"{kind_of(profile)}."
        )
    budgets, names, runs = check_comparison(epsilons=epsilons, mechanisms=mechanisms, repeats=repeats)
    given = {"public_items": public_items, "public_labels": public_labels, "public_cap": public_cap}
    known = check_public_numbers(given, names)
    protected = profile.unit if unit is None else unit
    # ε/Δ = 1: only the unit matters here.
    cells = check_unit(protected).max_distance * check_relation(relation).distance
    truth = Setting(Fraction(cells), protected, relation).admit(profile)
    taken = public_numbers_of(truth, protected, known, names)
    owners = takers("shares")
    if shares is not None and not set(owners) & set(names):
        owned = " and ".join(owners)
        raise UsageError(f"`shares` applies only to {owned}, which is not compared; leave it out.")
    options = {**known, **taken, **({} if shares is None else {"shares": shares})}
    entrants, skipped = entrants_of(budgets, names, protected, relation, options)
    rows: list[ComparisonRow] = []
    for number, (name, mechanism) in enumerate(entrants):
        part = part_of(progress, number / len(entrants), (number + 1) / len(entrants))
        if exceeded := mechanism.exceeded_number(truth):
            # The person who compares knows the data, so there is nothing to warn about.
            skipped.append((name, mechanism.epsilon, f"the data exceed `{exceeded}`, so it would refuse them."))
            continue
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
        raise UsageError(f"No mechanism applies. The reason for {name}: {reason}")
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
        of_release,
    )


def check_comparison(
    *, epsilons: Iterable[EpsilonLike], mechanisms: Iterable[str] | None, repeats: int
) -> tuple[tuple[Fraction, ...], tuple[MechanismName, ...], int]:
    """Return parsed budgets, names and repeats; refuse those that are wrong for all data."""
    budgets = tuple(parse_epsilon(each) for each in _as_tuple(epsilons, "epsilons", "[0.1, 1]"))
    names = MECHANISM_NAMES if mechanisms is None else _as_tuple(mechanisms, "mechanisms", '["auto", "privhist"]')
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"`mechanisms` must be names such as 'frobenius', not {name!r}.")
        check_name(name)
    for listed in (names, tuple(map(short_decimal, budgets))):
        twice = next((each for place, each in enumerate(listed) if each in listed[:place]), None)
        if twice is not None:
            raise UsageError(f"{twice} is listed twice: list each mechanism and each ε once.")
    return budgets, cast("tuple[MechanismName, ...]", names), parse_whole_number(repeats, name="repeats", least=2)


def _as_tuple(given: Iterable[object], name: str, example: str) -> tuple[object, ...]:
    listed = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
    if not listed:
        raise UsageError(f"`{name}` must be a list that is not empty, such as {example}.")
    return listed


def _measure(
    truth: Profile,
    mechanism: CentralMechanism,
    repeats: int,
    source: RandomSource | None,
    progress: Callable[[float], None] | None,
) -> dict[str, list[float]]:
    """Release repeatedly; return the metrics of each release except the first, which loads and prepares."""
    measured: dict[str, list[float]] = {metric.name: [] for metric in METRICS}
    for repeat in range(repeats + 1):
        # The progress of a release reveals something about the data, which need no protection here.
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


def check_public_numbers(given: Mapping[str, object], names: Sequence[str]) -> dict[str, int]:
    """Return the given public numbers; refuse those that no mechanism needs."""
    needed = _required_numbers(names)
    known = {option: whole_items(number, name=option) for option, number in given.items() if number is not None}
    foreign = sorted(known.keys() - needed)
    if foreign:
        raise UsageError(f"`{foreign[0]}` does not apply to any of the compared mechanisms; leave it out.")
    return known


def public_numbers_of(
    truth: Profile, unit: PrivacyUnit, known: Mapping[str, int], names: Sequence[str]
) -> dict[str, int]:
    """Return, from the data, the missing public numbers that mechanisms need: labels exactly, others rounded up."""
    found = {
        "public_items": _round_up(truth.n),
        "public_labels": max(1, truth.num_labels),
        "public_cap": _round_up(int(truth.counts[-1]) if len(truth) else 1),
    }
    if unit.max_count is not None:
        del found["public_cap"]  # The unit's cap is public.
    return {
        option: number for option, number in found.items() if option in _required_numbers(names) and option not in known
    }


def _required_numbers(names: Sequence[str]) -> set[str]:
    taken = {option for name in names if name != "auto" for option in mechanism_class(name).own_options()}
    return taken.intersection(PUBLIC_NUMBERS)


def _round_up(number: int) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, … that is at least ``number``."""
    power = int("1" + "0" * (len(str(number)) - 1))
    return next(round_ for round_ in (power, 2 * power, 5 * power, 10 * power) if round_ >= number)


def entrants_of(
    budgets: Sequence[Fraction],
    names: Sequence[str],
    unit: PrivacyUnit,
    relation: NeighboringRelation,
    options: Mapping[str, Any],
) -> tuple[list[tuple[str, CentralMechanism]], list[tuple[str, Fraction, str]]]:
    """Make each mechanism at each budget, or note why it does not apply."""
    entrants, skipped = [], []
    for epsilon, name in product(budgets, names):
        try:
            if name == "auto":
                mechanism = choose(epsilon=epsilon, unit=unit, relation=relation)[0]
            else:
                mechanism = named_mechanism(name, epsilon, unit, relation, _own_options(name, unit, options))
            entrants.append((name, mechanism))
        except UsageError as error:
            skipped.append((name, epsilon, error.sentence))
    return entrants, skipped


def _own_options(name: str, unit: PrivacyUnit, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a mechanism takes."""
    taken = mechanism_class(name).own_options()
    own = {option: options[option] for option in taken if option in options}
    if unit.max_count is not None and "public_cap" in taken:
        # The unit's largest count is the cap: only mechanisms that need a cap get it as an option.
        cap = own.pop("public_cap", unit.max_count)
        own |= {"public_cap": cap} if taken["public_cap"] else {}
    return own
