"""A chosen bound, in files: how it was chosen is written, read for ever, and refused where it cannot be."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from anonhist.errors import DataError
from anonhist.formats.document import from_document, to_document
from anonhist.formats.files import read, write
from anonhist.mechanisms import FrobeniusMechanism, PrevalenceMechanism
from anonhist.mechanisms.picking import told_of_choice
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.chosen_bound import ChosenBound
from anonhist.releases import Release
from anonhist_testing.cases import each_of

GOLDEN = Path(__file__).parent / "golden" / "release-chosen-bound.json"
ASKED = ChosenBound("0.5", 1_000_000, candidates=(1, 4, 16))


PAIRS = GOLDEN.with_name("release-chosen-pair.json")
PAIR = ChosenBound("0.5", 1_000_000, candidates=(1, 4), group_candidates=(1, 2, 3))


@pytest.fixture
def release(make_release: Callable[..., Release]) -> Release:
    mechanism = FrobeniusMechanism(ASKED.rest, PrivacyUnit.user(max_items=4), bound_choice=ASKED)
    return make_release(Profile([1, 2, 7], [4, 3, 2]), mechanism)


def test_a_golden_file_is_read_and_written_for_ever(tmp_path: Path, release: Release) -> None:
    found = read(GOLDEN)
    assert isinstance(found, Release)
    assert (found.guarantee, found.mechanism) == (release.guarantee, release.mechanism)
    for each in (found, release):
        write(each, tmp_path / "a.json", overwrite=True)
        assert (tmp_path / "a.json").read_text(encoding="utf-8") == GOLDEN.read_text(encoding="utf-8")
    write(release, tmp_path / "a.parquet")
    again = read(tmp_path / "a.parquet")
    assert isinstance(again, Release)
    assert again.mechanism == release.mechanism


@pytest.fixture
def pair(make_release: Callable[..., Release]) -> Release:
    mechanism = PrevalenceMechanism(PAIR.rest, PrivacyUnit.label(max_count=4, groups=2), bound_choice=PAIR)
    return make_release(Profile([1, 2, 4], [4, 3, 2]), mechanism)


def test_a_golden_file_of_a_pair_is_read_and_written_for_ever(tmp_path: Path, pair: Release) -> None:
    found = read(PAIRS)
    assert isinstance(found, Release)
    assert (found.guarantee, found.mechanism) == (pair.guarantee, pair.mechanism)
    for each in (found, pair):
        write(each, tmp_path / "a.json", overwrite=True)
        assert (tmp_path / "a.json").read_text(encoding="utf-8") == PAIRS.read_text(encoding="utf-8")


@each_of(
    ("changed", "told"),
    [
        ({"choice_groups": "1,3"}, "a candidate of it"),
        ({"choice_groups": "1,2,"}, "commas between them"),
        ({"choice_groups": "1, 2"}, "commas between them"),
        ({"choice_groups": 2}, "must be text"),
        ({"choice_groups": "3,2"}, "ascending"),
        ({"groups": 4}, "a candidate of it"),
        # Nobody frees the mechanism from what the choice was made for.
        ({"choice_mechanism": "frobenius"}, "by another mechanism"),
    ],
)
def test_pairs_that_contradict_themselves_are_refused(pair: Release, changed: dict[str, object], told: str) -> None:
    document = to_document(pair)
    document["mechanism"]["parameters"] |= changed
    with pytest.raises(DataError, match=told):
        from_document(document)


@each_of(
    "changed",
    [
        {"choice_mechanism": "partition"},
        {"choice_candidates": "1,4,32"},
        {"choice_candidates": "1,2,4,16"},
    ],
)
def test_a_choice_that_was_changed_is_refused(release: Release, changed: dict[str, object]) -> None:
    made = replace(release, reason=f"{told_of_choice(ASKED, release.guarantee.unit)} Nothing else is known.")
    document = to_document(made)
    assert from_document(document).reason == made.reason
    document["mechanism"]["parameters"] |= changed
    with pytest.raises(DataError, match=r"by another mechanism|another choice of the bound"):
        from_document(document)


def test_a_choice_that_leaves_another_budget_is_refused(release: Release) -> None:
    document = to_document(release)
    # The choice spends as much as before, so the guarantee is the same.
    document["mechanism"]["parameters"] |= {"choice_epsilon": "500", "choice_share": "0.0001"}
    with pytest.raises(DataError, match="another budget"):
        from_document(document)


@each_of(
    ("name", "value", "told"),
    [
        ("choice_share", "0.2", "epsilon"),
        ("choice_epsilon", "1", "epsilon"),
        ("choice_epsilon", "0.50", "as this program writes them"),
        ("choice_candidates", "1,16", "candidate"),
        ("choice_candidates", "01,4,16", "as this program writes them"),
        ("choice_candidates", "4,1,16", "ascending"),
        ("choice_candidates", "1,4,²", "commas between them"),
        ("choice_items", "1000000", "must be text"),
        ("choice_items", 10**16, "expected_items"),
        ("choice_mechanism", "isotonic", "isotonic"),
        ("bound", 5, "candidate"),
    ],
)
def test_files_that_contradict_themselves_are_refused(release: Release, name: str, value: object, told: str) -> None:
    document = to_document(release)
    document["mechanism"]["parameters"][name] = value
    with pytest.raises(DataError, match=told):
        from_document(document)


def test_a_guarantee_without_the_choice_is_refused(release: Release) -> None:
    document = to_document(release)
    given = document["mechanism"]["parameters"]
    document["mechanism"]["parameters"] = {name: value for name, value in given.items() if "choice" not in name}
    with pytest.raises(DataError, match="different steps"):
        from_document(document)
