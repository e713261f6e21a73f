"""How often an address may send: by a keyed hash of it, in memory, forgotten within the hour and never stored.

The limit slows down whoever forges reports from few addresses. It is no protection against many.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Never

from anonhist.privacy import parse_whole_number
from anonhist.randomness import RandomSource, SystemSource

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 3600.0
# Entries take less than 300 bytes.
_MOST_ADDRESSES = 1 << 16
_SYSTEM = SystemSource()
# Who has an address of IPv6 has the 2⁶⁴ beside it.
_NETWORK_BYTES = 8


class RateLimits:
    """A bucket of tokens for each address: a request takes one, and they come back evenly.

    Within an hour, an address gets at most ``per_hour + 2·burst`` requests through: a full bucket, what comes back, and
    a full bucket again once all is forgotten. Call it from one thread.

    Parameters
    ----------
    per_hour
        How many tokens come back in an hour, ≥ 1.
    burst
        How many tokens a bucket holds, ≥ 1: so many requests may come at once, as from a school behind one address.
    most_addresses
        How many addresses are known at a time; then, the one that is quiet for longest is forgotten. Whoever has more
        addresses than these is not limited.
    clock
        Seconds that never go back.
    source
        The source of the keys.

    Examples
    --------
    >>> limits = RateLimits(per_hour=60, burst=2, clock=lambda: 0.0)
    >>> [limits.wait("192.0.2.7") for _ in range(3)], limits.wait("192.0.2.8")
    ([0, 0, 60], 0)
    """

    def __init__(
        self,
        *,
        per_hour: int,
        burst: int,
        most_addresses: int = _MOST_ADDRESSES,
        clock: Callable[[], float] = time.monotonic,
        source: RandomSource = _SYSTEM,
    ) -> None:
        self._rate = parse_whole_number(per_hour, name="per_hour") / SECONDS
        self._burst = parse_whole_number(burst, name="burst")
        self._most = parse_whole_number(most_addresses, name="most_addresses")
        self._clock, self._source = clock, source
        self._until, self._key = -math.inf, b""
        # How many tokens there were, and when; the address that was quiet for longest comes first.
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def wait(self, address: str) -> int:
        """Take a token of an address and return 0, or return after how many whole seconds there will be one."""
        now = self._clock()
        if now >= self._until:
            self._until, self._key = now + SECONDS, self._source.words(4).tobytes()
            self._buckets.clear()
        hashed = blake2b(_network(address), key=self._key, digest_size=16).digest()
        tokens, since = self._buckets.pop(hashed, (float(self._burst), now))
        tokens = min(float(self._burst), tokens + (now - since) * self._rate)
        is_free = tokens >= 1
        self._buckets[hashed] = (tokens - 1 if is_free else tokens, now)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        # Sooner, if all is forgotten before.
        return 0 if is_free else max(1, math.ceil(min((1 - tokens) / self._rate, self._until - now)))

    def __len__(self) -> int:
        return len(self._buckets)

    def __repr__(self) -> str:
        return f"RateLimits({len(self):,} addresses)"

    def __reduce__(self) -> Never:
        raise TypeError("Addresses are kept in memory only.")


def _network(address: str) -> bytes:
    """Return an address of IPv4, the network of one of IPv6, or any other name, as bytes."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address.encode("utf-8", "surrogatepass")
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    if isinstance(found, IPv6Address) and mapped is None:
        return found.packed[:_NETWORK_BYTES]
    return (mapped or found).packed
