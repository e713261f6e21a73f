"""Conditions on rows: which rows are kept, on every engine, and what is refused before any row is read."""

import operator
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import narwhals as nw
import psycopg
import pytest

from anonhist.errors import UsageError
from anonhist.ingest.columns import Opened
from anonhist.ingest.holders import Reading, holder_of
from anonhist.ingest.query import fetch
from anonhist.ingest.where import filtered
from anonhist.profiles.where import And, Between, Comparison, Condition, In, IsNull, Not, Or, Value, parse_where
from anonhist_testing.cases import each_of
from anonhist_testing.way_in.databases import DATABASES
from anonhist_testing.way_in.databases import postgresql as of_postgresql
from anonhist_testing.way_in.engines import lent_duckdb
from anonhist_testing.way_in.servers import of_spark
from anonhist_testing.way_in.sources import IN_FILES, IN_MEMORY, Source
from anonhist_testing.way_in.values import Kind, name_of

_NAN, _INFINITY = float("nan"), float("inf")
_DAY, _NOON = date(2026, 11, 1), datetime.fromisoformat("2026-11-01 12:30")
# Each source holds what it can of these.
VALUES: tuple[Any, ...] = (
    *(None, "", "a", "A", "ä", "Z", "DE", "de", "DE ", "7", "7.0", "2026-11-01", "2026-11-01 12:30:00", "true"),
    *(0, -7, 7, 7.0, 7.5, -0.0, _NAN, _INFINITY, -_INFINITY, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)),
    *(Decimal("7.50"), Decimal("0.1"), 0.1, Decimal("-7.5000"), Decimal("999999999999.9999")),
    *(True, False, _DAY, date(2026, 11, 2), date(1, 1, 1), _NOON),
    *map(datetime.fromisoformat, ("2026-11-01 00:00", "9999-12-31 00:00", "2026-11-01 12:30:00.000001")),
)
_OF_TEXT = ["'7'", "'Z'", "'a'", "'DE'", "''", "'ä'", "'it''s'", "'2026-11-01'"]
_OF_NUMBERS = ["-7.25", "7", "7.5", "0", "0.1", "9007199254740992", "9007199254740993", "9223372036854775807"]
_OF_NUMBERS += ["9223372036854775808", "-9223372036854775809", "999999999999.99995", f"1{'0' * 30}"]
_OF_DATES = ["'2026-11-01'", "'0001-01-01'", "'9999-12-31'"]
_OF_TIMES = [*_OF_DATES, "'2026-11-01 12:30'", "'2026-11-01 12:30:00.000001'", "'2026-11-01 12:30:00.0000'"]
_OF_TRUTH = ["true", "false"]


def conditions(literals: list[str], *, is_ordered: bool = True) -> list[str]:
    """Return conditions on the column v with these literals."""
    signs = ["=", "<>", *(["<", "<=", ">", ">="] if is_ordered else [])]
    found = [f"v {sign} {literal}" for sign in signs for literal in literals]
    found += [f"not {each}" for each in found[:: len(literals) - 1]]
    some = ", ".join(literals[:3])
    found += [f"v in ({some})", f"v not in ({some})", f"v = {literals[0]} or not (v in ({some}) and v is not null)"]
    if is_ordered:
        found += [f"v between {literals[0]} and {literals[2]}", f"v not between {literals[0]} and {literals[1]}"]
        found += [f"not (v not between {literals[0]} and {literals[2]} or v = {literals[1]})"]
    return found


_NULLS = ["v is null", "v is not null", "not v is null", "v is null or v is not null", "v is null and v is not null"]
_TAKEN = {
    Kind.TEXT: conditions(_OF_TEXT),
    Kind.WHOLE: conditions(_OF_NUMBERS),
    Kind.FLOATS: conditions(_OF_NUMBERS),
    Kind.DECIMALS: conditions(_OF_NUMBERS),
    Kind.TRUTH: conditions(_OF_TRUTH, is_ordered=False),
    Kind.DATES: conditions(_OF_DATES),
    Kind.TIMES: conditions(_OF_TIMES),
}
_OF_ANY = [
    *(each for kind in (Kind.TEXT, Kind.WHOLE, Kind.TIMES) for each in _TAKEN[kind][::3]),
    *(*_TAKEN[Kind.TRUTH], "v in (7, 'a', true)", "v not in (7, 'a', true)"),
]
_WRONG = {
    Kind.TEXT: ["v = 5", "v in ('a', 5)", "v < 5", "v = true", "v between 5 and 6", "v is null or v = 5"],
    Kind.WHOLE: ["v = '5'", "v = true", "v >= '2026-11-01'"],
    Kind.FLOATS: ["v = '5'", "v = true"],
    Kind.DECIMALS: ["v = '5'", "v = true"],
    Kind.TRUTH: ["v = 1", "v = 'true'"],
    Kind.DATES: ["v = 5", "v = 'a'", "v = '2026-11-01 12:30'", "v = '2026-02-30'", "v = '2026-1-1'", "v = true"],
    Kind.TIMES: ["v = 5", "v = 'a'", "v > '12:30'", "v = '2026-11-01 25:00'", "v = '2026-11-01 12:30:00.0000001'"],
}

