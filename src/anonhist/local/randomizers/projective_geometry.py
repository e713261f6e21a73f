"""Projective geometry response: a point of a projective space, probably one orthogonal to that of the value."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from anonhist.frozen import Converted, completed, frozen
from anonhist.local.decoding.channel import Channel
from anonhist.local.designs.block_design import BlockDesign
from anonhist.local.designs.geometry import best_field, space_for
from anonhist.local.randomizers.pure import PureSurvey
from anonhist.local.surveys.tally import Tally
from anonhist.numeric import ExponentialQuotient
from anonhist.numeric.projective_space import ProjectiveSpace

if TYPE_CHECKING:
    from anonhist.randomness import RandomSource


@frozen(kw_only=True)
class ProjectiveGeometry(PureSurvey):
    """Projective geometry response: K points; those that support the value are e^ε times as likely as the others.

    Values are the first k points of the space of vectors of length t over the field of F elements, numbered as
    :class:`ProjectiveSpace` says: number ``(F^m − 1)/(F − 1) + v_{m−1}·F^{m−1} + … + v_0`` is the polynomial
    ``z^m + v_{m−1}·z^{m−1} + … + v_0``. Report y supports value x if the coefficient of z^{t−1} in x·y is zero, modulo
    F. With ``s = (F^{t−1} − 1)/(F − 1)`` points that support a value, ``m = (F^{t−2} − 1)/(F − 1)`` that support two,
    and ``u = 1/((e^ε − 1)·s + K)``: ``p = e^ε·s·u`` and ``q = ((e^ε − 1)·m + s)·u``. For a value that nobody has, n
    times the variance is only slightly above the lowest known, ``4e^ε/(e^ε − 1)²``, and a report takes log2 K bits.

    Parameters
    ----------
    alphabet
        Labels, their number k, or an :class:`Alphabet`.
    epsilon
        ε of each report.
    field
        F, a prime; by default one near e^ε + 1, with the lowest error. t is the smallest with ``(F^t − 1)/(F − 1) ≥
        k``.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If F is not a prime, or so large that F^t ≥ 2⁶².

    Notes
    -----
    Decoding takes O(n + K log K), by a Fourier transform along a cycle of all points; if K is much larger than k, by
    transforms of a few smaller spaces.

    References
    ----------
    Feldman, Nelson, Nguyen, Talwar 2022, "Private Frequency Estimation via Projective Geometry", §3.

    Examples
    --------
    >>> survey = ProjectiveGeometry(alphabet=22_000, epsilon=5)
    >>> survey.field, survey.cells, round(1000 * survey.variance(), 2)
    (149, 22351, 27.23)
    """

    decode_cost: ClassVar[str] = "n + K·log K"
    name: ClassVar[str] = "projective-geometry"
    field: Converted[SupportsIndex | None, int] = completed(
        lambda self, given: best_field(self.size, self.epsilon) if given is None else space_for(given, self.size).field,
        default=None,
    )

    @cached_property
    def space(self) -> ProjectiveSpace:
        """The points and the values they support."""
        return space_for(self.field, self.size)

    @property
    def cells(self) -> int:
        """One cell per point, K."""
        return self.space.points

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """``p = e^ε·s·u``."""
        return self._design.base(self.odds) * self.odds * self.space.support

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """``q = ((e^ε − 1)·m + s)·u``."""
        return self._design.base(self.odds) * ((self.odds - 1) * self.space.num_shared + self.space.support)

    def matrix(self) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value), shape (k, K): reports in the order of the numbers of the points."""
        return self._design.matrix(self.size, self.odds)

    @cached_property
    def _design(self) -> BlockDesign:
        return BlockDesign(self.space, 1)

    @property
    def _support_sizes(self) -> tuple[int, int]:
        return self._design.support_bounds(self.size)

    def _draw(self, codes: NDArray[np.int64], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        return {"report": self._design.draw(codes, self.odds, source=source)}

    def _supports(self, tally: Tally, codes: NDArray[np.int64] | None) -> NDArray[np.int64]:
        chosen = np.arange(self.size) if codes is None else codes
        if self.space.is_folded(self.size) and not self._design.is_listed(tally, chosen):
            return self.space.first_sums(tally.cells, tally.counts, self.size)[chosen]
        return self._design.counts(tally, chosen)

    def channel_of(self, tally: Tally, codes: NDArray[np.int64] | None) -> tuple[Channel, NDArray[np.int64]]:
        """Return the distribution of the cells and the count of each; see :class:`ClosedSurvey`."""
        return self._design.channel(tally, codes, size=self.size, odds=self.odds)
