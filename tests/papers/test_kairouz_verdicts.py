"""The verdicts on Kairouz et al.: each may go both ways, and names the numbers that it rests on."""

import math
from collections.abc import Callable, Sequence

import pytest

from anonhist_papers.experiment import Experiment, Point
from anonhist_papers.kairouz import PAPER
from anonhist_papers.kairouz.closed import BINARY, CLOSED_ALPHABETS, SIMPLEX
from anonhist_papers.kairouz.comparison import COMPARISON_CLOSED, COMPARISON_OPEN
from anonhist_papers.kairouz.parameters import _PANELS, CLOSED_ORAPPOR, CLOSED_ORR, OPEN_ORAPPOR, OPEN_ORR
from anonhist_papers.kairouz.utility import EFFECTIVE_SAMPLES, LIMITS, UTILITY


def line(
    series: str, value: Callable[[float], float], xs: Sequence[float], panel: str = "", error: float = 0.001
) -> list[Point]:
    return [Point(panel, series, x, value(x), error, 20 if error else 0) for x in xs]


def test_wrr_is_refuted_by_one_mechanism_that_is_better() -> None:
    def judged(rival: float) -> tuple[bool | None, str]:
        points = line("W-RR", lambda _: 0.1, (1, 2), "ℓ1") + line("OUE", lambda _: 0.2, (1,), "ℓ1")
        verdict = BINARY.judge(points + line("k-RAPPOR", lambda _: rival, (2,), "ℓ1"))
        return verdict.agrees, verdict.sentence

    assert judged(0.2)[0] is True
    agrees, told = judged(0.05)
    assert agrees is False
    assert "k-RAPPOR at ε = 2" in told
    assert "0.5 times" in told
    # Within two standard errors nothing is refuted.
    assert judged(0.0999)[0] is True


def test_closed_alphabets_are_confirmed_where_the_curves_cross() -> None:
    def judged(crossing: float) -> tuple[bool | None, str]:
        points = line("k-RAPPOR", lambda _: 1.0, (1, 4, 7), "1,000 people")
        points += line("k-RR", lambda x: crossing / x, (1, 4, 7), "1,000 people")
        points += line("OUE", lambda _: 0.9, (1, 4, 7), "1,000 people")
        verdict = CLOSED_ALPHABETS.judge(points)
        return verdict.agrees, verdict.sentence

    agrees, told = judged(3.0)
    assert agrees is True
    assert "better from ε = 4 on" in told
    assert "at 1 of 3" in told
    assert [judged(each)[0] for each in (0.5, 30.0)] == [False, False]


def test_the_table_is_contradicted_by_losses_beyond_chance() -> None:
    def judged(factor: float) -> bool | None:
        points = []
        for name in ("no privacy", "k-RR", "k-RAPPOR"):
            points += line(name, lambda x: factor * x, (1, 2), "ℓ1", 0.01)
            points += line(f"{name}, formula", lambda x: x, (1, 2), "ℓ1", 0)
        return UTILITY.judge(points).agrees

    assert [judged(1.005), judged(1.1), judged(0.9)] == [True, False, False]


def test_effective_samples_are_contradicted_by_either_mechanism() -> None:
    def judged(rr: float, printed: float) -> tuple[bool | None, str]:
        points = line("k-RR", lambda _: rr, (1, 2)) + line("k-RR, from its ℓ2 loss", lambda _: 0.5, (1, 2), error=0)
        points += line("k-RAPPOR", lambda _: 0.3, (1, 2))
        points += line("k-RAPPOR, from its ℓ2 loss", lambda _: 0.3, (1, 2), error=0)
        verdict = EFFECTIVE_SAMPLES.judge(points + line("k-RAPPOR, as printed", lambda _: printed, (1, 2), error=0))
        return verdict.agrees, verdict.sentence

    assert judged(0.5, 0.3)[0] is True
    agrees, told = judged(0.5, 0.1)
    assert agrees is False
    assert "k-RAPPOR is not: what is measured is 3 times at ε = 1, 3 times at ε = 2" in told
    assert judged(0.6, 0.3)[0] is False


def test_limits_are_confirmed_by_their_powers_of_k() -> None:
    def judged(power: float) -> bool | None:
        points, ks = [], (16, 256, 4096)
        for panel, powers in (("ε = ln k", (0, power)), ("ε = 0.05", (-2, -1))):
            for mechanism, own in zip(("k-RR", "k-RAPPOR"), powers, strict=True):
                points += line(mechanism, lambda x, p=own: 0.2 * x**p, ks, panel)
                points += line(f"{mechanism}, slides", lambda x, p=own: 0.2 * x**p, ks, panel, 0)
        return LIMITS.judge(points).agrees

    assert [judged(-0.5), judged(-1)] == [True, False]


def test_projecting_is_best_unless_another_decoder_is_better_for_a_skewed_distribution() -> None:
    def judged(shape: str, other: float) -> tuple[bool | None, str]:
        points = []
        for loss in ("ℓ1", "ℓ2²"):
            for mechanism in ("k-RR", "k-RAPPOR"):
                for name in ("uniform", "geometric", "Zipf"):
                    panel = f"{loss}, {mechanism}, {name}"
                    points += line("projected", lambda _: 1.0, (1, 2), panel)
                    points += line("as it is", lambda _: 3.0, (1, 2), panel)
                    points += line("renormalized", lambda _, of=name: other if of == shape else 2.0, (1, 2), panel)
        verdict = SIMPLEX.judge(points)
        assert len(SIMPLEX.view(points)) == len(points)
        assert [point.panel for point in SIMPLEX.view(points)][::18][:2] == [
            "ℓ1, k-RR, uniform",
            "ℓ1, k-RAPPOR, uniform",
        ]
        return verdict.agrees, verdict.sentence

    assert judged("geometric", 1.5)[0] is True
    assert judged("uniform", 0.5)[0] is True
    agrees, told = judged("Zipf", 0.5)
    assert agrees is False
    assert "geometric, ℓ1: in 4 of 4 settings; " in told
    assert "Zipf, ℓ1: in 0 of 4 settings (up to ε = 2" in told
    assert "errs 2 times as much" in told


