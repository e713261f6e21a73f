from typing import Any, ClassVar

import pytest

from anonhist.catalogue import RANDOMIZERS
from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.local import (
    KRAPPOR,
    KRR,
    ORAPPOR,
    ORR,
    RAPPOR,
    Alphabet,
    HadamardResponse,
    HeavyHitters,
    HybridProjectiveGeometry,
    LocalHashing,
    OptimizedUnary,
    ProjectiveGeometry,
    SubsetSelection,
    Survey,
    WarnerRR,
)
from anonhist.local.mechanisms import parameter_names, survey_class, survey_from
from anonhist_testing.cases import each_of

SOME = [
    WarnerRR(epsilon=1),
    KRR(alphabet=["a", "ß", "", "c d"], epsilon="1/3", title="Pets"),
    KRR(alphabet=Alphabet(["a", "b"], other="none of these"), epsilon=2),
    KRAPPOR(alphabet=12, epsilon=0.5),
    OptimizedUnary(alphabet=3, epsilon=1),
    SubsetSelection(alphabet=50, epsilon=1),
    SubsetSelection(alphabet=50, epsilon=1, subset_size=2),
    ORR(buckets=64, cohorts=4, key="pets", epsilon=4),
    ORR(alphabet=["a", "b"], cohorts=1, key="pets", epsilon=4),
    ORAPPOR(buckets=64, cohorts=4, hashes=2, key="pets", epsilon=4),
    LocalHashing(epsilon=1),
    LocalHashing(alphabet=["a", "b"], epsilon=1, key="ß"),
    HadamardResponse(alphabet=100, epsilon=3),
    ProjectiveGeometry(alphabet=100, epsilon=1),
    HybridProjectiveGeometry(alphabet=100, epsilon=3),
    RAPPOR(buckets=32, cohorts=8, hashes=2, key="pets", f="1/2", p="1/2", q="3/4"),
    HeavyHitters(max_bytes=5, epsilon=2),
]


def _again(survey: Survey, **changed: Any) -> Survey:
    said: dict[str, Any] = {
        "name": survey.name,
        "epsilon": str(survey.epsilon),
        "title": survey.title,
        "parameters": survey.parameters,
    }
    return survey_from(**said | changed)


@each_of("survey", SOME)
def test_a_survey_is_made_anew_from_what_it_says(survey: Survey) -> None:
    again = _again(survey)
    assert again == survey
    assert type(again) is type(survey)
    assert again.digest == survey.digest


def test_names_are_those_of_the_classes() -> None:
    for survey in SOME:
        assert survey_class(survey.name) is type(survey)
    assert {survey.name for survey in SOME} == set(RANDOMIZERS)


def test_parameters_are_what_a_mechanism_takes_besides_epsilon_and_title() -> None:
    assert parameter_names("k-rr") == {"alphabet": True}
    assert parameter_names("subset-selection") == {"alphabet": True, "subset_size": False}


@each_of("name", ["K-RR", "", "laplace", 5, None, ["k-rr"]])
def test_other_names_are_refused(name: Any) -> None:
    with pytest.raises(UsageError, match=r"There is no local mechanism .*k-rr, k-rappor"):
        survey_class(name)


