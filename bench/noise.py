"""Noise of the private estimators beside the published scales, at ε = 1. Run as ``python bench/noise.py``.

A scale b is that of Laplace noise, P(x) ∝ e^(−|x|/b). Nothing is random here: scales follow from public numbers.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.mechanisms.estimators.entropy import EntropyMechanism, PolynomialParameters
from anonhist.mechanisms.estimators.support import SampleCoverageMechanism, SupportCoverageMechanism
from anonhist.privacy import NeighboringRelation
from anonhist_papers.inspectre.coverage import published_coverage_scale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism

REACH = (0.25, 0.5, 1, 1.5, 2, 3, 5, 10)
PLUG_IN, SMOOTHED = 0.60, 0.7


@dataclass(frozen=True)
class Line:
    """One estimator at one size: how to make it for a relation, the published scale and the share of it aimed at."""

    title: str
    items: int
    make: Callable[[NeighboringRelation], StatisticMechanism]
    published: float | None = None
    aim: float | None = None

    @property
    def family(self) -> str:
        """The title without numbers."""
        return ", ".join(part for part in self.title.split(", ") if " = " not in part)

    def scales(self) -> tuple[float, float, float]:
        """Return b for one item replaced, for one added or removed, and for the latter with the noise on n."""
        replaced = self.make(NeighboringRelation.SUBSTITUTE).scale(self.items)
        noised = self.make(NeighboringRelation.ADD_OR_REMOVE).release_with(ah.Profile([self.items], [1]), silence)
        total = math.hypot(math.sqrt(2) * noised.scale, noised.items_error) / math.sqrt(2)
        return replaced, noised.scale, total

    def row(self, replaced: float, added: float, total: float) -> str:
        """Return a row of the table."""
        published = share = share_of_total = wanted = met = ""
        if self.published is not None:
            published = f"{self.published:.4g}"
            share, share_of_total = (f"{scale / self.published:.3f}" for scale in (replaced, total))
        if self.aim is not None and self.published is not None:
            wanted, met = f"{self.aim:.2f}", "yes" if replaced / self.published <= self.aim else "NO"
        cells = [self.title, f"{self.items:,}", published, f"{replaced:.4g}", share, wanted, met]
        return f"| {' | '.join([*cells, f'{added:.4g}', f'{total:.4g}', share_of_total])} |"


def silence(rate: Fraction, size: int) -> NDArray[np.int64]:
    """Draw no noise."""
    del rate
    return np.zeros(size, dtype=np.int64)


def lines() -> Iterator[Line]:
    """Yield the table."""
    for items in (100, 1000, 10**4, 10**6, 10**9):
        published = 2 * math.log(items) / items
        yield Line(
            "entropy, plug-in", items, lambda r: EntropyMechanism(1, relation=r, method="plug-in"), published, PLUG_IN
        )
    for items in (100, 1000, 10**4, 10**6, 10**9):
        published = 2 * math.log(items) / items
        yield Line(
            "entropy, Miller–Madow", items, lambda r: EntropyMechanism(1, relation=r, method="miller-madow"), published
        )
    for labels, items in ((1000, 100), (1000, 1000), (1000, 10**4), (10**5, 10**4), (10**5, 10**6)):
        public = PolynomialParameters.of_inspectre(labels)
        published = polynomial_scale(public, items, labels)
        for title, parameters in (("published", public), ("recommended", None)):
            yield Line(
                f"entropy, polynomial, {title} parameters, k = {labels:,}",
                items,
                lambda r, k=labels, p=parameters: EntropyMechanism(1, relation=r, alphabet_size=k, polynomial=p),
                published,
            )
    for items in (1000, 10**4, 10**6):
        for reach in REACH:
            draws = round(items * (1 + reach))
            names = {"smoothed-poisson": "smoothed Good–Toulmin, Poisson"}
            names |= {"good-toulmin": "Good–Toulmin"} if reach <= 1 else {"smoothed-binomial-b": "smoothed, binomial B"}
            for method, title in names.items():
                yield Line(
                    f"coverage, {title}, t = {reach}",
                    items,
                    lambda r, m=draws, by=method: SupportCoverageMechanism(1, relation=r, draws=m, method=by),
                    published_coverage_scale(items, draws),
                    SMOOTHED if reach >= 1.5 and method == "smoothed-poisson" else None,
                )
    for items, draws in ((1000, 100), (1000, 1000), (10**6, 10**4), (10**6, 5 * 10**5)):
        yield Line(
            f"coverage, rarefaction, m = {draws:,}",
            items,
            lambda r, m=draws: SupportCoverageMechanism(1, relation=r, draws=m),
            2 * draws / items,
        )
    for items in (1000, 10**6):
        yield Line("sample coverage", items, lambda r: SampleCoverageMechanism(1, relation=r))


def polynomial_scale(parameters: PolynomialParameters, items: int, labels: int) -> float:
    """Return twice the largest step of the weights up to the threshold: published code takes it over counts seen."""
    weights = parameters.statistic(items, labels).weights(np.arange(parameters.threshold + 1))
    return 2 * float(np.abs(np.diff(weights)).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    most = 100 if parser.parse_args().quick else math.inf
    print(
        "| ε = 1 | n | published b | one item replaced: b | of the published | wanted | met "
        "| added or removed: b | with the noise on n | of the published |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    shares: dict[str, list[tuple[float, float]]] = {}
    for line in lines():
        if line.items > most:
            continue
        replaced, added, total = line.scales()
        print(line.row(replaced, added, total))
        if line.published is not None:
            shares.setdefault(line.family, []).append((replaced / line.published, total / line.published))
    print("\nOf the published scale, least to most over the rows above:\n")
    print("| estimator | one item replaced | added or removed, with the noise on n |\n|---|---|---|")
    everything = [each for several in shares.values() for each in several]
    for family, several in {**shares, "all": everything}.items():
        cells = (f"{min(side):.2f} to {max(side):.2f}" for side in zip(*several, strict=True))
        print(f"| {family} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
