"""Warner's randomized response: the true answer or, with smaller probability, the other one."""

from __future__ import annotations

from typing import ClassVar

from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.local.randomizers.krr import KRR
from anonhist.local.surveys.alphabet import Alphabet, AlphabetLike


@frozen(kw_only=True)
class WarnerRR(KRR):
    """Warner's randomized response: the true answer of two with probability ``e^ε/(e^ε + 1)``.

    Optimal for two answers, for every loss and every ε; k-RR with k = 2.

    Parameters
    ----------
    alphabet
        The two answers, ``("no", "yes")`` by default.
    epsilon
        ε of each report.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If there are not two answers.

    References
    ----------
    Warner 1965; Kairouz, Bonawitz, Ramage 2016, Theorem 2.

    Examples
    --------
    >>> [str(entry) for entry in WarnerRR(epsilon=1).matrix()[1]]
    ['1/(e + 1)', 'e/(e + 1)']
    """

    decode_cost: ClassVar[str] = ""  # k-RR is recommended instead
    name: ClassVar[str] = "warner"
    alphabet: Converted[AlphabetLike, Alphabet] = converted(Alphabet.of, default=("no", "yes"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size != 2:
            raise UsageError(f"Warner's randomized response has two answers, not {self.size:,}; take k-rr.")
