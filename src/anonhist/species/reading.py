"""Species tables: wide or long, of abundances or incidences, as counts of species for each site."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from anonhist.errors import AnonhistError, DataError, UsageError
from anonhist.ingest.files import check_there
from anonhist.ingest.locations import as_path
from anonhist.profiles import Profile
from anonhist.species.incidence import IncidenceFrequencies
from anonhist.species.sample import SiteData
from anonhist.species.sampling_units import SamplingUnits
from anonhist.species.tables import SpeciesTable

TableData = Literal["abundance", "incidence-freq", "incidence-raw", "incidence-counts"]
TABLE_DATA: tuple[str, ...] = get_args(TableData)
RAW_DATA = ("incidence-raw", "incidence-counts")
TableLayout = Literal["species-in-rows", "species-in-columns", "long"]
TABLE_LAYOUTS: tuple[str, ...] = get_args(TableLayout)
#: In place of the name of a column of sites, or of counts.
NO_COLUMN = "none"
#: The name of a site that has none.
ONE_SITE = "all"
_LARGEST = 2**62
# What is read of a site.
Held = Profile | IncidenceFrequencies | SamplingUnits
_SHOWN = "row {row} below the header, column {column}"


class _CellError(DataError):
    """A cell is no number: the sentence says where, and ``general`` does not."""

    def __init__(self, told: str, row: int, column: int) -> None:
        super().__init__(told.format(shown=f"{_SHOWN.format(row=row, column=column)} of the species table"))
        self.general = told.format(shown="one row of the species table")


@dataclass(frozen=True)
class LongColumns:
    """The columns of a long table, by name: None for what it has no column of.

    Attributes
    ----------
    site
        The site of a row, or ``"none"``: all rows are of one site.
    species
        The species.
    sampling_unit
        The sampling unit, for incidences.
    count
        How many individuals were found, or ``"none"``: one for each row. For incidences, 0 says that the unit was there
        without the species.

    Examples
    --------
    >>> LongColumns("none", "species", "plot").count is None
    True
    """

    site: str | None = None
    species: str | None = None
    sampling_unit: str | None = None
    count: str | None = None


def read_species(
    source: Any,
    /,
    *,
    data: TableData,
    layout: TableLayout,
    site: str | None = None,
    species: str | None = None,
    sampling_unit: str | None = None,
    count: str | None = None,
    delimiter: str | None = None,
) -> dict[str, SiteData]:
    """Read a species table, exactly: what its numbers mean and how it lies must be said, and is never guessed.

    Wide tables have a header line, and names in their first column. With ``"species-in-rows"`` every further column is
    a site, or a sampling unit of one site; with ``"species-in-columns"`` every further row is. In long tables each row
    is a species at a site, or in a sampling unit.

    Parameters
    ----------
    source
        A path of a CSV, TSV or Parquet file, which may be packed (``.csv.gz``), or ``"-"`` for CSV on standard input; a
        table in memory, such as a data frame; or the rows themselves, as lists, the header first. Files are read by the
        same rules as all others: an unclosed quote is refused, and so is one that spans lines.
    data
        ``"abundance"``: numbers of individuals; equal site and species in two rows of a long table are added up.
        ``"incidence-freq"``: numbers of sampling units with the species, in wide tables whose first row (species in
        rows) or first column (species in columns) after the names is the number of sampling units, as in iNEXT.
        ``"incidence-raw"``: 1 if a species was found in a sampling unit, otherwise 0. ``"incidence-counts"``: numbers
        of individuals in sampling units, of which any above 0 is one detection. In long tables of both, a pair of a
        unit and a species counts once, however often it is listed, and only units that are listed count: one without a
        species has a row in which the species is empty.
    layout
        ``"species-in-rows"``, ``"species-in-columns"`` or ``"long"``.
    site
        The column of sites, or ``"none"`` if all rows are of one site. For long tables, and for sampling units in rows
        (incidences with species in columns); elsewhere the names of sites are in the header or the first column.
    species, sampling_unit, count
        Columns of long tables: the species; for incidences, the sampling unit; for abundances and ``incidence-counts``,
        the number of individuals, or ``"none"`` if each row is one individual.
    delimiter
        The sign between columns; a comma by default, a tab in files called ``.tsv``.

    Returns
    -------
    dict
        For each site, in the order of the table: a profile of individuals, or :class:`IncidenceFrequencies`. One site
        without a name is called ``"all"``.

    Raises
    ------
    UsageError
        If the parameters do not fit together, or a column is missing.
    DataError
        If a file cannot be read, rows have different lengths, a name is empty or listed twice in a wide table, or a
        number is not a whole number of at least 0, for ``incidence-raw`` above 1, or a count above the number of units.
        Empty cells are refused: write 0 if a species was not found.

    Notes
    -----
    Source of the formats: Hsieh and others 2016; Chao and others 2014.

    Examples
    --------
    >>> table = [["", "north", "south"], ["units", 4, 3], ["oak", 4, 0], ["elm", 1, 2]]
    >>> read_species(table, data="incidence-freq", layout="species-in-rows")["south"]
    IncidenceFrequencies(sampling_units=3, species=1, {2: 1})
    """
    columns = LongColumns(site, species, sampling_unit, count)
    held = _held(source, data, layout, columns, delimiter, is_private=False)
    return {name: each.frequencies() if isinstance(each, SamplingUnits) else each for name, each in held.items()}


def read_sampling_units(
    source: Any,
    /,
    *,
    data: Literal["incidence-raw", "incidence-counts"],
    layout: TableLayout,
    species: str | None = None,
    sampling_unit: str | None = None,
    count: str | None = None,
    delimiter: str | None = None,
) -> SamplingUnits:
    """Read which species were found in each sampling unit of one site, for a private release.

    A unit is what its own cells or rows say, whatever the others are, and each of its species counts once. A table of
    which only the header is left has no units, or units without species. In long tables only units that are listed
    count, so list those without a species, too: with an empty species, or a count of 0. Otherwise T says how many units
    have a species, which differs between replaced units, so such a table must not be released for replaced units
    (``NeighboringRelation.SUBSTITUTE``), for which T is public. Rows of a long table without a unit are left out.

    Parameters
    ----------
    source, data, layout, species, sampling_unit, count, delimiter
        As for :func:`read_species`, for incidences of a single site.

    Returns
    -------
    SamplingUnits
        Private data.

    Raises
    ------
    UsageError, DataError
        As for :func:`read_species`, but an error names no row: ``for_operator`` does, for a terminal alone. That there
        was one is a fact about the data, which the guarantee of a release does not cover.

    Examples
    --------
    >>> table = [["", "plot 1", "plot 2"], ["oak", 1, 1], ["elm", 0, 1]]
    >>> read_sampling_units(table, data="incidence-raw", layout="species-in-rows").frequencies()
    IncidenceFrequencies(sampling_units=2, species=2, {1: 1, 2: 1})
    """
    columns = check_private_table(data, layout, species=species, sampling_unit=sampling_unit, count=count)
    # That a file is not there is public, whatever its header has.
    check_there(as_path(source))
    try:
        found = _held(source, data, layout, columns, delimiter, is_private=True).get(ONE_SITE, SamplingUnits([]))
    except AnonhistError as error:
        told: AnonhistError = error
        if isinstance(error, _CellError):
            told = DataError(error.general)
            told.for_operator = str(error)
        # Columns may be units: then the header is no public schema.
        told.may_tell_rows = error.may_tell_rows or layout == "species-in-rows"
        raise told from None
    assert isinstance(found, SamplingUnits)  # noqa: S101  # such data are units
    return found


def check_private_table(
    data: str, layout: str, *, species: str | None, sampling_unit: str | None, count: str | None
) -> LongColumns:
    """Return the columns of a table of sampling units, or refuse what does not fit together; nothing is read."""
    if data not in RAW_DATA:
        raise UsageError(f"`data` of sampling units must be one of {', '.join(RAW_DATA)}, not {data!r:.80}.")
    columns = LongColumns(None if layout == "species-in-rows" else NO_COLUMN, species, sampling_unit, count)
    _check_columns(data, layout, columns)
    return columns


def _held(
    source: Any,
    data: TableData,
    layout: TableLayout,
    columns: LongColumns,
    delimiter: str | None,
    *,
    is_private: bool,
) -> Mapping[str, Held]:
    """Return the sites of a table, those of sampling units unit by unit."""
    _check_columns(data, layout, columns)
    table = SpeciesTable.of(source, delimiter)
    if not is_private and (len(table.header) < 2 or not table.rows):
        raise DataError("A species table has a header, at least two columns, and at least one further row.")
    if layout == "long":
        return _read_long(table, data, columns, may_miss=is_private)
    return _read_wide(table, data, columns.site, species_in_rows=layout == "species-in-rows")


def _check_columns(data: str, layout: str, columns: LongColumns) -> None:
    """Refuse columns that a kind of table does not have, and require those that it needs."""
    for name, given, known in (("data", data, TABLE_DATA), ("layout", layout, TABLE_LAYOUTS)):
        if given not in known:
            raise UsageError(f"`{name}` must be one of {', '.join(known)}, not {given!r:.80}.")
    is_raw = data in RAW_DATA
    if layout != "long":
        _check_wide(columns, of_units_in_rows=layout == "species-in-columns" and is_raw)
        return
    if data == "incidence-freq":
        raise UsageError(
            "A long table has no place for the number of sampling units: list species by unit, with "
            "`data='incidence-raw'`."
        )
    needed = {"site": True, "species": True, "sampling_unit": is_raw, "count": data != "incidence-raw"}
    for name, is_needed in needed.items():
        if is_needed and getattr(columns, name) is None:
            also = {
                "site": ", or 'none' if all rows are of one site",
                "count": ", or 'none' if each row is one individual",
            }.get(name, "")
            raise UsageError(f"A long table of this kind needs `{name}`, the name of a column{also}.")
    if columns.sampling_unit is not None and not is_raw:
        raise UsageError("`sampling_unit` is for incidences: abundances of a site are added up. Leave it out.")


def _check_wide(columns: LongColumns, *, of_units_in_rows: bool) -> None:
    """Refuse columns that wide tables do not have, and require that of sites where sampling units are rows."""
    for name in ("species", "sampling_unit", "count"):
        if getattr(columns, name) is not None:
            raise UsageError(f"`{name}` names a column of a long table: leave it out, or use `layout='long'`.")
    if columns.site is None and of_units_in_rows:
        raise UsageError("Say with `site` which column names the site of each sampling unit, or 'none'.")
    if columns.site is not None and not of_units_in_rows:
        raise UsageError("The names of sites are in the header or the first column here: leave `site` out.")


def _whole(cell: str, row: int, column: int, *, most: int = _LARGEST) -> int:
    """Return the number in a cell; a decimal point is allowed if zeros follow."""
    if not cell:
        raise _CellError("The cell in {shown} is empty: write 0 for a species not found.", row, column)
    whole, point, rest = cell.partition(".")
    if not (whole.isascii() and whole.isdigit()) or (point and rest.strip("0")):
        raise _CellError("The number in {shown} is not a whole number of at least 0.", row, column)
    number = int(whole) if len(whole) < 40 else _LARGEST + 1
    if number > most:
        told = "0 or 1: for other numbers, use `data='incidence-counts'`" if most == 1 else "at most 2^62"
        raise _CellError(f"The number in {{shown}} must be {told}.", row, column)
    return number


def _read_wide(table: SpeciesTable, data: TableData, site: str | None, *, species_in_rows: bool) -> Mapping[str, Held]:
    """Return the sites of a wide table."""
    place = None if site in (None, NO_COLUMN) else table.place(str(site), of="site")
    if place == 0:
        raise UsageError("The first column of a wide table has the names of its rows, so it cannot be `site`.")
    kept = [at for at in range(1, len(table.header)) if at != place]
    names = [row[0] for row in table.rows]
    heads = [table.header[at] for at in kept]
    _check_names(names, "first column")
    _check_names(heads, "header")
    most = 1 if data == "incidence-raw" else _LARGEST
    cells = [
        [_whole(row[at], at_row, at + 1, most=most) for at in kept] for at_row, row in enumerate(table.rows, start=1)
    ]
    if species_in_rows:
        cells = [list(column) for column in zip(*cells, strict=True)] or [[] for _ in kept]
        names, heads = heads, names
    # From here on, each row is a site or a sampling unit, and each column a species.
    if data == "abundance":
        return {name: Profile.from_counts(row) for name, row in zip(names, cells, strict=True)}
    if data == "incidence-freq":
        return {name: IncidenceFrequencies.from_frequencies(row) for name, row in zip(names, cells, strict=True)}
    if place is None:
        of_units = [ONE_SITE] * len(cells)
    else:
        of_units = [row[place] for row in table.rows]
        if not all(of_units):
            raise DataError("A sampling unit of the species table has no site: its cell is empty.")
    units: dict[str, list[list[str]]] = {}
    for name, row in zip(of_units, cells, strict=True):
        units.setdefault(name, []).append([species for species, cell in zip(heads, row, strict=True) if cell])
    return {name: SamplingUnits(found) for name, found in units.items()}


def _check_names(names: list[str], where: str) -> None:
    if not all(names):
        raise DataError(f"A name in the {where} of the species table is empty.")
    if len(set(names)) < len(names):
        raise DataError(f"A name in the {where} of the species table stands there twice.")


def _read_long(table: SpeciesTable, data: TableData, columns: LongColumns, *, may_miss: bool) -> Mapping[str, Held]:
    """Return the sites of a long table; ``may_miss`` leaves out rows without a unit, and units may lack a species.

    Then no row is refused because another value is missing in it: that would be seen.
    """
    places = {
        name: table.place(column, of=name)
        for name, column in vars(columns).items()
        if column is not None and not (name in ("site", "count") and column == NO_COLUMN)
    }
    if len(set(places.values())) < len(places):
        raise UsageError("Two parts of a long table cannot be in the same column: name different columns.")
    rows = list(enumerate(table.rows, start=1))
    if may_miss:
        rows = [each for each in rows if each[1][places["sampling_unit"]]]
    # A row of a sampling unit without a species lists the unit.
    for name in () if may_miss else ("site", "species" if data == "abundance" else "sampling_unit"):
        if name in places and not all(row[places[name]] for _, row in rows):
            raise DataError(f"A row of the species table has no {name.replace('_', ' ')}: its cell is empty.")

    def values(name: str) -> list[str]:
        return [row[places[name]] for _, row in rows] if name in places else [ONE_SITE] * len(rows)

    counts = [1] * len(rows)
    if "count" in places:
        most = 1 if data == "incidence-raw" else _LARGEST
        at = places["count"]
        counts = [_whole(row[at], at_row, at + 1, most=most) for at_row, row in rows]
    of_sites = zip(values("site"), values("species"), values("sampling_unit"), counts, strict=True)
    return _LONG["abundance" if data == "abundance" else "incidence"](of_sites)


_Rows = Iterable[tuple[str, str, str, int]]


def _abundances(rows: _Rows) -> dict[str, Profile]:
    totals: dict[str, dict[str, int]] = {}
    for site, species, _, count in rows:
        at = totals.setdefault(site, {})
        at[species] = at.get(species, 0) + count
    return {site: Profile.from_counts(list(at.values())) for site, at in totals.items()}


def _detections(rows: _Rows) -> dict[str, SamplingUnits]:
    units: dict[str, dict[str, list[str]]] = {}
    for site, species, unit, count in rows:
        found = units.setdefault(site, {}).setdefault(unit, [])
        if count and species:
            found.append(species)
    return {site: SamplingUnits(of_units.values()) for site, of_units in units.items()}


_LONG: dict[str, Callable[[_Rows], Mapping[str, Held]]] = {"abundance": _abundances, "incidence": _detections}
