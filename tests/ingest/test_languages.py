"""PostgreSQL with a language: texts of a database of English are equal, and ordered, by the bytes of their UTF-8."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import polars as pl
import psycopg
import pytest

from anonhist.ingest import read_profile
from anonhist.ingest.groups.read import read_groups
from anonhist.profiles import sorted_l1
from anonhist_testing.cases import each_of

# In English b comes before B, and é before f; under one of the collations all of "ss" and "ß" are equal.
TEXTS = ["a", "B", "b", "c", "C", "é", "e", "-2", "1", "10", "a b", "ab", "ss", "ß", "Ä", "😀", None]
# Addresses are no texts, but written as such: a colon comes before digits in English, and after them by bytes.
ROWS = [
    (f"u{at % 3}" if at % 7 else "U0", TEXTS[(at * 5 + at // 7) % 17], at % 23 - 11, f"{at % 31 + 1}::{at % 3 + 1}")
    for at in range(200)
]
KINDS = {"plain": "text", "letters": "varchar(9)", "equal": 'text COLLATE "equal"', "listed": "listed"}
CHOICES = dict.fromkeys(KINDS, "text") | {"number": "number", "address": "address"}


@pytest.fixture(scope="module")
def url(postgresql: str) -> Iterator[str]:
    """Make a database of English with a table whose columns hold the same texts."""
    labels = ", ".join(f"'{text}'" for text in TEXTS if text is not None)
    with closing(psycopg.connect(postgresql, autocommit=True)) as server:
        if server.info.server_version < 150000:
            pytest.skip("older servers have no language of ICU for a whole database")
        server.execute(
            "CREATE DATABASE english TEMPLATE template0 ENCODING 'UTF8' "
            "LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'"
        )
        english = postgresql.replace("/postgres?", "/english?")
        try:
            with closing(psycopg.connect(english, autocommit=True)) as connection:
                connection.execute(
                    "CREATE COLLATION equal (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
                )
                connection.execute(f"CREATE TYPE listed AS ENUM ({labels})")  # type: ignore[arg-type]  # those above
                kinds = ", ".join(f"{name} {kind}" for name, kind in KINDS.items())
                connection.execute(f'CREATE TABLE log (who text COLLATE "equal", {kinds}, number int, address inet)')  # type: ignore[arg-type]
                marks = ", ".join(["%s"] * 7)
                with connection.cursor() as cursor:
                    cursor.executemany(
                        f"INSERT INTO log VALUES ({marks})",  # noqa: S608  # marks only
                        [(who, *[text] * 4, *others) for who, text, *others in ROWS],
                    )
                assert connection.execute("SELECT 'b' < 'B', 'é' < 'f'").fetchall() == [(True, True)]
            yield english
        finally:
            server.execute("DROP DATABASE english WITH (FORCE)")


def log() -> pl.DataFrame:
    kinds = {"who": pl.String, "text": pl.String, "number": pl.Int64, "address": pl.String}
    return pl.DataFrame(ROWS, schema=kinds, orient="row")


@pytest.mark.first(3)
@pytest.mark.parametrize("column", CHOICES)
@each_of("keep_null", [False, True])
def test_the_same_rows_are_kept_as_elsewhere(*, url: str, column: str, keep_null: bool) -> None:
    for key in (f"{number:032x}" for number in range(3)):
        options: dict[str, Any] = {"user": "who", "max_per_user": 13, "order_key": key, "keep_null": keep_null}
        here = read_profile(url, table="log", label=column, **options)
        assert sorted_l1(here, read_profile(log(), label=CHOICES[column], **options)) == 0, key


@pytest.mark.parametrize("column", KINDS)
def test_the_first_rows_are_the_first_by_bytes(url: str, column: str) -> None:
    for key, most in ((f"{number:032x}", 3 + 4 * number) for number in range(3)):
        options: dict[str, Any] = {"user": "who", "max_per_user": most, "order_key": key, "label": "number"}
        here = read_profile(url, table="log", order_by=column, **options)
        assert sorted_l1(here, read_profile(log(), order_by="text", **options)) == 0, key


@pytest.mark.parametrize("column", KINDS)
@pytest.mark.parametrize(
    "where",
    [
        "{} < 'a'",
        "{} >= 'b'",
        "{} > 'B' and {} <= 'é'",
        "{} between '-' and '2'",
        "not ({} between 'C' and 'b')",
        "{} = 'ss'",
        "{} <> 'A'",
        "{} in ('b', 'e', 'SS')",
    ],
)
def test_conditions_compare_bytes(url: str, column: str, where: str) -> None:
    here = read_profile(url, table="log", label="number", where=where.replace("{}", column))
    elsewhere = read_profile(log(), label="number", where=where.replace("{}", "text"))
    assert 0 < here.n < len(ROWS)
    assert here == elsewhere


@pytest.mark.parametrize("column", KINDS)
def test_groups_and_their_rows_are_those_of_elsewhere(url: str, column: str) -> None:
    for key in (f"{number:032x}" for number in range(3)):
        options: dict[str, Any] = {"user": "who", "max_per_user": 5, "order_key": key, "label": "number"}
        listed = {"groups": ["a", "B", "b", "-2", "1", "ß"]}
        here = read_groups(url, table="log", by=column, **listed, **options)
        elsewhere = read_groups(log(), by="text", **listed, **options)
        assert here.keys() == elsewhere.keys()
        assert all(sorted_l1(here[group], elsewhere[group]) == 0 for group in elsewhere)
