"""What a terminal and a notebook say of a sketch: what it is, nothing of its counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.sketches.addresses import DomainAddresses

if TYPE_CHECKING:
    from anonhist.sketches.sketch import Sketch


def labels_text(sketch: Sketch) -> str:
    """Say what its counters count."""
    addresses = sketch.addresses
    counters = f"{addresses.size:,} counter{'' if addresses.size == 1 else 's'}"
    share = addresses.sampling_rate
    if isinstance(addresses, DomainAddresses):
        many = f"{addresses.domain_size:,} known label{'' if addresses.domain_size == 1 else 's'}"
        told = f"{counters}, one for each of {many}" if share == 1 else f"{counters} for a sample of {many}"
    else:
        told = f"{counters}; each label is assigned to one of them by its hash"
    sampled = "" if share == 1 else f"; a share of {share} of all labels is counted"
    clipped = "" if sketch.clipped is None else f"; clipped to 0 to {sketch.clipped:,}"
    return f"{told}{sampled}{clipped}."
