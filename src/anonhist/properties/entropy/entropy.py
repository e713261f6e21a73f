"""The entropy of the unknown distribution, by a method of your choice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, get_args

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.apply import apply
from anonhist.properties.entropy.chao_shen import ChaoShen
from anonhist.properties.entropy.grassberger import Grassberger
from anonhist.properties.entropy.interval import EntropyInterval
from anonhist.properties.entropy.jackknife import Jackknife
from anonhist.properties.entropy.miller_madow import MillerMadow
from anonhist.properties.entropy.plug_in import PlugIn
from anonhist.properties.entropy.polynomial import Polynomial
from anonhist.properties.estimate import Estimate
from anonhist.properties.estimator import Resimulated
from anonhist.properties.options import check_alphabet, check_method
from anonhist.properties.pml.plug_ins import PmlEntropy

if TYPE_CHECKING:
    from anonhist.properties.estimator import Estimator

EntropyMethod = Literal["plug-in", "miller-madow", "jackknife", "grassberger", "chao-shen", "polynomial", "pml"]
ENTROPY_METHODS: tuple[str, ...] = get_args(EntropyMethod)
# Those without options; those that take the alphabet size are made in entropy_estimator.
_PLAIN: dict[str, Estimator] = {
    estimator.name: estimator for estimator in (PlugIn(), MillerMadow(), Jackknife(), Grassberger(), ChaoShen())
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
    for every distribution over at most 2⁶⁴ labels, or over the alphabet. If much is missing and no alphabet is known,
    it has only a lower end.

    Parameters
    ----------
    data
        A profile or a release. For a release, the interval also covers privacy noise.
    method
        ``"plug-in"``, ``"miller-madow"``, ``"jackknife"``, ``"grassberger"``, ``"chao-shen"``, ``"polynomial"`` or
        ``"pml"``. The default is ``"polynomial"`` if the alphabet size is given: its errors are half those of all
        others except ``"pml"``. Otherwise it is ``"grassberger"``: its error is about that of ``"chao-shen"``
        (docs/benchmarks.md), one-sided if labels are missing, and small if none are.
    alphabet_size
        k, the number of possible labels, known without looking at the data.
    base
        Base of the logarithm, > 1: 2 for bits, e (default) for nats.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If there is no such method, or a number is out of range.

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
           IEEE Transactions on Information Theory 62 (2016), 3702–3720.
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
    """Return the estimator of this name; by default the one with the lowest error, alphabet known or not."""
    if method is None:
        method = "grassberger" if alphabet_size is None else "polynomial"
    check_method(method, ENTROPY_METHODS, of="entropy")
    if method == PmlEntropy.name:
        return PmlEntropy(alphabet_size)
    return Polynomial(alphabet_size) if method == Polynomial.name else _PLAIN[method]


def entropy_unit(base: float) -> tuple[str, float]:
    """Return the unit of entropies to this base, and the factor from nats.

    Examples
    --------
    >>> entropy_unit(2)[0], entropy_unit(math.e)
    ('bits', ('nats', 1.0))
    """
    if isinstance(base, bool) or not isinstance(base, int | float) or not 1 < base < math.inf:
        raise UsageError(f"`base` must be a number above 1, such as 2 for bits, not {base!r:.80}.")
    names = {2: "bits", math.e: "nats", 10: "bans"}
    return names.get(base, f"units of base {base:.12g}"), 1.0 if base == math.e else 1.0 / math.log(base)
