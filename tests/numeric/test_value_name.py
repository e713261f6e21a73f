"""Names of single values: one for each value, and a function of that value alone."""

import enum
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anonhist.errors import DataError
from anonhist.numeric.value_name import NOT_WHOLE, TOO_LARGE, is_missing, value_name
from anonhist_testing.cases import each_of

# A few digits and exponents, so that many are equal; some beyond what plain notation is for.
decimals = st.builds(
    lambda sign, digits, exponent: Decimal((sign, digits, exponent)),
    st.integers(0, 1),
    st.lists(st.integers(0, 2), min_size=1, max_size=4).map(tuple),
    st.sampled_from([0, 1, 2, -1, -2, -3, -4, -16_383, -16_384, -16_385, 131_070, 131_072, 10**9, -(10**9)]),
) | st.decimals(allow_nan=False)


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "something else"


class Float(float):
    def __str__(self) -> str:
        raise ValueError("hunter2")

    def __eq__(self, other: object) -> NoReturn:
        raise ValueError("hunter2")

    def __ne__(self, other: object) -> NoReturn:
        raise ValueError("hunter2")

    __hash__ = float.__hash__


class Whole(int):
    def __repr__(self) -> str:
        return "something else"


class Exact(Decimal):
    def __format__(self, *_: Any) -> str:
        return "something else"


class Pet(str, enum.Enum):  # noqa: UP042  # whose text is not that of its value
    CAT = "cat"


class Level(int, enum.Enum):
    HIGH = 3


class Color(enum.Enum):
    RED = 1


class Unspeakable:
    def __eq__(self, other: object) -> NoReturn:
        raise RuntimeError("hunter2")

    def __str__(self) -> NoReturn:
        raise RuntimeError("hunter2")

    __hash__ = object.__hash__


@contextmanager
def other_settings() -> Iterator[None]:
    """Set what a process may set otherwise: the arithmetic of Decimals, and how numbers are written."""
    strict = Context(prec=1, rounding=ROUND_CEILING, Emin=0, Emax=0, capitals=0, clamp=1)
    for trap in strict.traps:
        strict.traps[trap] = True
    digits = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        with localcontext(strict), np.printoptions(legacy="1.13", floatmode="fixed", precision=2):
            yield
    finally:
        sys.set_int_max_str_digits(digits)


@pytest.mark.full
@given(decimals, decimals)
@example(Decimal("1.5"), Decimal("1.500"))
@example(Decimal("-0.00"), Decimal(0))
@example(Decimal("1E+3"), Decimal(1000))
@example(Decimal("1E+131072"), Decimal(10) ** 5 * Decimal("1E+131067"))
@example(Decimal("Infinity"), Decimal("-Infinity"))
@example(Decimal(f"{10**40}.0"), Decimal(10**40 + 1))
def test_decimals_are_equal_if_and_only_if_their_names_are(first: Decimal, second: Decimal) -> None:
    assert (first == second) == (value_name(first) == value_name(second))


@given(decimals)
def test_a_name_of_a_decimal_is_that_decimal(value: Decimal) -> None:
    name = value_name(value)
    assert name is not None
    assert Decimal(name) == value
    assert len(name) < 150_000


@given(
    decimals
    | st.integers()
    | st.fractions()
    | st.floats(-1e15, 1e15)
    | st.floats(-(2.0**40), 2.0**40, width=32).map(np.float32)
)
@example(10**5000)
def test_no_setting_changes_a_name(value: Any) -> None:
    with other_settings():
        changed = value_name(value)
    assert changed == value_name(value)


def test_names_are_as_long_as_it_takes_however_python_limits_them() -> None:
    fraction = Fraction(10**5000, 7)
    with other_settings():
        assert value_name(-(10**5000)) == "-1" + "0" * 5000
        assert value_name(fraction) == "1" + "0" * 5000 + "/7"


@given(st.integers() | st.integers(-(10**900), 10**900))
def test_equal_numbers_of_python_have_one_name(value: int) -> None:
    assert value_name(value) == value_name(Decimal(value)) == value_name(Fraction(value)) == str(value)