_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
#: The class of a value and its place in it, None for a value that is missing.
Place = tuple[str, Any] | None


def _truth_of(condition: Condition, place: Place, places: Callable[[Value], dict[str, Any]]) -> bool | None:
    """Return whether a condition is true of a value, as SQL has it: an oracle beside the program, None for unknown."""
    if isinstance(condition, IsNull):
        return place is None
    if isinstance(condition, Not):
        found = _truth_of(condition.of, place, places)
        return None if found is None else not found
    if isinstance(condition, And | Or):
        truths = {_truth_of(each, place, places) for each in condition.of}
        decides = isinstance(condition, Or)
        return decides if decides in truths else None if None in truths else not decides
    return None if place is None else _truth_of_test(condition, place, places)


def _truth_of_test(condition: Condition, place: Place, places: Callable[[Value], dict[str, Any]]) -> bool | None:
    if isinstance(condition, In):
        return _truth_of(Or(tuple(Comparison("v", "=", value) for value in condition.values)), place, places)
    if isinstance(condition, Between):
        ends = Comparison("v", ">=", condition.low), Comparison("v", "<=", condition.high)
        return _truth_of(And(ends), place, places)
    assert isinstance(condition, Comparison)
    assert place is not None
    kind, value = place
    other = places(condition.value)
    if kind not in other:
        return {"=": False, "<>": True}.get(condition.operator)
    return _SIGNS[condition.operator](value, other[kind])


def _exact(value: Value) -> dict[str, Any]:
    """Return what a literal is where types bind."""
    if isinstance(value, bool):
        return {"truth": value}
    return {"number": value} if isinstance(value, Decimal) else {"text": value.encode(), "time": _time(value)}


def _rounded(value: Value) -> dict[str, Any]:
    """Return what a literal is beside floats."""
    return {"number": float(value)} if isinstance(value, Decimal) else _exact(value)


def _by_value(value: Value) -> dict[str, Any]:
    """Return what a literal is where types do not bind: a text is no time unless it is written as one."""
    return {kind: place for kind, place in _rounded(value).items() if place is not None}


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if len(text) >= len("2026-11-01") else None
    except ValueError:
        return None


def _place(value: Any) -> Place:
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124  # NaN
        return None
    if isinstance(value, bool):
        return "truth", value
    if isinstance(value, str):
        return "text", value.encode()
    if isinstance(value, date):
        return "time", value if isinstance(value, datetime) else datetime.combine(value, datetime.min.time())
    return "number", value


def _float_place(value: Any) -> Place:
    place = _place(value)
    return ("number", float(place[1])) if place is not None and place[0] == "number" else place


def _digits_place(value: Any) -> Place:
    return ("whole", value) if isinstance(value, int) else _place(value)


def _by_digits(value: Value) -> dict[str, Any]:
    """Return what a literal is beside whole numbers, which are exact, and floats."""
    return _by_value(value) | ({"whole": value} if isinstance(value, Decimal) else {})


def _text_place(value: Any) -> Place:
    name = name_of(value)
    return None if name is None else _place(str(value).lower() if isinstance(value, bool) else name)


@contextmanager
def opened(source: Source, declared: str, rows: list[tuple[Any, ...]], folder: Path) -> Iterator[Opened]:
    of_names = source.declarations[0] if source.kinds is None else Kind.TEXT.value
    with ExitStack() as stack:
        of, said = stack.enter_context(source.hold({"id": of_names, "v": declared}, rows, folder))
        yield stack.enter_context(holder_of(of, **said).open(Reading(("id", "v"))))


def kept(table: Opened, condition: str) -> list[str]:
    (names,) = kept_by_each(table, [condition])
    return names


def kept_by_each(table: Opened, asked: list[str]) -> list[list[str]]:
    """Return the names of the rows that each condition keeps, by one query: Spark takes a second for each."""
    names = table.table.collect_schema().names()
    found: list[list[str]] = [[] for _ in asked]
    parts = []
    for number, condition in enumerate(asked):
        rows = filtered(table, parse_where(condition)).table
        assert rows.collect_schema().names() == names
        parts.append(rows.select("id", number=nw.lit(number)))
    for name, number in fetch(nw.concat(parts)):
        found[number].append(name)
    return [sorted(each) for each in found]


