"""The likelihood: against formulas, against another optimiser, against plain EM, and its proof of nearness."""

import numpy as np
import pytest
from scipy.optimize import minimize

from anonhist.local.fits import ExpectationMaximization, MaximumLikelihood, Surprise
from anonhist_testing.cases import each_of
from anonhist_testing.channels import (
    MatrixChannel,
    Vector,
    as_matrix,
    bit_channel,
    draw_counts,
    hashed_channel,
    k_ary_matrix,
    log_likelihood,
    zipf,
)

CASES = {
    "hashes": hashed_channel(40, 16, 3, 1.0),
    "ill-conditioned": hashed_channel(64, 16, 4, 1.0),
    "bits": bit_channel(30, 1.0),
    "little privacy": hashed_channel(30, 64, 2, 6.0),
}


def k_ary_most_likely(counts: Vector, epsilon: float) -> Vector:
    """Water-filling: with c = Qf, the maximum has ``c_x = max(N_x·s, q)``, s so that c adds up to 1."""
    low = 1.0 / (np.exp(epsilon) + counts.size - 1)
    descending = np.sort(counts)[::-1]
    for kept in range(counts.size, 0, -1):
        scale = (1.0 - (counts.size - kept) * low) / descending[:kept].sum()
        if descending[kept - 1] * scale >= low:
            break
    expected = np.maximum(counts * scale, low)
    return np.asarray((expected / low - 1.0) / (np.exp(epsilon) - 1.0))


