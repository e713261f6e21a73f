"""Draws of the partition mechanism whose legs are fitted again: what is kept, and how much nearer they are."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anonhist.errors import DataError
from anonhist.formats.document import from_document, to_document
from anonhist.formats.files import write
from anonhist.formats.releases import read_release
from anonhist.graphs.edge_privacy import EdgePrivacy
from anonhist.graphs.graph import SIMPLE
from anonhist.graphs.release import as_graph
from anonhist.mechanisms import PartitionMechanism
from anonhist.profiles import FrobeniusCoordinates, Profile, sorted_l1
from anonhist.releases import Release
from anonhist.releases.content import content_digest
from anonhist_testing.cases import each_of
from anonhist_testing.partitions import partitions_up_to
from anonhist_testing.sources import SeededSource

SMOOTH = Profile.from_counts(np.ceil(5_000 / np.arange(1, 5_001) ** 1.1).astype(np.int64))


def released(epsilon: str = "1.1", data: Profile = SMOOTH, seed: int = 1) -> Release:
    return PartitionMechanism(epsilon).release(data, source=SeededSource(seed))


def test_only_legs_differ_from_the_draw() -> None:
    release = released()
    assert release.draw is not None
    fitted, drawn = (FrobeniusCoordinates.of(each) for each in (release.profile, release.draw))
    assert fitted.arms.tolist() == drawn.arms.tolist()
    assert fitted.legs.tolist() != drawn.legs.tolist()


def test_the_draw_is_that_of_the_mechanism() -> None:
    mechanism = PartitionMechanism("1.1")
    (run,) = super(PartitionMechanism, mechanism)._draw_each([SMOOTH], SeededSource(1))
    assert released().draw == run.profile


@each_of("epsilon", ["1", "1.09", "1.51", "3"])
def test_other_draws_are_released_as_they_are(epsilon: str) -> None:
    assert released(epsilon).draw is None


def test_so_are_those_with_few_legs() -> None:
    for part in partitions_up_to(5):
        release = released(data=Profile.from_counts(part))
        assert release.draw is None or release.profile.durfee_size >= 4
        assert release.draw != release.profile


@pytest.mark.drawn(2)
def test_they_are_nearer_to_the_data() -> None:
    releases = [released(seed=seed) for seed in range(60)]
    gains = np.array([sorted_l1(SMOOTH, each.draw or SMOOTH) - sorted_l1(SMOOTH, each.profile) for each in releases])
    assert gains.mean() > 2 * gains.std(ddof=1) / len(gains) ** 0.5 > 0


@pytest.mark.drawn(2)
def test_the_range_holds_the_error_of_a_staircase() -> None:
    # Its steps are so regular that fits err a third less than draws.
    data = Profile.from_counts(np.repeat(np.arange(10, 1001, 10), 10))
    releases = [released("1.5", data, seed) for seed in range(8)]
    mean = float(np.mean([sorted_l1(data, each.profile) for each in releases]))
    for each in releases:
        assert each.error.expected_range is not None
        assert each.error.expected_range[0] <= mean <= each.error.expected_range[1]


def test_groups_are_fitted_as_one_by_one() -> None:
    data = [SMOOTH, Profile.from_counts([5, 3]), Profile.from_counts(range(1, 60))]
    mechanism = PartitionMechanism("1.2")
    together = {each.place: each.release for each in mechanism.release_each(data, source=SeededSource(3))}
    source = SeededSource(3)
    for place, each in enumerate(data):
        alone = mechanism.release(each, source=source)
        assert (alone.draw, alone.profile) == (together[place].draw, together[place].profile)


def test_a_file_holds_the_draw(tmp_path: Path) -> None:
    release = released()
    write(release, tmp_path / "release.json")
    again = read_release(tmp_path / "release.json")
    assert again == release
    assert again.draw == release.draw
    assert content_digest(again) == content_digest(release) != content_digest(replace(release, draw=None))


def test_a_draw_that_the_profile_was_not_fitted_to_is_refused() -> None:
    document = to_document(released())
    for counts, prevalences in (([1, 2], [3, 1]), ([1], [10])):
        with pytest.raises(DataError, match="differ in nothing but"):
            from_document({**document, "draw": {"counts": counts, "prevalences": prevalences}})
    for changed, what in ((0, "differ in nothing but"), (-1, "counts and prevalences|differ in nothing but")):
        draw = {name: list(numbers) for name, numbers in document["draw"].items()}
        draw["counts"][changed] += 10**9
        draw = dict(zip(draw, map(list, zip(*sorted(zip(*draw.values(), strict=True)), strict=True)), strict=True))
        with pytest.raises(DataError, match=what):
            from_document({**document, "draw": draw})
    other = to_document(released("3"))
    with pytest.raises(DataError, match="a draw belongs to mechanisms that fit"):
        from_document({**other, "draw": other["profile"]})


def test_degrees_have_fitted_draws_too() -> None:
    starts, ends = np.triu_indices(300, 1)
    drawn = np.random.default_rng(1).random(starts.size) < 30 / (ends + 20)
    graph = as_graph(np.column_stack((starts, ends))[drawn], policy=SIMPLE)
    prepared = EdgePrivacy(public_nodes=300).prepare(SIMPLE, nodes_listed=False, epsilon="2.6", mechanism="partition")
    release = prepared.release(graph, source=SeededSource(2))
    assert release.draw is not None
    document = to_document(release)
    assert from_document(document) == release
    counts, prevalences = document["draw"].values()
    with pytest.raises(DataError, match="the draw has more labels than there are"):
        from_document({**document, "draw": {"counts": counts, "prevalences": [10**6, *prevalences[1:]]}})
