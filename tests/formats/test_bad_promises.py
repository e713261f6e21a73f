from pathlib import Path
from typing import Any

import pytest

from anonhist.errors import DataError
from anonhist.formats.document import from_document, to_document
from anonhist.formats.releases import read_release
from anonhist.mechanisms import PartitionMechanism
from anonhist.mechanisms.exponential.calibration import FamilyParameters
from anonhist.releases import Release
from anonhist_testing.bad_files import ABSENT, as_json, as_parquet, change_field
from anonhist_testing.cases import each_of

BAD_PROMISES = [
    ("privhist", "items", ABSENT, "a release by exactly the fields"),
    ("privhist", "items", None, "items, the number of items that PrivHist publishes, is missing"),
    ("privhist", "items", 0, "with so few items"),
    ("privhist", "items", 1, "with so few items"),
    ("privhist", "items", -1, "items must be a whole number from 0"),
    ("privhist", "items", 958.0, "items must be a whole number"),
    ("privhist", "items", "958", "items must be a whole number"),
    ("privhist", "items", True, "items must be a whole number"),
    ("privhist", "items", [958], "items must be a whole number"),
    ("privhist", "items", 2**63, "items must be a whole number"),
    ("privhist", "items", 10**4000, "items must be a whole number"),
    ("privhist", "extra", 1, "exactly the fields"),
    ("frobenius", "items", 5, "items belong to PrivHist releases"),
    ("frobenius", "excess", {"bound": 5}, "it must describe the excess by exactly the fields"),
    ("isotonic", "order_key", "0" * 32, "has an order key"),
    ("isotonic", "items", 5, "items belong to PrivHist releases"),
    ("empty", "items", 0, "items belong to PrivHist releases"),
    ("privhist", "guarantee.epsilon", "1/4", "add up"),
    ("privhist", "guarantee.spending", [], "different steps or epsilons"),
    ("privhist", "guarantee.spending", [["all", "1/2"]], "different steps or epsilons"),
    (
        "privhist",
        "guarantee.spending",
        [
            ["the number of items", "1/50"],
            ["small and large counts", "47/200"],
            ["sums over blocks of counts", "49/200"],
        ],
        "different steps or epsilons",
    ),
    (
        "privhist",
        "guarantee.spending",
        [
            ["small and large counts", "49/200"],
            ["the number of items", "1/100"],
            ["sums over blocks of counts", "49/200"],
        ],
        "different steps or epsilons",
    ),
    ("privhist", "mechanism.parameters.epsilon", "0.25", "different steps or epsilons"),
    ("privhist", "mechanism.parameters.shares", "1/3, 1/3, 1/3", "different steps or epsilons"),
    ("privhist-thirds", "mechanism.parameters.shares", "1/3, 1/3, 1/4", "add up to 1"),
    ("privhist-thirds", "mechanism.parameters.shares", "2/3, 1/3", "three numbers"),
    ("privhist-thirds", "mechanism.parameters.shares", "4/3, 1/3, -2/3", "share"),
    ("privhist-thirds", "mechanism.parameters.shares", 3, "text"),
    ("privhist-thirds", "mechanism.parameters.shares", ABSENT, "must be exactly the parameters"),
    ("privhist-thirds", "guarantee.epsilon", "6", "add up"),
    ("isotonic", "mechanism.parameters.public_labels", 4, "not that of the mechanism"),
    ("isotonic", "profile.prevalences", [4, 2], "beyond the public numbers"),
    ("isotonic", "mechanism.parameters.public_labels", 6, "not that of the mechanism"),
    ("isotonic", "mechanism.parameters.public_labels", ABSENT, "public_labels must be among them"),
    ("isotonic", "mechanism.parameters.public_labels", 5.0, "whole numbers"),
    ("isotonic", "mechanism.parameters.public_labels", "5", "whole number"),
    ("isotonic", "mechanism.parameters.public_labels", 0, "whole number"),
    ("isotonic", "mechanism.parameters.public_cap", 5, "they must be epsilon"),
    ("isotonic", "guarantee.spending", [["all", "1/4"], ["more", "1/4"]], "different steps"),
    ("isotonic", "mechanism.name", "cumulative", "they must be epsilon"),
    ("isotonic", "mechanism.name", "frobenius", "they must be epsilon"),
    ("cumulative", "mechanism.parameters.public_cap", 8, "not that of the mechanism"),
    ("cumulative", "mechanism.parameters.public_cap", 10, "not that of the mechanism"),
    ("cumulative", "mechanism.parameters.public_cap", 2**24 + 1, "whole number"),
    ("cumulative", "mechanism.parameters.epsilon", "1/4", "different steps or epsilons"),
    ("prevalence-items", "mechanism.parameters.public_cap", 8, "not that of the mechanism"),
    ("prevalence-items", "mechanism.parameters.public_cap", ABSENT, "needs public_cap"),
    ("prevalence", "mechanism.parameters.public_cap", 5, "leave public_cap out"),
    ("bounded-partition", "mechanism.parameters.public_items", 20, "not that of the mechanism"),
    ("bounded-partition", "profile.prevalences", [4, 2], "beyond the public numbers"),
    ("bounded-partition", "mechanism.parameters.public_items", 2**40 + 1, "whole number"),
    ("bounded-partition", "mechanism.name", "relaxed-partition", "must be exactly the parameters"),
    ("bounded-partition", "guarantee.delta", "0", "not that of the mechanism"),
    ("relaxed-partition", "mechanism.parameters.public_items", 20, "not that of the mechanism"),
    ("relaxed-partition", "profile.prevalences", [4, 2], "beyond the public numbers"),
    ("cumulative", "profile.counts", [1, 10], "beyond the public numbers"),
    ("prevalence-items", "profile.counts", [1, 10], "exceeds the largest"),
    ("relaxed-partition", "mechanism.parameters.public_items", 2**40 + 1, "whole number"),
    ("relaxed-partition", "mechanism.parameters.delta", "1/10000000", "not that of the mechanism"),
    ("relaxed-partition", "mechanism.parameters.delta", "1/100", "delta must lie between"),
    ("relaxed-partition", "mechanism.parameters.delta", 1e-6, "whole numbers"),
    ("partition", "mechanism.parameters.c", "0.5", "they may include only the numbers c and z"),
    ("partition", "mechanism.parameters.z", "0.5", "they may include only the numbers c and z"),
]


