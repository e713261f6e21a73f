"""A chosen bound, in files: how it was chosen is written, read for ever, and refused where it cannot be."""

from collections.abc import Callable
from pathlib import Path

import pytest

from anonhist.errors import DataError
from anonhist.formats.document import from_document, to_document
from anonhist.formats.files import read, write
from anonhist.mechanisms import FrobeniusMechanism
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.chosen_bound import ChosenBound
from anonhist.releases import Release
from anonhist_testing.cases import each_of

GOLDEN = Path(__file__).parent / "golden" / "release-chosen-bound.json"
ASKED = ChosenBound("0.5", 1_000_000, candidates=(1, 4, 16))


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
