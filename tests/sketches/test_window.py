import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.errors import UsageError
from anonhist.sketches.decoder import Counters, Window
from anonhist.sketches.noise import NoiseDistribution
from anonhist_testing.cases import each_of
from anonhist_testing.strategies import repeatable

DISTRIBUTIONS = [
    NoiseDistribution.of([(Fraction(epsilon), Fraction(1))]) for epsilon in ("0.001", "0.03", "0.3", "1", "3", "20")
] + [
    NoiseDistribution.of([(Fraction(1), Fraction(1)), (Fraction(1, 3), Fraction(1))]),
    NoiseDistribution.of([(Fraction(1), Fraction(1, 10)), (Fraction(2), Fraction(1, 3))]),
    NoiseDistribution(()),
]
ENDS = [-(2**61), -(2**40), -1000, -1, 0, 1, 255, 256, 257, 65_535, 65_536, 2**40, 2**61]


def _counters_of(numbers: dict[int, int]) -> Counters:
    values = sorted(numbers)
    return Counters(np.array(values, dtype=np.int64), np.array([numbers[value] for value in values], dtype=np.int64))


def _check(window: Window, observed: Counters) -> None:
    """Every counter is in one place, and every cell is in the window."""
    assert window.num_counters + int(window.beyond_numbers.sum()) == observed.size
    assert window.seen.shape == (window.last - window.low,)
    assert (window.beyond_values >= window.last).all()
    assert window.low <= 0 < window.last
    assert (int(window.values[0]), int(window.values[-1])) == (window.low, window.last)
    assert (int(window.counts[0]), int(window.counts[-1])) == (0, window.last)
    assert window.cell_numbers.sum() == window.num_counters
    inside = (observed.values >= window.low) & (observed.values < window.last)
    kept = window.seen[observed.values[inside] - window.low]
    assert (kept >= observed.numbers[inside]).all()
    assert (
        kept[observed.values[inside] > window.low] == observed.numbers[inside & (observed.values > window.low)]
    ).all()


@pytest.mark.slow
@repeatable
@given(
    numbers=st.dictionaries(
        st.one_of(st.sampled_from(ENDS), st.integers(-200, 5000)), st.integers(1, 10**12), min_size=1, max_size=12
    ),
    distribution=st.sampled_from(DISTRIBUTIONS),
)
def test_every_counter_is_in_the_window_or_beyond(numbers: dict[int, int], distribution: NoiseDistribution) -> None:
    observed = _counters_of(numbers)
    _check(Window.of(observed, distribution), observed)


@each_of("end", ENDS)
@each_of("number", [1, 10**12])
def test_one_value_is_enough(end: int, number: int) -> None:
    observed = _counters_of({end: number})
    window = Window.of(observed, DISTRIBUTIONS[3])
    _check(window, observed)
    assert window.last <= 2**16


def test_memory_does_not_grow_with_the_values() -> None:
    observed = _counters_of({-(2**61): 3, -(2**40): 2, 0: 100, 2**40: 50, 2**61: 70})
    tracemalloc.start()
    window = Window.of(observed, DISTRIBUTIONS[3])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**23
    assert window.seen[0] == 5
    assert window.low == -window.reach


def test_a_few_counters_far_out_make_the_window_no_longer() -> None:
    head = dict.fromkeys(range(-3, 10), 1000)
    short = Window.of(_counters_of(head), DISTRIBUTIONS[3])
    longer = Window.of(_counters_of({**head, 2**30: 16}), DISTRIBUTIONS[3])
    more = Window.of(_counters_of({**head, 2**30: 17}), DISTRIBUTIONS[3])
    many = Window.of(
        _counters_of({value: 1000 * number for value, number in head.items()} | {2**30: 2603}), DISTRIBUTIONS[3]
    )
    longest = Window.of(_counters_of({**head, 2**30: 10_000}), DISTRIBUTIONS[3])
    assert short.last == 10
    assert longer.last == max(256, 8 * longer.reach)
    assert longer.beyond_numbers.tolist() == [16]
    assert more.last == longest.last == many.last == 2**14
    assert longest.beyond_values.tolist() == [2**30]


def test_the_window_reaches_twice_as_far_as_where_many_counters_end() -> None:
    window = Window.of(_counters_of({0: 10_000, 500: 100, 100_000: 2}), DISTRIBUTIONS[3])
    assert window.last == 1000


def test_what_is_gathered_belongs_to_the_cells() -> None:
    window = Window.of(_counters_of(dict.fromkeys(range(-20, 3000), 5)), DISTRIBUTIONS[3])
    by_hand = [
        window.seen[first - window.low : end - window.low].sum()
        for first, end in zip(window.values[:-1], window.values[1:], strict=True)
    ]
    assert window.cell_numbers.tolist() == by_hand
    assert max(np.diff(window.values)) > 1


@each_of("distribution", DISTRIBUTIONS)
def test_the_noise_hardly_ever_goes_beyond_its_reach(distribution: NoiseDistribution) -> None:
    window = Window.of(_counters_of({0: 1}), distribution)
    assert distribution.pmf(window.reach).sum() > 1 - 2e-12


def test_noise_that_hides_all_is_refused() -> None:
    with pytest.raises(UsageError, match="use a larger epsilon"):
        Window.of(_counters_of({0: 1}), NoiseDistribution.of([(Fraction(1, 10**5), Fraction(1))]))
