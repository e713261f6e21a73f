"""All properties by name: what each is told, and one table of them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError
from anonhist.numeric.pulse import share_told
from anonhist.profiles import Profile
from anonhist.properties.diversity import (
    DIVERSITY_METHODS,
    UNIFORMITY_METHODS,
    distance_to_uniformity,
    gini_simpson,
    hill_number,
    min_entropy,
    power_sum,
    renyi_entropy,
    simpson,
    tsallis_entropy,
)
from anonhist.properties.entropy import ENTROPY_METHODS, entropy
from anonhist.properties.estimator import Resimulated
from anonhist.properties.guessing.guesswork import guesswork
from anonhist.properties.guessing.success import guessing_success
from anonhist.properties.guessing.work_factor import work_factor
from anonhist.properties.options import check_alphabet
from anonhist.properties.sample_coverage import SAMPLE_COVERAGE_METHODS, sample_coverage
from anonhist.properties.support_coverage import SUPPORT_COVERAGE_METHODS, support_coverage
from anonhist.properties.support_size import SUPPORT_SIZE_METHODS, support_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from anonhist.properties.estimate import Estimate


@dataclass(frozen=True)
class Property:
    """One property as it is asked for.

    Attributes
    ----------
    estimate
        The function that estimates it, of data and keywords.
    options
        Which keywords it takes, besides ``level``.
    required
        Those it must be given.
    methods
        The names of its methods, the default first where there is but one.
    """

    estimate: Callable[..., Estimate]
    options: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def check(self, name: str, options: Mapping[str, object]) -> None:
        """Refuse options that it does not take, and miss those that it must have.

        Raises
        ------
        UsageError
            If one is foreign or missing, or there is no such method.
        """
        foreign = sorted(options.keys() - set(self.options))
        if foreign:
            message = f"`{foreign[0]}` does not belong to {name}; leave it out."
            raise UsageError(message)
        missing = [option for option in self.required if option not in options]
        if missing:
            message = f"{name} needs `{missing[0]}`: {_MEANINGS[missing[0]]}."
            raise UsageError(message)
        method = options.get("method")
        if method is not None and method not in self.methods:
            message = f"There is no method {method!r:.80} for {name}; choose one of {', '.join(self.methods)}."
            raise UsageError(message)


_MEANINGS = {
    "alphabet_size": "how many labels there can be",
    "draws": "how many draws to count labels in",
    "guesses": "how many guesses",
    "order": "a number such as 2",
    "share": "a share such as 0.5",
}

PROPERTIES: dict[str, Property] = {
    "entropy": Property(entropy, ("method", "alphabet_size", "base"), methods=ENTROPY_METHODS),
    "support-size": Property(support_size, ("method", "alphabet_size"), methods=SUPPORT_SIZE_METHODS),
    "support-coverage": Property(
        support_coverage, ("method", "draws"), required=("draws",), methods=SUPPORT_COVERAGE_METHODS
    ),
    "sample-coverage": Property(sample_coverage, ("method",), methods=SAMPLE_COVERAGE_METHODS),
    "hill-number": Property(hill_number, ("method", "order"), required=("order",), methods=DIVERSITY_METHODS),
    "renyi-entropy": Property(
        renyi_entropy, ("method", "order", "base"), required=("order",), methods=DIVERSITY_METHODS
    ),
    "tsallis-entropy": Property(tsallis_entropy, ("method", "order"), required=("order",), methods=DIVERSITY_METHODS),
    "min-entropy": Property(min_entropy, ("base",)),
    "simpson": Property(simpson),
    "gini-simpson": Property(gini_simpson),
    "power-sum": Property(power_sum, ("order",), required=("order",)),
    "distance-to-uniformity": Property(
        distance_to_uniformity, ("method", "alphabet_size"), required=("alphabet_size",), methods=UNIFORMITY_METHODS
    ),
    "guessing-success": Property(guessing_success, ("guesses",), required=("guesses",)),
    "work-factor": Property(work_factor, ("share",), required=("share",)),
    "guesswork": Property(guesswork, ("share",), required=("share",)),
}


def estimate_all(
    data: Profile | Resimulated,
    *,
    alphabet_size: int | None = None,
    draws: int | None = None,
    base: float | None = None,
    level: float = 0.95,
    progress: Callable[[float], None] | None = None,
) -> tuple[tuple[str, Estimate], ...]:
    """Estimate everything there is to estimate, by every method that applies.

    Parameters
    ----------
    data
        A profile, or a release: then the intervals hold the privacy noise as well.
    alphabet_size
        k, how many labels there can be, known without looking; what needs it is left out without it.
    draws
        m, for the support coverage; twice the number of items by default.
    base
        Base of the logarithm of entropies, > 1: 2 for bits, e (default) for nats.
    level
        Probability with which each interval is meant to hold the truth.
    progress
        Called with the share done, in (0, 1], after each estimate.

    Returns
    -------
    tuple of (str, Estimate)
        The name of the property, with the number it was asked with, and the estimate, which names its method.

    Raises
    ------
    UsageError
        If a number is impossible.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> found = estimate_all(Profile.from_labels("abracadabra"))
    >>> [name for name, _ in found][:2]
    ['entropy', 'entropy']
    """
    if not isinstance(data, Profile | Resimulated):
        message = f"A Profile or a Release is needed, such as read_profile(data) makes, not a {type(data).__name__}."
        raise UsageError(message)
    check_alphabet(data, alphabet_size)
    planned = list(_planned(data, alphabet_size, draws, {} if base is None else {"base": base}))
    found = []
    for done, (name, each, options) in enumerate(planned):
        with share_told(progress, done / len(planned), (done + 1) / len(planned)):
            found.append((name, PROPERTIES[each].estimate(data, level=level, **options)))
    return tuple(found)


def _planned(
    data: Profile | Resimulated, alphabet_size: int | None, draws: int | None, base: dict[str, Any]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield a title, a property and its options."""
    alphabet = {} if alphabet_size is None else {"alphabet_size": alphabet_size}
    for method in ENTROPY_METHODS:
        yield "entropy", "entropy", {"method": method, **alphabet, **base}
    for method in SUPPORT_SIZE_METHODS:
        if method != "chebyshev" or alphabet:
            yield "support-size", "support-size", {"method": method, **alphabet}
    profile = data if isinstance(data, Profile) else data.profile
    more = draws or max(2 * profile.n, 1)
    yield f"support-coverage, {more:,} draws", "support-coverage", {"draws": more}
    for method in SAMPLE_COVERAGE_METHODS:
        yield "sample-coverage", "sample-coverage", {"method": method}
    for order in (0, 1, 2):
        yield f"hill-number, q = {order}", "hill-number", {"order": order}
    yield "renyi-entropy, q = 2", "renyi-entropy", {"order": 2, **base}
    yield "min-entropy", "min-entropy", base
    yield "simpson", "simpson", {}
    if alphabet:
        yield "distance-to-uniformity", "distance-to-uniformity", alphabet
    for guesses in (10, 1000):
        yield f"guessing-success, {guesses:,} guesses", "guessing-success", {"guesses": guesses}
    for name in ("work-factor", "guesswork"):
        for share in (0.25, 0.5):
            yield f"{name}, share {share}", name, {"share": share}
