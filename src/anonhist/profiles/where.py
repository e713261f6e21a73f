"""Which rows count: a condition on columns, in a small language of its own, the same for every engine.

A condition compares columns with literals, so whether a row counts depends only on its own values. There are no
functions, no arithmetic, no casts and no names except those of columns, so nothing can fail for a row.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from anonhist.errors import UsageError

#: What a column is compared with.
Value = str | Decimal | bool

_LONGEST = 4_000
_DEEPEST = 50
_MOST_DIGITS = 40
_ORDERS = ("<", "<=", ">", ">=")
_KEYWORDS = {"and", "or", "not", "in", "between", "is", "null", "true", "false"}
_NAME = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(
    r"""(?P<text>'(?:[^']|'')*')
    |(?P<quoted>"(?:[^"]|"")+")
    |(?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?![\w.]))
    |(?P<word>[^\W\d]\w*)
    |(?P<sign><>|!=|<=|>=|[=<>(),])""",
    re.VERBOSE,
)
_OPERATORS = "=, <>, <, <=, >, >=, in, between or is null"


class Condition(ABC):
    """Which rows count; its text is public, and parses to the same condition."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that it uses, each once."""


@dataclass(frozen=True)
class OfColumn(Condition):
    """A condition on one column."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)


@dataclass(frozen=True)
class Comparison(OfColumn):
    """A comparison with one literal."""

    operator: str
    value: Value

    def __str__(self) -> str:
        return f"{_named(self.column)} {self.operator} {_written(self.value)}"


@dataclass(frozen=True)
class In(OfColumn):
    """Whether a value is one of several."""

    values: tuple[Value, ...]

    def __str__(self) -> str:
        return self.said("")

    def said(self, negation: str) -> str:
        """Return the text, with ``"not "`` inserted if negated."""
        return f"{_named(self.column)} {negation}in ({', '.join(map(_written, self.values))})"


@dataclass(frozen=True)
class Between(OfColumn):
    """Whether a value is not below a literal, nor above another."""

    low: Value
    high: Value

    def __str__(self) -> str:
        return self.said("")

    def said(self, negation: str) -> str:
        """Return the text, with ``"not "`` inserted if negated."""
        return f"{_named(self.column)} {negation}between {_written(self.low)} and {_written(self.high)}"


@dataclass(frozen=True)
class IsNull(OfColumn):
    """Whether there is no value."""

    def __str__(self) -> str:
        return self.said("")

    def said(self, negation: str) -> str:
        """Return the text, with ``"not "`` inserted if negated."""
        return f"{_named(self.column)} is {negation}null"


@dataclass(frozen=True)
class Not(Condition):
    """The negation of another condition."""

    of: Condition

    def __str__(self) -> str:
        if isinstance(self.of, In | Between | IsNull):
            return self.of.said("not ")
        return f"not ({self.of})" if isinstance(self.of, And | Or) else f"not {self.of}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the negated condition."""
        return self.of.columns


