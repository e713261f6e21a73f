"""Noise that several parties add together, so that only the sum of their sketches is private."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, SupportsIndex

from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.privacy import parse_whole_number
from anonhist.randomness.negative_binomial import negative_binomial

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from anonhist.randomness import RandomSource

MOST_PARTIES = 2**31
LONGEST_SESSION = 200


class Adversary(Enum):
    """The adversary from whom shares of noise protect the counts.

    Examples
    --------
    >>> Adversary.PARTY.value
    'party'
    """

    #: From everybody, each of the parties included, which knows its own share of the noise.
    PARTY = "party"
    #: From those outside only. Parties see more, and the guarantee says how much more.
    OUTSIDER = "outsider"


@frozen(kw_only=True)
class NoiseShare:
    """One party's share of the noise of a sum: the difference of two negative binomial numbers of shape 1/h.

    ``h`` independent shares add up to exactly the discrete Laplace noise of one sketch, so that the sum of all parties'
    sketches has the error of one. Further shares only add noise.

    .. warning::
       A sketch with a share of the noise is **not private by itself**: nobody but its owner may see its counters. Only
       their sum may be seen, which takes a protocol of secure aggregation (not part of this library), and at least h of
       the parties whose shares are in the sum must be honest: they draw their noise, keep it secret and do not drop
       out. Choose h no larger than the number of parties that you are sure of.

    A party that knows its own share subtracts it from the sum. So h counts honest parties *besides the adversary*, and
    h + 1 shares must be in the sum: of k parties all of which are honest but curious, h is k − 1. (Parties that
    collude are one adversary.)

    Parameters
    ----------
    honest
        h, how many parties besides the adversary are sure to add their share, at least 2. (Where each adds all of the
        noise itself, leave the share out and merge the sketches.)
    session
        A unique public name of the sum, the same for all parties; plain text on one line. Shares of different sessions
        do not complete each other.
    adversary
        Against whom ε holds: everybody, parties included, or only outsiders. For outsiders, h shares are enough, and
        the guarantee also states what holds toward a party that subtracts its own share: with h = 2, for
        ε = 0.01, 0.1 and 1, it is 0.356, 0.606 and 1.68.

    Raises
    ------
    UsageError
        If ``honest`` is not a whole number from 2 to 2^31, the session not such a text, or the adversary of another
        type.

    Notes
    -----
    The shares of a session are one noise, and every sketch with one of them may hold m items of a user: k of them cost
    kε, unless each user is in one of them only (``UsersIn.ONE_SKETCH``).

    References
    ----------
    .. [1] S. Goryczka, L. Xiong, "A comprehensive comparison of multiparty secure additions with differential privacy",
       IEEE TDSC 14 (2017): the discrete Laplace distribution as a sum of differences of negative binomial numbers.

    Examples
    --------
    >>> from anonhist.sketches import HashedSketch
    >>> share = NoiseShare(honest=2, session="week 47")
    >>> one, two, three = (HashedSketch(buckets=8, epsilon=1, key=b"week 47", noise_share=share) for _ in range(3))
    >>> float((one + two + three).guarantee.epsilon)
    1.0
    """

    honest: Converted[SupportsIndex, int] = converted(
        partial(parse_whole_number, name="honest", least=2, most=MOST_PARTIES)
    )
    session: str
    adversary: Adversary = Adversary.PARTY

    def __post_init__(self) -> None:
        if not is_session(self.session):
            message = f"`session` must be plain text on one line, of 1 to {LONGEST_SESSION} characters."
            raise UsageError(message)
        if not isinstance(self.adversary, Adversary):
            raise UsageError("`adversary` must be Adversary.PARTY or Adversary.OUTSIDER.")

    @property
    def participants(self) -> int:
        """How many parties must take part honestly: h, and one more where the adversary may be one of them."""
        return self.honest + (self.adversary is Adversary.PARTY)

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
