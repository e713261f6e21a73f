"""Exact draws of the member z = q/(1+q), with neither weights nor a band nor rounding: a walk along the boundary.

The normalizer of this member is 1 for every reference, and the weights of all endings of a path add up to a power of q,
or 0. So each next edge of the drawn boundary has a probability in closed form, and a few kinds of coins, whose
probabilities are exact functions of q, decide it. Proof: docs/proofs/pure-partition.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, chain, pairwise, repeat
from typing import TYPE_CHECKING, Any

from anonhist.mechanisms.skeletons import cut_to
from anonhist.numeric.exponential import ExponentialQuotient
from anonhist.numeric.pulse import pulse
from anonhist.profiles.counts import MAX_ITEMS

if TYPE_CHECKING:
    from anonhist.mechanisms.noise import Choices
    from anonhist.numeric.arrays import Bools, Ints
    from anonhist.profiles import Profile

# Coins of one kind that are tossed at once; what a walk does not use is discarded.
_AT_ONCE = 256
# Beyond every position, and farther from each than a wait can be: the position of an edge that never comes.
_NEVER = 2**80


@dataclass(frozen=True)
class Coins:
    """Independent random decisions for ``q = e^{−γ} < 1/3`` and ``z = q/(1+q)``.

    ``wait`` returns k ≥ 0 with probability ``(1 − q)q^k``; ``once``, ``twice`` and ``share`` are true with probability
    z, 2z and 2z/(1 − 2z).
    """

    wait: Callable[[], int]
    once: Callable[[], bool]
    twice: Callable[[], bool]
    share: Callable[[], bool]

    @classmethod
    def of(cls, gamma: Fraction, choices: Choices) -> Coins:
        """Return coins from choices: exact ones from privacy randomness."""
        inverse = ExponentialQuotient.exponential(gamma)
        chances = (1 / (inverse + 1), 2 / (inverse + 1), 2 / (inverse - 1))

        def bits(chance: ExponentialQuotient) -> Callable[[], bool]:
            return _one_by_one(lambda: choices.bits(chance, _AT_ONCE))

        return cls(_one_by_one(lambda: choices.waits(gamma, _AT_ONCE)), *map(bits, chances))


def _one_by_one(draw: Callable[[], Ints | Bools]) -> Callable[[], Any]:
    return chain.from_iterable(draw().tolist() for _ in repeat(None)).__next__


@dataclass(frozen=True)
class Hyperbola:
    """The cells (i, k) with i·k ≤ ``most``: the i-th label may have the count k. The reference has so many ``labels``.

    A position of a boundary is the number of its edges since the reference's first rise; ``count`` of them raised it.
    """

    most: int
    labels: int

    def ahead(self, here: int, count: int) -> int:
        """Return how many labels must be passed before the count may rise; −1 or less if one fewer would do, too."""
        return self.labels + count - here - self.most // (count + 1)


def walk_around(profile: Profile, coins: Coins, most: int | None = None) -> Profile:
    """Draw a partition around that of a profile, of all those with ``i·μ_i ≤ most``.

    If it has more items than ``most``, or than 2⁶³ − 1, its largest counts are cut.
    """
    rises = (later - earlier for earlier, later in pairwise([0, *profile.counts.tolist()]))
    runs = chain.from_iterable(zip(rises, profile.prevalences.tolist(), strict=True))
    inside = None if most is None else Hyperbola(most, profile.num_labels)
    turns = draw_turns([*accumulate(runs, initial=0), _NEVER], coins, inside)
    lengths = [later - earlier for earlier, later in pairwise(turns)]
    return cut_to(zip(accumulate(lengths[::2]), lengths[1::2], strict=True), MAX_ITEMS if most is None else most)


def draw_turns(ends: Sequence[int], coins: Coins, inside: Hyperbola | None = None) -> list[int]:
    """Draw the positions at which a boundary turns.

    A boundary comes along the labels that do not occur. Each of its edges passes a label, or raises the count by one.
    ``ends`` are the ends of the runs of equal edges of the reference; its first run has no beginning, its last no end.

    The edge before the position ``here`` of the walk led back to the reference (or along it), or ``away``. If all edges
    now led back, the walk would follow the reference up to the edge ``mark``, in its run number ``run``, and would
    first have to turn there. ``flagged`` is the hidden flag T of the corners that end here.
    """
    turns: list[int] = []
    here, mark, run, count = -_NEVER, 0, 1, 0
    away = flagged = False
    while away or mark < _NEVER:
        gap = mark - here
        rose = len(turns) % 2 == 1
        # From a rise that led back, all ways on stay inside.
        ahead = -1 if inside is None or (rose and not away) else inside.ahead(here, count)
        if away and ahead < rose:
            edges, leaves, flagged = _draw_back(gap, coins, flagged=flagged)
        elif away:
            edges, leaves, flagged = _draw_back_inside(gap, coins, rose=rose)
        elif ahead < 0:
            edges, leaves, flagged = (_draw_flagged if flagged else _draw_stretch)(gap, coins)
        else:
            edges, leaves, flagged = _draw_stretch_inside(gap, ahead, coins)
        here += edges
        count += leaves if rose == away else edges - leaves
        if leaves != away:
            turns.append(here - 1)
        away = leaves
        if leaves:
            mark, run = _next_of_kind(ends, mark, run)
        elif here == mark:
            # It is on the reference, which turns here: the edge that would go straight on now leads away.
            pulse()
            away, mark, run = True, ends[run], run + 1
    return turns


# Each of these draws some edges, given how far the mark is (≥ 1). It returns their number, whether the last leads away
# (all others lead back), and the flag after it.
_Drawn = tuple[int, bool, bool]


def _draw_back(gap: int, coins: Coins, *, flagged: bool) -> _Drawn:
    """Draw one edge after one that led away."""
    tagged = coins.share() if flagged else coins.wait() > 0
    leaves = coins.wait() >= gap - 1 and (coins.twice if tagged else coins.once)()
    return 1, leaves, tagged and not leaves


def _draw_flagged(gap: int, coins: Coins) -> _Drawn:
    """Draw one edge after one that led back, with a flag."""
    while coins.wait() >= gap:
        if not coins.twice():
            tagged = coins.share()
            leaves = not (coins.twice if tagged else coins.once)()
            return 1, leaves, tagged and leaves
    return 1, False, False


def _draw_stretch(gap: int, coins: Coins) -> _Drawn:
    """Draw all edges up to the mark, or up to one that leads away, without a flag."""
    while coins.once():
        left = coins.wait()
        if left < gap:
            return gap - left, True, coins.once()
    return gap, False, False


def _draw_back_inside(gap: int, coins: Coins, *, rose: bool) -> _Drawn:
    """Draw one edge after one that led away, where a rise would go beyond the cap, or its corner cannot be flipped."""
    # No flag matters behind it: the next corner, if there is one, cannot be flipped either.
    return 1, not rose and coins.wait() >= gap - 1 and coins.once(), False


def _draw_stretch_inside(gap: int, ahead: int, coins: Coins) -> _Drawn:
    """Draw a stretch in which the count may rise after ``ahead`` edges, then with a corner that cannot be flipped."""
    room = gap - ahead
    if not room or not coins.once():
        return gap, False, False
    left = coins.wait() + 1
    return (ahead + 1, True, False) if left >= room else (gap - left + 1, True, coins.once())


def _next_of_kind(ends: Sequence[int], mark: int, run: int) -> tuple[int, int]:
    """Return the next edge of the reference of the same kind, and its run."""
    if mark + 1 < ends[run]:
        return mark + 1, run
    return (ends[run + 1], run + 2) if run + 2 < len(ends) else (_NEVER, run)
