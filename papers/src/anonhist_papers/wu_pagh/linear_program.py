"""The rival: the profile by a linear program, as of Dwork, Naor, Pitassi, Rothblum and Yekhanin (2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.sketches.decoder import Decoder, Prevalences
from anonhist.sketches.inverses import reaches_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.numeric.arrays import Floats
    from anonhist.sketches.decoder import Counters, CounterSetting


@dataclass(frozen=True)
class LinearProgram(Decoder):
    """The valid profile whose expected noisy profile is nearest to what is seen, in ℓ∞.

    ``min t`` under ``−t ≤ A·f − g ≤ t``, ``f ≥ 0``, ``Σf = 1``, with f on 0..n, n the largest counter, and A the
    probabilities of noise within −B..B. Dwork et al. ask for a feasible point at a given t; here the least t is found.
    Their noise is nearly uniform modulo a prime; here it is the one of the sketch, so that both decoders read the same.

    Attributes
    ----------
    beta
        Noise leaves −B..B with this probability at most.

    Examples
    --------
    >>> from anonhist.sketches.decoder import Counters
    >>> from anonhist_papers.wu_pagh.settings import setting_of
    >>> found = LinearProgram().decode(Counters.of(np.array([0, 3, 0, 3, 0])), setting_of(20))
    >>> found.counts.tolist(), found.numbers.round(3).tolist()
    ([0, 3], [3.0, 2.0])
    """

    name: ClassVar[str] = "linear-program"
    beta: float = 0.01

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """The probability of failure."""
        return {"beta": str(self.beta)}

    def _decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        shares, _ = self.solve(observed, setting)
        kept = np.flatnonzero(shares > 0)
        return Prevalences(kept, shares[kept] * observed.size)

    def solve(self, observed: Counters, setting: CounterSetting) -> tuple[Floats, float]:
        """Return the shares of labels with counts 0..n, and the least t."""
        from scipy.optimize import linprog
        from scipy.sparse import bmat, diags_array

        reach = sum(reaches_of(setting.noise, size=observed.size, beta=self.beta))
        largest = max(int(observed.values[-1]), 0)
        below = max(reach, -int(observed.values[0]))
        rows, columns = below + largest + reach + 1, largest + 1
        pmf = setting.noise.pmf(reach)
        # Row i is the value i − below.
        matrix = diags_array(
            [np.full(columns, each) for each in pmf / pmf.sum()],
            offsets=[-below - k for k in range(-reach, reach + 1)],
            shape=(rows, columns),
        )
        seen = observed.dense(-below, largest + reach) / observed.size
        bound = -np.ones((rows, 1))
        # Solved for multiples of what noise leaves, so that the solver's absolute tolerances are small beside it.
        scale = observed.size**-0.5
        done = linprog(
            np.append(np.zeros(columns), 1.0),
            A_ub=bmat([[matrix, bound], [-matrix, bound]], format="csr"),
            b_ub=np.concatenate((seen, -seen)) / scale,
            A_eq=np.append(np.ones(columns), 0.0)[np.newaxis],
            b_eq=[1 / scale],
            bounds=(0, None),
            method="highs",
        )
        if done.status != 0:
            raise ArithmeticError(f"The linear program was not solved: {done.message}")
        shares = np.maximum(done.x[:-1], 0.0)
        return shares / shares.sum(), float(done.fun) * scale
