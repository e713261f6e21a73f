"""Species tables: every way to write the same sites gives the same numbers, and what is ambiguous is refused."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from anonhist.errors import DataError, UsageError
from anonhist.profiles import Profile
from anonhist.species import commands
from anonhist.species.incidence import IncidenceFrequencies
from anonhist.species.reading import TABLE_DATA, TABLE_LAYOUTS, read_species
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
        ("", WIDE, "has a header"),
        ("species,north\n", WIDE, "has a header"),
        (ABUNDANCE + "fir,1\n", WIDE, "Line 5 .* another number of columns"),
        (ABUNDANCE.replace("3", ""), WIDE, "Line 2, column 2 .* is empty: write 0"),
        (ABUNDANCE.replace("3", "NA"), WIDE, "line 2, column 2 .* not a whole number"),
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
    (tmp_path / "table.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="UTF-8"):
        read_species(tmp_path / "table.csv", data="abundance", layout="species-in-rows")
    (tmp_path / "table.csv").write_bytes(gzip.compress(ABUNDANCE.encode() * 50)[:-9])
    with pytest.raises(DataError, match="cut off"):
        read_species(tmp_path / "table.csv", data="abundance", layout="species-in-rows")
    with pytest.raises(DataError, match="There is no file"):
        read_species(tmp_path / "none.csv", data="abundance", layout="species-in-rows")


def test_the_command_line_offers_what_there_is() -> None:
    assert commands.DATA == TABLE_DATA
    assert commands.LAYOUTS == TABLE_LAYOUTS
