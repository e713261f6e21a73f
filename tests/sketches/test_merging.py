"""Merging: the sum does not depend on the order, and only sketches that belong together are added."""

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.errors import DataError, UsageError
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.report import write_report
from anonhist.sketches import DomainSketch, HashedSketch, NoiseShare, Sketch
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource
from anonhist_testing.strategies import repeatable

EPSILONS = ("1/3", "0.5", "2", "7")


def make_sketch(kind: str, epsilon: str, labels: list[str], seed: int, share: NoiseShare | None = None) -> Sketch:
    settings: dict[str, Any] = {"epsilon": epsilon, "noise_share": share, "source": SeededSource(seed)}
    sketch: Sketch
    if kind == "hashed":
        sketch = HashedSketch(buckets=5, key=b"k", **settings)
    else:
        sketch = DomainSketch(alphabet=["a", "b", "c"], **settings)
    sketch.update(labels)
    return sketch


@pytest.mark.slow
@repeatable
@given(
    st.sampled_from(["hashed", "listed"]),
    st.lists(st.tuples(st.sampled_from(EPSILONS), st.lists(st.sampled_from("abc"))), min_size=2, max_size=5),
    st.randoms(use_true_random=False),
)
def test_the_order_of_merging_does_not_matter_bit_for_bit(
    kind: str, settings: list[tuple[str, list[str]]], order: Any
) -> None:
    sketches = [make_sketch(kind, *each, seed) for seed, each in enumerate(settings)]
    from_the_left = reduce(add, sketches)
    shuffled = sketches.copy()
    order.shuffle(shuffled)
    # Pairs are merged, any two neighbours, until one is left.
    while len(shuffled) > 1:
        at = order.randrange(len(shuffled) - 1)
        shuffled[at : at + 2] = [shuffled[at] + shuffled[at + 1]]
    assert shuffled[0] == from_the_left
    assert shuffled[0].counters.tobytes() == from_the_left.counters.tobytes()
    assert shuffled[0].noise == from_the_left.noise
    assert shuffled[0].noise_distribution == from_the_left.noise_distribution
    assert shuffled[0].guarantee == from_the_left.guarantee


def test_counters_and_noise_add_up() -> None:
    one, other = make_sketch("hashed", "1", ["a", "b"], 1), make_sketch("hashed", "2", ["c"], 2)
    total = one + other
    assert type(total) is HashedSketch
    assert total.counters.tolist() == (one.counters + other.counters).tolist()
    assert set(total.noise) == {*one.noise, *other.noise}
    assert total.noise_distribution.parts == ((Fraction(1), Fraction(1)), (Fraction(2), Fraction(1)))
    assert (len(one.noise), len(other.noise)) == (1, 1)


def test_merging_in_place_changes_one_and_not_the_other() -> None:
    one, other = make_sketch("listed", "1", ["a", "b"], 1), make_sketch("listed", "2", ["c"], 2)
    total, others_counters = one + other, other.counters.copy()
    one.merge(other)
    assert one == total
    one.update(["a"])
    assert (other.counters == others_counters).all()
    assert len(other.noise) == 1


def test_what_has_noise_in_common_is_refused() -> None:
    one, other, third = (make_sketch("hashed", "1", [], seed) for seed in range(3))
    total = one + other
    for first, second in ((one, one), (total, one), (one, total), (total, other + third)):
        before = first.counters.copy()
        with pytest.raises(UsageError, match="share noise"):
            first.merge(second)
        assert (first.counters == before).all()


OTHERS: dict[str, tuple[Callable[[], Sketch], str]] = {
    "key": (lambda: HashedSketch(buckets=5, epsilon=1, key=b"l"), "same domain, or with the same key"),
    "buckets": (lambda: HashedSketch(buckets=6, epsilon=1, key=b"k"), "same domain, or with the same key"),
    "sample": (
        lambda: HashedSketch(buckets=5, epsilon=1, key=b"k", sampling_rate="1/2"),
        "same domain, or with the same key",
    ),
    "kind": (lambda: DomainSketch(alphabet=list("abcde"), epsilon=1, key=b"k"), "same domain, or with the same key"),
    "unit": (
        lambda: HashedSketch(buckets=5, epsilon=1, key=b"k", unit=PrivacyUnit.user(max_items=2)),
        "protect the same unit",
    ),
    "relation": (
        lambda: HashedSketch(buckets=5, epsilon=1, key=b"k", relation=NeighboringRelation.SUBSTITUTE),
        "protect the same unit",
    ),
}


@each_of("name", OTHERS)
def test_what_does_not_belong_together_is_refused(name: str) -> None:
    make, message = OTHERS[name]
    one, other = make_sketch("hashed", "1", [], 1), make()
    for first, second in ((one, other), (other, one)):
        with pytest.raises(UsageError, match=message):
            _ = first + second


def test_domains_must_have_their_labels_in_one_order() -> None:
    with pytest.raises(UsageError, match="same domain"):
        _ = make_sketch("listed", "1", [], 1) + DomainSketch(alphabet=["b", "a", "c"], epsilon=1)


def test_only_a_sketch_can_be_added() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = make_sketch("hashed", "1", [], 1) + 3  # type: ignore[operator]
    with pytest.raises(UsageError, match="Only sketches"):
        make_sketch("hashed", "1", [], 1).merge("sketch")  # type: ignore[arg-type]


def test_shares_of_one_session_that_differ_are_refused() -> None:
    one = make_sketch("hashed", "1", [], 1, NoiseShare(honest=2, session="s"))
    for other in (
        make_sketch("hashed", "2", [], 2, NoiseShare(honest=2, session="s")),
        make_sketch("hashed", "1", [], 2, NoiseShare(honest=3, session="s")),
    ):
        with pytest.raises(DataError, match="one epsilon, one number of honest parties and one adversary"):
            one.merge(other)
    assert len(one.noise) == 1


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_beyond_the_range_is_refused(sign: int) -> None:
    """Also where it wraps around: 2^62 + 2^62."""
    parts = [make_sketch("hashed", "1", [], seed) for seed in (1, 2)]
    one, other = (
        Sketch.from_parts(
            part.addresses, unit=part.unit, relation=part.relation, noise=part.noise, counters=np.full(5, sign * 2**62)
        )
        for part in parts
    )
    with pytest.raises(DataError, match="outside its range"):
        one.merge(other)
    assert one.counters.tolist() == [sign * 2**62] * 5


def test_the_page_says_what_the_operator_sees_who_merges(tmp_path: Path) -> None:
    share = NoiseShare(honest=2, session="s")
    made = {
        "alone": make_sketch("listed", "2", ["a"], 1),
        "merged": make_sketch("listed", "2", ["a"], 1) + make_sketch("listed", "2", ["b"], 2),
        "shared": reduce(add, (make_sketch("listed", "2", ["a"], seed, share) for seed in (1, 2, 3))),
    }
    said = {}
    for name, sketch in made.items():
        write_report(sketch.reconstruct(simulations=2), tmp_path / f"{name}.html")
        page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        said[name] = ("so the promise holds toward them, too, if" in page, "it has only a share of the noise" in page)
    assert said == {"alone": (False, False), "merged": (True, False), "shared": (False, True)}
