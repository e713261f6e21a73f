"""Central mechanisms by name: the class of each, and its command-line options."""

from __future__ import annotations

from dataclasses import dataclass

from anonhist.catalogue import Option


@dataclass(frozen=True)
class MechanismEntry:
    """One mechanism; its class has all other facts.

    Attributes
    ----------
    home
        ``module:class``.
    options
        Names of :data:`OPTIONS` that it takes.
    """

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
    """Return the names of the mechanisms that take an option.

    Examples
    --------
    >>> takers("shares")
    ('privhist',)
    """
    return tuple(name for name, entry in MECHANISMS.items() if option in entry.options)
