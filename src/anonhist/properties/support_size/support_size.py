"""The number of labels, seen or not, by a choice of methods."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.apply import apply
from anonhist.properties.estimate import Estimate
from anonhist.properties.estimator import Resimulated
from anonhist.properties.options import check_alphabet, check_method
from anonhist.properties.pml.plug_ins import PmlSupportSize
from anonhist.properties.support_size.ace import Ace
from anonhist.properties.support_size.chao1 import Chao1
from anonhist.properties.support_size.chao1_inext import Chao1Inext
from anonhist.properties.support_size.chao_lee import ChaoLee
from anonhist.properties.support_size.chebyshev import Chebyshev
from anonhist.properties.support_size.interval import AtLeastLabels, SupportSizeInterval
from anonhist.properties.support_size.jackknife import Jackknife1, Jackknife2
from anonhist.properties.support_size.observed import Observed

if TYPE_CHECKING:
    from anonhist.properties.estimator import Estimator
    from anonhist.properties.intervals import Interval

SupportSizeMethod = Literal[
    "observed", "chao1", "chao1-inext", "ace", "jackknife-1", "jackknife-2", "chao-lee", "chebyshev", "pml"
]
SUPPORT_SIZE_METHODS: tuple[str, ...] = get_args(SupportSizeMethod)
# Those without options; those that take the alphabet size are made in support_size_estimator.
_PLAIN: dict[str, Estimator] = {
    estimator.name: estimator
    for estimator in (Observed(), Chao1(), Chao1Inext(), Ace(), Jackknife1(), Jackknife2(), ChaoLee())
}


def support_size(
    data: Profile | Resimulated,
    *,
    method: SupportSizeMethod | None = None,
    alphabet_size: int | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate the number of labels with a probability above zero: those seen and those not seen.

    Data cannot bound this number from above, since labels may be arbitrarily rare. So the estimate says "at least", and
    its lower end holds for every distribution and all methods. Only ``"chebyshev"``, which knows the smallest
    probability, has an upper end. For the number of labels in the data themselves, use ``release.k_plus(1)``.

    Parameters
    ----------
    data
        A profile or a release. For a release, the lower end also covers privacy noise.
    method
        ``"observed"``, ``"chao1"``, ``"chao1-inext"``, ``"ace"``, ``"jackknife-1"``, ``"jackknife-2"``, ``"chao-lee"``,
        ``"chebyshev"`` or ``"pml"``; by default ``"chebyshev"`` with an ``alphabet_size`` and ``"chao1"`` without.
    alphabet_size
        k, known without looking at the data: there are at most k labels. ``"chebyshev"`` needs it, and assumes that no
        label has a probability below 1/k.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If there is no such method, a number is out of range, or one that the method needs is missing.

    References
    ----------
    .. [1] A. Chao, "Nonparametric estimation of the number of classes in a population", Scandinavian Journal of
           Statistics 11 (1984), 265–270, eq. 6.
    .. [2] A. Chao, "Species estimation and applications", *Encyclopedia of Statistical Sciences*, 2nd edition, 2005.
    .. [3] C.-H. Chiu, Y.-T. Wang, B. A. Walther, A. Chao, "An improved nonparametric lower bound of species richness
           via a modified Good–Turing frequency formula", Biometrics 70 (2014), 671–682.
    .. [4] A. Chao, W.-H. Hwang, Y.-C. Chen, C.-Y. Kuo, "Estimating the number of shared species in two communities",
           Statistica Sinica 10 (2000), 227–246, eq. 2.2.
    .. [5] K. P. Burnham, W. S. Overton, "Robust estimation of population size when capture probabilities vary among
           animals", Ecology 60 (1979), 927–936.
    .. [6] A. Chao, S.-M. Lee, "Estimating the number of classes via sample coverage", Journal of the American
           Statistical Association 87 (1992), 210–217, eq. 2.14.
    .. [7] Y. Wu, P. Yang, "Chebyshev polynomials, moment matching, and optimal estimation of the unseen", Annals of
           Statistics 47 (2019), 857–883.
    .. [8] D. S. Pavlichin, J. Jiao, T. Weissman, "Approximate profile maximum likelihood", arXiv:1712.07177 (2017).

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> profile = Profile.from_counts([9, 4, 2, 2, 1, 1, 1])
    >>> print(support_size(profile))
    at least 7 labels (95 % confidence), estimate 8: any number of labels may be too rare to be seen
    """
    chosen = support_size_estimator(method, alphabet_size)
    size = check_alphabet(data, alphabet_size)
    most = math.inf if size is None else float(size)
    interval: Interval = AtLeastLabels(most)
    needs_counts = False
    if isinstance(chosen, Chebyshev):
        interval, needs_counts = SupportSizeInterval(most, chosen.bias), True
    found = apply(data, chosen, interval, level=level, unit="labels", needs_counts=needs_counts)
    if found.value <= most:
        return found
    # Methods that do not know the alphabet may exceed it, and so may the labels of a release.
    return replace(found, value=most, interval=(min(found.interval[0], most), most))


def support_size_estimator(method: str | None, alphabet_size: int | None) -> Estimator:
    """Return the estimator of this name; by default the one with the lowest error, alphabet known or not.

    Raises
    ------
    UsageError
        If there is no such method, or it needs the alphabet size.
    """
    name = method or (Chao1.name if alphabet_size is None else Chebyshev.name)
    check_method(name, SUPPORT_SIZE_METHODS, of="support size")
    if name == PmlSupportSize.name:
        return PmlSupportSize(alphabet_size)
    if name != Chebyshev.name:
        return _PLAIN[name]
    if alphabet_size is None:
        raise UsageError(
            "The method chebyshev needs `alphabet_size`: give a k such that no label is less frequent than 1/k, such "
            "as the size of the population, or choose a method that needs none, such as chao1."
        )
    return Chebyshev(alphabet_size)
