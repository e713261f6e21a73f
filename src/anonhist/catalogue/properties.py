"""Properties by name: the function and the methods of each, and its rows in the table of all properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.catalogue import Option

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class PropertyEntry:
    """One property; its options are the keywords of its function that are in :data:`OPTIONS`.

    ``home`` is ``module:function``, ``methods`` the ``module:name`` of the tuple of its methods, empty if there is one
    only; ``meaning`` has options in backticks. ``asked`` are arguments for the table of all properties, one row each,
    or one row per method if ``each_method``; empty to leave it out. That table omits the methods in ``needs_alphabet``
    if the alphabet size is not known. ``required`` options must be given by name although the function has a default.
    """

    home: str
    meaning: str
    methods: str = ""
    asked: tuple[Mapping[str, object], ...] = ()
    each_method: bool = False
    needs_alphabet: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


_ONCE: tuple[Mapping[str, object], ...] = ({},)
_DIVERSITY = ".properties.orders:DIVERSITY_METHODS"
PROPERTIES = {
    "entropy": PropertyEntry(
        ".properties.entropy:entropy", "Shannon's", ".properties.entropy:ENTROPY_METHODS", _ONCE, each_method=True
    ),
    "support-size": PropertyEntry(
        ".properties.support_size:support_size",
        "how many labels there are, seen or not",
        ".properties.support_size:SUPPORT_SIZE_METHODS",
        _ONCE,
        each_method=True,
        needs_alphabet=("chebyshev",),
    ),
    "support-coverage": PropertyEntry(
        ".properties.support_coverage:support_coverage",
        "how many labels a sample would show (`draws`)",
        ".properties.support_coverage:SUPPORT_COVERAGE_METHODS",
        _ONCE,
    ),
    "sample-coverage": PropertyEntry(
        ".properties.sample_coverage:sample_coverage",
        "chance that the next item has a label seen before",
        ".properties.sample_coverage:SAMPLE_COVERAGE_METHODS",
        _ONCE,
        each_method=True,
    ),
    "hill-number": PropertyEntry(
        ".properties.orders:hill_number",
        "the effective number of labels, of an `order`",
        _DIVERSITY,
        ({"order": 0}, {"order": 1}, {"order": 2}),
    ),
    "renyi-entropy": PropertyEntry(
        ".properties.orders:renyi_entropy", "of an `order`", _DIVERSITY, ({"order": 2},), required=("order",)
    ),
    "tsallis-entropy": PropertyEntry(
        ".properties.orders:tsallis_entropy", "of an `order`", _DIVERSITY, required=("order",)
    ),
    "min-entropy": PropertyEntry(".properties.orders:min_entropy", "that of the most frequent label", asked=_ONCE),
    "simpson": PropertyEntry(
        ".properties.power_sum:simpson", "the chance that two items have the same label", asked=_ONCE
    ),
    "gini-simpson": PropertyEntry(
        ".properties.power_sum:gini_simpson", "the chance that two items have different labels"
    ),
    "power-sum": PropertyEntry(".properties.power_sum:power_sum", "the chance that `order` items have the same label"),
    "distance-to-uniformity": PropertyEntry(
        ".properties.uniformity:distance_to_uniformity",
        "from an alphabet of known size (`alphabet_size`)",
        ".properties.uniformity:UNIFORMITY_METHODS",
        _ONCE,
    ),
    "guessing-success": PropertyEntry(
        ".properties.guessing_curve:guessing_success",
        "share of accounts broken by a number of `guesses`",
        asked=({"guesses": 10}, {"guesses": 1000}),
    ),
    "work-factor": PropertyEntry(
        ".properties.share_cost:work_factor",
        "guesses needed to break a `share` of accounts",
        asked=({"share": 0.25}, {"share": 0.5}),
    ),
    "guesswork": PropertyEntry(
        ".properties.share_cost:guesswork",
        "guesses an account on average, up to that `share`",
        asked=({"share": 0.25}, {"share": 0.5}),
    ),
}
OPTIONS = {
    "method": Option("NAME", "Estimator; by default, the most accurate one. An unknown name lists all."),
    "alphabet_size": Option(
        "K", "Number of possible labels, if it is public.", "whole", "how many labels there can be"
    ),
    "draws": Option(
        "M",
        "For support-coverage: sample size, such as 200000.",
        "whole",
        "how many draws to count labels in",
        "{:,} draws",
    ),
    "order": Option(
        "Q", "Order of a Hill number, power sum, Rényi or Tsallis entropy.", "number", "a number such as 2", "q = {}"
    ),
    "guesses": Option("B", "For guessing-success: number of guesses.", "whole", "how many guesses", "{:,} guesses"),
    "share": Option(
        "A",
        "For work-factor and guesswork: the share to break.",
        "number",
        "a number between 0 and 1, such as 0.5",
        "share {}",
    ),
    "base": Option("B", "Base of logarithms: 2 for bits, e for nats.  [default: e]"),
}
