"""What may be passed as a privacy parameter, exactly."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.errors import UsageError
from anonhist.privacy import parse_epsilon, short_decimal
from anonhist_testing.cases import each_of
from anonhist_testing.strategies import epsilons, repeatable


@each_of(
    ("value", "exact"),
    [
        (1, Fraction(1)),
        (10**64, Fraction(10**64)),
        (0.1, Fraction(1, 10)),
        (0.5, Fraction(1, 2)),
        (1e-3, Fraction(1, 1000)),
        (1e22, Fraction(10**22)),
        (0.30000000000000004, Fraction(30000000000000004, 10**17)),
        (1 / 3, Fraction(3333333333333333, 10**16)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("1E+3"), Fraction(1000)),
        (Decimal(2**-4), Fraction(1, 16)),
        (Fraction(2, 6), Fraction(1, 3)),
        (np.int64(2), Fraction(2)),
        (np.uint8(2), Fraction(2)),
        (np.float64(0.1), Fraction(1, 10)),
        ("1", Fraction(1)),
        ("+1", Fraction(1)),
        ("007", Fraction(7)),
        ("0.1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("1e-3", Fraction(1, 1000)),
        ("1E+3", Fraction(1000)),
        ("2.50e1", Fraction(25)),
        ("1/3", Fraction(1, 3)),
        ("+2/6", Fraction(1, 3)),
        ("  0.5\t\n", Fraction(1, 2)),
        ("1e64", Fraction(10**64)),
        ("1e-64", Fraction(1, 10**64)),
        ("0." + "1" * 200, Fraction(int("1" * 200), 10**200)),
    ],
)
def test_accepted(value: Any, exact: Fraction) -> None:
    parsed = parse_epsilon(value)
    assert parsed == exact
    assert type(parsed) is Fraction
    assert type(parsed.numerator) is int


@each_of(
    "value",
    [
        True,
        False,
        np.True_,
        0,
        -1,
        0.0,
        -0.0,
        -0.5,
        float("nan"),
        float("inf"),
        -float("inf"),
        np.float64("nan"),
        np.float32(0.5),
        np.float16(0.5),
        np.longdouble(0.5),
        Decimal(0),
        Decimal("0E+999999"),
        Decimal(-1),
        Decimal("-1E+999999"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        Fraction(0),
        Fraction(-1, 3),
        -(10**5000),
        1j,
        None,
        [1],
        (1,),
        {"epsilon": 1},
        b"1",
        bytearray(b"1"),
        np.array([0.5]),
        np.array(0.5),
        "",
        " ",
        "-1",
        "-0.5",
        "0",
        "0.0",
        "-0",
        "0/3",
        "1/0",
        "-1/3",
        "1/-3",
        "1/3.0",
        "1.5/2",
        "1 / 3",
        "1/2/3",
        "one",
        "nan",
        "inf",
        "Infinity",
        "1_0",
        "1,5",
        "1 0",
        "0x1",
        "1e",
        "e1",
        ".",
        "+",
        "++1",
        "1e1.5",
        "1e1/2",
        "٣",
        "１",
        "1\x00",
        "1;2",
        "1e9999999999999",
        "9" * 2000,
    ],
)
def test_refused(value: Any) -> None:
    with pytest.raises(UsageError, match=r"^budget must be a finite number greater than zero") as refused:
        parse_epsilon(value, name="budget")
    message = str(refused.value)
    assert message.endswith(".")
    assert len(message) < 250


@each_of(
    "value",
    [
        "1e65",
        "1.1e64",
        "1e-65",
        "9.9e-65",
        "1e400",
        "1e-400",
        "1e999999",
        "1e-999999",
        Decimal("1E+999999999"),
        Decimal("1E-999999999"),
        10**5000,
        Fraction(1, 10**5000),
        Fraction(10**300 + 1, 10**300),
        "0." + "1" * 300,
        1e300,
        5e-324,
    ],
)
def test_beyond_all_reason_is_refused_at_once(value: Any) -> None:
    with pytest.raises(UsageError, match=r"^epsilon must lie between 1e-64 and 1e64 and have at most 256 digits\.$"):
        parse_epsilon(value)


def test_the_error_names_the_value_where_it_is_short() -> None:
    with pytest.raises(UsageError, match=r"such as 0\.5, not '-1'"):
        parse_epsilon("-1")
    with pytest.raises(UsageError, match="as an int, str, float, Decimal or Fraction, not None"):
        parse_epsilon(None)


@pytest.mark.slow
@repeatable
@given(epsilons())
def test_every_spelling_means_its_number(pair: tuple[Any, Fraction]) -> None:
    value, exact = pair
    assert parse_epsilon(value) == exact


@pytest.mark.slow
@repeatable
@given(st.floats(1e-60, 1e60))
def test_a_float_means_its_shortest_decimal(value: float) -> None:
    parsed = parse_epsilon(value)
    assert float(parsed) == value
    assert parsed == Fraction(repr(value)) == parse_epsilon(repr(value)) == parse_epsilon(np.float64(value))


@pytest.mark.slow
@repeatable
@given(st.fractions(Fraction(1, 10**60), 10**60).filter(lambda value: value > 0))
def test_what_is_written_is_read_again(value: Fraction) -> None:
    assert parse_epsilon(short_decimal(value)) == value
    assert parse_epsilon(str(value)) == value


@each_of(
    ("value", "text"),
    [
        (Fraction(1), "1"),
        (Fraction(1, 2), "0.5"),
        (Fraction(1, 3), "1/3"),
        (Fraction(1, 10), "0.1"),
        (Fraction(0.1), str(Fraction(0.1))),
        (Fraction(1, 10**5), "1e-05"),
        (Fraction(10**22), "1e+22"),
        (Fraction(10**400), "1" + 400 * "0"),
        (Fraction(1, 10**400), "1/1" + 400 * "0"),
        (Fraction(123456789012345678901234567890), "123456789012345678901234567890"),
        (Fraction(0), "0"),
        (Fraction(-1, 4), "-0.25"),
    ],
)
def test_short_decimals(value: Fraction, text: str) -> None:
    assert short_decimal(value) == text
    assert Fraction(text) == value
