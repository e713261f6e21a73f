"""Which counter a label has: the test vectors, look-up in domains, samples."""

import json
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.numeric import keyed_hash
from anonhist.sketches import addresses as module
from anonhist.sketches.addresses import LISTED_KEY, NOT_SAMPLED, UNKNOWN, DomainAddresses, HashedAddresses, _HashIndex
from anonhist_testing.cases import each_of

VECTORS = json.loads((Path(__file__).parents[2] / "examples" / "hashing_vectors.json").read_text(encoding="utf-8"))


def places(addresses: HashedAddresses | DomainAddresses, labels: list[str]) -> list[int]:
    found = addresses.of_hashes(keyed_hash(labels, key=addresses.key))
    assert found.dtype == np.int64
    return found.tolist()


def test_gives_the_test_vectors() -> None:
    assert len(VECTORS["counters"]) == 12
    for row in VECTORS["counters"]:
        key, label, counters = bytes.fromhex(row["key"]), row["label"], row["counters"]
        assert keyed_hash([label], key=key).tolist() == [[int(row["A"]), int(row["C"])]]
        assert counters.keys() == {"1000", str(2**20), "1000003"}
        for size, counter in counters.items():
            assert places(HashedAddresses(int(size), key), [label]) == [counter]
        assert row["sampled"].keys() == {"1/10", "1/2", "9/10"}
        for share, is_kept in row["sampled"].items():
            addresses = HashedAddresses(1000, key, Fraction(share))
            assert places(addresses, [label]) == [counters["1000"] if is_kept else NOT_SAMPLED]


@each_of("size", [1, 2, 3, 100, 5000])
def test_every_label_of_a_domain_has_its_own_counter_in_the_order_listed(size: int) -> None:
    labels = [f"label {number}" for number in range(size)]
    addresses = DomainAddresses.of(labels)
    assert (addresses.size, addresses.domain_size, addresses.key) == (size, size, LISTED_KEY)
    assert places(addresses, labels[::-1]) == list(range(size))[::-1]
    assert places(addresses, [f"other {number}" for number in range(3000)]) == [UNKNOWN] * 3000
    assert places(addresses, []) == []


def test_hashes_that_begin_alike_are_told_apart() -> None:
    """The first half decides where to look, both halves whether it is there."""
    first = [0, 5, 5, 5, 6, 2**63, 2**64 - 1, 2**64 - 1]
    hashes = np.array([first, [1, 9, 3, 4, 2**64 - 1, 0, 7, 2]], dtype=np.uint64).T
    index = _HashIndex.of(hashes)
    assert index.find(hashes).tolist() == list(range(8))
    absent = np.array([[0, 5, 5, 6, 2**63, 2**64 - 1, 1], [2, 5, 2**64 - 1, 0, 1, 3, 1]], dtype=np.uint64).T
    assert index.find(absent).tolist() == [UNKNOWN] * 7


def test_a_sample_of_a_domain_has_counters_for_its_labels_only() -> None:
    labels = [f"label {number}" for number in range(4000)]
    sampled = DomainAddresses.of(labels, key=b"k", sampling_rate="1/4")
    # Hypergeometric in effect: 1000 ± 5·27.4.
    assert 863 <= sampled.size <= 1137
    assert sampled.domain_size == 4000
    kept = keyed_hash(labels, key=b"k")[:, 1] < np.uint64(2**62)
    assert list(sampled.labels) == [label for label, is_kept in zip(labels, kept.tolist(), strict=True) if is_kept]
    expected = np.where(kept, np.cumsum(kept) - 1, NOT_SAMPLED)
    assert places(sampled, labels) == expected.tolist()
    # Of labels that are not in the domain, those that would not be sampled are not looked for.
    others = [f"other {number}" for number in range(200)]
    outside = keyed_hash(others, key=b"k")[:, 1] < np.uint64(2**62)
    assert places(sampled, others) == np.where(outside, UNKNOWN, NOT_SAMPLED).tolist()


def test_a_label_is_sampled_up_to_the_share_not_at_it() -> None:
    hashes = np.array([[12, 0], [13, 2**62 - 1], [14, 2**62], [15, 2**64 - 1]], dtype=np.uint64)
    assert HashedAddresses(10, b"k", Fraction(1, 4)).of_hashes(hashes).tolist() == [2, 3, NOT_SAMPLED, NOT_SAMPLED]
    assert HashedAddresses(10, b"k").of_hashes(hashes).tolist() == [2, 3, 4, 5]


