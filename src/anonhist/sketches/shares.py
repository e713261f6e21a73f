"""Noise that several parties add together, so that only the sum of their sketches is private."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.privacy import parse_whole_number
from anonhist.randomness.negative_binomial import negative_binomial

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from anonhist.randomness import RandomSource

MOST_PARTIES = 2**31
LONGEST_SESSION = 200


@dataclass(frozen=True, kw_only=True)
class NoiseShare:
    """One party's share of the noise of a sum: the difference of two negative binomial numbers of shape 1/h.

    ``h`` independent shares add up to exactly the discrete Laplace noise of one sketch, so that the sum of all parties'
    sketches has the error of one. Further shares only add noise.

    .. warning::
       A sketch with a share of the noise is **not private by itself**: nobody but its owner may see its counters. Only
       their sum may be seen, which takes a protocol of secure aggregation (not part of this library), and at least h of
       the parties whose shares are in the sum must be honest: those that draw their noise, keep it to themselves and
       do not drop out. Choose h no larger than the number of parties that you are sure of.

    Parameters
    ----------
    honest
        h, how many parties are sure to add their share, at least 2. (Where each adds all of the noise itself, leave the
        share out and merge the sketches.)
    session
        A public name of what is added up, the same for all parties and for nothing else; plain text on one line. Shares
        of different sessions do not complete each other.

    Raises
    ------
    UsageError
        If ``honest`` is not a whole number from 2 to 2^31, or the session not such a text.

    Notes
    -----
    The shares of a session count as one part of a merged sketch. For the unit ``user`` that means: at most m items of a
    user *in all sketches of the session together*.

    References
    ----------
    .. [1] S. Goryczka, L. Xiong, "A comprehensive comparison of multiparty secure additions with differential privacy",
       IEEE TDSC 14 (2017): the discrete Laplace law as a sum of differences of negative binomial numbers.

    Examples
    --------
    >>> from anonhist.sketches import HashedSketch
    >>> share = NoiseShare(honest=2, session="week 47")
    >>> one, two = (HashedSketch(buckets=8, epsilon=1, key=b"week 47", noise_share=share) for _ in range(2))
    >>> float((one + two).guarantee.epsilon)
    1.0
    """

    honest: int
    session: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "honest", parse_whole_number(self.honest, name="honest", least=2, most=MOST_PARTIES))
        if not is_session(self.session):
            message = f"session must be plain text on one line, of 1 to {LONGEST_SESSION} characters."
            raise UsageError(message)

    @property
    def shape(self) -> Fraction:
        """1/h."""
        return Fraction(1, self.honest)

    def draw(self, gamma: Fraction, size: int, *, source: RandomSource) -> NDArray[np.int64]:
        """Draw one party's noise for each of ``size`` counters."""
        return negative_binomial(gamma, self.honest, size, source=source) - negative_binomial(
            gamma, self.honest, size, source=source
        )


def is_session(session: object) -> bool:
    """Whether this can name a session."""
    return isinstance(session, str) and 1 <= len(session) <= LONGEST_SESSION and session.isprintable()
