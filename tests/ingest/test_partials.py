"""What partitions of a cluster send to the driver, and what a sketch becomes of it: with a cluster in this process."""

import pickle
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from anonhist.accounting import Ledger
from anonhist.errors import DataError, UsageError
from anonhist.ingest.engine import translate_failures
from anonhist.privacy import PrivacyUnit
from anonhist.sketches import DomainSketch, HashedSketch, NoiseShare, Sketch, UsersIn
from anonhist.sketches import cluster as partials
from anonhist.sketches.cluster import ExactPartials, NoisyPartials, Partials, PartitionReading, Told
from anonhist.sketches.noise import NoiseDistribution
from anonhist.sketches.reading import update_sketch
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource
from anonhist_testing.statistics import assert_pmf_differs, assert_pmf_equal

WORDS = ["cat", "dog", "emu"]
PARTS = [["cat", "dog", None, "cat"], [], ["emu", "cat"], [None]]


class Cluster:
    """A table in partitions, with the two methods of a Spark table that updates need; it keeps what is sent."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = [
            part if isinstance(part, pa.Table) else pa.table({"label": pa.array(part, pa.string())}) for part in parts
        ]
        self.left: list[pa.RecordBatch] = []
        self.sent = b""
        self.runs = 0

    def coalesce(self, most: int) -> "Cluster":
        self.parts = [pa.concat_tables(self.parts[place::most]) for place in range(min(most, len(self.parts)))]
        return self

    def _received(self) -> Any:
        return pickle.loads(self.sent)  # noqa: S301  # written a moment ago

    def mapInArrow(self, work: Callable[[Iterator[Any]], Iterator[Any]], schema: str) -> pa.Table:  # noqa: N802  # Spark's
        self.runs += 1
        self.sent = pickle.dumps(work)
        kinds = {"long": pa.int64(), "string": pa.string(), "binary": pa.binary()}
        fields = [each.split() for each in schema.split(", ")]
        self.left = [batch for part in self.parts for batch in self._received()(iter(part.to_batches(max_chunksize=2)))]
        return pa.Table.from_batches(self.left, pa.schema([(name, kinds[kind]) for name, kind in fields]))


def _reading(sketch: Sketch, *, count: str | None = None, ignore_unknown: bool = False) -> PartitionReading:
    return PartitionReading(sketch.addresses, count, ignore_unknown)


def _sketch(epsilon: str = "40", **settings: Any) -> Sketch:
    return DomainSketch(alphabet=WORDS, epsilon=epsilon, source=SeededSource(1), **settings)


@pytest.fixture
def entropy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise of partitions that is the same at every run."""
    source = SeededSource(7)
    monkeypatch.setattr(partials, "SystemSource", lambda: source)


def _exact(parts: list[list[str | None]]) -> list[int]:
    return [sum(part.count(word) for part in parts) for word in WORDS]


def test_exact_partials_are_added_to_the_noise_that_is_there() -> None:
    sketch, cluster = _sketch(), Cluster(PARTS)
    before, noise = sketch.counters.copy(), sketch.noise
    assert ExactPartials().count(sketch, cluster, _reading(sketch)) == (5, 2)
    assert (sketch.counters - before).tolist() == _exact(PARTS)
    assert sketch.noise == noise
    assert cluster.runs == 1


def test_counters_come_in_pieces(monkeypatch: pytest.MonkeyPatch, entropy: None) -> None:
    del entropy
    monkeypatch.setattr("anonhist.sketches.cluster._PIECE", 2)
    for way in (ExactPartials(), NoisyPartials(2)):
        sketch = _sketch()
        way.count(sketch, Cluster(PARTS), _reading(sketch))
        assert sketch.counters.tolist() == _exact(PARTS)


@each_of("partitions", [1, 2, 4, 9])
@pytest.mark.usefixtures("entropy")
def test_noisy_partials_are_merged_with_as_much_noise_as_was_said(partitions: int) -> None:
    sketch = _sketch("20")
    promised = sketch.guarantee
    assert NoisyPartials(partitions).count(sketch, Cluster(PARTS), _reading(sketch)) is None
    # At so large an epsilon there is no noise to speak of, but it is accounted for: however many partitions there are.
    assert sketch.counters.tolist() == _exact(PARTS)
    assert [part.gamma for part in sketch.noise] == [Fraction(20)] * (partitions + 1)
    assert sketch.guarantee == promised


def _merged_noise(partitions: int, gamma: str) -> tuple[np.ndarray, NoiseDistribution]:
    sketch = HashedSketch(buckets=1 << 14, epsilon=gamma, key=b"k", source=SeededSource(3))
    NoisyPartials(partitions).count(sketch, Cluster([["cat"], ["dog"]]), _reading(sketch))
    hashed = HashedSketch(buckets=1 << 14, epsilon=40, key=b"k", source=SeededSource(4))
    hashed.update(["cat", "dog"])
    return sketch.counters - hashed.counters, sketch.noise_distribution


