"""Largest flows, the sides of their cuts, and what is not accepted from a solver."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from anonhist.errors import DataError
from anonhist.numeric import transport as module
from anonhist.numeric.transport import Transport, largest_transport


def random_network(rng: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    present = rng.random((6, 5)) < 0.5
    left, right = (places.astype(np.int64) for places in np.nonzero(present))
    return left, right, rng.integers(0, 4, left.size), rng.integers(0, 7, 6), rng.integers(0, 7, 5)


@pytest.mark.slow
def test_no_flow_is_larger_and_sides_are_as_defined() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        left, right, capacities, supplies, demands = network = random_network(rng)
        found = largest_transport(*network)
        given = np.bincount(left, found.flows, minlength=6)
        got = np.bincount(right, found.flows, minlength=5)
        assert np.all((found.flows >= 0) & (found.flows <= capacities))
        assert np.all(given <= supplies)
        assert np.all(got <= demands)
        limits = np.vstack([np.arange(6)[:, np.newaxis] == left, np.arange(5)[:, np.newaxis] == right])
        bounds = np.column_stack([np.zeros(left.size), capacities])
        best = linprog(-np.ones(left.size), limits, np.concatenate([supplies, demands]), bounds=bounds)
        assert found.flows.sum() == pytest.approx(-best.fun, abs=1e-9)
        assert_sides(network, found, given < supplies, got < demands)


def assert_sides(
    network: tuple[NDArray[np.int64], ...], found: Transport, is_left: NDArray[np.bool_], is_wanting: NDArray[np.bool_]
) -> None:
    left, right, capacities = network[:3]
    from_left, from_right = is_left.copy(), np.zeros_like(is_wanting)
    to_left, to_right = np.zeros_like(is_left), is_wanting.copy()
    more, less = found.flows < capacities, found.flows > 0
    for _ in range(12):
        from_right[right[more & from_left[left]]] = True
        from_left[left[less & from_right[right]]] = True
        to_left[left[more & to_right[right]]] = True
        to_right[right[less & to_left[left]]] = True
    assert np.array_equal(np.concatenate(found.source_side), np.concatenate([from_left, from_right]))
    assert np.array_equal(np.concatenate(found.sink_side), np.concatenate([to_left, to_right]))


def test_totals_beyond_32_bits_are_exact() -> None:
    # Each arc carries 2^31 − 1, the most there is; SciPy's own total of ten would overflow.
    ends, most = np.arange(10), np.full(10, 2**31 - 1)
    assert int(largest_transport(ends, ends, most, most, most).flows.sum()) == 10 * (2**31 - 1)
    with pytest.raises(DataError, match="too large"):
        largest_transport(ends, ends, most, most + 1, most)


def test_a_network_without_arcs_moves_nothing() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    found = largest_transport(nothing, nothing, nothing, np.array([3, 0]), np.array([1]))
    assert found.flows.size == 0
    assert [side.tolist() for side in found.source_side] == [[True, False], [False]]
    assert largest_transport(nothing, nothing, nothing, nothing, nothing).flows.size == 0


@pytest.mark.parametrize("change", [-1, 1])
def test_flows_that_are_not_largest_or_not_allowed_are_refused(monkeypatch: pytest.MonkeyPatch, change: int) -> None:
    ends, limits = np.arange(3), np.array([5, 5, 5])
    assert largest_transport(ends, ends, limits, limits, limits).flows.tolist() == [5, 5, 5]
    largest = module._largest_flow

    def another(
        begins: NDArray[np.int64], ends: NDArray[np.int64], limits: NDArray[np.int64], *, size: int
    ) -> NDArray[np.int64]:
        # One unit more or less all along the way from the source by the first arc.
        flows = largest(begins, ends, limits, size=size)
        flows[[0, 3, 6]] += change
        return flows

    monkeypatch.setattr(module, "_largest_flow", another)
    with pytest.raises(ArithmeticError, match="not be verified as a maximum"):
        largest_transport(ends, ends, limits, limits, limits)


def test_flows_that_are_lost_on_the_way_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one = np.zeros(1, dtype=np.int64)
    monkeypatch.setattr(module, "_largest_flow", lambda *_, size: np.array([1, 0, 1]) * (size > 0))
    with pytest.raises(ArithmeticError, match="not be verified as a maximum"):
        largest_transport(one, one, one + 1, one + 1, one + 1)


def test_flows_above_a_limit_are_refused_where_no_cut_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # The supply leaves and the demand is met, through an arc that is too narrow.
    one = np.zeros(1, dtype=np.int64)
    monkeypatch.setattr(module, "_largest_flow", lambda *_, size: np.full(3, 5) * (size > 0))
    with pytest.raises(ArithmeticError, match="not be verified as a maximum"):
        largest_transport(one, one, one + 1, one + 5, one + 5)


def test_flows_against_an_arc_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first left node has no supply: it takes one back from one demand, which two others overfill, for the other.
    left, right = np.array([0, 0, 1, 2]), np.array([0, 1, 0, 0])
    monkeypatch.setattr(module, "_largest_flow", lambda *_, size: np.array([-1, 1, 1, 1, 0, 1, 1, 1, 1]) * (size > 0))
    limits = np.ones(4, dtype=np.int64), np.array([0, 1, 1]), np.ones(2, dtype=np.int64)
    with pytest.raises(ArithmeticError, match="not be verified as a maximum"):
        largest_transport(left, right, *limits)


def test_no_flow_at_all_is_refused_where_something_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    # All nodes can be reached, the sink too: nothing would pass such a cut.
    one = np.zeros(1, dtype=np.int64)
    monkeypatch.setattr(module, "_largest_flow", lambda *_, size: np.zeros(3, dtype=np.int64) * (size > 0))
    with pytest.raises(ArithmeticError, match="not be verified as a maximum"):
        largest_transport(one, one, one + 1, one + 1, one + 1)


def test_a_cut_that_lets_more_pass_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    one = np.zeros(1, dtype=np.int64)
    monkeypatch.setattr(module, "_largest_flow", lambda *_, size: np.zeros(3, dtype=np.int64) * (size > 0))
    monkeypatch.setattr(module, "_reachable", lambda *_, size: np.arange(size) == size - 2)
    with pytest.raises(ArithmeticError, match="not be verified as a maximum"):
        largest_transport(one, one, one + 1, one + 1, one + 1)
