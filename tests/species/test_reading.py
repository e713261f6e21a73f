"""Species tables: every way to write the same sites gives the same numbers, and what is ambiguous is refused."""

from __future__ import annotations

import gzip
import re
import time
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.profiles import Profile
from anonhist.species import commands
from anonhist.species.incidence import IncidenceFrequencies
from anonhist.species.reading import TABLE_DATA, TABLE_LAYOUTS, read_sampling_units, read_species
from anonhist.species.sampling_units import SamplingUnits
from anonhist_testing.cases import each_of

ABUNDANCE = "species,north,south\noak,3,0\nelm,1,2\nash,0,5\n"
UNITS = "species,u1,u2,u3\noak,1,0,1\nelm,0,0,1\nash,0,0,0\n"
NORTH, SOUTH = Profile.from_counts([3, 1]), Profile.from_counts([2, 5])
FOUND = IncidenceFrequencies(3, Profile.from_counts([2, 1]))


def turned(table: str) -> str:
    rows = [line.split(",") for line in table.splitlines()]
    return "".join(",".join(column) + "\n" for column in zip(*rows, strict=True))


def read(folder: Path, text: str, name: str = "table.csv", **how: Any) -> dict[str, Any]:
    (folder / name).write_text(text, encoding="utf-8")
    return read_species(folder / name, **how)


def test_abundances_are_the_same_in_every_layout(tmp_path: Path) -> None:
    expected = {"north": NORTH, "south": SOUTH}
    assert read(tmp_path, ABUNDANCE, data="abundance", layout="species-in-rows") == expected
    assert read(tmp_path, turned(ABUNDANCE), data="abundance", layout="species-in-columns") == expected
    long = "place,kind,n\nnorth,oak,1\nsouth,elm,2\nnorth,elm,1\nnorth,oak,2\nsouth,ash,5\nsouth,oak,0\n"
    how = {"data": "abundance", "layout": "long", "site": "place", "species": "kind"}
    assert read(tmp_path, long, **how, count="n") == expected
    each = "place,kind\n" + "north,oak\n" * 3 + "north,elm\n" + "south,elm\n" * 2 + "south,ash\n" * 5
    assert read(tmp_path, each, **how, count="none") == expected


def test_incidences_are_the_same_in_every_layout(tmp_path: Path) -> None:
    frequencies = "species,one\nunits,3\noak,2\nelm,1\n"
    assert read(tmp_path, frequencies, data="incidence-freq", layout="species-in-rows") == {"one": FOUND}
    assert read(tmp_path, turned(frequencies), data="incidence-freq", layout="species-in-columns") == {"one": FOUND}
    assert read(tmp_path, UNITS, data="incidence-raw", layout="species-in-rows") == {"all": FOUND}
    how: dict[str, Any] = {"data": "incidence-raw", "layout": "species-in-columns"}
    assert read(tmp_path, turned(UNITS), **how, site="none") == {"all": FOUND}
    sited = "unit,place,oak,elm\nu1,north,1,0\nu2,south,0,1\nu3,north,1,1\nu4,north,0,0\n"
    south = IncidenceFrequencies(1, Profile.from_counts([1]))
    assert read(tmp_path, sited, **how, site="place") == {"north": FOUND, "south": south}
    counted = sited.replace("1,0\n", "7,0\n")
    how["data"] = "incidence-counts"
    assert read(tmp_path, counted, **how, site="place") == {"north": FOUND, "south": south}


def test_a_unit_and_a_species_count_once_in_long_tables(tmp_path: Path) -> None:
    how = {"layout": "long", "site": "none", "sampling_unit": "plot", "species": "kind"}
    long = "plot,kind,n\nu1,oak,4\nu3,oak,1\nu3,oak,2\nu3,elm,9\nu2,ash,0\n"
    assert read(tmp_path, long, **how, data="incidence-counts", count="n") == {"all": FOUND}
    raw = "plot,kind\nu1,oak\nu3,oak\nu3,oak\nu3,elm\n"
    # A unit in which nothing was found is not in such a table.
    assert read(tmp_path, raw, **how, data="incidence-raw")["all"] == IncidenceFrequencies(2, FOUND.profile)
    assert read(tmp_path, raw + "u2,\n", **how, data="incidence-raw")["all"] == FOUND
    raw = "plot,kind,there\nu1,oak,1\nu3,oak,1\nu3,elm,1\nu2,elm,0\n"
    assert read(tmp_path, raw, **how, data="incidence-raw", count="there")["all"] == FOUND


