"""k-RAPPOR: every bit of the value's unary code is kept or flipped."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from anonhist.frozen import frozen
from anonhist.local.randomizers.unary import UnarySurvey
from anonhist.numeric import ExponentialQuotient


@frozen(kw_only=True)
class KRAPPOR(UnarySurvey):
    """k-RAPPOR, symmetric unary encoding: k bits, each kept with probability ``z/(1 + z)``, ``z = e^(ε/2)``.

    Two values differ in two bits, so each bit may cost ε/2, not ε. Order-optimal for small ε;
    :class:`OptimizedUnary` has a lower error at the same report size.

    Parameters
    ----------
    alphabet
        Labels, their number k, or an :class:`Alphabet`.
    epsilon
        ε of each report.
    title
        Any text; see :class:`Survey`.

    References
    ----------
    Kairouz, Bonawitz, Ramage 2016, §3.2; Erlingsson, Pihur, Korolova 2014 (the basic one-time RAPPOR).

    Examples
    --------
    >>> survey = KRAPPOR(alphabet=2, epsilon=1)
    >>> float(max(row[1] for row in survey.matrix()) / min(row[1] for row in survey.matrix())).__round__(6)
    2.718282
    """

    decode_cost: ClassVar[str] = "n·k"
    name: ClassVar[str] = "k-rappor"

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """``z/(1 + z)``."""
        root = ExponentialQuotient.exponential(self.epsilon / 2)
        return root / (1 + root)

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """``1/(1 + z)``."""
        return 1 - self.true_support_probability
