"""The partial guessing metrics that papers on passwords print, in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from anonhist.errors import UsageError
from anonhist.numeric.pulse import tell_share
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimate, Estimates
from anonhist.properties.estimator import Resimulated
from anonhist.properties.guessing_curve import guessing_success
from anonhist.properties.guessing_interval import check_of
from anonhist.properties.share_band import GuessedOf
from anonhist.properties.share_cost import guesswork, work_factor

_SHARES, _GUESSES = (0.1, 0.25, 0.5), (10, 100, 1000)


def guessing_metrics(
    data: Profile | Resimulated,
    *,
    shares: Sequence[float] = _SHARES,
    guesses: Sequence[int] = _GUESSES,
    of: GuessedOf | None = None,
    level: float = 0.95,
    progress: Callable[[float], None] | None = None,
) -> Estimates:
    """Estimate the partial guessing metrics of papers, each of the data and of the distribution behind them.

    For each β of ``guesses`` these are the share of accounts that β guesses break, ``λ_β``, and the same in bits,
    ``lg(β/λ_β)``; for each α of ``shares``, in bits, the α-work-factor ``lg(μ_α/λ_μ)`` and the α-guesswork
    ``lg(2G_α/λ_μ − 1) − lg(2 − λ_μ)``, with μ = μ_α. A uniform distribution over 2^b labels has b bits in each.

    Source: Bonneau 2012, partial guessing metrics. Bounds for the distribution: Blocki and Liu 2023, Corollary 4
    and Theorem 5.

    Parameters
    ----------
    data
        A profile of passwords or a release: then intervals also cover privacy noise.
    shares
        Shares α of accounts, each above 0 and up to 1.
    guesses
        Numbers β ≥ 1 of guesses for each account.
    of
        ``"data"`` or ``"distribution"`` for one of the two alone: see :func:`guessing_success`.
    level
        Probability with which each interval by itself is meant to contain the truth.
    progress
        Called with the share done, in (0, 1], after each estimate.

    Returns
    -------
    Estimates
        They iterate as pairs of a name, such as ``"guesswork of the data, share 0.25"``, and the estimate.

    Raises
    ------
    UsageError
        If a number is out of range, no number is given, or there is no such truth.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> found = guessing_metrics(Profile([1], [1024]), shares=[0.5], guesses=[16], of="data")
    >>> [(name, estimate.value) for name, estimate in found][2:]
    [('work-factor of the data, share 0.5', 10.0), ('guesswork of the data, share 0.5', 10.0)]
    """
    if of is not None:
        check_of(of)
    if not (len(shares) or len(guesses)):
        raise UsageError("Give at least one number, in `shares` or in `guesses`.")
    truths: tuple[GuessedOf, ...] = ("data", "distribution") if of is None else (of,)
    planned = [
        (f"{name} of the {truth}, {title.format(number)}", partial(estimate, of=truth, **{option: number}))
        for name, estimate, option, title, numbers in _plan(shares, guesses)
        for truth in truths
        for number in numbers
    ]
    found = []
    for done, (name, estimate) in enumerate(planned):
        with tell_share(progress, done / len(planned), (done + 1) / len(planned)):
            found.append((name, estimate(data, level=level)))
    return Estimates(tuple(found))


_Row = tuple[str, Callable[..., Estimate], str, str, Sequence[float]]


def _plan(shares: Sequence[float], guesses: Sequence[int]) -> Iterator[_Row]:
    """Yield the name of each metric, its function, its option, the format of the option's values, and the values."""
    yield "guessing-success", guessing_success, "guesses", "{:,} guesses", guesses
    yield "guessing-success in bits", partial(guessing_success, unit="bits"), "guesses", "{:,} guesses", guesses
    yield "work-factor", partial(work_factor, unit="bits"), "share", "share {}", shares
    yield "guesswork", partial(guesswork, unit="bits"), "share", "share {}", shares