@pytest.fixture(scope="module", autouse=True)
def _lent() -> Iterator[None]:
    with lent_duckdb():
        yield


_PLACES: dict[str, tuple[Callable[[Any], Place], Callable[[Value], dict[str, Any]]]] = {
    "exact": (_place, _exact),
    "by value": (_float_place, _by_value),
    "by digits": (_digits_place, _by_digits),
    "text": (_text_place, _by_value),
}


def _way_of(source: Source, declared: str) -> str:
    """Return how a source compares values."""
    if source.name.startswith("pandas"):
        return "by value"
    if source.name.startswith("sqlite"):
        return "by digits"
    if source.kinds is None:
        return "text"
    return "by value" if declared == Kind.FLOATS.value else "exact"


def _taken(source: Source, declared: str) -> list[str]:
    """Return the conditions that a column takes."""
    if source.name.startswith("pandas"):
        return _OF_ANY
    if declared in ("INTEGER", "REAL"):
        return _TAKEN[Kind.WHOLE]
    if source.name.startswith("sqlite"):
        return _TAKEN[Kind.TEXT] if declared == "TEXT" else [*_TAKEN[Kind.TEXT][::2], *_TAKEN[Kind.WHOLE][::2]]
    return _TAKEN[Kind.TEXT if source.kinds is None else Kind(declared)]


def check_rows(source: Source, declared: str, folder: Path, *, some: slice = slice(None)) -> None:
    """Compare which rows are kept with what the oracle says, for conditions that a column takes."""
    held = [source.fit(value, declared) for value in VALUES]
    rows = [(f"row {number}", value) for number, value in enumerate(held)]
    place_of, places = _PLACES[_way_of(source, declared)]
    wrong = []
    with opened(source, declared, rows, folder) as table:
        asked = [*_NULLS, *_taken(source, declared)][some]
        for text, found in zip(asked, kept_by_each(table, asked), strict=True):
            condition = parse_where(text)
            expected = [name for name, value in rows if _truth_of(condition, place_of(value), places)]
            if found != sorted(expected):
                of = {name: value for name, value in rows if (name in found) != (name in expected)}
                wrong.append(f"{text}: {of}")
    assert not wrong, f"{source.name}, {declared}:\n" + "\n".join(wrong)


_ALL = [*IN_FILES, *IN_MEMORY, *DATABASES]


@pytest.mark.parametrize("source", _ALL, ids=lambda source: source.name)
def test_rows_are_kept_as_in_sql(source: Source, tmp_path: Path) -> None:
    for number, declared in enumerate(_declared(source)):
        folder = tmp_path / str(number)
        folder.mkdir()
        # Each source tries others; SQLite takes a second for thirty.
        each = 8 if source.name.startswith("sqlite") else 4
        check_rows(source, declared, folder, some=slice((number + _ALL.index(source)) % each, None, each))


@pytest.mark.slow
@pytest.mark.parametrize("source", _ALL, ids=lambda source: source.name)
def test_rows_are_kept_as_in_sql_whatever_is_asked(source: Source, tmp_path: Path) -> None:
    for number, declared in enumerate(_declared(source)):
        folder = tmp_path / str(number)
        folder.mkdir()
        check_rows(source, declared, folder)


def _declared(source: Source) -> list[str]:
    return [*source.declarations] if source.kinds is None else [kind.value for kind in source.kinds]


def _kinds_of(source: Source) -> dict[str, Kind]:
    """Return the declarations by which a source refuses literals."""
    if source.kinds is not None:
        return {kind.value: kind for kind in source.kinds}
    if source.name.startswith("sqlite"):
        kinds = {"TEXT": Kind.TEXT, "INTEGER": Kind.WHOLE, "REAL": Kind.FLOATS}
        return {each: kinds[each] for each in source.declarations if each in kinds}
    return {} if source.name.startswith("pandas") else {"": Kind.TEXT}


@each_of("source", [source for source in _ALL if not source.name.startswith("pandas")])
def test_literals_of_other_types_are_refused_by_the_schema(source: Source, tmp_path: Path) -> None:
    for declared, kind in _kinds_of(source).items():
        # Whether there is a value decides nothing.
        for value in (None, "7" if kind is Kind.TEXT else 7):
            folder = tmp_path / f"{kind.value} {value}"
            folder.mkdir()
            held = source.fit(value, declared)
            # A file in which all values are missing has no type, and one row more would give it one.
            has_type = held is not None or source.name != "parquet files of several types"
            with opened(source, declared, [("a", held)], folder) as table:
                _check_refused(table, kind, has_type=has_type)


def _check_refused(table: Opened, kind: Kind, *, has_type: bool) -> None:
    for condition in _WRONG[kind]:
        if not has_type:
            assert kept(table, condition) in ([], ["a"])
            continue
        with pytest.raises(UsageError, match=r"^The column 'v' holds [a-z ]+: .*\.$"):
            filtered(table, parse_where(condition))