def test_files_may_be_packed_or_have_other_delimiters(tmp_path: Path) -> None:
    how: dict[str, Any] = {"data": "abundance", "layout": "species-in-rows"}
    expected = read(tmp_path, ABUNDANCE, **how)
    assert read(tmp_path, ABUNDANCE.replace(",", ";"), **how, delimiter=";") == expected
    assert read(tmp_path, ABUNDANCE.replace(",", "\t"), "table.tsv", **how) == expected
    assert read(tmp_path, "\ufeff" + ABUNDANCE.replace("\n", "\r\n") + "\r\n", **how) == expected
    assert read(tmp_path, ABUNDANCE.replace("3", "3.0"), **how) == expected
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(ABUNDANCE.encode()))
    assert read_species(tmp_path / "table.csv.gz", **how) == expected
    assert read_species([line.split(",") for line in ABUNDANCE.splitlines()], **how) == expected


WIDE = {"data": "abundance", "layout": "species-in-rows"}
RAW = {"data": "incidence-raw", "layout": "species-in-rows"}
LONG = {"data": "abundance", "layout": "long", "site": "place", "species": "kind", "count": "n"}


@each_of(
    ("text", "how", "why"),
    [
        ("", WIDE, "is empty"),
        ("species,north\n", WIDE, "has a header"),
        (ABUNDANCE + "fir,1\n", WIDE, "a row has more or fewer columns"),
        (ABUNDANCE.replace("3", ""), WIDE, "row 1 below the header, column 2 .* is empty: write 0"),
        (ABUNDANCE.replace("3", "NA"), WIDE, "row 1 below the header, column 2 .* not a whole number"),
        (ABUNDANCE.replace("3", "-3"), WIDE, "not a whole number"),
        (ABUNDANCE.replace("3", "3.5"), WIDE, "not a whole number"),
        (ABUNDANCE.replace("3", "1e3"), WIDE, "not a whole number"),
        (ABUNDANCE.replace("3", "9" * 60), WIDE, "at most 2"),
        (ABUNDANCE.replace("elm", "oak"), WIDE, "first column .* twice"),
        (ABUNDANCE.replace("south", "north"), WIDE, "header .* twice"),
        (ABUNDANCE.replace("elm", ""), WIDE, "first column .* empty"),
        (UNITS.replace("oak,1", "oak,2"), RAW, "must be 0 or 1: .*incidence-counts"),
        ("species,a\nunits,3\noak,4\n", {**WIDE, "data": "incidence-freq"}, "more sampling units than there are"),
        ("species,a\nunits,0\noak,0\n", {**WIDE, "data": "incidence-freq"}, "begin with the number"),
        ("place,kind,n\nnorth,,3\n", LONG, "has no species"),
        ("place,kind,n\n,oak,3\n", LONG, "has no site"),
        ("place,kind,n\nnorth,oak,\n", LONG, "is empty"),
    ],
)
def test_bad_tables_are_refused_in_a_sentence(tmp_path: Path, text: str, how: dict[str, Any], why: str) -> None:
    with pytest.raises(DataError, match=why) as refused:
        read(tmp_path, text, **how)
    assert str(refused.value).endswith(".")
    assert "oak" not in str(refused.value)


@each_of(
    ("how", "why"),
    [
        ({**WIDE, "data": "incidence"}, "must be one of abundance"),
        ({**WIDE, "layout": "wide"}, "must be one of species-in-rows"),
        ({**WIDE, "count": "n"}, "count names a column of a long table"),
        ({**WIDE, "site": "place"}, "leave site out"),
        ({**RAW, "layout": "species-in-columns"}, "which column names the site"),
        ({**RAW, "layout": "species-in-columns", "site": "place"}, "no column 'place'"),
        ({**RAW, "layout": "species-in-columns", "site": "species"}, "first column"),
        ({**LONG, "data": "incidence-freq"}, "no place for the number of sampling units"),
        ({**LONG, "site": None}, "needs site, .* or 'none'"),
        ({**LONG, "count": None}, "needs count"),
        ({**LONG, "data": "incidence-raw"}, "needs sampling_unit"),
        ({**LONG, "sampling_unit": "plot"}, "added up"),
        ({**LONG, "site": "north", "species": "north", "count": "south"}, "same column"),
        ({**WIDE, "delimiter": ",,"}, "one character"),
    ],
)
def test_what_does_not_fit_together_is_refused(tmp_path: Path, how: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read(tmp_path, ABUNDANCE, **how)


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_bytes(ABUNDANCE.replace("elm", "\xe9").encode("latin-1"))
    with pytest.raises(DataError, match="UTF-8"):
        read_species(tmp_path / "table.csv", data="abundance", layout="species-in-rows")
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(ABUNDANCE.encode() * 50)[:-9])
    with pytest.raises(DataError, match="cut off"):
        read_species(tmp_path / "table.csv.gz", data="abundance", layout="species-in-rows")
    with pytest.raises(DataError, match="There is no file"):
        read_species(tmp_path / "none.csv", data="abundance", layout="species-in-rows")