@pytest.mark.fresh
@pytest.mark.usefixtures("entropy")
def test_the_variance_grows_by_that_of_each_partition() -> None:
    noise, said = _merged_noise(3, "0.5")
    p = np.exp(-0.5)
    assert said.variance == pytest.approx(4 * 2 * p / (1 - p) ** 2)
    reach = said.reach(1e-15)
    masses = dict(zip(range(-reach, reach + 1), said.pmf(reach).tolist(), strict=True))
    assert_pmf_equal(noise, masses)
    # One part less is noticed.
    fewer = NoiseDistribution.of([(Fraction(1, 2), Fraction(1))] * 3)
    assert_pmf_differs(noise, dict(zip(range(-reach, reach + 1), fewer.pmf(reach).tolist(), strict=True)))


def test_partitions_draw_noise_of_their_own_from_the_system() -> None:
    sketch = HashedSketch(buckets=1000, epsilon="0.1", key=b"k")
    cluster = Cluster([["cat"], ["cat"]])
    NoisyPartials(2).count(sketch, cluster, _reading(sketch))
    table = pa.Table.from_batches(cluster.left)
    assert len({*table["identity"].to_pylist(), *(part.identity for part in sketch.noise)}) == 3
    one, two = (np.frombuffer(each, dtype="<i8") for each in table["counters"].to_pylist())
    assert (one == two).mean() < 0.2


@pytest.mark.usefixtures("entropy")
def test_nothing_without_noise_leaves_a_noisy_partition() -> None:
    sketch, cluster = _sketch("0.5"), Cluster(PARTS)
    NoisyPartials(4).count(sketch, cluster, _reading(sketch))
    # A sketch for each partition, an empty one too, and not how many rows it had.
    assert [batch.num_rows for batch in cluster.left] == [1] * 4
    assert all(batch["place"].to_pylist() == [0] for batch in cluster.left)
    assert all(len(batch["counters"][0].as_py()) == 8 * len(WORDS) for batch in cluster.left)


@each_of("way", [ExactPartials(), NoisyPartials(2)])
def test_no_state_of_the_sketch_is_sent_to_executors(way: Partials) -> None:
    # It would be an intrusion more: what is counted then would be seen by whoever sees the next state, too.
    sketch, cluster = HashedSketch(buckets=100, epsilon="0.1", key=b"k"), Cluster(PARTS)
    before = sketch.counters.tolist()
    way.count(sketch, cluster, _reading(sketch))
    assert isinstance(pickle.loads(cluster.sent).args[-1], PartitionReading)  # noqa: S301  # written a moment ago
    for size in ("<i8", "<i4", "<i2"):
        assert np.array(before, dtype=size).tobytes()[:64] not in cluster.sent


def test_exact_partials_say_no_more_than_counts() -> None:
    sketch, cluster = _sketch(), Cluster([["cat", "cat"], [None]])
    ExactPartials().count(sketch, cluster, _reading(sketch))
    rows = [batch.to_pylist() for batch in cluster.left]
    assert rows == [
        [{"place": Told.ROWS, "number": 2}, {"place": Told.LEFT_OUT, "number": 0}],
        [{"place": 0, "number": 2}],
        [{"place": Told.ROWS, "number": 0}, {"place": Told.LEFT_OUT, "number": 1}],
        [],
    ]


def _counted(counts: list[int], *, wrong: int = 0) -> pa.Table:
    return pa.table({"label": WORDS[: len(counts)], "count": counts, "wrong": [0] * (len(counts) - 1) + [wrong]})


@each_of("way", [ExactPartials(), NoisyPartials(3)])
@each_of(
    ("parts", "count", "told"),
    [
        ([["cat"], ["secret"]], None, "not in the sketch's domain"),
        ([pa.table({"label": ["7", "1.5"], "named": [1, 0]})], None, "whole numbers"),
        ([_counted([3, 1]), _counted([0], wrong=1)], "n", "column 'n' must hold whole numbers"),
        ([_counted([2**62 + 1])], "n", r"pass 2\^62"),
        ([_counted([2**62, 2**62])], "n", r"pass 2\^62"),
        ([_counted([2**61]), _counted([2**61]), _counted([5])], "n", r"pass 2\^62|outside its range"),
    ],
)
def test_what_cannot_be_counted_is_refused_and_nothing_is_counted(
    way: Partials, parts: list[Any], count: str | None, told: str
) -> None:
    sketch = _sketch()
    before, noise = sketch.counters.copy(), sketch.noise
    with pytest.raises(DataError, match=told) as caught:
        way.count(sketch, Cluster(parts), _reading(sketch, count=count))
    assert "secret" not in str(caught.value)
    assert sketch.counters.tolist() == before.tolist()
    assert sketch.noise == noise


@each_of("way", [ExactPartials(), NoisyPartials(2)])
def test_counts_and_unknown_labels(way: Partials) -> None:
    sketch = _sketch()
    way.count(sketch, Cluster([_counted([3, 1]), _counted([2])]), _reading(sketch, count="n"))
    way.count(sketch, Cluster([["cat", "bird"]]), _reading(sketch, ignore_unknown=True))
    assert sketch.counters.tolist() == [6, 1, 0]


