"""Hadamard response: a row of a Hadamard matrix, probably one with +1 in the value's column."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, SupportsIndex

from anonhist.frozen import Converted, completed, frozen
from anonhist.local.designs.block_design import BlockDesign
from anonhist.local.designs.block_estimator import BlockEstimator
from anonhist.local.randomizers.blocks import BlockSurvey
from anonhist.numeric.hadamard import HadamardMatrix
from anonhist.privacy import parse_whole_number


@frozen(kw_only=True)
class HadamardResponse(BlockSurvey):
    """Hadamard response: B blocks, each the rows of a b × b Hadamard matrix; all columns but the first are values.

    Value x is column ``x mod (b − 1) + 1`` of block ``⌊x/(b − 1)⌋``. The rows of its block with +1 in its column are
    e^ε times as likely as all others. The matrix is Sylvester's: row i has −1 in column j if the binary numbers i and j
    have an odd number of ones in common. With ``E = e^ε``, n times the variance of a value that nobody has is
    ``2(2B − 1 + E)/(E − 1)²`` if people have values of other blocks, and ``(E + 1)(2B − 1 + E)/(E − 1)²`` if they have
    others of its own; at best about ``8/(E − 1)`` on average, twice as much as the best mechanisms for large ε, and as
    little for small ε. Decoding is the fastest of all.

    Parameters
    ----------
    alphabet
        Labels, their number k, or an :class:`Alphabet`.
    epsilon
        ε of each report.
    blocks
        B, from 1 to k; by default the number with the lowest average error. b is the smallest power of two with ``B·(b
        − 1) ≥ k``.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If B is out of range.

    References
    ----------
    Acharya, Sun, Zhang 2019, "Hadamard Response: Estimating Distributions Privately, Efficiently, and with Little
    Communication", §4 and §5; there B is the largest power of two below min(e^ε, 2k).

    Examples
    --------
    >>> survey = HadamardResponse(alphabet=1000, epsilon=1)
    >>> survey.blocks, survey.cells, round(survey.variance(), 4)
    (1, 1024, 4.6827)
    """

    decode_cost: ClassVar[str] = "n + K·log K"
    name: ClassVar[str] = "hadamard-response"
    blocks: Converted[SupportsIndex | None, int] = completed(lambda self, given: self._number(given), default=None)

    def _number(self, given: SupportsIndex | None) -> int:
        if given is not None:
            return parse_whole_number(given, name="blocks", most=self.size)
        # With one column fewer than a power of two in every block, no block is empty.
        tried = {-(-self.size // ((1 << digits) - 1)) for digits in range(1, self.size.bit_length() + 1)}
        return min(sorted(tried), key=self._mean_variance)

    @cached_property
    def block_design(self) -> BlockDesign:
        """The B matrices."""
        return self._with(self.blocks)

    def _with(self, blocks: int) -> BlockDesign:
        columns = -(-self.size // blocks)
        return BlockDesign(HadamardMatrix(1 << columns.bit_length()), blocks)

    def _mean_variance(self, blocks: int) -> float:
        return BlockEstimator(self._with(blocks), self.size, self.epsilon).mean_variance
