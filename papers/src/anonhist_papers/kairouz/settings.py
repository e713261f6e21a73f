"""The settings of Kairouz, Bonawitz and Ramage (2016): mechanisms on 256 symbols, and what is varied."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from anonhist.local.decoding.formulas import Normalized, Projected
from anonhist.local.randomizers.krappor import KRAPPOR
from anonhist.local.randomizers.krr import KRR
from anonhist.local.randomizers.optimized_unary import OptimizedUnary
from anonhist.local.randomizers.orappor import ORAPPOR
from anonhist.local.randomizers.orr import ORR
from anonhist.local.randomizers.projective_geometry import ProjectiveGeometry
from anonhist.local.randomizers.subset_selection import SubsetSelection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from anonhist.local.randomizers.pure import PureSurvey
    from anonhist.local.surveys.survey import Survey
    from anonhist.local.surveys.tally import Tally

SYMBOLS = 256
FEW, MANY = 30_000, 1_000_000
OPEN, CLOSED = "open", "closed"
NAMES = np.array([f"symbol {place}" for place in range(SYMBOLS)])
PLAIN: dict[str, type[PureSurvey]] = {
    "k-RR": KRR,
    "k-RAPPOR": KRAPPOR,
    "OUE": OptimizedUnary,
    "projective geometry": ProjectiveGeometry,
    "subset selection": SubsetSelection,
}


def geometric(symbols: int = SYMBOLS) -> NDArray[np.float64]:
    """Return ``p_i ∝ (1 − 5/S)^i`` for i = 0 to S − 1: waiting times of mean S/5, given that they are at most S.

    Examples
    --------
    >>> geometric().sum().round(12), (geometric()[1] / geometric()[0]).round(6)
    (np.float64(1.0), np.float64(0.980469))
    """
    shape = (1 - 5 / symbols) ** np.arange(symbols)
    frequencies: NDArray[np.float64] = shape / shape.sum()
    return frequencies


@dataclass(frozen=True)
class KairouzSetting:
    """A mechanism with its parameters.

    Attributes
    ----------
    mechanism
        ``"k-RR"``, ``"k-RAPPOR"``, ``"OUE"``, ``"projective geometry"`` (which :func:`recommend` chooses below
        ε = ln 256), ``"subset selection"``, ``"O-RR"`` or ``"O-RAPPOR"``; ``"none"`` for the true frequencies of the
        people, at ε = 0.
    epsilon
        ε of each report.
    alphabet
        ``"closed"``: the 256 symbols are known to the devices, and O-RR and O-RAPPOR permute them. ``"open"``: they are
        hashed, and known to the server alone.
    buckets, cohorts, hashes
        k, C and h.
    """

    mechanism: str
    epsilon: float
    alphabet: str = CLOSED
    buckets: int = SYMBOLS
    cohorts: int = 1
    hashes: int = 1

    def survey(self, key: str) -> Survey:
        """Return the survey; of those with cohorts, the functions are made from the key."""
        if self.mechanism in PLAIN:
            return PLAIN[self.mechanism](alphabet=SYMBOLS, epsilon=self.epsilon)
        hashed = self.alphabet == OPEN
        alphabet, buckets = (None, self.buckets) if hashed else (SYMBOLS, None)
        make = ORR if self.mechanism == "O-RR" else partial(ORAPPOR, hashes=self.hashes)
        return make(epsilon=self.epsilon, alphabet=alphabet, buckets=buckets, cohorts=self.cohorts, key=key)

    def decode(self, survey: Survey, tally: Tally) -> Mapping[str, NDArray[np.float64]]:
        """Return the frequencies of the symbols by decoder, shape (256,) each.

        Projections are onto the distributions over the symbols, as in the slides; the other decoders leave room for
        other labels if the alphabet is open.
        """
        if self.mechanism in PLAIN:
            estimate = survey.estimate(tally, decoder="em")
            normalized = Normalized().decode(estimate.raw).frequencies
            fitted = {"normalized": normalized, "em": estimate.frequencies}
        else:
            candidates = NAMES.tolist() if self.alphabet == OPEN else None
            estimate = survey.estimate(tally, candidates=candidates, decoder="least-squares")
            fitted = {"least-squares": estimate.frequencies}
        return {"unbiased": estimate.raw, "projected": Projected().decode(estimate.raw).frequencies, **fitted}


@dataclass(frozen=True)
class Grid:
    """Which settings are tried.

    Attributes
    ----------
    closed_epsilons
        For k-RR, k-RAPPOR and better mechanisms.
    open_epsilons
        For O-RR beside O-RAPPOR, as the number of people grows, up to 10⁶.
    symbol_settings, bit_settings
        Pairs (k, C) tried for open O-RR and O-RAPPOR there; the best one counts.
    epsilons
        Where single parameters are varied.
    users
        The number of people for these.
    buckets, cohorts, hashes
        The values of k, C and h that are tried; the other parameters are as in ``symbols`` and ``bits``.
    symbols, bits
        (k, C) of O-RR and O-RAPPOR if another parameter is varied.
    coming
        Numbers of people after which O-RR and O-RAPPOR are evaluated, ascending.
    mechanisms
        The mechanisms compared in figure "closed".
    closed_users
        Numbers of people after which these are evaluated.
    """

    closed_epsilons: tuple[float, ...]
    open_epsilons: tuple[float, ...]
    symbol_settings: tuple[tuple[int, int], ...]
    bit_settings: tuple[tuple[int, int], ...]
    epsilons: tuple[float, ...]
    users: int
    buckets: tuple[int, ...]
    cohorts: tuple[int, ...]
    hashes: tuple[int, ...]
    symbols: tuple[int, int] = (SYMBOLS, 16)
    bits: tuple[int, int] = (1024, 2)
    coming: tuple[int, ...] = (3_000, 10_000, FEW, 100_000, 300_000, MANY)
    mechanisms: tuple[str, ...] = ("k-RR", "k-RAPPOR", "OUE", "projective geometry")
    closed_users: tuple[int, ...] = (FEW, MANY)

    @cached_property
    def points(self) -> tuple[tuple[str, KairouzSetting, int], ...]:
        """All points: the figure, the setting and the number of people."""
        return (*self._closed_settings(), *self._open(), *self._parameters())

    @cached_property
    def settings(self) -> Mapping[KairouzSetting, tuple[int, ...]]:
        """Numbers of people after which each setting is evaluated, ascending; each setting runs once."""
        wanted: dict[KairouzSetting, set[int]] = {}
        for _, setting, users in self.points:
            wanted.setdefault(setting, set()).add(users)
        return {setting: tuple(sorted(users)) for setting, users in wanted.items()}

    def _closed_settings(self) -> Iterator[tuple[str, KairouzSetting, int]]:
        for users in self.closed_users:
            yield "closed", KairouzSetting("none", 0), users
            for mechanism in self.mechanisms:
                for epsilon in self.closed_epsilons:
                    yield "closed", KairouzSetting(mechanism, epsilon), users

    def _open(self) -> Iterator[tuple[str, KairouzSetting, int]]:
        for epsilon in self.open_epsilons:
            for mechanism, settings in (("O-RR", self.symbol_settings), ("O-RAPPOR", self.bit_settings)):
                tried = [KairouzSetting(mechanism, epsilon, OPEN, *each) for each in settings]
                for setting in (*tried, KairouzSetting(mechanism, epsilon)):
                    for users in self.coming:
                        yield "open", setting, users

    def _parameters(self) -> Iterator[tuple[str, KairouzSetting, int]]:
        for epsilon in self.epsilons:
            for mechanism, (buckets, cohorts) in (("O-RR", self.symbols), ("O-RAPPOR", self.bits)):
                for k in self.buckets:
                    yield "buckets", KairouzSetting(mechanism, epsilon, OPEN, k, cohorts), self.users
                for c in self.cohorts:
                    yield "cohorts", KairouzSetting(mechanism, epsilon, OPEN, buckets, c), self.users
                    yield "cohorts", KairouzSetting(mechanism, epsilon, CLOSED, SYMBOLS, c), self.users
            for h in self.hashes:
                yield "hashes", KairouzSetting("O-RAPPOR", epsilon, OPEN, *self.bits, h), self.users
                yield "hashes", KairouzSetting("O-RAPPOR", epsilon, CLOSED, SYMBOLS, 1, h), self.users


_LOG = math.log(SYMBOLS)
QUICK = Grid(
    closed_epsilons=(1, 2, 4, _LOG, 7),
    open_epsilons=(1, 2, 4, 6),
    symbol_settings=((64, 16), (256, 16)),
    bit_settings=((512, 2),),
    epsilons=(1, 4),
    users=100_000,
    buckets=(4, 16, 64, 256, 1024),
    cohorts=(1, 2, 4, 16, 64),
    hashes=(1, 2, 4, 8),
    bits=(512, 2),
    coming=(3_000, 10_000, FEW, 100_000, 300_000),
    closed_users=(FEW, 300_000),
)
FULL = Grid(
    closed_epsilons=(0.5, 1, 2, 3, 4, 5, _LOG, 6, 7, 8),
    open_epsilons=(1, 2, 3, 4, 5, 6, 7, 8),
    symbol_settings=((16, 16), (64, 1), (64, 2), (64, 4), (64, 16), (256, 2), (256, 16), (1024, 16), (4096, 2)),
    bit_settings=((256, 8), (1024, 2), (1024, 8)),
    epsilons=(1, 2, 4, 6),
    users=MANY,
    buckets=(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096),
    cohorts=(1, 2, 4, 8, 16, 64, 256, 1024),
    hashes=(1, 2, 4, 8, 16),
    mechanisms=tuple(PLAIN),
)