@pytest.mark.full
@each_of(
    ("value", "name"),
    [
        (Decimal("1.50"), "1.5"),
        (Decimal("1E+3"), "1000"),
        (Decimal("-0.00"), "0"),
        (Decimal("0E+999999999"), "0"),
        (Decimal("12345678901234567890123456789.5"), "12345678901234567890123456789.5"),
        (Decimal(10) ** 29, "1" + "0" * 29),
        (Decimal("-1E-7"), "-0.0000001"),
        # PostgreSQL's numeric holds the first of each pair.
        (Decimal("1E-16383"), "0." + "0" * 16_382 + "1"),
        (Decimal("-1.20E-16383"), "-1.2E-16383"),
        (Decimal("12E+131070"), "12" + "0" * 131_070),
        (Decimal("12E+131071"), "1.2E+131072"),
        (Decimal("Infinity"), "Infinity"),
        (Decimal("-Infinity"), "-Infinity"),
        (Exact("1.50"), "1.5"),
        (10**131_072, "1E+131072"),
        (-(10**5000), "-1" + "0" * 5000),
        (Fraction(3, 2), "3/2"),
        (Fraction(14, 2), "7"),
        (7.0, "7"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e-7, "1e-07"),
        (Float(1.5), "1.5"),
        (Float(7.0), "7"),
        (np.float64(0.1), "0.1"),
        (np.float32(0.1), "0.1"),
        (np.float32(1e-7), "1e-07"),
        (np.float32(2_286_055.5), "2286055.5"),
        (np.float16(7), "7"),
        (np.int64(-7), "-7"),
        (np.uint64(2**64 - 1), str(2**64 - 1)),
        (Whole(7), "7"),
        (True, "True"),
        (np.bool_(1), "True"),
        (Text("cat"), "cat"),
        (np.str_("cat"), "cat"),
        (b"cat", "b'cat'"),
        (np.bytes_(b"cat"), "b'cat'"),
        (Pet.CAT, "cat"),
        (Level.HIGH, "3"),
        (Color.RED, "Color.RED"),
        (date(2026, 11, 26), "2026-11-26"),
        (datetime(2026, 11, 26, 8, tzinfo=UTC), "2026-11-26 08:00:00"),
        (np.timedelta64(3, "M"), "3 months"),
        ((1, "a"), "(1, 'a')"),
    ],
)
def test_names(value: Any, name: str) -> None:
    is_number = isinstance(value, float | np.floating | Decimal | Fraction)
    is_fraction = is_number and (
        "Inf" in name or Fraction(value if isinstance(value, Decimal) else name).denominator > 1
    )
    for only_whole in (False, True):
        if only_whole and is_fraction:
            with pytest.raises(DataError) as caught:
                value_name(value, only_whole=True)
            assert str(caught.value) == NOT_WHOLE
            continue
        found = value_name(value, only_whole=only_whole)
        assert (type(found), found) == (str, name)


@each_of(
    "written",
    [
        "2026-11-26T07",
        "2026-11-26T07:08:09",
        "2026-11-26T07:08:09.1",
        "2026-11-26T07:08:09.123456789",
        "2026-11-26T00:00",
    ],
)
def test_times_of_numpy_are_named_as_those_of_pandas(written: str) -> None:
    assert value_name(np.datetime64(written)) == value_name(pd.Timestamp(written)) == str(pd.Timestamp(written))
    assert value_name(np.datetime64(written).astype("M8[ns]")) == str(pd.Timestamp(written))


@each_of("written", ["2026-11-26", "2026-11", "2026"])
def test_dates_of_numpy_are_named_as_those_of_python(written: str) -> None:
    day = np.datetime64(written)
    assert value_name(day) == str(day.astype("M8[D]").item())


def test_durations_of_numpy_are_named_by_their_seconds() -> None:
    days = np.timedelta64(-5, "D")
    for unit in ("h", "m", "s", "ms", "us", "ns", "30s"):
        assert value_name(days.astype(f"m8[{unit}]"), only_whole=True) == str(-5 * 86_400)
    assert value_name(np.timedelta64(1_500, "ms")) == value_name(np.timedelta64(1_500_000, "us")) == "1.5"
    assert value_name(np.timedelta64(1, "as")) == "0." + "0" * 17 + "1"
    with pytest.raises(DataError, match="must be whole"):
        value_name(np.timedelta64(1_500, "ms"), only_whole=True)


@each_of(
    "value",
    [None, float("nan"), Float("nan"), np.float32("nan"), np.longdouble("nan"), Decimal("NaN"), Decimal("sNaN"),
     Decimal("-NaN123"), pd.NA, pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT"), np.ma.masked],
)  # fmt: skip
def test_missing_values_have_no_name(value: Any) -> None:
    with other_settings():
        assert is_missing(value)
        assert value_name(value) is None
        assert value_name(value, only_whole=True) is None


@each_of("value", [2.0**53, -1e300, float("inf"), Float("-inf"), np.float32("inf"), np.longdouble(2) ** 70])
def test_floats_that_skip_whole_numbers_are_refused(value: Any) -> None:
    with pytest.raises(DataError) as caught:
        value_name(value)
    assert str(caught.value) == TOO_LARGE


@pytest.mark.full
def test_whole_numbers_of_any_size_are_names_of_nodes() -> None:
    assert value_name(Decimal("1E+200000"), only_whole=True) == value_name(10**200_000, only_whole=True) == "1E+200000"
    for fraction in (
        Decimal("1" + "0" * 131_072 + ".5"),
        Decimal("1E-20000"),
        Decimal("Infinity"),
        Fraction(10**5000, 7),
    ):
        with pytest.raises(DataError, match="must be whole"):
            value_name(fraction, only_whole=True)


@each_of("value", [Unspeakable(), (10**5000,)])
def test_what_has_no_text_is_refused_without_it(value: Any) -> None:
    with pytest.raises(DataError) as caught:
        value_name(value)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_huge_exponent_takes_no_memory() -> None:
    values = [Decimal(f"{sign}1E{exponent}") for sign in "+-" for exponent in (999_999_999, -999_999_999)]
    tracemalloc.start()
    names = [*map(value_name, values)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert names == ["1E+999999999", "1E-999999999", "-1E+999999999", "-1E-999999999"]
    assert peak < 2**20