@pytest.mark.parametrize("experiment", [COMPARISON_OPEN, COMPARISON_CLOSED])
def test_comparisons_are_judged_by_the_people_needed_at_every_epsilon(experiment: Experiment) -> None:
    def judged(rr: float, decoder: str = "projected", epsilons: Sequence[float] = (1, 2)) -> tuple[bool | None, str]:
        points = []
        for name in ("projected", "constrained"):
            own = rr if name == decoder else 900.0
            points += line(f"O-RR, {name}", lambda x, n=own: n if x == 1 else 500, epsilons, PEOPLE, 10)
            points += line(f"O-RAPPOR, {name}", lambda _: 1000.0, epsilons, PEOPLE, 10)
            for letter in "kCh":
                for mechanism in ("O-RR", "O-RAPPOR"):
                    points += line(f"{mechanism}, {name}", lambda x: 8 * x, epsilons, f"{letter} of the best", 0)
        assert len(experiment.view(points)) == 4 * len(epsilons)
        verdict = experiment.judge(points)
        return verdict.agrees, verdict.sentence

    assert judged(900)[0] is True
    # Within two standard errors.
    assert judged(1025)[0] is True
    agrees, told = judged(2000)
    assert agrees is False
    assert "at ε = 2 (at 2: 500 and 1,000), and more at 1 (at 1: 2,000 and 1,000)" in told
    assert "(8, 8) at ε = 1" in told
    assert judged(2000, "constrained")[0] is False
    # Three of four are a wide range.
    assert [judged(2000, epsilons=each)[0] for each in ((1, 2, 3), (1, 2, 3, 4))] == [False, True]


PEOPLE = "people for ℓ1 = 0.20"
KS, CS, HS = (16, 256, 1024), (1, 2, 16), (1, 2, 4)


def parameters(
    experiment: Experiment, k: float, c: float, h: float = 1, *, at: tuple[float, ...] = (1, 4), level: float = 0.01
) -> tuple[bool | None, str]:
    """Judge lines that are least at these values, at each ε of the same kind."""
    letter = "RR" if experiment in (OPEN_ORR, CLOSED_ORR) else "RAPPOR"
    panels = {"RR": ("(a)", "(c)", ""), "RAPPOR": ("(b)", "(d)", "(e)")}[letter]
    points = []
    for panel, name, best, xs in zip(panels, "kCh", (k, c, h), (KS, CS, HS), strict=True):
        for epsilon in at if panel else ():
            points += line(
                f"ε = {epsilon:g}",
                lambda x, of=best, e=epsilon: level * (1 + abs(math.log(x / of)) / e),
                xs,
                f"{panel} O-{letter} varying {name}",
                0.0001,
            )
    verdict = experiment.judge(points)
    return verdict.agrees, verdict.sentence


def test_open_o_rr_needs_matching_buckets_and_two_cohorts_or_more() -> None:
    assert parameters(OPEN_ORR, 256, 16)[0] is True
    agrees, told = parameters(OPEN_ORR, 16, 16)
    assert agrees is False
    assert "k = 256, up to a factor of 2, is not the best: 16 at ε = 1, 16 at ε = 4" in told
    assert parameters(OPEN_ORR, 256, 1)[0] is False
    # Two cohorts are as good at any ε: they do not matter more for high privacy.
    assert parameters(OPEN_ORR, 256, 2)[0] is False
    assert parameters(OPEN_ORR, 256, 16, level=0.5)[0] is None


def test_open_o_rappor_needs_many_bits_two_cohorts_and_one_hash() -> None:
    assert parameters(OPEN_ORAPPOR, 1024, 2)[0] is True
    for k, c, h in ((16, 2, 1), (1024, 16, 1), (1024, 2, 4)):
        agrees, told = parameters(OPEN_ORAPPOR, k, c, h)
        assert agrees is False
        assert "2 of 3 conclusions hold" in told


def test_closed_o_rr_needs_matching_buckets_and_cohorts_for_high_privacy() -> None:
    assert parameters(CLOSED_ORR, 256, 16)[0] is True
    assert parameters(CLOSED_ORR, 1024, 16)[0] is False
    assert parameters(CLOSED_ORR, 256, 1)[0] is False


def test_closed_o_rappor_needs_neither_cohorts_nor_hashes() -> None:
    assert parameters(CLOSED_ORAPPOR, 1024, 1)[0] is True
    for k, c, h in ((16, 1, 1), (1024, 16, 1), (1024, 1, 4)):
        assert parameters(CLOSED_ORAPPOR, k, c, h)[0] is False


def test_every_figure_and_table_of_the_slides_has_an_experiment() -> None:
    assert len(PAPER.experiments) == 12
    names = [each.name for each in PAPER.experiments]
    assert names[-4:] == ["open-o-rr", "open-o-rappor", "closed-o-rr", "closed-o-rappor"]
    # Ten panels: (a) to (e), open and closed.
    assert 2 * sum(map(len, _PANELS.values())) == 10
