"""All properties by name: the options of each, and one table of them all."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import Parameter, signature
from itertools import product
from typing import TYPE_CHECKING, Any

from anonhist.catalogue import load
from anonhist.catalogue.properties import OPTIONS
from anonhist.catalogue.properties import PROPERTIES as ENTRIES
from anonhist.errors import UsageError
from anonhist.numeric.pulse import tell_share
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimates
from anonhist.properties.estimator import Resimulated
from anonhist.properties.options import check_alphabet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from anonhist.catalogue.properties import PropertyEntry
    from anonhist.properties.estimate import Estimate


@dataclass(frozen=True)
class Property:
    """One property with its options.

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
        """Refuse options that it does not take, and require those that it needs.

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
            message = f"{name} needs `{missing[0]}`: {OPTIONS[missing[0]].meaning}."
            raise UsageError(message)
        method = options.get("method")
        if method is not None and method not in self.methods:
            message = f"There is no method {method!r:.80} for {name}; choose one of {', '.join(self.methods)}."
            raise UsageError(message)


def _property(entry: PropertyEntry) -> Property:
    """Return a property as its function takes it."""
    estimate = load(entry.home)
    taken = [each for each in signature(estimate).parameters.values() if each.name in OPTIONS]
    required = tuple(each.name for each in taken if each.default is Parameter.empty or each.name in entry.required)
    methods = load(entry.methods) if entry.methods else ()
    return Property(estimate, tuple(each.name for each in taken), required=required, methods=methods)


PROPERTIES: dict[str, Property] = {name: _property(entry) for name, entry in ENTRIES.items()}


def estimate_all(
    data: Profile | Resimulated,
    *,
    alphabet_size: int | None = None,
    draws: int | None = None,
    base: float | None = None,
    level: float = 0.95,
    progress: Callable[[float], None] | None = None,
) -> Estimates:
    """Estimate every property by every method that applies.

    Parameters
    ----------
    data
        A profile, or a release: then the intervals cover privacy noise as well.
    alphabet_size
        k, the number of possible labels, known without looking at the data; methods that need it are left out without
        it.
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
    Estimates
        They iterate as pairs: the name of the property, with the number it was asked with, and the estimate, which
        names its method.

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
        message = f"A Profile or a Release is needed, such as read_profile(data) returns, not a {type(data).__name__}."
        raise UsageError(message)
    check_alphabet(data, alphabet_size)
    profile = data if isinstance(data, Profile) else data.profile
    given = {"alphabet_size": alphabet_size, "draws": draws or max(2 * profile.n, 1), "base": base}
    planned = list(_plan({name: number for name, number in given.items() if number is not None}))
    found = []
    for done, (name, options) in enumerate(planned):
        with tell_share(progress, done / len(planned), (done + 1) / len(planned)):
            estimate = PROPERTIES[name].estimate(data, level=level, **options)
            found.append((_title(name, options), estimate))
    return Estimates(tuple(found))


def _plan(given: Mapping[str, object]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each property with its options, as often as its entry says: of what is given, each takes its own."""
    for name, entry in ENTRIES.items():
        known = PROPERTIES[name]
        common = {option: given[option] for option in known.options if option in given}
        methods = [{"method": method} for method in known.methods] if entry.each_method else [{}]
        for asked, method in product(entry.asked, methods):
            options = {**common, **asked, **method}
            is_known = "alphabet_size" in given or options.get("method") not in entry.needs_alphabet
            if is_known and options.keys() >= set(known.required):
                yield name, options


def _title(name: str, options: Mapping[str, object]) -> str:
    """Return the name of a property with the number it is asked with."""
    titles = (OPTIONS[option].title.format(value) for option, value in options.items())
    return ", ".join([name, *filter(None, titles)])
