"""The sentence of a guarantee as files hold it."""

from __future__ import annotations


def file_wording(guarantee: str) -> str:
    """Return what a guarantee says in the words of the first files; readers compare it.

    Examples
    --------
    >>> file_wording("private when one item is replaced by another; noise is exact.")
    'private when one item is exchanged for another; noise is exact.'
    """
    first = guarantee.replace("is replaced by another", "is exchanged for another", 1)
    return first.replace("is randomized on the device", "is randomised on the device", 1)
