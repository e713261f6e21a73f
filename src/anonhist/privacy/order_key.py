"""The key of the random choice by which a user's items are kept: public, and drawn independently of the data."""

from __future__ import annotations

import re

from anonhist.errors import UsageError

_KEY = re.compile("[0-9a-f]{32}")


def parse_order_key(key: object) -> str:
    """Return a key as 32 hexadecimal digits (128 bits), or refuse it.

    Raises
    ------
    UsageError
        If it is not 32 hexadecimal digits.

    Examples
    --------
    >>> parse_order_key("000102030405060708090A0B0C0D0E0F")
    '000102030405060708090a0b0c0d0e0f'
    """
    written = key.lower() if isinstance(key, str) else ""
    if not _KEY.fullmatch(written):
        raise UsageError(f"The order key must be 32 hexadecimal digits, as a release has them, not {key!r:.80}.")
    return written