def test_the_command_line_offers_what_there_is() -> None:
    assert commands.DATA == TABLE_DATA
    assert commands.LAYOUTS == TABLE_LAYOUTS


LISTED = {"layout": "long", "species": "kind", "sampling_unit": "plot"}


@each_of(
    "row",
    ['x,"oak\n', '"x,oak\n', 'x,"o"ak\n', 'x,"oak\ny,elm\nz,oak"\n', '"\n",oak\n', '"x\ny",oak\n', "x,oak,elm\n"],
)
def test_one_row_hides_no_others(tmp_path: Path, row: str) -> None:
    rows = [f"u{number},oak\n" for number in range(400)]
    for place in (0, 5, 400):
        text = "".join(("plot,kind\n", *rows[:place], row, *rows[place:]))
        (tmp_path / "table.csv").write_text(text, encoding="utf-8")
        with pytest.raises(DataError) as refused:
            read_sampling_units(tmp_path / "table.csv", data="incidence-raw", **LISTED)
        assert str(refused.value).endswith((".", ")."))
        assert "oak" not in str(refused.value)


def test_quotes_inside_one_row_are_one_row(tmp_path: Path) -> None:
    rows = [f"u{number},oak\n" for number in range(20)]
    for row, more in (('x,"elm, field"\n', {1: 1, 20: 1}), ('"x",oak\n', {21: 1}), ('x,a "b"\n', {1: 1, 20: 1})):
        (tmp_path / "table.csv").write_text("".join(("plot,kind\n", *rows[:7], row, *rows[7:])), encoding="utf-8")
        found = read_sampling_units(tmp_path / "table.csv", data="incidence-raw", **LISTED).frequencies()
        assert found == IncidenceFrequencies(21, Profile.from_prevalences(more.items()))


def test_what_no_table_may_hold_is_refused_in_a_sentence(tmp_path: Path) -> None:
    for text in (ABUNDANCE + "a\x00b,1,1\n", ABUNDANCE + "x" * 200_000 + ",1,1\n", ABUNDANCE + "a\rb,1,1\n"):
        try:
            read(tmp_path, text, **WIDE)
        except DataError as error:
            assert str(error).endswith((".", ")."))  # noqa: PT017  # some of them may be read


def test_other_files_and_tables_are_read_by_the_same_rules(tmp_path: Path) -> None:
    table = pl.DataFrame({"species": ["oak", "elm", "ash"], "north": [3, 1, 0], "south": [0, 2, 5]})
    table.write_parquet(tmp_path / "table.parquet")
    for source in (table, table.to_pandas(), table.lazy(), tmp_path / "table.parquet"):
        assert read_species(source, **WIDE) == {"north": NORTH, "south": SOUTH}
    there = table.with_columns(pl.col("north", "south").clip(0, 1))
    for source in (there, there.to_pandas(), there.lazy()):
        assert read_sampling_units(source, **RAW) == SamplingUnits([["oak", "elm"], ["elm", "ash"]])
    # In rows of Python, too, NaN is no name, and 7.0 is named 7.
    for named in (float("nan"), None):
        with pytest.raises(DataError, match="first column of the species table is empty"):
            read_species([["species", "north"], ["oak", 1], [named, 2]], **WIDE)
    with pytest.raises(DataError, match="stands there twice"):
        read_species([["species", "north"], [7.0, 1], [7, 2]], **WIDE)
    with pytest.raises(UsageError, match="CSV, TSV or Parquet"):
        read_species("duckdb:///sites.db", **WIDE)


@pytest.mark.slow
def test_rows_keep_their_order_in_long_files(tmp_path: Path) -> None:
    many = "species,one\nunits,3\n" + "".join(f"{number},{number % 4}\n" for number in range(300_000))
    how = {"data": "incidence-freq", "layout": "species-in-rows"}
    assert read(tmp_path, many, **how)["one"] == IncidenceFrequencies(
        3, Profile.from_prevalences([(1, 75_000), (2, 75_000), (3, 75_000)])
    )


