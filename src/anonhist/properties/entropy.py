"""The entropy of the unknown distribution, by a method of your choice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.apply import apply
from anonhist.properties.entropy_estimators import (
    ChaoShen,
    Grassberger,
    Jackknife,
    MillerMadow,
    PlugIn,
    Polynomial,
    Zhang,
)
from anonhist.properties.estimate import Bounds, Estimate, Holds, Statement, largest_mean
from anonhist.properties.estimator import Resimulated, check_alphabet, check_method
from anonhist.properties.pml_plug_ins import PmlEntropy

if TYPE_CHECKING:
    from anonhist.properties.estimator import Estimator, Sample

# If no alphabet size is given, up to this many labels may be missing.
_ANY = 2.0**64
# An upper end that must allow for a larger share of the entropy than this is useless.
_MUCH = 0.1
_KNOWN = "the upper end allows for all labels of the alphabet not seen"
_ANY_AMOUNT = "labels too rare to be seen may add any amount"
_ALLOWED = "the upper end allows for up to 2^64 labels that were not seen"


@dataclass(frozen=True)
class EntropyInterval:
    """From ``H_Z − z·error`` to ``H_Z + z·error + (F_1/n)·ln(1 + F_0/F_1)``, in nats.

    H_Z is :class:`~anonhist.properties.entropy_estimators.Zhang`, which is never too high on average, so the lower end
    holds for every distribution. It is too low by ``Σ_x p_x·Σ_{s≥n} (1 − p_x)^s/s``; for Poisson counts with means
    ``λ_x = n·p_x`` that is ``(1/n)·Σ_x λ_x·E_1(λ_x)``, E_1 the exponential integral. By ``E_1(λ) ≤ e^(−λ)·ln(1 + 1/λ)``
    and Jensen's inequality it is at most ``(F_1/n)·ln(1 + F_0/F_1)``, where ``F_0 = Σ_x e^(−λ_x)`` and
    ``F_1 = Σ_x λ_x·e^(−λ_x)`` are the expected numbers of labels not seen and seen once. The bound rises with both. F_0
    is at most the number of unseen labels of the alphabet, or 2⁶⁴ without one. F_1 is at most the upper end of a
    Poisson mean with count φ_1, ``φ_1 + z²/2 + z·sqrt(φ_1 + z²/4)``.

    If no alphabet is known and the bound is more than a tenth of H_Z, there is only a lower end.

    Attributes
    ----------
    alphabet_size
        k, if known.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.estimator import Sample
    >>> found = EntropyInterval(2).of(Sample(Profile.from_counts([500, 500])), 0.69, 0.0)
    >>> round(found.low, 3), round(found.high, 3)
    (0.69, 0.693)
    """

    alphabet_size: int | None = None

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        del error
        n, z = float(sample.profile.n), sample.z
        (seen, _), (_, once) = sample.labels, sample.exactly(1)
        least, spread = sample.of(Zhang())
        low, most = max(least - z * spread, 0.0), self.of_nothing()[1]
        unseen = _ANY if self.alphabet_size is None else max(self.alphabet_size - seen, 0.0)
        singles = min(largest_mean(once, z), n)
        missing = singles / n * math.log1p(unseen / singles)
        if self.alphabet_size is None and missing > _MUCH * least:
            return Bounds(low, most, Statement(Holds.AT_LEAST, _ANY_AMOUNT)).around(value)
        reason = _ALLOWED if self.alphabet_size is None else _KNOWN
        return Bounds(low, min(least + z * spread + missing, most), Statement(Holds.BOTH, reason)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return 0 and the logarithm of the size of the alphabet."""
        return 0.0, math.inf if self.alphabet_size is None else math.log(self.alphabet_size)


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

    The interval is the same for all methods, :class:`~anonhist.properties.entropy.EntropyInterval`: it holds
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
