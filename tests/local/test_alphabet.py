from typing import Any

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.local import Alphabet
from anonhist_testing.cases import each_of


def test_labels_keep_their_order() -> None:
    alphabet = Alphabet(["b", "a", "c"])
    assert alphabet.names() == ("b", "a", "c")
    assert alphabet.codes(["c", "b", "b"]).tolist() == [2, 0, 0]
    assert alphabet.names([2, 0]) == ("c", "b")


def test_values_outside_are_refused_without_being_named() -> None:
    for alphabet, value in ((Alphabet(["a", "b"]), "secret"), (Alphabet(10), 12345)):
        with pytest.raises(DataError) as refused:
            alphabet.codes([value])
        assert str(value) not in str(refused.value)


@pytest.mark.parametrize("values", [["a", None], ["a", 3.5], ["a", ["b"]]])
def test_values_of_other_types_are_refused(values: Any) -> None:
    with pytest.raises(DataError, match="not in the alphabet"):
        Alphabet(["a", "b"]).codes(values)


def test_a_declared_label_takes_what_is_outside() -> None:
    appended, listed = Alphabet(["a", "b"], other="?"), Alphabet(["a", "?", "b"], other="?")
    assert appended.names() == ("a", "b", "?")
    assert appended.codes(["b", "x", None]).tolist() == [1, 2, 2]
    assert listed.codes(["b", "x", "?"]).tolist() == [2, 1, 1]
    with pytest.raises(DataError, match="must be text"):
        appended.codes([["unhashable"]])


@each_of("given", [[0, 3, 9], np.array([0, 3, 9], dtype=np.uint8), ["0", "3", "9"], np.array(["0", "3", "9"])])
def test_numbers_are_their_own_codes(given: Any) -> None:
    codes = Alphabet(10).codes(given)
    assert codes.tolist() == [0, 3, 9]
    assert codes.dtype == np.int64


@each_of("given", [[-1], [10], [2**70], [1.0], ["x"], [None], [[1]], np.array([0.5]), np.array([2.7, 1], object)])
def test_what_is_no_number_of_the_alphabet_is_refused(given: Any) -> None:
    with pytest.raises(DataError):
        Alphabet(10).codes(given)


WRONG_TEXTS = [
    "05",
    "00",
    "+7",
    "-0",
    "-1",
    " 7",
    "7 ",
    "7\n",
    "7_0",
    "7.0",
    "1e1",
    "0x7",
    "",
    "٧",
    "4294967296",
    "9" * 5000,
]


@each_of("text", WRONG_TEXTS)
def test_texts_are_numbers_as_in_javascript_and_no_others(text: str) -> None:
    # tests/client/collection.test.mjs has the same.
    assert Alphabet(2**32).codes(["0", "7", "10", "4294967295", 7]).tolist() == [0, 7, 10, 4294967295, 7]
    for given in ([text], ["7", text], np.array(["7", text])):
        with pytest.raises(DataError, match="not one of the whole numbers"):
            Alphabet(2**32).codes(given)


def test_nobody_has_no_codes() -> None:
    assert Alphabet(10).codes([]).shape == (0,)
    assert Alphabet(["a", "b"]).codes([]).dtype == np.int64


@each_of(
    ("labels", "said"),
    [
        ([], "at least two labels"),
        (["a"], "at least two labels"),
        (["a", "b", "a"], "twice"),
        # Looked for one by one, it would take hours.
        ([*map(str, range(200_000)), "199999"], "199999.*twice"),
        ("abc", "not a string"),
        (["a", 3], "strings"),
        (1, "from 2 to"),
        (0, "from 2 to"),
        (2**33, "from 2 to"),
        (True, "from 2 to"),
        (2.5, "from 2 to"),
    ],
)
def test_impossible_alphabets_are_refused(labels: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Alphabet(labels)


def test_numbers_have_no_label_for_others() -> None:
    with pytest.raises(UsageError, match="list the labels"):
        Alphabet(10, other="?")


def test_labels_out_of_arrays_become_plain_texts() -> None:
    assert all(type(label) is str for label in Alphabet.of(np.array(["a", "b"])).names())