@each_of(
    ("name", "where", "value", "reason"),
    BAD_PROMISES,
)
def test_promises_that_no_mechanism_makes_are_refused_through_every_way_in(
    tmp_path: Path, releases: dict[str, Release], name: str, where: str, value: object, reason: str
) -> None:
    release = releases[name]
    document = change_field(to_document(release), where, value)
    path = as_json(tmp_path, document)
    with pytest.raises(DataError, match=reason) as caught:
        read_release(path)
    assert str(caught.value).count("\n") == 0
    assert len(str(caught.value)) < 600
    if not where.startswith("profile"):
        with pytest.raises(DataError, match=reason):
            read_release(as_parquet(tmp_path, release, document))


@each_of(
    ("c", "z", "reason"),
    [
        ("9.5", "0.0", "costs more than ε/Δ = 2"),
        ("0.5", "7.0", "z"),
        ("nan", "0.0", "c"),
        ("-1", "0.0", "c"),
        ("a lot", "0.0", "c and z"),
    ],
)
def test_a_member_that_its_budget_does_not_cover_is_refused(
    releases: dict[str, Release], c: str, z: str, reason: str
) -> None:
    mechanism = PartitionMechanism(2, member=FamilyParameters(0.5, 0.0))
    document = change_field(to_document(releases["partition"]), "guarantee.delta", str(mechanism.delta))
    document = change_field(document, "guarantee.arithmetic", mechanism.arithmetic)
    document = change_field(document, "guarantee.sentence", mechanism.guarantee.sentence)
    assert from_document(change_field(document, "mechanism.parameters", parameters_with(document, "0.5", "0.0")))
    with pytest.raises(DataError, match=reason):
        from_document(change_field(document, "mechanism.parameters", parameters_with(document, c, z)))


def parameters_with(document: dict[str, Any], c: str, z: str) -> dict[str, Any]:
    return {**document["mechanism"]["parameters"], "c": c, "z": z}


def test_every_kind_of_release_can_be_refused(releases: dict[str, Release]) -> None:
    assert {name for name, *_ in BAD_PROMISES} == set(releases)