def test_a_hashed_sample_is_independent_of_the_bucket() -> None:
    labels = [f"label {number}" for number in range(40_000)]
    all_places = np.array(places(HashedAddresses(10, b"k"), labels))
    some = np.array(places(HashedAddresses(10, b"k", Fraction(1, 2)), labels))
    kept = some >= 0
    assert (some[kept] == all_places[kept]).all()
    assert set(some[~kept].tolist()) == {NOT_SAMPLED}
    # 2,000 ± 5·√(4,000/4) of each bucket's 4,000 or so.
    for bucket in range(10):
        inside = all_places == bucket
        assert abs(kept[inside].sum() - inside.sum() / 2) < 5 * np.sqrt(inside.sum() / 4)


def test_domains_that_are_none_are_refused() -> None:
    with pytest.raises(DataError, match="must all be different"):
        DomainAddresses.of(["a", "b", "a"])
    with pytest.raises(DataError, match="must all be different"):
        DomainAddresses.of(["a", "b", "a"], sampling_rate="1/2")
    with pytest.raises(DataError, match="labels must be strings"):
        DomainAddresses.of(["a", 3])  # type: ignore[list-item]
    for empty in ([], iter(())):
        with pytest.raises(UsageError, match="needs at least one label"):
            DomainAddresses.of(empty)
    with pytest.raises(UsageError, match="needs at least one label in its sample"):
        DomainAddresses.of(["a", "b"], sampling_rate="1e-9")
    with pytest.raises(UsageError, match="put a single label into a list"):
        DomainAddresses.of("abc")


def test_labels_whose_hashes_begin_alike_are_different(monkeypatch: pytest.MonkeyPatch) -> None:
    halves = np.array([[5, 1], [5, 2], [4, 2]], dtype=np.uint64)
    monkeypatch.setattr(module, "keyed_hash", lambda labels, *, key: halves[: len(labels)])  # noqa: ARG005
    domain = DomainAddresses.of(["a", "b", "c"])
    assert domain.of_hashes(halves[::-1]).tolist() == [2, 1, 0]


def test_what_a_file_may_say_of_a_domain_is_checked() -> None:
    sampled = DomainAddresses.of([f"label {number}" for number in range(100)], key=b"k", sampling_rate="1/2")
    same = DomainAddresses(sampled.labels, 100, b"k", Fraction(1, 2))
    assert same == sampled
    outside = next(f"label {number}" for number in range(100) if f"label {number}" not in sampled.labels)
    with pytest.raises(DataError, match="outside its sample"):
        DomainAddresses((*sampled.labels, outside), 100, b"k", Fraction(1, 2))
    with pytest.raises(DataError, match="as many labels as are listed"):
        DomainAddresses(("a", "b"), 3)
    with pytest.raises(UsageError, match="the number of labels must be a whole number from 2"):
        DomainAddresses(("a", "b"), 1)


@pytest.mark.parametrize("key", [b"", "k", None])
def test_a_key_is_bytes(key: object) -> None:
    for make in (lambda: HashedAddresses(10, key), lambda: DomainAddresses.of(["a"], key=key)):  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="key of a sketch must have at least one byte"):
            make()


@each_of("share", [0, -1, "x", 1.5, Fraction(11, 10), Fraction(1, 2**32 + 1), "1e-30"])
def test_a_share_is_between_zero_and_one(share: object) -> None:
    with pytest.raises(UsageError, match="sampling_rate must be"):
        HashedAddresses(10, b"k", share)  # type: ignore[arg-type]
    assert HashedAddresses(10, b"k", Fraction(1, 2**32)).sampling_rate == Fraction(1, 2**32)


@each_of("buckets", [0, -1, 2**31 + 1, 1.5, True])
def test_buckets_are_a_whole_number(buckets: object) -> None:
    with pytest.raises(UsageError, match="buckets must be a whole number from 1"):
        HashedAddresses(buckets, b"k")  # type: ignore[arg-type]


def test_addresses_are_values() -> None:
    one = HashedAddresses(10, b"k", 0.5)  # type: ignore[arg-type]
    assert one == HashedAddresses(10, b"k", Fraction(1, 2))
    assert len({one, HashedAddresses(10, b"k"), HashedAddresses(11, b"k"), HashedAddresses(10, b"l")}) == 4
    domain = DomainAddresses.of(["a", "b"])
    assert pickle.loads(pickle.dumps(domain)) == domain  # noqa: S301 - pickled a moment ago
    assert domain != DomainAddresses.of(["b", "a"])
