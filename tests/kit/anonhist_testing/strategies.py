"""Hypothesis strategies: profiles, partitions, privacy parameters and units."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from hypothesis import settings
from hypothesis import strategies as st

from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

MAX_ITEMS = 2**63 - 1

# All sizes are made from one strategy: one with bounds of its own for each would cost far more than the draw.
_RAW = st.integers(0, 3 * MAX_ITEMS)

# The same examples in every run, however slow the machine: ``@repeatable`` above ``@given(…)``.
repeatable = settings(derandomize=True, deadline=None, database=None, max_examples=200)


def units() -> SearchStrategy[PrivacyUnit]:
    """Return a strategy for privacy units with bounds up to 20.

    Examples
    --------
    >>> from hypothesis import find
    >>> str(find(units(), lambda unit: unit.kind == "user" and unit.bound > 2))
    'one user with all their items (at most 3 of them count)'
    """
    bounds = st.integers(1, 20)
    return st.one_of(
        st.just(PrivacyUnit.item()),
        bounds.map(lambda bound: PrivacyUnit.user(max_items=bound)),
        bounds.map(lambda bound: PrivacyUnit.label(max_count=bound)),
    )


def partitions(*, max_items: int = 60) -> SearchStrategy[tuple[int, ...]]:
    """Return a strategy for partitions of 0 to ``max_items``: counts in descending order, each at least 1.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(partitions(), lambda partition: len(partition) > 1 and partition[0] > partition[1])
    (2, 1)
    """
    return _partitions(max_items)


@st.composite
def _partitions(draw: DrawFn, max_items: int) -> tuple[int, ...]:
    left = draw(st.integers(0, max_items))
    parts: list[int] = []
    while left:
        parts.append(draw(st.integers(1, min(left, parts[-1]) if parts else left)))
        left -= parts[-1]
    return tuple(parts)


def profiles(
    *, max_distinct: int = 12, max_items: int = MAX_ITEMS, unit: SearchStrategy[PrivacyUnit] | None = None
) -> SearchStrategy[Profile]:
    """Return a strategy for sparse profiles, small numbers first but as large as int64 allows.

    Parameters
    ----------
    max_distinct
        The most distinct counts.
    max_items
        The largest n.
    unit
        A strategy for the unit of the profiles; an item by default.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(profiles(), lambda profile: profile.n > 10**15).n > 10**15
    True
    """
    return _profiles(max_distinct, max_items, st.just(PrivacyUnit.item()) if unit is None else unit)


@st.composite
def _profiles(draw: DrawFn, max_distinct: int, max_items: int, unit: SearchStrategy[PrivacyUnit]) -> Profile:
    prevalences: dict[int, int] = {}
    left = max_items
    for _ in range(draw(st.integers(0, max_distinct))):
        count = _size(draw(_RAW), largest=left)
        if count in prevalences:
            continue
        prevalences[count] = _size(draw(_RAW), largest=left // count)
        left -= count * prevalences[count]
        if not left:
            break
    return Profile.from_prevalences(prevalences, unit=draw(unit))


def _size(raw: int, *, largest: int) -> int:
    """Return a number from 1 to ``largest``: mostly small, now and then of any order of magnitude."""
    return 1 + raw // 3 % min(largest, (9, 10**6, MAX_ITEMS)[raw % 3])


def epsilons(
    *, smallest: Fraction = Fraction(1, 1000), largest: Fraction = Fraction(10)
) -> SearchStrategy[tuple[int | float | str | Decimal | Fraction, Fraction]]:
    """Return a strategy for (what a user may pass, the exact value it means), from ``smallest`` to ``largest``.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(epsilons(), lambda pair: isinstance(pair[0], float) and pair[1] < 1)[1] < 1
    True
    """
    fractions = st.fractions(smallest, largest, max_denominator=10**9)
    decimals = st.decimals(
        Decimal(smallest.numerator) / smallest.denominator,
        Decimal(largest.numerator) / largest.denominator,
        allow_nan=False,
        places=6,
    )
    floats = decimals.map(float)
    whole = [number for number in range(1, 11) if smallest <= number <= largest]
    return st.one_of(
        *([st.sampled_from([(number, Fraction(number)) for number in whole])] if whole else []),
        fractions.map(lambda value: (value, value)),
        decimals.map(lambda value: (value, Fraction(value))),
        floats.map(lambda value: (value, Fraction(repr(value)))),
        fractions.map(lambda value: (str(value), value)),
        decimals.map(lambda value: (str(value), Fraction(value))),
    )
