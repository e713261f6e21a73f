"""Local mechanisms by name: the class of each, and the command-line options of their parameters."""

from __future__ import annotations

from anonhist.catalogue import Option

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
OPTIONS = {
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
