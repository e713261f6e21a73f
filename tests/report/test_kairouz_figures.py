"""The figures of Kairouz et al. show the rows they are given."""

import pytest

from anonhist.local.kairouz import ErrorRow
from anonhist.report.kairouz_figures import KAIROUZ_FIGURES, kairouz_figure


def _row(
    figure: str,
    mechanism: str,
    alphabet: str,
    error: float,
    *,
    epsilon: float = 4.0,
    users: int = 1000,
    k: int = 256,
    c: int = 1,
    h: int = 1,
    decoder: str = "projected",
    spread: float = 0.0,
) -> ErrorRow:
    return ErrorRow(figure, mechanism, alphabet, epsilon, users, k, c, h, decoder, error, spread, 2, None)


def _lines(axes: object) -> dict[str, list[tuple[float, float]]]:
    handles, titles = axes.get_legend_handles_labels()  # type: ignore[attr-defined]
    lines = [getattr(handle, "lines", (handle,))[0] for handle in handles]
    return {
        title: [(float(x), float(y)) for x, y in zip(*line.get_data(), strict=True)]
        for title, line in zip(titles, lines, strict=True)
    }


def test_errors_by_epsilon_are_drawn_by_decoder_and_by_mechanism() -> None:
    rows = [_row("closed", "none", "closed", 0.01, epsilon=0, decoder="unbiased")]
    rows += [_row("closed", "k-RR", "closed", 1 / epsilon, epsilon=epsilon) for epsilon in (2.0, 1.0)]
    rows += [_row("closed", "k-RAPPOR", "closed", 3.0, decoder="em"), _row("closed", "OUE", "closed", 0.5)]
    rows += [_row("open", "k-RR", "closed", 9.0)]
    first, second, third = kairouz_figure("closed", rows).axes
    assert [axes.get_title() for axes in (first, second)] == ["k-RR, 1,000 people", "k-RAPPOR, 1,000 people"]
    assert _lines(first) == {"projected": [(1.0, 1.0), (2.0, 0.5)]}
    assert _lines(second) == {"EM, stopped early": [(4.0, 3.0)]}
    assert _lines(third) == {"k-RR": [(1.0, 1.0), (2.0, 0.5)], "optimized unary": [(4.0, 0.5)]}
    assert first.get_yscale() == "log"
    assert {text.get_text() for text in first.texts} == {"uniform", "no privacy"}


def test_the_best_setting_after_most_people_is_drawn_and_how_many_are_needed() -> None:
    rows = [
        _row("open", "O-RR", "open", error, users=users, k=k, decoder="least-squares")
        for users, k, error in ((100, 16, 0.4), (100, 64, 0.5), (10_000, 16, 0.08), (10_000, 64, 0.04))
    ]
    rows += [_row("open", "O-RAPPOR", "closed", error, users=users) for users, error in ((100, 0.9), (10_000, 0.6))]
    opened, closed, people = kairouz_figure("open", rows).axes
    assert _lines(opened) == {"O-RR": [(4.0, 0.04)]}
    assert _lines(closed) == {"O-RAPPOR": [(4.0, 0.6)]}
    lines = _lines(people)
    # From 0.4 to 0.04 as people grow by 100: half as large an error takes four times as many.
    assert lines.pop("O-RR, open") == [(4.0, pytest.approx(400))]
    assert set(map(len, lines.values())) == {0}
    assert "10,000 people" in opened.get_ylabel()


@pytest.mark.slow
def test_panels_of_parameters_say_what_is_varied_and_what_is_not() -> None:
    rows = [_row("buckets", "O-RR", "open", 1 / k, k=k, c=16, decoder="least-squares") for k in (4, 2)]
    rows += [_row("buckets", "O-RR", "open", 5.0, k=4, c=16)]
    rows += [_row("hashes", "O-RAPPOR", "closed", h, h=h, epsilon=1.5, decoder="least-squares") for h in (1, 2)]
    figure = kairouz_figure("parameters", rows)
    first, closed_hashes = figure.axes[0], figure.axes[7]
    assert first.get_title() == "O-RR, open, C = 16"
    assert first.get_xlabel() == "buckets k"
    assert _lines(first) == {"ε = 4": [(2.0, 0.5), (4.0, 0.25)]}
    assert closed_hashes.get_title() == "O-RAPPOR, closed, k = 256, C = 1"
    assert _lines(closed_hashes) == {"ε = 1.5": [(1.0, 1.0), (2.0, 2.0)]}


def test_bars_are_two_standard_errors_and_never_reach_zero() -> None:
    rows = [
        _row("closed", "k-RR", "closed", 0.5, spread=spread, epsilon=at) for spread, at in ((0.05, 1.0), (4.0, 2.0))
    ]
    (bars,) = kairouz_figure("closed", rows).axes[0].containers
    short, long = bars.lines[2][0].get_segments()  # type: ignore[attr-defined]
    assert short[:, 1].tolist() == pytest.approx([0.4, 0.6])
    assert long[:, 1].tolist() == pytest.approx([0.25, 8.5])


@pytest.mark.slow
@pytest.mark.parametrize("name", KAIROUZ_FIGURES)
def test_figures_with_hardly_any_rows_are_drawn(name: str) -> None:
    figure = kairouz_figure(name, [_row("closed", "k-RR", "closed", 0.5)])
    figure.draw_without_rendering()  # type: ignore[no-untyped-call]
    assert figure.axes