@dataclass(frozen=True)
class _Several(Condition):
    of: tuple[Condition, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all."""
        return tuple(dict.fromkeys(name for each in self.of for name in each.columns))


@dataclass(frozen=True)
class And(_Several):
    """All of several conditions."""

    def __str__(self) -> str:
        return " and ".join(f"({each})" if isinstance(each, Or) else str(each) for each in self.of)


@dataclass(frozen=True)
class Or(_Several):
    """At least one of several conditions."""

    def __str__(self) -> str:
        return " or ".join(map(str, self.of))


def parse_where(given: object) -> Condition:
    """Return the condition that a text states, or refuse it in one sentence that shows the position.

    Examples
    --------
    >>> print(parse_where("day>='2026-11-01' AND NOT country IN ('DE','FR')"))
    day >= '2026-11-01' and country not in ('DE', 'FR')
    """
    if not isinstance(given, str) or not given.strip():
        raise UsageError(f"`where` must be a condition such as \"country = 'DE'\", not {given!r:.80}.")
    if not all(sign.isprintable() or sign in "\n\t" for sign in given):
        raise UsageError("`where` contains invisible characters: write it in plain text.")
    if len(given) > _LONGEST:
        raise UsageError(_too_long())
    condition = _Reader(given).whole()
    if len(str(condition)) > _LONGEST:
        raise UsageError(_too_long())
    return condition


def where_text(given: object) -> str:
    """Return a condition's text in normal form: texts that differ only in spaces and case have the same one."""
    return str(parse_where(given))


def _too_long() -> str:
    return f"`where` must have at most {_LONGEST:,} characters: make a column of its result, and compare that."


class _Token(NamedTuple):
    kind: str
    text: str
    at: int

    @property
    def word(self) -> str:
        """The keyword, in lower case, or the sign; empty for everything else."""
        folded = self.text.lower()
        return folded if self.kind == "sign" or (self.kind == "word" and folded in _KEYWORDS) else ""


class _Reader:
    """Reads a condition from left to right: or, and, not, then the test of a column."""

    def __init__(self, given: str) -> None:
        self._given = given
        self._tokens = self._split()
        self._at = self._depth = 0

    def whole(self) -> Condition:
        """Return the condition that the whole text states."""
        found = self._any_of()
        if self._next.kind != "end":
            raise self._error("expected and, or, or the end")
        return found

    def _split(self) -> list[_Token]:
        tokens: list[_Token] = []
        at = 0
        while True:
            at += len(self._given[at:]) - len(self._given[at:].lstrip())
            if at == len(self._given):
                return [*tokens, _Token("end", "", at)]
            found = _TOKEN.match(self._given, at)
            if found is None:
                raise self._error_at(at, self._why_unread(self._given[at : at + 2]))
            if not found[0].isprintable():
                raise self._error_at(at, "texts and names have no tabs and no line ends")
            tokens.append(_Token(str(found.lastgroup), found[0], at))
            at = found.end()

    @staticmethod
    def _why_unread(beginning: str) -> str:
        if beginning[0] in "'\"":
            return f"this {'text' if beginning[0] == chr(39) else 'name'} has no closing quote"
        return (
            "numbers are written in digits alone" if re.match("[+-]?[0-9]", beginning) else "this sign has no meaning"
        )

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self, *words: str) -> str:
        """Consume and return the keyword or sign if the next is one of these, else return nothing."""
        word = self._next.word
        if not word or word not in words:
            return ""
        self._at += 1
        return word

    def _need(self, word: str) -> None:
        if not self._take(word):
            raise self._error(f"expected {word}")

    def _error(self, why: str) -> UsageError:
        return self._error_at(self._next.at, why)

    def _error_at(self, at: int, why: str) -> UsageError:
        rest = self._given[at:]
        shown = f"{rest[:20]!r}{'…' if len(rest) > 20 else ''} (character {at + 1})" if rest else "its end"
        return UsageError(f"`where` cannot be read at {shown}: {why}.")

    def _any_of(self) -> Condition:
        found = [self._all_of()]
        while self._take("or"):
            found.append(self._all_of())
        parts = tuple(each for one in found for each in (one.of if isinstance(one, Or) else (one,)))
        return parts[0] if len(parts) == 1 else Or(parts)

    def _all_of(self) -> Condition:
        found = [self._one()]
        while self._take("and"):
            found.append(self._one())
        parts = tuple(each for one in found for each in (one.of if isinstance(one, And) else (one,)))
        return parts[0] if len(parts) == 1 else And(parts)

    def _one(self) -> Condition:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(f"at most {_DEEPEST} parentheses and negations are nested")
        if self._take("not"):
            found: Condition = Not(self._one())
        elif self._take("("):
            found = self._any_of()
            self._need(")")
        else:
            found = self._test()
        self._depth -= 1
        return found

    def _test(self) -> Condition:
        column = self._column()
        if operator := self._take("=", "<>", "!=", *_ORDERS):
            value = self._value(is_ordered=operator in _ORDERS)
            return Comparison(column, "<>" if operator == "!=" else operator, value)
        if self._take("is"):
            is_negated = self._take("not")
            self._need("null")
            return Not(IsNull(column)) if is_negated else IsNull(column)
        is_negated = self._take("not")
        found: Condition
        if self._take("in"):
            found = In(column, self._values())
        elif self._take("between"):
            low = self._value(is_ordered=True)
            self._need("and")
            found = Between(column, low, self._value(is_ordered=True))
        elif self._next.text == "(":
            raise self._error("there are no functions: compare a column with a literal")
        else:
            raise self._error(f"expected {_OPERATORS} after a column")
        return Not(found) if is_negated else found

    def _column(self) -> str:
        token = self._next
        if token.kind == "quoted":
            name = token.text[1:-1].replace('""', '"')
        elif token.kind == "word" and not token.word:
            name = token.text
        elif token.kind in ("text", "number") or token.word in ("true", "false", "null"):
            raise self._error("expected a column first, then what it is compared with")
        else:
            raise self._error("expected a column, not or a parenthesis")
        self._at += 1
        return name

    def _values(self) -> tuple[Value, ...]:
        self._need("(")
        values = [self._value()]
        while self._take(","):
            values.append(self._value())
        self._need(")")
        return tuple(values)

    def _value(self, *, is_ordered: bool = False) -> Value:
        token = self._next
        value: Value
        if token.kind == "text":
            value = token.text[1:-1].replace("''", "'")
        elif token.kind == "number":
            value = _number(token.text)
            if len(value.as_tuple().digits) > _MOST_DIGITS or len(f"{value:f}") > 2 * _MOST_DIGITS:
                raise self._error(f"numbers have at most {_MOST_DIGITS} digits")
        elif token.word in ("true", "false"):
            if is_ordered:
                raise self._error("true and false have no order: compare them by = or <>")
            value = token.word == "true"
        elif token.word == "null":
            raise self._error("no value equals null: write is null or is not null")
        elif token.kind == "quoted":
            raise self._error("a text has single quotes, and double ones are for names of columns")
        elif token.word == "=":
            raise self._error("equality is written = alone")
        else:
            raise self._error("expected a text in single quotes, such as 'DE', a number, true or false")
        self._at += 1
        return value


def _number(text: str) -> Decimal:
    """Return a number in the normal form that all equal numbers share."""
    number = Decimal(text)
    digits = f"{number.copy_abs():f}"
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return Decimal(f"{'-' if number < 0 else ''}{digits}")


def _named(column: str) -> str:
    is_plain = _NAME.fullmatch(column) is not None and column.lower() not in _KEYWORDS
    return column if is_plain else '"' + column.replace('"', '""') + '"'


def _written(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else f"{value:f}"
