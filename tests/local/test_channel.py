"""Channels: both products against the matrix written out, and what is not a channel is refused."""

import numpy as np
import pytest

from anonhist.local.decoder import Channel
from anonhist_testing.cases import each_of
from anonhist_testing.channels import as_matrix, bit_channel, hashed_channel

LISTED = hashed_channel(9, 4, 3, 1.0)
CHANNELS: dict[str, Channel] = {
    "hashes": LISTED,
    "bits": bit_channel(6, 2.0),
}


@each_of("name", CHANNELS)
def test_products_belong_to_one_matrix_whose_columns_add_up(name: str) -> None:
    channel = CHANNELS[name]
    matrix = np.column_stack([channel.forward(row) for row in np.eye(channel.items)])
    transposed = np.column_stack([channel.adjoint(row) for row in np.eye(channel.cells)])
    assert matrix.shape == (channel.cells, channel.items)
    np.testing.assert_allclose(transposed, matrix.T, atol=1e-15)
    np.testing.assert_allclose(matrix.sum(axis=0), 1.0, rtol=1e-12)
    assert matrix.min() >= 0
    rng = np.random.default_rng(3)
    frequencies, weights = rng.random(channel.items), rng.random(channel.cells)
    np.testing.assert_allclose(channel.forward(frequencies), matrix @ frequencies, rtol=1e-12)
    np.testing.assert_allclose(channel.adjoint(weights), matrix.T @ weights, rtol=1e-12)


def test_bits_and_hashes_have_the_probabilities_of_their_mechanism() -> None:
    truth = np.exp(1.0) / (np.exp(1.0) + 3)
    assert np.unique(as_matrix(LISTED).matrix * 3).round(12).tolist() == pytest.approx([(1 - truth) / 3, truth])
    kept = np.exp(1.0) / (1 + np.exp(1.0))
    np.testing.assert_allclose(
        CHANNELS["bits"].forward(np.eye(6)[2])[[2, 8, 3, 9]] * 6, [kept, 1 - kept, 1 - kept, kept]
    )
