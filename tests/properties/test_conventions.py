"""What every estimator makes of an empty profile, of one label and of singletons: one table."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anonhist.profiles import Profile
from anonhist.properties.by_name import PROPERTIES
from anonhist.properties.estimate import Holds, Statement, format_number
from anonhist_testing.cases import each_of

DOCUMENT = Path(__file__).parent / "conventions.md"
OFTEN, SINGLES, DRAWS, ALPHABET = 1000, 100, 2000, 5000
PROFILES = {
    "no item": Profile([], []),
    "one item": Profile([1], [1]),
    "one label, 1,000 items": Profile([OFTEN], [1]),
    "100 singletons": Profile([1], [SINGLES]),
}
_NUMBERS = {"order": "q", "draws": "m", "alphabet_size": "k", "guesses": "β", "share": "α"}
_LN2, _EULER = math.log(2), 0.57721566490153286

Value = float | Callable[[], float]
_SINGLES = float(SINGLES)
_PAIRS = SINGLES * (SINGLES - 1) / 2


def _digamma_half(m: int) -> float:
    """Return ψ(m + ½)."""
    return -_EULER - 2 * _LN2 + 2 * math.fsum(1 / (2 * j - 1) for j in range(1, m + 1))


_UNIFORM = {"alphabet_size": ALPHABET}
_FAR = {"draws": DRAWS}
# Property, options, and the value of one item, of one label seen 1,000 times and of 100 singletons.
TABLE: list[tuple[str, dict[str, Any], float, float, float]] = [
    ("entropy", {"method": "plug-in"}, 0, 0, math.log(SINGLES)),
    ("entropy", {"method": "miller-madow"}, 0, 0, math.log(SINGLES) + 99 / 200),
    ("entropy", {"method": "jackknife"}, 0, 0, 100 * math.log(100) - 99 * math.log(99)),
    (
        "entropy",
        {"method": "grassberger"},
        _EULER + _LN2,
        max(0.0, math.log(1000) - _digamma_half(500) - _LN2),
        math.log(SINGLES) + _EULER + _LN2,
    ),
    ("entropy", {"method": "chao-shen"}, 0, 0, 1e-4 * 100 * math.log(1e4) / -math.expm1(100 * math.log1p(-1e-4))),
    ("entropy", {"method": "pml"}, 0, 0, math.log(SINGLES * (SINGLES + 1) / 2)),
    ("support-size", {"method": "observed"}, 1, 1, SINGLES),
    ("support-size", {"method": "chao1"}, 1, 1, SINGLES + _PAIRS),
    ("support-size", {"method": "chao1-inext"}, 1, 1, SINGLES + 99**2 / 2),
    ("support-size", {"method": "ace"}, 1, 1, SINGLES + _PAIRS),
    ("support-size", {"method": "jackknife-1"}, 1, 1, 2 * SINGLES - 1),
    ("support-size", {"method": "jackknife-2"}, 1, 1, 3 * SINGLES - 3),
    ("support-size", {"method": "chao-lee"}, 1, 1, SINGLES + _PAIRS),
    ("support-size", {"method": "pml"}, 1, 1, SINGLES * (SINGLES + 1) / 2),
    ("support-coverage", {"method": "rarefaction", "draws": 1}, 1, 1, 1),
    ("support-coverage", {"method": "good-toulmin"} | _FAR, DRAWS, 1, DRAWS),
    ("sample-coverage", {"method": "good-turing"}, 0, 1, 0),
    ("sample-coverage", {"method": "chao-jost"}, 0, 1, 2 / (99**2 + 2)),
    ("hill-number", {"method": "chao-jost", "order": 0}, 1, 1, SINGLES + 99**2 / 2),
    ("hill-number", {"method": "chao-jost", "order": 2}, 1, 1, _PAIRS),
    ("hill-number", {"method": "plug-in", "order": 0}, 1, 1, SINGLES),
    ("hill-number", {"method": "plug-in", "order": 1}, 1, 1, SINGLES),
    ("hill-number", {"method": "plug-in", "order": 2}, 1, 1, SINGLES),
    ("hill-number", {"method": "unbiased", "order": 2}, 1, 1, _PAIRS),
    ("renyi-entropy", {"method": "chao-jost", "order": 2}, 0, 0, math.log(_PAIRS)),
    ("renyi-entropy", {"method": "plug-in", "order": 2}, 0, 0, math.log(SINGLES)),
    ("renyi-entropy", {"method": "unbiased", "order": 2}, 0, 0, math.log(_PAIRS)),
    ("tsallis-entropy", {"method": "chao-jost", "order": 2}, 0, 0, 1 - 1 / _PAIRS),
    ("tsallis-entropy", {"method": "plug-in", "order": 2}, 0, 0, 1 - 1 / SINGLES),
    ("tsallis-entropy", {"method": "unbiased", "order": 2}, 0, 0, 1 - 1 / _PAIRS),
    ("min-entropy", {}, 0, 0, math.log(SINGLES)),
    ("simpson", {}, 1, 1, 0),
    ("gini-simpson", {}, 0, 0, 1),
    ("power-sum", {"order": 2}, 1, 1, 0),
    (
        "distance-to-uniformity",
        {"method": "plug-in"} | _UNIFORM,
        2 * (1 - 1 / ALPHABET),
        2 * (1 - 1 / ALPHABET),
        2 * (1 - SINGLES / ALPHABET),
    ),
    ("distance-to-uniformity", {"method": "pml"} | _UNIFORM, 0, 2 * (1 - 1 / ALPHABET), 0),
    ("guessing-success", {"guesses": 10}, 1, 1, 0.1),
    ("work-factor", {"share": 0.5}, 1, 1, 50),
    ("guesswork", {"share": 0.5}, 1, 1, 50 - 50 * 49 / 200),
]
# Their values have no short form; that they are as documented is tested all the same.
LONG: list[tuple[str, dict[str, Any]]] = [
    ("entropy", {"method": "polynomial"}),
    ("entropy", {"method": "polynomial"} | _UNIFORM),
    ("support-size", {"method": "chebyshev"} | _UNIFORM),
    ("support-coverage", {"method": "mixture"} | _FAR),
    ("support-coverage", {"method": "smoothed-poisson"} | _FAR),
    ("support-coverage", {"method": "smoothed-binomial-a"} | _FAR),
    ("support-coverage", {"method": "smoothed-binomial-b"} | _FAR),
    ("hill-number", {"method": "chao-jost", "order": 1}),
]


def cell(profile: Profile, name: str, options: dict[str, Any]) -> str:
    found = PROPERTIES[name].estimate(profile, **options)
    low, high = (format_number(end, digits=4).replace("infinity", "∞") for end in found.interval)
    said = {Holds.AT_LEAST: f"at least {low}", Holds.AT_MOST: f"at most {high}"}
    return f"{format_number(found.value, digits=6)} ({said.get(found.statement.holds, f'{low} to {high}')})"


def key(name: str, options: dict[str, Any]) -> tuple[str, str]:
    numbers = ", ".join(f"{_NUMBERS[option]} = {value:,}" for option, value in options.items() if option in _NUMBERS)
    return f"{name}, {numbers}" if numbers else name, options.get("method", "")


def row(name: str, options: dict[str, Any]) -> str:
    cells = [*key(name, options), *(cell(profile, name, options) for profile in PROFILES.values())]
    return f"| {' | '.join(cells)} |"


def documented_conventions() -> list[str]:
    text = DOCUMENT.read_text(encoding="utf-8")
    table = re.search(r"^\| property \| method \| no item .*\n\|[-|:]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert table is not None
    return table[1].splitlines()


def every() -> list[tuple[str, dict[str, Any]]]:
    """Return all rows, those of a property together."""
    rows = [*((name, options) for name, options, *_ in TABLE), *LONG]
    return sorted(rows, key=lambda each: list(PROPERTIES).index(each[0]))


@pytest.mark.slow
def test_the_manual_has_this_very_table() -> None:
    assert documented_conventions() == [row(name, options) for name, options in every()]


def test_every_method_is_in_the_table() -> None:
    expected = {(name, method) for name, known in PROPERTIES.items() for method in known.methods or ("",)}
    assert {(name, options.get("method", "")) for name, options in every()} == expected


@each_of(("name", "options", "once", "often", "singles"), TABLE)
def test_values_are_those_of_the_formulas(
    name: str, options: dict[str, Any], once: float, often: float, singles: float
) -> None:
    for profile, value in zip(PROFILES.values(), (0.0, once, often, singles), strict=True):
        found = PROPERTIES[name].estimate(profile, **options)
        assert found.value == pytest.approx(value, rel=1e-11, abs=1e-12)


@each_of(("name", "options"), every())
def test_of_no_item_all_is_possible_and_nothing_known(name: str, options: dict[str, Any]) -> None:
    found = PROPERTIES[name].estimate(PROFILES["no item"], **options)
    assert (found.value, found.standard_error) == (0, 0)
    assert found.interval[0] == 0
    assert found.interval[1] > 0
    assert found.statement == Statement(Holds.NONE, "nothing can be estimated from an empty profile")
