"""Limits of rates: tokens come back evenly, and no address outlives the hour, or takes much memory."""

import copy
import pickle
import tracemalloc

import pytest

from anonhist.collect.rate_limits import RateLimits
from anonhist.errors import UsageError
from anonhist_testing.sources import SeededSource


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def _limits(per_hour: int = 60, burst: int = 5, most_addresses: int = 1_000) -> tuple[RateLimits, Clock]:
    clock = Clock()
    made = RateLimits(
        per_hour=per_hour, burst=burst, most_addresses=most_addresses, clock=clock, source=SeededSource(1)
    )
    return made, clock


def test_tokens_come_back_evenly() -> None:
    limits, clock = _limits()
    assert [limits.wait("192.0.2.1") for _ in range(7)] == [0, 0, 0, 0, 0, 60, 60]
    clock.now = 59.5
    assert limits.wait("192.0.2.1") == 1
    clock.now = 60.5
    assert [limits.wait("192.0.2.1") for _ in range(2)] == [0, 60]
    # A bucket holds no more than a burst, however long nobody asks.
    clock.now = 3_000
    assert [limits.wait("192.0.2.1") for _ in range(6)][-2:] == [0, 60]


def test_whoever_waits_as_long_as_told_gets_through() -> None:
    limits, clock = _limits(per_hour=7, burst=1)
    for _ in range(50):
        waited = limits.wait("a")
        clock.now += waited
        if waited:
            assert limits.wait("a") == 0


def test_no_more_get_through_than_is_said() -> None:
    limits, clock = _limits(per_hour=60, burst=5)
    times = []
    for step in range(8 * 3_600):
        clock.now = step / 2
        if limits.wait("a") == 0:
            times.append(clock.now)
    for start in times:
        assert sum(start <= each < start + 3_600 for each in times) <= 60 + 2 * 5


def test_addresses_have_buckets_of_their_own() -> None:
    limits, _ = _limits(burst=1)
    one = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1", "not an address", "\ud800"]
    assert [limits.wait(address) for address in one] == [0] * 6
    # The same ones in other words: neighbours in IPv6 belong to one person.
    for same in ("192.0.2.1", "::ffff:192.0.2.1", "2001:db8::ffff:2", "2001:DB8:0:0:1::", "2001:db8::9%eth0"):
        assert limits.wait(same) == 60


def test_all_is_forgotten_within_the_hour() -> None:
    limits, clock = _limits(per_hour=1, burst=1)
    assert [limits.wait("a"), limits.wait("a")] == [0, 3_600]
    before = dict(limits._buckets), limits._key
    clock.now = 3_599
    assert limits.wait("a") == 1
    clock.now = 3_600
    assert limits.wait("b") == 0
    # Nothing of the first hour is left, and the same address has another hash.
    assert len(limits) == 1
    assert limits._key != before[1]
    assert limits.wait("a") == 0
    assert not before[0].keys() & limits._buckets.keys()


def test_no_address_can_be_read() -> None:
    limits, _ = _limits()
    for number in range(50):
        limits.wait(f"192.0.2.{number}")
    assert repr(limits) == "RateLimits(50 addresses)"
    held = b"".join(limits._buckets) + repr(vars(limits)).encode()
    assert b"192.0.2" not in held
    assert bytes([192, 0, 2]) not in held
    for store in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="in memory only"):
            store(limits)
    # Two servers do not have the same hashes.
    other = RateLimits(per_hour=60, burst=5)
    other.wait("192.0.2.1")
    assert not other._buckets.keys() & limits._buckets.keys()


def test_memory_is_bounded_and_who_is_busy_stays() -> None:
    limits, clock = _limits(per_hour=1, burst=1, most_addresses=100)
    assert limits.wait("busy") == 0
    for number in range(1_000):
        limits.wait(f"address {number}")
        clock.now += 1e-3
        assert limits.wait("busy") > 0
    assert len(limits) == 100
    # Those that come when memory is full are limited, too.
    assert limits.wait("new") == 0
    assert limits.wait("new") > 0
    full, _ = _limits(per_hour=1, burst=1, most_addresses=4_096)
    tracemalloc.start()
    for number in range(8_192):
        full.wait(f"{number}")
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(full) == 4_096
    # 20 MB for as many as are known by default.
    assert used < 300 * 4_096


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, None])
def test_bad_numbers_are_refused(bad: object) -> None:
    for name in ("per_hour", "burst", "most_addresses"):
        with pytest.raises(UsageError, match=name):
            RateLimits(**{"per_hour": 1, "burst": 1, "most_addresses": 1} | {name: bad})  # type: ignore[arg-type]
