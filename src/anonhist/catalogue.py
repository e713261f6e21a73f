"""Catalogs, as plain data: mechanisms, randomizers, properties, their options, and levels of groups.

The command line lists the entries without loading them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal


@dataclass(frozen=True)
class Option:
    """An option, as the command line presents it.

    ``meaning`` describes the option in the error about a missing one. ``title`` is its format in tables, such as ``q =
    {}``; empty if tables omit it.
    """

    metavar: str
    help: str
    kind: Literal["text", "whole", "number"] = "text"
    meaning: str = ""
    title: str = ""


def is_there(home: str) -> bool:
    """Return whether the package of a ``.module:name`` is installed; features can be left out.

    Examples
    --------
    >>> is_there(".cli.show:show"), is_there(".nowhere.page:VIEW")
    (True, False)
    """
    return find_spec(f"anonhist.{home.split('.')[1]}") is not None


def load(home: str) -> Any:
    """Return the object at ``module:name``; modules of this package begin with a dot."""
    module, _, name = home.partition(":")
    return getattr(import_module(module, "anonhist"), name)


@dataclass(frozen=True)
class MechanismEntry:
    """One mechanism: its ``module:class``, which holds all other facts, and its :data:`MECHANISM_OPTIONS`."""

    home: str
    options: tuple[str, ...] = ()


# In the order of lists and figures.
MECHANISMS = {
    "partition": MechanismEntry(".mechanisms.exponential.partition:PartitionMechanism"),
    "frobenius": MechanismEntry(".mechanisms.frobenius.mechanism:FrobeniusMechanism"),
    "privhist": MechanismEntry(".mechanisms.privhist:PrivHistMechanism", ("shares",)),
    "isotonic": MechanismEntry(".mechanisms.additive:IsotonicMechanism", ("public_labels",)),
    "cumulative": MechanismEntry(".mechanisms.additive:CumulativeMechanism", ("public_cap",)),
    "prevalence": MechanismEntry(".mechanisms.additive:PrevalenceMechanism", ("public_cap",)),
    "bounded-partition": MechanismEntry(
        ".mechanisms.exponential.partition:BoundedPartitionMechanism", ("public_items",)
    ),
    "relaxed-partition": MechanismEntry(
        ".mechanisms.exponential.partition:RelaxedPartitionMechanism", ("public_items", "delta")
    ),
}
# As the types say; tests compare the two.
MechanismName = Literal[
    "auto",
    "partition",
    "frobenius",
    "privhist",
    "isotonic",
    "cumulative",
    "prevalence",
    "bounded-partition",
    "relaxed-partition",
]
# The help text begins with the mechanisms that take the option.
MECHANISM_OPTIONS = {
    "public_items": Option("N", "public upper bound on the number of items.", "whole"),
    "public_labels": Option("L", "public upper bound on the number of labels.", "whole"),
    "public_cap": Option("C", "public upper bound on the count of any label.", "whole"),
    "shares": Option(
        "A,B,C", "how the budget is divided, such as 0.02,0.49,0.49, or thirds for the published division."
    ),
    "delta": Option("D", "δ of the guarantee, from 1e-30 (relaxed-partition: 1e-11) to 0.001.  [default: 1e-9]"),
}
PUBLIC_NUMBERS = ("public_items", "public_labels", "public_cap")


def takers(option: str) -> tuple[str, ...]:
    """Return the names of the mechanisms that take an option."""
    return tuple(name for name, entry in MECHANISMS.items() if option in entry.options)


class Levels(Enum):
    """How labels in several groups count in totals.

    ``NESTED``: equal labels in two groups are different labels, such as households of two counties. Totals are sums of
    the released groups: they cost nothing, and all levels agree.

    ``CROSSING``: equal labels in several groups are one label, such as a query typed in many countries. A sum
    over groups would count it several times, so each level is released on its own, with a share of the budget.
    """

    NESTED = "nested"
    CROSSING = "crossing"


# Classes, as ``module:class``; the class holds all other facts.
RANDOMIZERS = {
    "warner": ".local.randomizers.closed:WarnerRR",
    "k-rr": ".local.randomizers.closed:KRR",
    "k-rappor": ".local.randomizers.unary:KRAPPOR",
    "o-rr": ".local.randomizers.open:ORR",
    "o-rappor": ".local.randomizers.rappor:ORAPPOR",
    "subset-selection": ".local.randomizers.closed:SubsetSelection",
    "optimized-unary": ".local.randomizers.unary:OptimizedUnary",
    "local-hashing": ".local.randomizers.local_hashing:LocalHashing",
    "hadamard-response": ".local.randomizers.blocks:HadamardResponse",
    "projective-geometry": ".local.randomizers.blocks:ProjectiveGeometry",
    "hybrid-projective-geometry": ".local.randomizers.blocks:HybridProjectiveGeometry",
    "rappor": ".local.randomizers.rappor:RAPPOR",
    "heavy-hitters": ".local.heavy_hitters:HeavyHitters",
}
# All parameters except epsilon, alphabet and title, which every mechanism has.
RANDOMIZER_OPTIONS = {
    "buckets": Option("B", "For hashed values: number of buckets.", "whole"),
    "cohorts": Option(
        "C",
        "For o-rr, o-rappor and rappor: number of cohorts, groups of devices with their own hash functions.",
        "whole",
    ),
    "hashes": Option("H", "For o-rappor and rappor: number of hash functions, that is, of bits a value sets.", "whole"),
    "subset_size": Option(
        "D", "For subset-selection: number of values in a report; by default, the most accurate.", "whole"
    ),
    "blocks": Option("B", "For hadamard-response and hybrid-projective-geometry: number of blocks.", "whole"),
    "field": Option("F", "For the geometries: size of the field, a prime; by default, the most accurate.", "whole"),
    "max_bytes": Option("B", "For heavy-hitters: longest value, in bytes.", "whole"),
    "key": Option("TEXT", "For hashed values: public text that determines the hashes."),
    "characters": Option("TEXT", "For heavy-hitters: the characters that a value can consist of."),
    "f": Option("F", "For rappor: probability that a remembered bit is random, such as 1/2."),
    "p": Option("P", "For rappor: probability that a remembered 0 is reported as 1, such as 1/2."),
    "q": Option("Q", "For rappor: probability that a remembered 1 is reported as 1, such as 3/4."),
}


@dataclass(frozen=True)
class PropertyEntry:
    """One property; its options are those keywords of its function that are in :data:`PROPERTY_OPTIONS`.

    ``home`` is ``module:function``, ``methods`` the ``module:name`` of the tuple of its methods (empty if there is only
    one); ``meaning`` has options in backticks. ``asked`` are arguments for the table of all properties, one row each,
    or one row per method if ``each_method``; empty to leave it out. That table omits the methods in ``needs_alphabet``
    if the alphabet size is not known. ``required`` options must be given by name although the function has a default.
    ``private`` and ``private_methods`` are the function and the methods of its private estimator, if it has one.
    """

    home: str
    meaning: str
    methods: str = ""
    asked: tuple[Mapping[str, object], ...] = ()
    each_method: bool = False
    needs_alphabet: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    private: str = ""
    private_methods: str = ""


_ONCE: tuple[Mapping[str, object], ...] = ({},)
_DIVERSITY = ".properties.orders:DIVERSITY_METHODS"
PROPERTIES = {
    "entropy": PropertyEntry(
        ".properties.entropy:entropy",
        "Shannon's",
        ".properties.entropy:ENTROPY_METHODS",
        _ONCE,
        each_method=True,
        private=".mechanisms.estimators.entropy:entropy",
        private_methods=".mechanisms.estimators.entropy:PRIVATE_ENTROPY_METHODS",
    ),
    "support-size": PropertyEntry(
        ".properties.support_size:support_size",
        "how many labels there are, seen or not",
        ".properties.support_size:SUPPORT_SIZE_METHODS",
        _ONCE,
        each_method=True,
        needs_alphabet=("chebyshev",),
        private=".mechanisms.estimators.support:support_size",
        private_methods=".mechanisms.estimators.support:PRIVATE_SUPPORT_SIZE_METHODS",
    ),
    "support-coverage": PropertyEntry(
        ".properties.support_coverage:support_coverage",
        "how many labels a sample would contain (`draws`)",
        ".properties.support_coverage:SUPPORT_COVERAGE_METHODS",
        _ONCE,
        private=".mechanisms.estimators.support:support_coverage",
        private_methods=".properties.support_coverage:LINEAR_COVERAGE_METHODS",
    ),
    "sample-coverage": PropertyEntry(
        ".properties.sample_coverage:sample_coverage",
        "chance that the next item has a label seen before",
        ".properties.sample_coverage:SAMPLE_COVERAGE_METHODS",
        _ONCE,
        each_method=True,
        private=".mechanisms.estimators.support:sample_coverage",
    ),
    "hill-number": PropertyEntry(
        ".properties.orders:hill_number",
        "the effective number of labels, of an `order`",
        _DIVERSITY,
        ({"order": 0}, {"order": 1}, {"order": 2}),
    ),
    "renyi-entropy": PropertyEntry(
        ".properties.orders:renyi_entropy",
        "of an `order`",
        _DIVERSITY,
        ({"order": 2},),
        required=("order",),
        private=".mechanisms.estimators.entropy:renyi_entropy",
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
    "power-sum": PropertyEntry(
        ".properties.power_sum:power_sum",
        "the chance that `order` items have the same label",
        required=("order",),
        private=".mechanisms.estimators.entropy:power_sum",
    ),
    "distance-to-uniformity": PropertyEntry(
        ".properties.uniformity:distance_to_uniformity",
        "from an alphabet of known size (`alphabet_size`)",
        ".properties.uniformity:UNIFORMITY_METHODS",
        _ONCE,
        private=".mechanisms.estimators.entropy:distance_to_uniformity",
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
# Those that are estimated in bits as well.
GUESSING = ("guessing-success", "work-factor", "guesswork")
# Properties of the rows of users, which no profile holds: there is only a private estimate.
OF_USERS = {
    "num-labels": "number of labels, at least (`user`, `epsilon`)",
}
PROPERTY_OPTIONS = {
    "method": Option("NAME", "Estimator; by default, the most accurate one. An unknown name lists all."),
    "alphabet_size": Option(
        "K", "Number of possible labels, if it is public.", "whole", "the number of possible labels"
    ),
    "draws": Option(
        "M",
        "For support-coverage: sample size, such as 200000.",
        "whole",
        "the number of draws",
        "{:,} draws",
    ),
    "order": Option(
        "Q", "Order of a Hill number, power sum, Rényi or Tsallis entropy.", "number", "a number such as 2", "q = {}"
    ),
    "guesses": Option(
        "B", "For guessing-success: number of guesses.", "whole", "the number of guesses", "{:,} guesses"
    ),
    "share": Option(
        "A",
        "For work-factor and guesswork: the share to break.",
        "number",
        "a number between 0 and 1, such as 0.5",
        "share {}",
    ),
    "of": Option(
        "TRUTH",
        "For guessing: 'distribution', behind independent accounts, or 'data', these alone.  [default: distribution]",
    ),
    "base": Option("B", "Base of logarithms: 2 for bits, e for nats.  [default: e]"),
}
