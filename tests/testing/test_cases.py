import pytest

from anonhist.testing.cases import together


def test_every_case_runs_and_all_that_fail_are_named() -> None:
    ran = []

    @together("first", [1, 2])
    @together(("second", "third"), [(3, "a"), (4, "b"), (5, "c")])
    def of_all(first: int, second: int, third: str) -> None:
        ran.append((first, second, third))
        assert second != 4
        with pytest.raises(ValueError, match="5"):  # what does not happen fails, too
            raise ValueError(3 if (first, second) == (1, 3) else 5)

    with pytest.raises(BaseExceptionGroup) as caught:
        of_all()
    assert ran == [(first, second, third) for first in (1, 2) for second, third in ((3, "a"), (4, "b"), (5, "c"))]
    first, second = caught.value.exceptions
    assert (first.message, second.message) == ("2 of 3 cases failed", "1 of 3 cases failed")
    assert first.__notes__ == ["case 0: first = 1"]
    assert [one.__notes__ for one in first.exceptions] == [
        ["case 0: second = 3, third = 'a'"],
        ["case 1: second = 4, third = 'b'"],
    ]


def test_what_does_not_raise_fails() -> None:
    @together("number", [1])
    def of_all(number: int) -> None:
        with pytest.raises(ValueError, match="never"):
            assert number == 1

    with pytest.raises(BaseExceptionGroup, match="1 of 1 cases failed"):
        of_all()


@together("number", [1, 2, 3])
@pytest.mark.parametrize("power", [1, 2])
def test_fixtures_and_parameters_are_handed_on(
    number: int, power: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert number**power in (1, 2, 3, 4, 9)
    assert tmp_path_factory


def test_values_must_be_some_and_as_many_as_names() -> None:
    with pytest.raises(ValueError, match="zip"):
        together(("first", "second"), [(1,)])
    with pytest.raises(ValueError, match="no case"):
        together("number", [])
