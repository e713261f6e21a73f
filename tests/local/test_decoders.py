"""What all decoders keep: shapes, the simplex, "other", and clear refusals."""

import numpy as np
import pytest

from anonhist.errors import AnonhistError, DataError, UsageError
from anonhist.local.decoder import Decoder, Normalized, Projected, Unbiased
from anonhist.local.fits import ConstrainedLeastSquares, ExpectationMaximization, MaximumLikelihood
from anonhist_testing.cases import each_of
from anonhist_testing.channels import MatrixChannel, bit_channel, draw_counts, hashed_channel, k_ary_matrix, zipf

FITTING: list[Decoder] = [
    MaximumLikelihood(),
    ConstrainedLeastSquares(),
    ConstrainedLeastSquares(ridge=0.1),
    ExpectationMaximization(),
]
ON_THE_SIMPLEX: list[Decoder] = [Normalized(), Projected(), *FITTING]
ALL: list[Decoder] = [Unbiased(), *ON_THE_SIMPLEX]
TINY = MatrixChannel(k_ary_matrix(3, 1.0))


def test_names_are_their_own() -> None:
    names = {type(decoder): decoder.name for decoder in ALL}
    assert sorted(names.values()) == ["em", "least-squares", "mle", "normalized", "projected", "unbiased"]


@each_of("decoder", ON_THE_SIMPLEX)
def test_frequencies_are_a_distribution(decoder: Decoder) -> None:
    channel = bit_channel(40, 1.0)
    counts = draw_counts(channel.forward(zipf(40)), 4_000)
    raw = np.random.default_rng(1).normal(1 / 40, 0.2, 40)
    decoded = decoder.decode(raw, channel, counts)
    assert decoded.frequencies.shape == (40,)
    assert decoded.frequencies.min() >= 0
    assert decoded.frequencies.sum() == pytest.approx(1.0, abs=1e-12)
    assert decoded.converged


@each_of("decoder", ALL)
def test_of_one_item_everybody_has_it(decoder: Decoder) -> None:
    channel = MatrixChannel(np.array([[0.25], [0.75]]))
    assert decoder.decode(np.array([1.0]), channel, np.array([3.0, 1.0])).frequencies.tolist() == [1.0]


@each_of("decoder", FITTING)
def test_what_nobody_listed_is_found_as_other(decoder: Decoder) -> None:
    everything = hashed_channel(200, 32, 16, 3.0)
    truth = zipf(200)
    counts = draw_counts(everything.forward(truth), 4_000_000)
    # The hashes of an item not on the list are like any: on average over them every symbol is as likely.
    other = np.full(everything.cells, everything.base + everything.gain / 32)
    listed = [everything.forward(row) for row in np.eye(200)[:20]]
    decoded = decoder.decode(np.zeros(20), MatrixChannel(np.column_stack([*listed, other])), counts, other=True)
    assert decoded.frequencies.shape == (21,)
    # What is not explained: here nearly half. Its error is that of hashes, not of reports.
    assert decoded.frequencies[-1] == pytest.approx(truth[20:].sum(), abs=0.05)


def test_without_a_channel_other_is_what_is_missing() -> None:
    raw = np.array([0.5, -0.25, 0.25])
    assert Unbiased().decode(raw, other=True).frequencies.tolist() == [0.5, -0.25, 0.25, 0.5]
    assert Normalized().decode(raw, other=True).frequencies.tolist() == [0.5, 0.0, 0.25, 0.25]
    assert Projected().decode(raw, other=True).frequencies.tolist() == [0.5, 0.0, 0.25, 0.25]
    more = np.array([1.0, -1.0, 1.0])
    assert Normalized().decode(more, other=True).frequencies.tolist() == [0.5, 0.0, 0.5, 0.0]
    assert Projected().decode(more, other=True).frequencies.tolist() == [0.5, 0.0, 0.5, 0.0]
    skew = np.array([1.0, 0.5])
    assert Normalized().decode(skew, other=True).frequencies.tolist() == pytest.approx([2 / 3, 1 / 3, 0.0])
    assert Projected().decode(skew, other=True).frequencies.tolist() == [0.75, 0.25, 0.0]


def test_unbiased_gives_a_copy() -> None:
    raw = np.array([0.5, 0.5])
    Unbiased().decode(raw).frequencies[0] = 9.0
    assert raw.tolist() == [0.5, 0.5]


@each_of("decoder", ALL)
@each_of("raw", [[], [np.nan, 1.0, 0.0], [[1.0]], 3.0])
def test_raw_estimates_that_are_none_are_refused(decoder: Decoder, raw: object) -> None:
    with pytest.raises(UsageError, match="at least one finite estimate"):
        decoder.decode(np.asarray(raw), TINY, np.ones(3))


@each_of("decoder", FITTING)
@each_of(
    ("items", "counts", "error", "message"),
    [
        (2, [1.0, 1.0, 1.0], UsageError, "has 3 items and there are 2"),
        (3, [1.0, 1.0], UsageError, "must be 3 finite numbers"),
        (3, [1.0, -1.0, 1.0], UsageError, "must be 3 finite numbers"),
        (3, [1.0, np.inf, 1.0], UsageError, "must be 3 finite numbers"),
        (3, [0.0, 0.0, 0.0], DataError, "no reports to decode"),
        (3, None, UsageError, "needs the channel and the counts"),
    ],
)
def test_counts_that_cannot_be_fitted_are_refused(
    decoder: Decoder, items: int, counts: list[float] | None, error: type[AnonhistError], message: str
) -> None:
    given = None if counts is None else np.array(counts)
    with pytest.raises(error, match=message):
        decoder.decode(np.zeros(items), TINY, given)


@each_of("decoder", FITTING)
def test_reports_that_nobody_can_send_are_refused_and_others_fitted(decoder: Decoder) -> None:
    channel = MatrixChannel(np.array([[0.75, 0.25], [0.25, 0.75], [0.0, 0.0]]))
    fitted = decoder.decode(np.zeros(2), channel, np.array([7_000.0, 3_000.0, 0.0])).frequencies
    assert fitted[0] == pytest.approx(0.9, abs=0.1)
    with pytest.raises(DataError, match="impossible for every item"):
        decoder.decode(np.zeros(2), channel, np.array([70.0, 30.0, 1.0]))


@each_of(
    ("make", "message"),
    [
        (lambda: MaximumLikelihood(tolerance=-1.0), "Maximum likelihood needs"),
        (lambda: MaximumLikelihood(iterations=0), "Maximum likelihood needs"),
        (lambda: ConstrainedLeastSquares(ridge=-1.0), "Least squares need"),
        (lambda: ConstrainedLeastSquares(tolerance=np.nan), "Least squares need"),
        (lambda: ExpectationMaximization(shortfall=0.0), "Stopping early needs"),
        (lambda: ExpectationMaximization(iterations=0), "Stopping early needs"),
    ],
)
def test_impossible_options_are_refused(make: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()  # type: ignore[operator]  # a lambda, to be called here


@pytest.mark.parametrize(
    "decoder",
    [
        MaximumLikelihood(iterations=2, tolerance=0.0),
        ConstrainedLeastSquares(iterations=2, tolerance=0.0),
        ExpectationMaximization(iterations=2, shortfall=1e-6),
    ],
)
def test_says_when_it_was_stopped_by_the_number_of_iterations(decoder: Decoder) -> None:
    channel = hashed_channel(60, 16, 4, 1.0)
    decoded = decoder.decode(np.zeros(60), channel, draw_counts(channel.forward(zipf(60)), 10**6))
    assert decoded.iterations == 2
    assert not decoded.converged
    assert decoded.note