@each_of("epsilon", [0.1, 1.0, 5.0, 10.0])
def test_agrees_with_the_formula_of_k_ary_randomized_response(epsilon: float) -> None:
    matrix = k_ary_matrix(50, epsilon)
    counts = draw_counts(matrix @ zipf(50), 100_000)
    expected = k_ary_most_likely(counts, epsilon)
    decoded = MaximumLikelihood(tolerance=1e-7).decode(np.zeros(50), MatrixChannel(matrix), counts)
    assert decoded.converged
    assert expected.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(decoded.frequencies, expected, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("tolerance", [10.0, 0.01, 1e-6])
def test_no_direct_optimiser_finds_more_than_the_tolerance_above(name: str, tolerance: float) -> None:
    channel = CASES[name]
    matrix = as_matrix(channel).matrix
    counts = draw_counts(channel.forward(zipf(channel.items)), 20_000)
    decoded = MaximumLikelihood(tolerance=tolerance).decode(np.zeros(channel.items), channel, counts)
    # Free numbers whose squares are the frequencies: no constraints are left, and every local maximum that is reached
    # from inside is the only one.
    start = np.sqrt(0.999 * decoded.frequencies + 0.001 / channel.items)

    def surprise(roots: Vector) -> tuple[float, Vector]:
        squares = roots * roots
        frequencies = squares / squares.sum()
        expected = matrix @ frequencies
        gradient = -matrix.T @ (counts / expected)
        centred = (gradient - gradient @ frequencies) * 2 * roots / squares.sum()
        return -float(counts @ np.log(expected)), centred

    best = minimize(surprise, start, jac=True, method="L-BFGS-B", options={"maxiter": 3_000, "ftol": 1e-15})
    assert decoded.converged
    found = log_likelihood(matrix, counts, decoded.frequencies)
    rounding = 1e-14 * abs(found) * 10
    assert -best.fun <= found + tolerance + rounding
    if tolerance < 0.1:
        assert -best.fun >= found - 0.5  # The other optimiser is a fair judge: it comes near.


@each_of("name", CASES)
def test_the_gradient_proves_the_maximum(name: str) -> None:
    channel = CASES[name]
    counts = draw_counts(channel.forward(zipf(channel.items)), 20_000)
    decoded = MaximumLikelihood(tolerance=1e-8).decode(np.zeros(channel.items), channel, counts)
    gradient = channel.adjoint(counts / 20_000 / channel.forward(decoded.frequencies))
    # Karush, Kuhn, Tucker: 1 where there is something, not above 1 elsewhere.
    assert gradient.max() <= 1.0 + 1e-6
    np.testing.assert_allclose(gradient[decoded.frequencies > 1e-6], 1.0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_likelihood_never_falls_from_step_to_step(name: str) -> None:
    channel = CASES[name]
    counts = draw_counts(channel.forward(zipf(channel.items)), 20_000)
    matrix = as_matrix(channel).matrix
    # Every step at first, where it is long, then every fourth one: each descent begins anew.
    steps = [
        MaximumLikelihood(tolerance=0.0, iterations=most).decode(np.zeros(channel.items), channel, counts)
        for most in (*range(1, 16), *range(16, 60, 4))
    ]
    likelihoods = [log_likelihood(matrix, counts, step.frequencies) for step in steps]
    assert (np.diff(likelihoods) >= -1e-9 * abs(likelihoods[0]) * 1e-3).all()
    assert likelihoods[-1] > likelihoods[0]


@pytest.mark.slow
def test_plain_em_creeps_to_the_same_maximum() -> None:
    channel = CASES["hashes"]
    counts = draw_counts(channel.forward(zipf(40)), 20_000)
    frequencies = np.full(40, 1 / 40)
    for _ in range(20_000):
        frequencies *= channel.adjoint(counts / 20_000 / channel.forward(frequencies))
    decoded = MaximumLikelihood(tolerance=1e-6).decode(np.zeros(40), channel, counts)
    assert decoded.iterations < 500
    np.testing.assert_allclose(decoded.frequencies, frequencies, atol=2e-3)


@pytest.mark.parametrize(("epsilon", "most"), [(5.0, 120), (8.0, 400)])
def test_momentum_keeps_the_number_of_steps_small(epsilon: float, most: int) -> None:
    matrix = k_ary_matrix(300, epsilon)
    counts = draw_counts(matrix @ zipf(300), 1_000_000)
    decoded = MaximumLikelihood().decode(np.zeros(300), MatrixChannel(matrix), counts)
    assert decoded.converged
    # Measured: 85 and 249; without momentum 174 and 1218.
    assert decoded.iterations <= most


def test_huge_counts_of_users_lose_nothing() -> None:
    matrix = k_ary_matrix(100, 1.0)
    counts = np.rint(matrix @ zipf(100) * 2.0**62)
    decoded = MaximumLikelihood().decode(np.zeros(100), MatrixChannel(matrix), counts)
    assert decoded.converged
    np.testing.assert_allclose(decoded.frequencies, zipf(100), atol=1e-6)


def test_empty_cells_and_certain_reports_need_no_division() -> None:
    channel = MatrixChannel(np.eye(3))
    decoded = MaximumLikelihood().decode(np.zeros(3), channel, np.array([3.0, 0.0, 1.0]))
    np.testing.assert_allclose(decoded.frequencies, [0.75, 0.0, 0.25], atol=0.05)
    assert decoded.converged


def test_even_counts_end_at_once_in_the_uniform_distribution() -> None:
    channel = MatrixChannel(k_ary_matrix(8, 1.0))
    decoded = MaximumLikelihood().decode(np.zeros(8), channel, np.full(8, 5.0))
    assert decoded.iterations == 1
    assert decoded.converged
    np.testing.assert_allclose(decoded.frequencies, 1 / 8)


def test_differences_of_likelihood_keep_their_digits_however_small() -> None:
    shares, expected = np.array([0.25, 0.75]), np.array([0.5, 0.5])
    surprise = Surprise(shares)
    for size in (1e-3, 4e-5, 1e-6, 1e-10):
        step = size * np.array([1.0, -1.0])
        # ½ Σ m u² − ⅓ Σ m u³ + ¼ Σ m u⁴ with u = ±2·size.
        by_series = 2 * size**2 + 4 / 3 * size**3 + 4 * size**4
        assert surprise.excess(expected, step) == pytest.approx(by_series, rel=2e-9)
        assert surprise.rise(expected, step) == pytest.approx(size + by_series, rel=1e-9)
    assert surprise.rise(expected, np.array([-0.5, 0.5])) == np.inf
    assert surprise.excess(expected, np.array([-0.6, 0.6])) == np.inf


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_stopping_early_ends_where_it_says(name: str) -> None:
    channel = CASES[name]
    counts = draw_counts(channel.forward(zipf(channel.items)), 20_000)
    matrix = as_matrix(channel).matrix
    most = MaximumLikelihood().decode(np.zeros(channel.items), channel, counts).frequencies
    allowed = 0.25 * np.count_nonzero(most)
    whole = ExpectationMaximization().decode(np.zeros(channel.items), channel, counts)
    assert whole.converged
    assert 1 < whole.iterations < 79
    # Every path begins anew, so not all of them are walked.
    lengths = sorted({*range(1, 10), *range(10, whole.iterations, 5), whole.iterations - 1, whole.iterations, 79})
    ends = [ExpectationMaximization(iterations=n).decode(np.zeros(channel.items), channel, counts) for n in lengths]
    below = [log_likelihood(matrix, counts, most) - log_likelihood(matrix, counts, end.frequencies) for end in ends]
    assert (np.diff(below) <= 1e-8).all()
    assert below[-1] == pytest.approx(allowed, abs=1e-4)
    assert [end.iterations for end in ends] == [min(n, whole.iterations) for n in lengths]
    assert [end.converged for end in ends] == [n >= whole.iterations for n in lengths]


def test_steps_are_those_of_em_at_least() -> None:
    channel = CASES["bits"]
    counts = draw_counts(channel.forward(zipf(30)), 2_000_000)
    one = ExpectationMaximization(iterations=1, shortfall=1e-9).decode(np.zeros(30), channel, counts).frequencies
    uniform = np.full(30, 1 / 30)
    em = uniform * channel.adjoint(counts / 2_000_000 / channel.forward(uniform))
    np.testing.assert_allclose(one, em, rtol=1e-12)


def test_stopping_early_is_nearer_where_noise_is_large() -> None:
    channel = hashed_channel(256, 64, 16, 1.0)
    truth = zipf(256)
    counts = draw_counts(channel.forward(truth), 1_000_000)
    most, early = (
        decoder.decode(np.zeros(256), channel, counts).frequencies
        for decoder in (MaximumLikelihood(), ExpectationMaximization())
    )
    # Measured with this seed: 0.64 and 0.5.
    assert np.abs(early - truth).sum() < 0.9 * np.abs(most - truth).sum()


def test_counts_that_tell_nothing_leave_the_uniform_distribution() -> None:
    channel = MatrixChannel(k_ary_matrix(10, 0.01))
    counts = draw_counts(channel.forward(zipf(10)), 50)
    decoded = ExpectationMaximization(shortfall=5.0).decode(np.zeros(10), channel, counts)
    assert decoded.frequencies.tolist() == [0.1] * 10
    assert decoded.converged
    assert "equally frequent" in decoded.note
