"""Records for the registry of deployments: its schema accepts that of every golden file, and nothing is invented."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.errors import UsageError
from anonhist.formats.deployment import CURATOR_TYPES, Deployment, _number, empty_fields, registry_record
from anonhist.formats.files import read
from anonhist.mechanisms import release
from anonhist.mechanisms.grouping import release_groups
from anonhist.mechanisms.window_release import release_cumulative
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.grouped import GroupedProfile
from anonhist.profiles.windows import CumulativeCounts
from anonhist.releases import Release
from anonhist_testing.cases import each_of

if TYPE_CHECKING:
    from anonhist.formats.deployment import AnyRelease

FOLDER = Path(__file__).parent
DOCUMENT = (FOLDER.parents[1] / "docs" / "budget.md").read_text(encoding="utf-8")
GOLDEN = sorted(path.name for path in (FOLDER / "golden").glob("release-*"))
SCHEMA = json.loads((FOLDER / "registry-schema.json").read_text(encoding="utf-8"))
CHECK = jsonschema.Draft7Validator(SCHEMA, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
DEPLOYMENT = Deployment(curator="Library", curator_type="nonprofit", published="2026-01-31")


def record_of(released: "AnyRelease", deployment: Deployment = DEPLOYMENT) -> dict[str, Any]:
    told = registry_record(released, deployment)
    # Of plain values, which JSON keeps as they are.
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert [error.message for error in CHECK.iter_errors(told)] == []
    return told


def golden(name: str) -> Release:
    found = read(FOLDER / "golden" / name)
    assert isinstance(found, Release)
    return found


def texts_of(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts_of(each)]
    if isinstance(value, list):
        return [text for each in value for text in texts_of(each)]
    return [value] if isinstance(value, str) else []


def fields_of(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(fields_of, value.values()))
    return set().union(*map(fields_of, value)) if isinstance(value, list) else set()


def documented() -> dict[str, str]:
    """Return what docs/budget.md says of each field that is left for a person."""
    return dict(re.findall(r"^\| `([a-z_]+)` \| (.*) \|$", DOCUMENT, re.MULTILINE))


@each_of("name", GOLDEN)
def test_the_schema_accepts_the_record_of_every_golden_file(name: str) -> None:
    released = golden(name)
    loss = record_of(released)["deployment"]["privacy_loss"]
    guarantee = released.guarantee
    assert loss["privacy_unit"] == str(guarantee.unit)
    assert f"relation: {guarantee.relation.value}" in loss["privacy_unit_details"]
    assert guarantee.sentence in loss["privacy_parameters_details"]
    parameters = loss["privacy_parameters"]
    assert parameters["epsilon"] == pytest.approx(float(guarantee.epsilon), rel=1e-14)
    assert ("delta" in parameters) == (guarantee.delta > 0)
    assert parameters.get("delta", 0) == pytest.approx(float(guarantee.delta), rel=1e-14)


def test_there_are_golden_files_with_and_without_delta() -> None:
    variants = {record_of(golden(name))["deployment"]["dp_variant"]["variant_name"] for name in GOLDEN}
    assert variants == {"Pure DP", "Approximate DP"}
    assert len(GOLDEN) > 20


def test_releases_of_groups_and_windows_have_records() -> None:
    profiles = {("DE",): Profile.from_counts([3, 1]), ("FR",): Profile.from_counts([2])}
    grouped = release_groups(GroupedProfile(("country",), profiles, unit=PrivacyUnit.item()), epsilon="0.25")
    told = record_of(grouped)["deployment"]
    assert told["basic"]["description"] == (
        "How many labels have each count, without saying which, for each of 2 groups by country."
    )
    assert told["privacy_loss"]["privacy_parameters"]["epsilon"] == 0.25
    assert "DE" not in " ".join(texts_of(told)).split()
    windows = release_cumulative(CumulativeCounts((1, 2), ("2026-11-01",), [[40], [10]]), epsilon=3)
    told = record_of(windows)["deployment"]
    assert told["basic"]["description"] == (
        "How many labels have reached a count of 1, 2 by the end of each of 1 days."
    )


EMPTY = ["url_slug", "name", "intended_use", "data_product_region", "registry_authors"]


def test_what_nobody_said_is_left_for_a_person() -> None:
    told = record_of(golden("release-band-frobenius.json"))
    basic, administrative = told["deployment"]["basic"], told["deployment"]["administrative"]
    assert told["url_slug"] == basic["name"] == basic["intended_use"] == basic["data_product_region"] == ""
    assert administrative == {"status": "Draft", "registry_authors": [""], "tier": 1}
    assert list(empty_fields(told)) == EMPTY
    assert texts_of(told).count("") == len(EMPTY)
    said = record_of(golden("release-band-frobenius.json"), replace(DEPLOYMENT, title="a", author="b"))
    assert list(empty_fields(said)) == ["url_slug", "intended_use", "data_product_region"]


def test_a_record_has_these_fields_and_no_others() -> None:
    told = record_of(golden("release-band-frobenius.json"))["deployment"]
    assert {part: list(fields) for part, fields in told.items()} == {
        "basic": [
            "name",
            "data_curators",
            "description",
            "intended_use",
            "data_product_type",
            "data_product_region",
            "publication_date",
        ],
        "dp_variant": ["variant_name"],
        "privacy_loss": [
            "privacy_unit",
            "privacy_unit_details",
            "privacy_parameters",
            "privacy_parameters_details",
        ],
        "deployment_model": ["model_name"],
        "implementation": ["mechanisms", "composition"],
        "administrative": ["status", "registry_authors", "tier"],
    }


def test_the_example_is_a_record_and_has_every_field() -> None:
    block = (FOLDER.parents[1] / "examples" / "registry_record.yaml").read_text(encoding="utf-8")
    shown = json.loads(re.sub(r"  # .*", "", block))
    assert [error.message for error in CHECK.iter_errors(shown)] == []
    assert list(empty_fields(shown)) == []
    by_hand = set(re.findall(r'^ *"([a-z_]+)": .*  # by hand$', block, re.MULTILINE))
    made = release(Profile.from_counts([3, 1]), epsilon="0.3", mechanism="frobenius", simulations=0)
    told = record_of(made, replace(DEPLOYMENT, curator="City Library"))
    assert by_hand == {*EMPTY, *(fields_of(shown) - fields_of(told))} - {"registry_authors"}
    # What nobody wrote by hand is what the program says, up to where it is cut.
    for part, fields in told["deployment"].items():
        for name, value in fields.items():
            if name not in {*by_hand, "registry_authors", "tier"}:
                found = shown["deployment"][part][name]
                assert value.startswith(found[:-1]) if str(found).endswith("…") else value == found, name
    # Each is explained, and so is the only one that depends on the release.
    assert set(documented()) == {*by_hand, "registry_authors", "model_name"}


def test_the_words_for_a_person_to_choose_from_are_those_of_the_schema() -> None:
    properties = SCHEMA["properties"]["deployment"]["properties"]
    for part, name in [
        ("basic", "data_product_sector"),
        ("deployment_model", "model_name"),
        ("deployment_model", "release_type"),
        ("deployment_model", "data_source_type"),
        ("deployment_model", "access_type"),
    ]:
        assert all(word in documented()[name] for word in properties[part]["properties"][name]["enum"]), name
    curators = properties["basic"]["properties"]["data_curators"]["items"]["properties"]["data_curator_type"]["enum"]
    assert list(CURATOR_TYPES.values()) == curators


def test_the_model_is_left_open_where_parties_add_the_noise() -> None:
    released = golden("release-band-frobenius.json")
    assert record_of(released)["deployment"]["deployment_model"]["model_name"] == "Central"
    shared = replace(released.guarantee, conditions=("parties do not talk",), party_epsilon=Fraction(2))
    told = record_of(replace(released, guarantee=shared))["deployment"]
    assert "deployment_model" not in told
    assert "parties do not talk" in told["privacy_loss"]["privacy_parameters_details"]


def test_shared_noise_counts_as_much_as_it_is_charged() -> None:
    released = golden("release-band-frobenius.json")
    outside = released.guarantee.epsilon
    shared = replace(released.guarantee, conditions=("parties do not talk",), party_epsilon=4 * outside)
    told = record_of(replace(released, guarantee=shared))["deployment"]["privacy_loss"]
    assert told["privacy_parameters"]["epsilon"] == float(4 * outside)
    assert "Exactly: ε = 3.6 toward each party and 0.9 toward outsiders, δ = 0. " in told["privacy_parameters_details"]


def details_of_users(released: "AnyRelease") -> str:
    details = record_of(released)["deployment"]["privacy_loss"]["privacy_unit_details"]
    assert isinstance(details, str)
    return details


@each_of("key", ["0" * 32, None])
def test_who_limited_the_items_of_users_is_said(key: str | None) -> None:
    users = PrivacyUnit.user(max_items=3)
    profile = Profile([1], [2], unit=users, order_key=key)
    grouped = GroupedProfile(("group",), {("x",): profile}, unit=users, order_key=key)
    counts = CumulativeCounts((1,), ("2026-01-01",), np.array([[2]]), unit=users, order_key=key)
    for released in (
        release(profile, epsilon=1, simulations=0),
        release_groups(grouped, epsilon=1, simulations=0),
        release_cumulative(counts, epsilon=1),
    ):
        details = details_of_users(released)
        # If this program chose which items count, nobody needs to have limited the data.
        assert ("must have been limited" in details) is (key is None)
        assert ("Any one user is protected, however many rows they have" in details) is (key is not None)


def test_which_rows_were_counted_is_said() -> None:
    where = "country = 'DE'"
    profile = Profile([1], [2], where=where)
    grouped = GroupedProfile(("group",), {("x",): profile}, unit=PrivacyUnit.item(), where=where)
    counts = CumulativeCounts((1,), ("2026-01-01",), np.array([[2]]), where=where)
    for released in (
        release(profile, epsilon=1, simulations=0),
        release_groups(grouped, epsilon=1, simulations=0),
        release_cumulative(counts, epsilon=1),
    ):
        told = record_of(released)["deployment"]["basic"]["description"]
        assert told.endswith("; only rows where country = 'DE' were counted.")


NASTY = [
    "quotes \" and ' and \\",
    "a colon: and # a hash",
    'one line\n    status: "Approved"\r\n- another',
    "\u2028 \u2029 \x85 \x00 \x7f \ufeff \t \x1b",
    "{flow: [1]} & *alias !tag | > % @ `",
    "  spaces  ",
    "😀 ε ≤ δ",
    "---",
    "null",
]


@each_of("text", NASTY)
def test_no_text_breaks_the_record(text: str) -> None:
    deployment = replace(DEPLOYMENT, curator=text, title=text, purpose=text, region=text, author=text)
    released = golden("release-band-frobenius.json")
    plain = replace(DEPLOYMENT, title="x", purpose="x", region="x", author="x")
    told, usual = record_of(released, deployment), record_of(released, plain)
    basic = told["deployment"]["basic"]
    assert [basic[name] for name in ("name", "intended_use", "data_product_region")] == [text] * 3
    assert told["deployment"]["administrative"] == {"status": "Draft", "registry_authors": [text], "tier": 1}
    assert basic["data_curators"] == [{"data_curator_name": text, "data_curator_type": "Nonprofit"}]
    assert basic.keys() == usual["deployment"]["basic"].keys()


@given(st.fractions(min_value=Fraction(1, 10**64), max_value=10**64))
def test_numbers_are_never_written_as_less(value: Fraction) -> None:
    written = Fraction(json.dumps(_number(value)))
    assert value <= written <= value * (1 + Fraction(1, 10**15))


@given(st.integers(1, 10**15 - 1), st.integers(-64, 48))
def test_numbers_of_fifteen_digits_are_written_exactly(digits: int, power: int) -> None:
    value = digits * Fraction(10) ** power
    assert Fraction(json.dumps(_number(value))) == value


def test_the_smallest_numbers_are_not_written_as_nothing() -> None:
    assert _number(Fraction(1, 10**400)) > 0


def test_epsilon_and_delta_of_a_record_are_rounded_upward() -> None:
    released = golden("release-band-frobenius.json")
    third = Fraction(1, 3)  # the nearest floats of this, and of its 10⁻⁹th, are less
    assert Fraction(float(third)) < third
    promised = replace(released.guarantee, epsilon=third, delta=third / 10**9)
    told = record_of(replace(released, guarantee=promised))["deployment"]["privacy_loss"]["privacy_parameters"]
    assert third <= Fraction(json.dumps(told["epsilon"])) < third * (1 + Fraction(1, 10**15))
    assert third / 10**9 <= Fraction(json.dumps(told["delta"])) < third / 10**9 * (1 + Fraction(1, 10**15))


@each_of(
    ("name", "given", "said"),
    [
        ("published", "31.01.2026", "`published` must be a day such as 2026-01-31"),
        ("published", "20260131", "such as 2026-01-31"),
        ("published", "2026-02-30", "such as 2026-01-31"),
        ("curator_type", "person", "one of government, industry, nonprofit"),
    ],
)
def test_what_the_registry_would_refuse_is_refused(name: str, given: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        replace(DEPLOYMENT, **{name: given})
    assert said.replace("`", "") in str(refused.value)


def test_the_schema_refuses_what_the_registry_refuses() -> None:
    told = record_of(release(Profile.from_counts([3, 1]), epsilon=1))
    for path, wrong in [
        (("deployment", "basic", "publication_date"), "soon"),
        (("deployment", "basic", "data_curators"), []),
        (("deployment", "privacy_loss", "privacy_parameters", "epsilon"), "1"),
        (("deployment", "administrative", "surprise"), "x"),
    ]:
        changed = json.loads(json.dumps(told))
        inner = changed
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = wrong
        assert len(list(CHECK.iter_errors(changed))) == 1, path
