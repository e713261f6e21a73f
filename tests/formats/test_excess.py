"""What a bound on users left out, in files: written, read for ever, and refused where it cannot be."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from anonhist.errors import DataError
from anonhist.formats.document import from_document, to_document
from anonhist.formats.files import write
from anonhist.formats.releases import read_release
from anonhist.mechanisms import CentralMechanism, FrobeniusMechanism, PrevalenceMechanism, PrivHistMechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Bounded, Profile
from anonhist.releases import Excess, Release
from anonhist_testing.cases import each_of

GOLDEN = Path(__file__).parent / "golden" / "release-excess.json"
UNIT, SUBSTITUTE = PrivacyUnit.user(max_items=3), NeighboringRelation.SUBSTITUTE
FOUND = Excess(3, 30, SUBSTITUTE, Fraction(1, 80), Fraction(3, 80), 8_000, 2_000, -4)


@pytest.fixture
def release_with_excess(make_release: Callable[..., Release]) -> Release:
    return _with_excess(make_release, FrobeniusMechanism("0.95", UNIT, SUBSTITUTE))


def _with_excess(make_release: Callable[..., Release], mechanism: CentralMechanism, **items: int) -> Release:
    plain = make_release(Profile([1, 2, 7], [4, 3, 2]), mechanism, **items)
    return replace(plain, excess=FOUND, guarantee=FOUND.add_to(plain.guarantee))


def test_a_golden_file_is_read_and_written_for_ever(tmp_path: Path, release_with_excess: Release) -> None:
    read = read_release(GOLDEN)
    assert (read.excess, read.guarantee, read.mechanism) == (
        FOUND,
        release_with_excess.guarantee,
        release_with_excess.mechanism,
    )
    for release in (read, release_with_excess):
        write(release, tmp_path / "a.json", overwrite=True)
        assert (tmp_path / "a.json").read_text(encoding="utf-8") == GOLDEN.read_text(encoding="utf-8")
    write(release_with_excess, tmp_path / "a.parquet")
    assert read_release(tmp_path / "a.parquet").excess == FOUND


def test_mechanisms_with_steps_of_their_own_keep_them(make_release: Callable[..., Release]) -> None:
    made = _with_excess(make_release, PrivHistMechanism("0.5", UNIT, SUBSTITUTE), items=40)
    read = from_document(to_document(made))
    assert (read.guarantee, read.excess, read.items) == (made.guarantee, FOUND, 40)
    assert [purpose for purpose, _ in read.guarantee.spending][-2:] == [
        "users above the bound",
        "items above the bound",
    ]


LABEL, ADDED = PrivacyUnit.label(max_count=3), NeighboringRelation.ADD_OR_REMOVE
OF_LABELS = Excess(3, 30, ADDED, Fraction(1, 80), Fraction(3, 80), 8_000, 2_000, -4, Bounded.ITEMS_OF_LABELS)
GOLDEN_OF_LABELS = GOLDEN.with_name("release-labels-excess.json")


@pytest.fixture
def release_of_labels(make_release: Callable[..., Release]) -> Release:
    plain = make_release(Profile([1, 2, 3], [4, 3, 2]), PrevalenceMechanism("0.95", LABEL))
    return replace(plain, excess=OF_LABELS, guarantee=OF_LABELS.add_to(plain.guarantee))


def test_a_golden_file_of_labels_is_read_and_written_for_ever(tmp_path: Path, release_of_labels: Release) -> None:
    read = read_release(GOLDEN_OF_LABELS)
    assert (read.excess, read.guarantee, read.mechanism) == (
        OF_LABELS,
        release_of_labels.guarantee,
        release_of_labels.mechanism,
    )
    for release in (read, release_of_labels):
        write(release, tmp_path / "a.json", overwrite=True)
        assert (tmp_path / "a.json").read_text(encoding="utf-8") == GOLDEN_OF_LABELS.read_text(encoding="utf-8")


@each_of(
    ("where", "value", "says"),
    [
        ("version", 6, "its version is not 1"),
        ("excess.of", "items of users", "is not that of the mechanism and the excess together"),
        ("excess.of", "groups of labels", "is not that of the mechanism and the excess together"),
        ("excess.of", "items", "the subject of the excess must be one of"),
        ("excess.of", 7, "the subject of the excess must be plain text"),
        ("excess.bound", 2, "must say what the excess spent"),
    ],
)
def test_what_no_release_of_labels_says_is_refused(
    release_of_labels: Release, where: str, value: Any, says: str
) -> None:
    document = json.loads(json.dumps(to_document(release_of_labels)))
    *path, last = where.split(".")
    inside = document
    for name in path:
        inside = inside[name]
    inside[last] = value
    with pytest.raises(DataError, match=says):
        from_document(document)


@each_of(
    ("where", "value", "says"),
    [
        ("version", 3, "its version is not 1"),
        ("excess", {}, "the excess by exactly the fields"),
        ("excess", 5, "the excess by exactly the fields"),
        ("excess.of", None, "the subject of the excess must be plain text"),
        ("excess.of", "items of labels", "is not that of the mechanism and the excess together"),
        ("excess.more", 1, "the excess by exactly the fields"),
        ("excess.bound", 4, "must say what the excess spent"),
        ("excess.bound", 0, "bound must be"),
        ("excess.bound", True, "must be whole"),
        ("excess.cap", 0, "cap must be"),
        ("excess.noisy_items", 2**63, "noisy_items must be"),
        ("excess.noisy_above", 1.5, "must be whole"),
        ("excess.users_epsilon", "1/40", "is not that of the mechanism and the excess together"),
        ("excess.users_epsilon", "0", "users_epsilon must be"),
        ("excess.items_epsilon", 0.0375, "items_epsilon must be plain text"),
        ("mechanism.parameters.epsilon", "0.9", "is not that of the mechanism and the excess together"),
        ("mechanism.name", "hashed-sketch", "an excess belongs to a release of users or labels"),
    ],
)
def test_what_no_release_says_is_refused(release_with_excess: Release, where: str, value: Any, says: str) -> None:
    document = json.loads(json.dumps(to_document(release_with_excess)))
    *path, last = where.split(".")
    inside = document
    for name in path:
        inside = inside[name]
    inside[last] = value
    with pytest.raises(DataError, match=says):
        from_document(document)


def test_a_guarantee_without_the_excess_is_refused(release_with_excess: Release) -> None:
    document = to_document(release_with_excess)
    plain = to_document(replace(release_with_excess, excess=None, guarantee=release_with_excess.mechanism.guarantee))
    with pytest.raises(DataError, match="not that of the mechanism and the excess together"):
        from_document({**document, "guarantee": {**document["guarantee"], **plain["guarantee"]}})
    with pytest.raises(DataError):
        from_document({**document, "excess": document["excess"], "guarantee": plain["guarantee"]})