def test_sketches_that_cannot_be_counted_so_are_refused_before_anything_runs() -> None:
    user = PrivacyUnit.user(max_items=2)
    clipped, cluster = _sketch(), Cluster(PARTS)
    clipped.clip(9)
    shared = _sketch(noise_share=NoiseShare(honest=2, session="s"))
    refused: list[tuple[Sketch, Partials, str]] = [
        (clipped, ExactPartials(), "clipped"),
        (clipped, NoisyPartials(2), "clipped"),
        (shared, NoisyPartials(2), "share of the noise"),
        (_sketch(unit=user), NoisyPartials(2), "users_in=UsersIn.ONE_SKETCH"),
    ]
    for sketch, way, told in refused:
        with pytest.raises(UsageError, match=told):
            way.count(sketch, cluster, _reading(sketch))
    assert cluster.runs == 0
    for sketch in (shared, _sketch(unit=user)):
        ExactPartials().count(sketch, Cluster(PARTS), _reading(sketch))
    one = _sketch(unit=user, users_in=UsersIn.ONE_SKETCH)
    epsilon = one.guarantee.epsilon
    NoisyPartials(2).count(one, Cluster(PARTS), _reading(one))
    assert one.guarantee.epsilon == epsilon
    assert one.guarantee.conditions == ("no user has items in more than one of the 3 sketches",)


def test_a_user_in_several_partitions_costs_no_more_than_epsilon() -> None:
    sketch = _sketch("1", unit=PrivacyUnit.user(max_items=3), users_in=UsersIn.ONE_SKETCH)
    made = partials.PartialSketches.of(sketch)
    values = np.arange(-60, 61)
    pmf = np.exp(-float(made.gamma) * np.abs(values))
    # What one counter of one partition loses for so many items; partitions are independent, so losses add up.
    losses = {items: float(np.abs(np.log(pmf[items:] / pmf[: pmf.size - items])).max()) for items in (1, 2, 3)}
    assert losses[3] == pytest.approx(float(sketch.guarantee.epsilon))
    for spread in ((1, 2), (1, 1, 1)):
        assert sum(losses[items] for items in spread) == pytest.approx(float(sketch.guarantee.epsilon))


@pytest.mark.usefixtures("entropy")
def test_partitions_of_a_merged_sketch_keep_its_epsilon() -> None:
    sketch = _sketch("20") + DomainSketch(alphabet=WORDS, epsilon=30, source=SeededSource(2))
    NoisyPartials(2).count(sketch, Cluster(PARTS), _reading(sketch))
    assert sketch.guarantee.epsilon == 30
    assert sorted(int(part.gamma) for part in sketch.noise) == [20, 30, 30, 30]


def test_a_ledger_refuses_a_state_that_shows_what_was_counted_after_another(tmp_path: Path) -> None:
    with Ledger(str(tmp_path / "budget.db")) as ledger:
        ledger.create("pets", "item", epsilon=100)
        asked: dict[str, Any] = {"simulations": 0, "ledger": ledger, "dataset": "pets"}
        sketch = _sketch("10")
        sketch.reconstruct("three-tap", **asked)
        # What has noise of its own may be counted after the state was read: an item costs ε in one of both.
        NoisyPartials(2).count(sketch, Cluster(PARTS), _reading(sketch))
        sketch.reconstruct("three-tap", **asked)
        assert ledger.balance("pets").spent.epsilon == 10
        # The difference of the next two states is what was counted in between, exactly.
        ExactPartials().count(sketch, Cluster(PARTS), _reading(sketch))
        with pytest.raises(UsageError, match="already read in another state"):
            sketch.reconstruct("three-tap", **asked)


@each_of(
    ("said", "told"),
    [
        ("ModuleNotFoundError: No module named 'anonhist'", "executors lack this package: install anonhist on them."),
        (
            "Total size of serialized results of 9 tasks is bigger than spark.driver.maxResultSize",
            "raise Spark's setting",
        ),
    ],
)
def test_what_executors_and_drivers_lack_is_told(said: str, told: str) -> None:
    with pytest.raises(DataError, match=told), translate_failures("The table"):
        raise RuntimeError(said)


def test_what_is_no_choice_is_refused() -> None:
    sketch, table = _sketch(), pa.table({"label": ["cat"]})
    for way in (ExactPartials(), NoisyPartials(2)):
        with pytest.raises(UsageError, match="for tables of Spark"):
            update_sketch(sketch, table, partials=way)
        with pytest.raises(UsageError, match="for tables of Spark"):
            update_sketch(sketch, "-", format="labels", partials=way)
    with pytest.raises(UsageError, match=r"must be ExactPartials\(\) or NoisyPartials"):
        update_sketch(sketch, table, partials=ExactPartials)  # type: ignore[arg-type]
    for number in (0, 10_001, True):
        with pytest.raises(UsageError, match="partitions"):
            NoisyPartials(number)