@each_of("kind", Kind)
def test_pandas_refuses_nothing_since_its_types_may_follow_from_rows(kind: Kind, tmp_path: Path) -> None:
    for source in (each for each in IN_MEMORY if each.name.startswith("pandas")):
        declared = kind.value if source.kinds is not None else ""
        rows = [("a", source.fit(7, declared)), ("b", None)]
        with opened(source, declared, rows, tmp_path) as table:
            for condition in _WRONG[kind]:
                assert kept(table, condition) in ([], ["b"] if "null" in condition else [])


def test_rows_of_postgresql_are_kept_as_in_sql(postgresql: str, tmp_path: Path) -> None:
    source = of_postgresql(postgresql)
    for number, kind in enumerate(Kind):
        check_rows(source, kind.value, tmp_path, some=slice(number % 3, None, 3))


# Texts are compared as bytes: under some of these "DE" equals "de", and under most "a" is before "Z".
_COLLATIONS = """
    CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE TYPE mood AS ENUM ('Z', 'a', 'DE');
    CREATE TABLE texts (id text, plain text, any_case text COLLATE any_case, german text COLLATE "de-x-icu",
        padded char(4), mood mood, numbers numeric, zoned timestamptz, other uuid);
    INSERT INTO texts VALUES
        ('a', 'a', 'a', 'a', 'a', 'a', 1.5, '2026-11-01 00:30+01', gen_random_uuid()),
        ('de', 'de', 'de', 'de', 'de', NULL, 1e30, '2026-11-01 00:30:00.25+00', NULL),
        ('DE', 'DE', 'DE', 'DE', 'DE', 'DE', 'NaN', '-infinity', NULL),
        ('Z', 'Z', 'Z', 'Z', 'Z', 'Z', -0.00, NULL, NULL),
        ('none', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
"""
_GERMAN = "CREATE DATABASE german TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'de' LOCALE 'C'"


@pytest.fixture
def german(postgresql: str) -> Iterator[str]:
    """Return the address of a database that orders texts as German does."""
    with closing(psycopg.connect(postgresql, autocommit=True)) as connection:
        connection.execute(_GERMAN)
        url = postgresql.replace("/postgres?", "/german?")
        with closing(psycopg.connect(url, autocommit=True)) as own:
            own.execute(_COLLATIONS)
        yield url
        connection.execute("DROP DATABASE german")


@each_of("name", ["plain", "any_case", "german", "padded"])
def test_texts_of_postgresql_are_compared_as_bytes_whatever_their_collation(german: str, name: str) -> None:
    with holder_of(german, table="texts").open() as table:
        assert kept(table, f"{name} = 'DE'") == ["DE"]
        assert kept(table, f"{name} <> 'DE'") == ["Z", "a", "de"]
        assert kept(table, f"{name} in ('de', 'Z')") == ["Z", "de"]
        assert kept(table, f"{name} >= 'Z'") == ["Z", "a", "de"]
        assert kept(table, f"{name} < 'a'") == ["DE", "Z"]


@each_of(
    ("condition", "rows"),
    [
        ("mood >= 'Z'", ["Z", "a"]),
        ("numbers = 1.50", ["a"]),
        (f"numbers = 1{'0' * 30}", ["de"]),
        (f"numbers > {'9' * 30}.5", ["de"]),
        ("numbers <= 0", ["Z"]),
        ("numbers is null", ["DE", "none"]),
        ("zoned < '2026-11-01'", ["DE", "a"]),
        ("zoned >= '2026-10-31 23:30'", ["a", "de"]),
        ("zoned > '2026-11-01 00:30:00.2'", ["de"]),
        ("zoned > '2026-11-01 00:30:00.25'", []),
        ("other is not null", ["a"]),
    ],
)
def test_values_of_postgresql_are_compared_exactly(german: str, condition: str, rows: list[str]) -> None:
    with holder_of(german, table="texts").open() as table:
        assert kept(table, condition) == rows
        with pytest.raises(UsageError, match="only is null and is not null apply"):
            filtered(table, parse_where("other = 'a'"))


@pytest.mark.slow
def test_rows_of_spark_are_kept_as_in_sql(spark: Any, tmp_path: Path) -> None:
    read = {"spark", "spark of json lines", "spark of parquet"}
    for number, source in enumerate(source for source in of_spark(spark) if source.name in read):
        for kind in ("",) if source.kinds is None else (each.value for each in source.kinds):
            folder = tmp_path / f"{source.name} {kind}"
            folder.mkdir()
            check_rows(source, kind, folder, some=slice(number, None, 6))
