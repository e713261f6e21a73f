"""Conditions on rows: what is read, what is refused, and that their text is read back as the same condition."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.errors import UsageError
from anonhist.profiles.where import (
    And,
    Between,
    Comparison,
    Condition,
    In,
    IsNull,
    Not,
    Or,
    Value,
    parse_where,
    where_text,
)
from anonhist_testing.cases import each_of

_A, _B = Comparison("a", "=", Decimal(1)), Comparison("b", "<", "x")
_READ: list[tuple[str, Condition, str]] = [
    ("a=1", _A, "a = 1"),
    ("  a\n=\t1  ", _A, "a = 1"),
    ('"a" = 1.00', _A, "a = 1"),
    ("a = +001", _A, "a = 1"),
    ("a = -0", Comparison("a", "=", Decimal(0)), "a = 0"),
    ("a = -.50", Comparison("a", "=", Decimal("-0.5")), "a = -0.5"),
    ("a != 1", Comparison("a", "<>", Decimal(1)), "a <> 1"),
    ("a = TRUE", Comparison("a", "=", value=True), "a = true"),
    ("a = 'it''s'", Comparison("a", "=", "it's"), "a = 'it''s'"),
    ("a = ''", Comparison("a", "=", ""), "a = ''"),
    ("a <> 'and'", Comparison("a", "<>", "and"), "a <> 'and'"),
    ("größe >= 2", Comparison("größe", ">=", Decimal(2)), "größe >= 2"),
    ('"two words" = 1', Comparison("two words", "=", Decimal(1)), '"two words" = 1'),
    ('"a""b" is null', IsNull('a"b'), '"a""b" is null'),
    ('"null" IS NOT NULL', Not(IsNull("null")), '"null" is not null'),
    ("not a is not null", Not(Not(IsNull("a"))), "not a is not null"),
    ("a in (1,'x',false)", In("a", (Decimal(1), "x", False)), "a in (1, 'x', false)"),
    ("a NOT IN (1)", Not(In("a", (Decimal(1),))), "a not in (1)"),
    ("not a in (1)", Not(In("a", (Decimal(1),))), "a not in (1)"),
    ("a between 1 and 2 and b<'x'", And((Between("a", Decimal(1), Decimal(2)), _B)), "a between 1 and 2 and b < 'x'"),
    ("a not between 'x' and 'y'", Not(Between("a", "x", "y")), "a not between 'x' and 'y'"),
    ("a=1 or b<'x' and a=1", Or((_A, And((_B, _A)))), "a = 1 or b < 'x' and a = 1"),
    ("(a=1 or b<'x') and a=1", And((Or((_A, _B)), _A)), "(a = 1 or b < 'x') and a = 1"),
    ("a=1 and (b<'x' and a=1)", And((_A, _B, _A)), "a = 1 and b < 'x' and a = 1"),
    ("((a=1))", _A, "a = 1"),
    ("not (a=1 or b<'x')", Not(Or((_A, _B))), "not (a = 1 or b < 'x')"),
    ("not not a=1", Not(Not(_A)), "not not a = 1"),
]


@each_of(("text", "condition", "kept"), _READ)
def test_conditions_are_read_and_have_one_text(text: str, condition: Condition, kept: str) -> None:
    read = parse_where(text)
    assert read == condition
    assert str(read) == where_text(text) == kept
    assert repr(parse_where(kept)) == repr(read)


@each_of(
    ("text", "told"),
    [
        ("", "must be a condition such as"),
        ("country", "at its end: expected =, <>"),
        ("country = 'DE", 'at "\'DE" (character 11): this text has no closing quote'),
        ('"country = 1', "this name has no closing quote"),
        ("lower(country) = 'de'", "there are no functions"),
        ("n + 1 = 2", "this sign has no meaning"),
        ("n = 1 + 1", "this sign has no meaning"),
        ("n = -x", "this sign has no meaning"),
        ("n = 1e3", "numbers are written in digits alone"),
        ("n = 1_000", "numbers are written in digits alone"),
        ("n = 0x10", "numbers are written in digits alone"),
        ("n = '1'::int", "this sign has no meaning"),
        ("n = cast('1' as int)", "expected a text in single quotes"),
        ("n = other", "expected a text in single quotes, such as 'DE', a number, true or false"),
        ('n = "other"', "a text has single quotes"),
        ("5 < n", "expected a column first"),
        ("'a' = n", "expected a column first"),
        ("true", "expected a column first"),
        ("n = null", "write is null or is not null"),
        ("n in (1, null)", "write is null or is not null"),
        ("n in ()", "expected a text"),
        ("n in (select 1)", "expected a text"),
        ("n in 1", "expected ("),
        ("n between 1 or 2", "expected and"),
        ("n is 5", "expected null"),
        ("n is not 5", "expected null"),
        ("n not = 5", "expected =, <>"),
        ("n < true", "true and false have no order"),
        ("n between false and true", "true and false have no order"),
        ("n == 5", "equality is written = alone"),
        ("n like 'a%'", "expected =, <>"),
        ("t.n = 5", "this sign has no meaning"),
        ("n = 5; drop table t", "this sign has no meaning"),
        ("n = 5 -- all", "this sign has no meaning"),
        ("n = 5 /* all */", "this sign has no meaning"),
        ("(n = 5", "at its end: expected )"),
        ("n = 5)", "expected and, or, or the end"),
        ("n = 5 and", "at its end: expected a column"),
        ("and = 5", "expected a column, not or a parenthesis"),
        ("n = 'a\x00b'", "invisible characters"),
        ("n = '\ud800'", "invisible characters"),
        ("n = 'a\tb'", "texts and names have no tabs"),
        ('"two\nlines" = 1', "texts and names have no tabs"),
        ("n = " + "1" * 41, "at most 40 digits"),
        ("n = 0." + "0" * 90 + "1", "at most 40 digits"),
        ("(" * 51 + "n = 1" + ")" * 51, "at most 50 parentheses"),
        ("not " * 51 + "n = 1", "at most 50 parentheses"),
        ("n = '" + "x" * 4_000 + "'", "at most 4,000 characters"),
        # Written as it is kept, it would be longer than that.
        ("n=1 or " * 560 + "n=1", "at most 4,000 characters"),
    ],
)
def test_all_else_is_refused_in_a_sentence_with_the_place(text: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_where(text)
    assert told in str(caught.value)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 200


def test_only_text_is_a_condition() -> None:
    for other in (None, 5, b"a = 1", ["a = 1"]):
        with pytest.raises(UsageError, match="must be a condition"):
            parse_where(other)


_NAMES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8) | st.sampled_from(
    ["a", "and", "NULL", "two words", 'q"q', "é", "_1"]
)
_NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9)
_VALUES: st.SearchStrategy[Value] = (
    st.text(st.characters(exclude_categories=("C", "Z")), max_size=8) | _NUMBERS.map(Decimal) | st.booleans()
)
_ORDERED = _VALUES.filter(lambda value: not isinstance(value, bool))
_TESTS: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Comparison, _NAMES, st.sampled_from(["=", "<>"]), _VALUES),
    st.builds(Comparison, _NAMES, st.sampled_from(["<", "<=", ">", ">="]), _ORDERED),
    st.builds(In, _NAMES, st.lists(_VALUES, min_size=1, max_size=4).map(tuple)),
    st.builds(Between, _NAMES, _ORDERED, _ORDERED),
    st.builds(IsNull, _NAMES),
)


def _joined(inside: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(inside, min_size=2, max_size=3)
    return st.one_of(
        st.builds(Not, inside),
        several.map(lambda parts: And(_flat(And, parts))),
        several.map(lambda parts: Or(_flat(Or, parts))),
    )


def _flat(kind: type[And | Or], parts: list[Condition]) -> tuple[Condition, ...]:
    return tuple(each for part in parts for each in (part.of if isinstance(part, kind) else (part,)))


@given(st.recursive(_TESTS, _joined, max_leaves=8))
def test_the_text_of_a_condition_is_read_back_as_the_same(condition: Condition) -> None:
    read = parse_where(str(condition))
    assert read == condition
    assert str(read) == str(parse_where(str(read)))
