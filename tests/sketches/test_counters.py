"""How many counters have each value: near ones, far ones, none."""

from collections import Counter

import numpy as np
import pytest

from anonhist.errors import DataError
from anonhist.sketches import decoder as module
from anonhist.sketches.decoder import Counters
from anonhist_testing.cases import each_of


def cases() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {
        "none": np.zeros(0, dtype=np.int64),
        "one": np.array([-7]),
        "equal": np.full(100, 2**62),
        "near": rng.integers(-20, 20, 1000),
        "long tail": np.append(rng.integers(-20, 20, 1000), [2**40, 2**62, 2**62, 500, 501]),
        "ends": np.array([-(2**62), 2**62, -(2**62) + 1, 0]),
        "wide": rng.integers(-(2**30), 2**30, 1000),
    }


@pytest.mark.parametrize("name", cases())
@pytest.mark.parametrize("window", [1, 16, 1 << 20])
def test_every_value_is_counted(name: str, window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WINDOW", window)
    counters = cases()[name]
    seen = Counters.of(counters)
    assert (seen.values.dtype, seen.numbers.dtype) == (np.int64, np.int64)
    assert list(zip(seen.values.tolist(), seen.numbers.tolist(), strict=True)) == sorted(
        Counter(counters.tolist()).items()
    )
    assert seen.size == counters.size


def test_dense_is_a_window() -> None:
    seen = Counters.of(np.array([-3, -3, 0, 5, 2**60]))
    assert seen.dense(-3, 5).tolist() == [2, 0, 0, 1, 0, 0, 0, 0, 1]
    assert seen.dense(-5, -4).tolist() == [0, 0]
    assert seen.dense(2**60, 2**60).tolist() == [1]


@each_of(("values", "numbers"), [([2, 1], [1, 1]), ([1, 1], [1, 1]), ([1], [1, 1]), ([1], [0])])
def test_what_no_counters_can_have_is_refused(values: list[int], numbers: list[int]) -> None:
    with pytest.raises(DataError, match=r"of counters must be ascending|occur in at least one counter"):
        Counters(np.array(values), np.array(numbers))
