"""Mechanisms of the central and the local model by name, as the command line lists them, and levels of groups."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from anonhist.catalogue import Option


@dataclass(frozen=True)
class MechanismEntry:
    """One mechanism, by ``module:class``, which has all other facts, and the :data:`OPTIONS` that it takes."""

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
# The help begins with the mechanisms that take the option.
OPTIONS = {
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
    """What a total of groups counts.

    ``NESTED``: a label of one group is another than the same label of a second group, as households of two counties
    are. Totals are sums of the released groups: they cost nothing, and all levels agree.

    ``CROSSING``: a label is the same in all groups, as a query that is typed in many countries. A sum over groups would
    count it several times, so each level is released on its own, with a share of the budget.
    """

    NESTED = "nested"
    CROSSING = "crossing"


# Classes, as ``module:class``; the class has all other facts.
RANDOMIZERS = {
    "warner": ".local.randomizers.krr:WarnerRR",
    "k-rr": ".local.randomizers.krr:KRR",
    "k-rappor": ".local.randomizers.unary:KRAPPOR",
    "o-rr": ".local.randomizers.open:ORR",
    "o-rappor": ".local.randomizers.rappor:ORAPPOR",
    "subset-selection": ".local.randomizers.krr:SubsetSelection",
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
    "subset_size": Option("D", "For subset-selection: number of values in a report; by default, the best.", "whole"),
    "blocks": Option("B", "For hadamard-response and hybrid-projective-geometry: number of blocks.", "whole"),
    "field": Option("F", "For the geometries: size of the field, a prime; the best one by default.", "whole"),
    "max_bytes": Option("B", "For heavy-hitters: longest value, in bytes.", "whole"),
    "key": Option("TEXT", "For hashed values: public text from which the hashes are made."),
    "characters": Option("TEXT", "For heavy-hitters: the characters that a value can consist of."),
    "f": Option("F", "For rappor: probability that a remembered bit is random, such as 1/2."),
    "p": Option("P", "For rappor: probability that a remembered 0 is reported as 1, such as 1/2."),
    "q": Option("Q", "For rappor: probability that a remembered 1 is reported as 1, such as 3/4."),
}
