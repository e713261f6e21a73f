"""The entropy of the unknown distribution, by a method of your choice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, get_args

from anonhist.errors import UsageError
from anonhist.properties.apply import apply
from anonhist.properties.entropy.chao_shen import ChaoShen
from anonhist.properties.entropy.grassberger import Grassberger
from anonhist.properties.entropy.interval import EntropyInterval
from anonhist.properties.entropy.jackknife import Jackknife
from anonhist.properties.entropy.miller_madow import MillerMadow
from anonhist.properties.entropy.plug_in import PlugIn
from anonhist.properties.entropy.polynomial import Polynomial
from anonhist.properties.options import check_alphabet, check_method
from anonhist.properties.pml import PmlEntropy

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Estimator, Resimulated

EntropyMethod = Literal["plug-in", "miller-madow", "jackknife", "grassberger", "chao-shen", "polynomial", "pml"]
ENTROPY_METHODS: tuple[str, ...] = get_args(EntropyMethod)
# Each is made from the size of the alphabet, which most do without.
_ESTIMATORS: dict[str, Callable[[int | None], Estimator]] = {
    "plug-in": lambda _: PlugIn(),
    "miller-madow": lambda _: MillerMadow(),
    "jackknife": lambda _: Jackknife(),
    "grassberger": lambda _: Grassberger(),
    "chao-shen": lambda _: ChaoShen(),
    "polynomial": Polynomial,
    "pml": PmlEntropy,
}


def entropy(
    data: Profile | Resimulated,
    *,
    method: EntropyMethod | None = None,
    alphabet_size: int | None = None,
    base: float = math.e,
    level: float = 0.95,
) -> Estimate:
    """Estimate the Shannon entropy ``H(p) = −Σ_x p_x·ln p_x`` of the distribution that the items were drawn from.

    The interval is the same for all methods, :class:`~anonhist.properties.entropy.interval.EntropyInterval`: it holds
    the truth for every distribution over at most 2^64 labels, or over the alphabet. Where much was not seen, and no
    alphabet is known, it has a lower end only.

    Parameters
    ----------
    data
        A profile, or a release: then the interval covers privacy noise as well.
    method
        ``"plug-in"``, ``"miller-madow"``, ``"jackknife"``, ``"grassberger"``, ``"chao-shen"``, ``"polynomial"`` or
        ``"pml"``. By default ``"polynomial"`` if the size of the alphabet is given, whose errors are half those of all
        others but ``"pml"``; else ``"grassberger"``, which errs about as little as ``"chao-shen"``
        (docs/benchmarks.md), but always to one side where labels are missing, and hardly at all where none are.
    alphabet_size
        k, the number of possible labels, known without looking at the data.
    base
        Base of the logarithm, > 1: 2 for bits, e (default) for nats.
    level
        Probability with which the interval is meant to hold the truth.

    Raises
    ------
    UsageError
        If there is no such method, or a number is impossible.

    References
    ----------
    .. [1] C. E. Shannon, "A mathematical theory of communication", Bell System Technical Journal 27 (1948), 379–423.
    .. [2] G. A. Miller, "Note on the bias of information estimates", in H. Quastler (ed.), *Information Theory in
           Psychology*, 1955, 95–100.
    .. [3] S. Zahl, "Jackknifing an index of diversity", Ecology 58 (1977), 907–913.
    .. [4] P. Grassberger, "Entropy estimates from insufficient samplings", arXiv:physics/0307138 (2003), eq. 35.
    .. [5] A. Chao, T.-J. Shen, "Nonparametric estimation of Shannon's index of diversity when there are unseen species
           in sample", Environmental and Ecological Statistics 10 (2003), 429–443.
    .. [6] Y. Wu, P. Yang, "Minimax rates of entropy estimation on large alphabets via best polynomial approximation",
           IEEE Transactions on Information Theory 62 (2016), 3702–3720, section IV.
    .. [7] D. S. Pavlichin, J. Jiao, T. Weissman, "Approximate profile maximum likelihood", arXiv:1712.07177 (2017).

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(entropy(Profile.from_labels("abracadabra"), method="miller-madow", base=2))
    at least 1.53266 bits (95 % confidence), estimate 2.30268: labels too rare to be seen may add any amount
    """
    chosen = entropy_estimator(method, alphabet_size)
    check_alphabet(data, alphabet_size)
    unit, scale = entropy_unit(base)
    return apply(data, chosen, EntropyInterval(alphabet_size), level=level, unit=unit, scale=scale)


def entropy_estimator(method: str | None, alphabet_size: int | None) -> Estimator:
    """Return the estimator of this name; by default what errs least where the alphabet is known, or is not."""
    if method is None:
        method = "grassberger" if alphabet_size is None else "polynomial"
    check_method(method, ENTROPY_METHODS, of="entropy")
    return _ESTIMATORS[method](alphabet_size)


def entropy_unit(base: float) -> tuple[str, float]:
    """Return what entropies to this base are counted in, and what nats are multiplied by.

    Examples
    --------
    >>> entropy_unit(2)[0], entropy_unit(math.e)
    ('bits', ('nats', 1.0))
    """
    if isinstance(base, bool) or not isinstance(base, int | float) or not 1 < base < math.inf:
        message = f"`base` must be a number above 1, such as 2 for bits, not {base!r:.80}."
        raise UsageError(message)
    names = {2: "bits", math.e: "nats", 10: "bans"}
    return names.get(base, f"units of base {base:.12g}"), 1.0 if base == math.e else 1.0 / math.log(base)
