"""Many cases in one test: none is left out, and every failure is told."""

import inspect
from pathlib import Path

import pytest

from anonhist_testing.cases import each_of


def test_every_case_is_checked_with_the_fixtures_once() -> None:
    seen = []

    @each_of("letter", iter("ab"))
    @each_of(("number", "name"), [(1, "one"), (2, "two")])
    def check(fixture: str, letter: str, number: int, name: str) -> None:
        seen.append((fixture, letter, number, name))

    assert list(inspect.signature(check).parameters) == ["fixture"]
    check(fixture="f")
    assert seen == [("f", letter, number, name) for letter in "ab" for number, name in ((1, "one"), (2, "two"))]


def test_every_failure_is_raised_with_its_case() -> None:
    @each_of("number", [1, 2, 3, -(10**5000)])
    def check(number: int) -> None:
        with pytest.raises(ZeroDivisionError):
            _ = 1 // (number % 2 and number - 1)
        assert number > 0

    with pytest.raises(BaseExceptionGroup, match="2 of 4 cases failed") as caught:
        check()
    assert [error.__notes__ for error in caught.value.exceptions] == [["Case 2: {'number': 3}"], ["Case 3: number"]]
    assert [type(error) for error in caught.value.exceptions] == [pytest.fail.Exception, AssertionError]


def test_tests_of_nothing_and_cases_of_another_length_are_refused() -> None:
    with pytest.raises(AssertionError, match="no case"):
        each_of("number", [])
    with pytest.raises(ValueError, match="zip"):
        each_of(("number", "name"), [(1, "one"), (2,)])


@each_of("outer", "ab")
@each_of("inner", "cde")
def test_every_case_has_a_folder_of_its_own(tmp_path: Path, outer: str, inner: str) -> None:
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text(outer + inner)


def test_what_is_no_failure_of_a_case_ends_the_test() -> None:
    @each_of("number", [1, 2])
    def check(number: int) -> None:
        raise KeyboardInterrupt(number)

    with pytest.raises(KeyboardInterrupt, match="1"):
        check()