def test_names_in_an_index_or_an_array_are_refused() -> None:
    table = pl.DataFrame({"species": ["oak", "elm", "ash"], "north": [3, 1, 0], "south": [0, 2, 5]}).to_pandas()
    for kind in (object, "string", "category"):
        indexed = table.set_index(table["species"].astype(kind)).drop(columns="species")
        # Otherwise the numbers of the first site would be the names of species.
        with pytest.raises(UsageError, match="reset_index"):
            read_species(indexed, **WIDE)
    assert read_species(table[table["north"] != 9], **WIDE) == {"north": NORTH, "south": SOUTH}
    with pytest.raises(UsageError, match="A species table is"):
        read_species(table[["north", "south"]].to_numpy(), **WIDE)


def test_many_sampling_units_in_columns_are_read_soon(tmp_path: Path) -> None:
    heads = ",".join(f"u{number}" for number in range(600))
    (tmp_path / "table.csv").write_text(f"species,{heads}\n" + "".join(f"s{at}" + ",1" * 600 + "\n" for at in range(9)))
    start = time.process_time()
    found = read_species(tmp_path / "table.csv", **RAW)["all"]
    assert found == IncidenceFrequencies(600, Profile.from_counts([600] * 9))
    # Types of all columns were once looked up for each: 20 seconds.
    assert time.process_time() - start < 8


PRIVATE_LONG: dict[str, Any] = {"data": "incidence-raw", "layout": "long", "species": "s", "sampling_unit": "u"}


def test_a_row_changes_its_own_unit_and_no_other() -> None:
    cells = [(unit, species) for unit in ("u", " u", "v", "") for species in ("a", "a ", "b", "")]

    def of_units(rows: Any) -> dict[str, set[str]]:
        found = read_sampling_units([["u", "s"], *map(list, rows)], **PRIVATE_LONG)
        names = list(dict.fromkeys(unit.strip() for unit, _ in rows if unit.strip()))
        return dict(zip(names, map(set, found.species), strict=True))

    for rows in [(), *((cell,) for cell in cells), *product(cells, repeat=2)]:
        before = of_units(rows)
        for cell in cells:
            after, name = of_units((*rows, cell)), cell[0].strip()
            more = {cell[1].strip()} - {""}
            assert after == (before if not name else {**before, name: before.get(name, set()) | more})


@each_of(
    ("text", "how"),
    [
        (UNITS.replace("oak,1", "oak,2"), RAW),
        (UNITS.replace("oak,1", "oak,"), RAW),
        (UNITS.replace("oak,1", "oak,x"), RAW),
        ("u,s,n\nplot 1,oak,1\nplot 2,oak,many\n", {**PRIVATE_LONG, "count": "n"}),
    ],
)
def test_errors_of_private_tables_name_rows_on_a_terminal_alone(tmp_path: Path, text: str, how: dict[str, Any]) -> None:
    (tmp_path / "table.csv").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="one row of the species table") as refused:
        read_sampling_units(tmp_path / "table.csv", **how)
    assert not any(sign.isdigit() for sign in str(refused.value).partition("of the species table")[0])
    assert re.search(r"row \d below", refused.value.for_operator)
    assert not refused.value.is_same_for_all_rows


def test_columns_that_are_units_are_no_public_schema(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("species;u1;u2\noak;1;0\n")
    for layout, is_public in (("species-in-rows", False), ("species-in-columns", True)):
        with pytest.raises(DataError, match="';' in its name") as refused:
            read_sampling_units(tmp_path / "table.csv", data="incidence-raw", layout=layout)  # type: ignore[arg-type]
        assert refused.value.is_same_for_all_rows == is_public


@each_of(
    ("text", "how", "units"),
    [
        ("plot,kind\n", LISTED, []),
        ("species,u1,u2\n", {"layout": "species-in-rows"}, [[], []]),
        ("species\noak\n", {"layout": "species-in-rows"}, []),
        ("unit,oak,elm\n", {"layout": "species-in-columns"}, []),
        ("unit\nu1\nu2\n", {"layout": "species-in-columns"}, [[], []]),
    ],
)
def test_no_units_and_no_species_are_data(tmp_path: Path, text: str, how: dict[str, Any], units: list[Any]) -> None:
    (tmp_path / "table.csv").write_text(text, encoding="utf-8")
    assert read_sampling_units(tmp_path / "table.csv", data="incidence-raw", **how) == SamplingUnits(units)


@pytest.mark.parametrize("source", [5, None, {"a": 1}, [7], ["ab"], [{"a": 1}], b"a,b"])
def test_what_is_no_table_is_refused(source: Any) -> None:
    with pytest.raises(UsageError, match="A species table is"):
        read_sampling_units(source, data="incidence-raw", layout="species-in-rows")
