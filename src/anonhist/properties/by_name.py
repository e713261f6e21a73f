"""All properties by name, with their options, and one table of all estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from itertools import product
from typing import Any

from anonhist.catalogue import PROPERTIES as ENTRIES
from anonhist.catalogue import PROPERTY_OPTIONS, load
from anonhist.errors import UsageError
from anonhist.numeric.pulse import tell_share
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimate, Estimates
from anonhist.properties.estimator import Resimulated, check_alphabet, check_method, profile_of


@dataclass(frozen=True)
class Property:
    """One property: the function that estimates it, its options besides ``level``, and the names of its methods."""

    estimate: Callable[..., Estimate]
    options: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def check(self, name: str, options: Mapping[str, object]) -> None:
        """Refuse options that the property does not take, and require those that it needs."""
        foreign = sorted(options.keys() - set(self.options))
        if foreign:
            raise UsageError(f"`{foreign[0]}` does not apply to {name}; leave it out.")
        missing = [option for option in self.required if option not in options]
        if missing:
            raise UsageError(f"{name} needs `{missing[0]}`: {PROPERTY_OPTIONS[missing[0]].meaning}.")
        method = options.get("method")
        if method is not None:
            check_method(method, self.methods, of=name)


def property_at(home: str, methods: str, required: tuple[str, ...]) -> Property:
    """Return a property with the options that its function takes, as a catalog entry names them."""
    estimate = load(home)
    taken = [each for each in signature(estimate).parameters.values() if each.name in PROPERTY_OPTIONS]
    needed = tuple(each.name for each in taken if each.default is Parameter.empty or each.name in required)
    return Property(estimate, tuple(each.name for each in taken), needed, load(methods) if methods else ())


PROPERTIES = {name: property_at(entry.home, entry.methods, entry.required) for name, entry in ENTRIES.items()}


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
        k, the number of possible labels, known without looking at the data; without it, methods that need it are left
        out.
    draws
        m, for the support coverage; twice the number of items by default.
    base
        Base of the logarithm of entropies, > 1: 2 for bits, e (default) for nats.
    level
        Probability with which each interval is meant to contain the truth.
    progress
        Called with the share done, in (0, 1], after each estimate.

    Returns
    -------
    Estimates
        They iterate as pairs: the name of the property with its option, such as ``"hill-number, q = 2"``, and the
        estimate, which names its method.

    Raises
    ------
    UsageError
        If a number is out of range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> found = estimate_all(Profile.from_labels("abracadabra"))
    >>> [name for name, _ in found][:2]
    ['entropy', 'entropy']
    """
    profile = profile_of(data)
    check_alphabet(data, alphabet_size)
    given = {"alphabet_size": alphabet_size, "draws": draws or max(2 * profile.n, 1), "base": base}
    planned = list(_plan({name: number for name, number in given.items() if number is not None}))
    found = []
    for done, (name, options) in enumerate(planned):
        with tell_share(progress, done / len(planned), (done + 1) / len(planned)):
            estimate = PROPERTIES[name].estimate(data, level=level, **options)
            titles = (PROPERTY_OPTIONS[option].title.format(value) for option, value in options.items())
            found.append((", ".join([name, *filter(None, titles)]), estimate))
    return Estimates(tuple(found))


def _plan(given: Mapping[str, object]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each property with its options, once per row of its entry and per method; it uses its own of ``given``."""
    for name, entry in ENTRIES.items():
        known = PROPERTIES[name]
        common = {option: given[option] for option in known.options if option in given}
        methods = [{"method": method} for method in known.methods] if entry.each_method else [{}]
        for asked, method in product(entry.asked, methods):
            options = {**common, **asked, **method}
            is_known = "alphabet_size" in given or options.get("method") not in entry.needs_alphabet
            if is_known and options.keys() >= set(known.required):
                yield name, options
