"""Records written as YAML: blocks, quoted text and comments, which readers of YAML 1.1 and 1.2 understand alike."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    Value: TypeAlias = "str | int | Fraction | Gap | tuple[Value, ...] | Mapping[str, Value]"

_DIGITS = 15
_PLAIN = (Decimal("1e-4"), Decimal("1e15"))
# What JSON leaves as it is in quotes, and YAML 1.1 takes for the end of a line, a mark of byte order, or nothing.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Gap:
    """What a person is to fill in.

    Attributes
    ----------
    hint
        What belongs there: a line of our own, without anybody's text.
    is_left_out
        Whether the field stands in a comment. Otherwise it is empty text.
    """

    hint: str
    is_left_out: bool = False


def yaml_text(record: Mapping[str, Value]) -> str:
    """Write a record as a YAML block.

    Examples
    --------
    >>> from fractions import Fraction
    >>> print(yaml_text({"unit": "a: b", "epsilon": Fraction(1, 2), "by": ("me",), "use": Gap("what for")}), end="")
    unit: "a: b"
    epsilon: 0.5
    by:
      - "me"
    use: ""  # fill in: what for
    """
    return "".join(f"{line}\n" for line in _block(record, ""))


def _block(record: Mapping[str, Value], indent: str) -> Iterator[str]:
    for name, value in record.items():
        if isinstance(value, Gap) and value.is_left_out:
            yield f"{indent}# {name}:  # fill in: {value.hint}"
        elif isinstance(value, Mapping):
            yield f"{indent}{name}:"
            yield from _block(value, f"{indent}  ")
        elif isinstance(value, tuple):
            yield f"{indent}{name}:"
            yield from (line for each in value for line in _item(each, f"{indent}  "))
        else:
            yield f"{indent}{name}: {_scalar(value)}"


def _item(value: Value, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        first, *others = _block(value, f"{indent}  ")
        yield f"{indent}- {first.lstrip()}"
        yield from others
    else:
        yield f"{indent}- {_scalar(value)}"


def _scalar(value: Value) -> str:
    if isinstance(value, Gap):
        return f'""  # fill in: {value.hint}'
    if isinstance(value, Fraction):
        return number(value)
    return str(value) if isinstance(value, int) else quoted(str(value))


def quoted(text: str) -> str:
    r"""Write text in double quotes, on one line, whatever is in it.

    Half a surrogate pair, which no file can hold, becomes a replacement character.

    Examples
    --------
    >>> print(quoted('a "name": b\n# c'))
    "a \"name\": b\n# c"
    """
    whole = _SURROGATE.sub("\ufffd", text)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(whole, ensure_ascii=False))


def number(value: Fraction) -> str:
    """Write a number ≥ 0 with a decimal point: exactly if 15 digits are enough, otherwise rounded upward.

    Readers of YAML 1.1 take ``1e-9`` for text: a number has a point, and its exponent a sign.

    Examples
    --------
    >>> from fractions import Fraction
    >>> [number(Fraction(each)) for each in ("3/10", "1/3", "2", "1e-9", "1e20")]
    ['0.3', '0.333333333333334', '2.0', '1.0e-9', '1.0e+20']
    """
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    least, most = _PLAIN
    digits, mark, power = f"{rounded:{'f' if not rounded or least <= rounded < most else 'e'}}".partition("e")
    return f"{digits if '.' in digits else digits + '.0'}{mark}{power}"