@each_of(
    ("parameters", "reason"),
    [
        ({}, "do not have the types"),
        ([], "must be among alphabet, chosen"),
        (None, "must be among alphabet, chosen"),
        ({"alphabet": {"size": 5}, "chosen": 1, "seed": 3}, "must be among alphabet, chosen"),
        ({"alphabet": {"size": 5}, "chosen": 1, "epsilon": 3}, "must be among alphabet, chosen"),
        ({"alphabet": {"size": 5}}, "parameters are incomplete"),
        ({"alphabet": {"size": 5}, "chosen": 1.0}, "subset_size must be a whole number"),
        ({"alphabet": {"size": 5}, "chosen": True}, "subset_size must be a whole number"),
        ({"alphabet": {"size": 5}, "chosen": "1"}, "subset_size must be a whole number"),
        ({"alphabet": {"size": 5}, "chosen": 5}, "subset_size must be a whole number"),
        ({"alphabet": {"size": 5}, "chosen": None}, "parameters are incomplete"),
        ({"alphabet": {"size": 5}, "chosen": float("nan")}, "do not have the types"),
        ({"alphabet": 5, "chosen": 1}, "described by its size"),
        ({"alphabet": ["a", "b"], "chosen": 1}, "described by its size"),
        ({"alphabet": {}, "chosen": 1}, "described by its size"),
        ({"alphabet": {"other": "b"}, "chosen": 1}, "described by its size"),
        ({"alphabet": {"size": 5, "other": "b"}, "chosen": 1}, "described by its size"),
        ({"alphabet": {"size": 5, "labels": ["a", "b"]}, "chosen": 1}, "described by its size"),
        ({"alphabet": {"size": "5"}, "chosen": 1}, "whole number, and its labels a list"),
        ({"alphabet": {"size": ["a", "b"]}, "chosen": 1}, "whole number, and its labels a list"),
        ({"alphabet": {"size": True}, "chosen": 1}, "alphabet must be a whole number"),
        ({"alphabet": {"size": 1}, "chosen": 1}, "alphabet must be a whole number"),
        ({"alphabet": {"size": 5.0}, "chosen": 1}, "whole number, and its labels a list"),
        ({"alphabet": {"labels": 5}, "chosen": 1}, "whole number, and its labels a list"),
        ({"alphabet": {"labels": "ab"}, "chosen": 1}, "whole number, and its labels a list"),
        ({"alphabet": {"labels": ["a"]}, "chosen": 1}, "at least two labels"),
        ({"alphabet": {"labels": ["a", "a"]}, "chosen": 1}, "twice"),
        ({"alphabet": {"labels": ["a", 5]}, "chosen": 1}, "must be strings"),
        ({"alphabet": {"labels": ["a", []]}, "chosen": 1}, "must be strings"),
        ({"alphabet": {"labels": ["a", "b"], "other": "c"}, "chosen": 1}, "parameters are incomplete"),
        ({"alphabet": {"labels": ["a", "b"], "other": None}, "chosen": 1}, "parameters are incomplete"),
        ({"alphabet": {"labels": ["a", "b"], "other": 5}, "chosen": 1}, "must be strings"),
        ({"alphabet": None, "chosen": 1}, "do not have the types|must be a whole number"),
    ],
)
def test_parameters_that_no_such_survey_has_are_refused(parameters: Any, reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as caught:
        survey_from("subset-selection", epsilon="1", title="", parameters=parameters)
    assert "\n" not in str(caught.value)


@each_of("epsilon", ["1.0", "2/2", " 1", "1e0", "0", "-1", "nan", "65", "", 1, 1.0, None, ["1"]])
def test_epsilon_is_written_in_one_way(epsilon: Any) -> None:
    assert _again(SOME[0], epsilon="1") == SOME[0]
    with pytest.raises(UsageError, match="psilon"):
        _again(SOME[0], epsilon=epsilon)


@each_of("title", [None, 5, "two\nlines", "\x1b[2J"])
def test_titles_are_text_on_one_line(title: Any) -> None:
    with pytest.raises(UsageError, match="title"):
        _again(SOME[0], title=title)


@frozen(kw_only=True)
class _Lopsided(KRR):
    """A mechanism with a parameter that files of RAPPOR call by another name."""

    name: ClassVar[str] = "lopsided"
    p: int = 3


def test_only_those_that_say_so_have_other_names_in_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(survey_from.__globals__, "survey_class", lambda _: _Lopsided)
    survey = _Lopsided(alphabet=["a", "b"], epsilon=1, p=4)
    assert survey_from("lopsided", epsilon="1", title="", parameters=survey.parameters) == survey
