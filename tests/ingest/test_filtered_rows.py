"""Rows that a condition leaves out, in everything that reads rows: before bounds, in passes, in parts, in releases."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import anonhist as ah
from anonhist.errors import DataError, UsageError
from anonhist.formats.files import read as read_file
from anonhist.formats.files import write
from anonhist.formats.tables import to_arrow
from anonhist.ingest import query, read_profile
from anonhist.ingest.columns import MissingColumnError, RepeatedColumnError
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.parts import count_into, write_part
from anonhist.ingest.parts.files import PartFile
from anonhist.ingest.windows import read_cumulative, read_cumulative_groups
from anonhist.mechanisms.window_release import release_cumulative, release_cumulative_groups
from anonhist.profiles import Profile
from anonhist.report.wording import bound_of
from anonhist_testing.cases import each_of

ROWS: dict[str, list[Any]] = {
    "who": ["ann", "ann", "ann", "bob", None, "eve", "eve"],
    "what": ["x", "y", "z", "x", "x", None, "y"],
    "country": ["DE", "FR", "FR", "DE", "DE", "DE", None],
    "day": ["2026-11-01", "2026-11-01", "2026-11-02", "2026-11-02", "2026-11-02", "2026-11-02", "2026-11-01"],
}
WHERE, SAID = "country='DE'", "country = 'DE'"
KEY = "0123456789abcdef" * 2
DAYS = ["2026-11-01", "2026-11-02"]


def _table() -> pl.DataFrame:
    return pl.DataFrame(ROWS)


def test_only_rows_that_pass_are_bounded() -> None:
    # Of the three rows of ann one passes: whatever chance keeps of three, it counts.
    for key in (f"{number:032x}" for number in range(12)):
        bounded = {"user": "who", "max_per_user": 1, "order_key": key, "label": "what"}
        read = read_profile(_table(), where="what = 'y'", **bounded)
        assert (read, read.where) == (Profile([2], [1], unit=read.unit), "what = 'y'")
    by_day = read_profile(_table(), where="what <> 'x'", order_by="day", **bounded)
    assert by_day == Profile([2], [1], unit=by_day.unit)


def test_remarks_are_of_the_rows_that_pass() -> None:
    told: list[str] = []
    read_profile(_table(), label="what", user="who", max_per_user=1, where=WHERE, notify=told.append)
    assert told == [
        "2 of 4 rows were left out: 1 without a user, the others without a label or over the limit of 1 per user."
    ]
    told.clear()
    read_profile(_table(), label="what", where=WHERE, notify=told.append)
    assert told == ["1 item without a label was left out (`keep_null=True` counts them as one label)."]


def test_users_are_counted_before_the_bound_of_rows_that_pass() -> None:
    read = read_profile(
        _table(), label="what", user="who", max_per_user=1, count_users=True, where="country = 'FR' or what = 'x'"
    )
    assert read.users is not None
    assert read.users.numbers == Profile([1, 3], [1, 1])


def test_groups_and_windows_are_of_rows_that_pass() -> None:
    groups = read_groups(_table(), label="what", by="day", groups=DAYS, where=WHERE)
    assert [profile.n for profile in groups.values()] == [1, 2]
    assert {groups.where, *(profile.where for profile in groups.values())} == {SAID}
    crossing = read_groups(
        _table(), label="what", by=["country", "day"], groups=[("DE", DAYS[0])], levels="crossing", where=WHERE
    )
    assert {each.where for each in crossing.above} == {SAID}
    windows = read_cumulative(_table(), label="what", by="day(day)", days=DAYS, thresholds=[1, 2], where=WHERE)
    assert (windows.k_plus.tolist(), windows.where) == ([[1, 1], [0, 1]], SAID)
    of_groups = read_cumulative_groups(
        _table(),
        label="what",
        by="country",
        groups=["DE", "FR"],
        cumulative_by="day(day)",
        days=DAYS,
        thresholds=[1],
        where="what <> 'x'",
    )
    assert [each.k_plus.tolist() for each in of_groups.values()] == [[[0, 0]], [[1, 2]]]
    assert of_groups.first.where == "what <> 'x'"


def _profile() -> Any:
    return ah.release(read_profile(_table(), label="what", where=WHERE), epsilon=5, simulations=2)


def _groups(**asked: Any) -> Any:
    read = read_groups(_table(), label="what", by=["country", "day"], groups=[("DE", DAYS[0])], where=WHERE, **asked)
    return ah.release_groups(read, epsilon=5, simulations=2)


def _windows() -> Any:
    read = read_cumulative(_table(), label="what", by="day(day)", days=DAYS, thresholds=[1], where=WHERE)
    return release_cumulative(read, epsilon=5)


def _windows_of_groups() -> Any:
    asked: dict[str, Any] = {"by": "country", "groups": ["DE", "FR"], "cumulative_by": "day(day)", "thresholds": [1]}
    return release_cumulative_groups(
        read_cumulative_groups(_table(), label="what", days=DAYS, where=WHERE, **asked), epsilon=5
    )


MADE: dict[str, Callable[[], Any]] = {
    "profile": _profile,
    "groups": _groups,
    "nested groups": lambda: _groups(levels="nested"),
    "crossing groups": lambda: _groups(levels="crossing"),
    "windows": _windows,
    "windows of groups": _windows_of_groups,
}


@each_of("name", MADE)
def test_releases_say_which_rows_were_counted_and_so_do_their_files_and_pages(name: str, tmp_path: Path) -> None:
    made = MADE[name]()
    assert made.where == SAID
    if hasattr(made, "everything"):
        assert {each.where for each in made.everything.values()} == {SAID}
    sentence = f"Only rows where {SAID} were counted."
    assert ("Rows", sentence) in bound_of(made)
    for ending in ("json", "parquet"):
        write(made, tmp_path / f"made.{ending}")
        assert read_file(tmp_path / f"made.{ending}").where == SAID
    first, _, _ = made._repr_html_().partition("<details")
    assert "Only rows where country = &#39;DE&#39; were counted." in first


def test_estimates_say_which_rows_were_counted() -> None:
    data = read_profile(_table(), label="what", where=WHERE)
    released = ah.release(data, epsilon=50, simulations=8)
    found: list[Any] = [ah.private.entropy(data, epsilon=5, alphabet_size=10)]
    for each in (data, released):
        found += [ah.entropy(each), ah.estimate_all(each), ah.properties.rarefaction_curve(each, bootstraps=3)]
    found += [released.k_plus(1), released.prevalence(2), released.prevalence(0, alphabet_size=99)]
    found += [released.num_items(), _windows()[DAYS[0], 1]]
    for estimate in found:
        assert estimate.where == SAID
        assert bound_of(estimate)[0] == ("Rows", f"Only rows where {SAID} were counted.")
        assert f"Only rows where {SAID.replace(chr(39), '&#39;')} were counted." in estimate._repr_html_()
        assert to_arrow(estimate).schema.metadata[b"anonhist.where"] == SAID.encode()


def test_without_a_condition_nothing_is_said() -> None:
    made = ah.release(read_profile(_table(), label="what"), epsilon=5, simulations=2)
    assert made.where is None
    assert not bound_of(made)


def test_what_is_read_in_passes_is_filtered_in_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "rows.parquet")
    many = pl.DataFrame({"what": [f"label {number % 97}" for number in range(1000)], "n": range(1000)})
    many.write_parquet(path)
    expected = read_profile(many, label="what", count="none", where="n >= 500")
    monkeypatch.setattr(query, "PASSES", ())
    monkeypatch.setattr(query, "MOST_PASSES", 4)
    assert read_profile(path, label="what", count="none", where="n >= 500") == expected
    assert expected.n == 500


def test_columns_must_be_of_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    _table().write_parquet(path)
    (tmp_path / "rows.jsonl").write_text('{"what": "x", "country": "DE"}\n{"what": "y"}\n{"what": "z", "other": 1}\n')
    for name in ("rowid", "filename", "file_name", "_metadata", "Country", "country "):
        for source in (str(path), _table(), _table().lazy(), _table().to_arrow(), _table().to_pandas()):
            with pytest.raises(MissingColumnError, match="for the condition"):
                read_profile(source, label="what", where=f"\"{name}\" = 'DE'")
    # Whether a row has a key tells of rows.
    lines = str(tmp_path / "rows.jsonl")
    assert read_profile(lines, label="what", where="rowid is null").n == 3
    assert read_profile(lines, label="what", where="country is not null").n == 1
    twice = pd.DataFrame([["x", "DE", "FR"]], columns=["what", "country", "country"])
    with pytest.raises(RepeatedColumnError):
        read_profile(twice, label="what", where=WHERE)


def test_values_of_json_that_have_no_name_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"q": "a", "x": 1e300}\n{"q": "b", "x": 7.0}\n{"q": "c", "x": "1e300"}\n{"q": "d"}\n')
    for where, many in (("x = '7'", 1), ("x = '1e300'", 2), ("x > '2'", 1), ("x is null", 1)):
        assert read_profile(str(path), label="q", where=where).n == many
    # A label must have one, whatever else it is compared with.
    with pytest.raises(DataError, match="2\\^53"):
        read_profile(str(path), label="x", where="x is not null")


@each_of(
    "name",
    [
        "two words",
        'with "quotes"',
        "it's",
        "a.b",
        "back`quote",
        "and",
        "größe",
        "x; drop table t --",
        "back\\slash",
        "%s",
    ],
)
def test_any_column_can_be_named(tmp_path: Path, name: str) -> None:
    table = pl.DataFrame({"what": ["x", "y", "z"], name: ["it's", 'say "so"', "%s {} \\ $1"]})
    table.write_parquet(tmp_path / "rows.parquet")
    table.write_csv(tmp_path / "rows.csv")
    quoted = '"' + name.replace('"', '""') + '"'
    for source in (table, table.to_pandas(), str(tmp_path / "rows.parquet"), str(tmp_path / "rows.csv")):
        for value in table[name]:
            written = "'" + value.replace("'", "''") + "'"
            assert read_profile(source, label="what", where=f"{quoted} = {written}").n == 1


def test_a_condition_does_not_say_what_rows_are() -> None:
    table = pl.DataFrame({"label": ["x", "y"], "count": [2, 3], "country": ["DE", "FR"]})
    assert read_profile(table, where=WHERE) == Profile([2], [1])
    assert read_profile(table.drop("country"), where="label <> 'x'") == Profile([3], [1])
    # Nobody said that the column that is called as counts are is none, though the condition looks at it.
    events = table.rename({"label": "query"})
    with pytest.raises(UsageError, match="Column 'count' may hold the number of items"):
        read_profile(events, label="query", where="count > 2 and country = 'DE'")
    assert read_profile(events, label="query", count="none", where="count > 2").n == 1
    # The one column that is left has the labels, as beside a column of users.
    assert read_profile(_table().select("what", "country"), where=WHERE).n == 3
    assert read_profile(_table().select("what", "country"), label="country", where="country <> 'FR'").n == 4
    assert read_profile(pl.DataFrame({"what": ["x", "y"]}), where="what = 'x'").n == 1


@each_of("where", ["count >= 2", "label = 'x' or not count = 2"])
def test_counts_decide_about_no_rows(where: str) -> None:
    table = pl.DataFrame({"label": ["x", "y"], "count": [2, 3], "g": ["a", "a"]})
    for asked in ({}, {"format": "counts"}, {"count": "count", "label": "label"}):
        with pytest.raises(UsageError, match="must not use the column of counts"):
            read_profile(table.drop("g"), where=where, **asked)
    with pytest.raises(UsageError, match="must not use the column of counts"):
        read_groups(table, by="g", groups=["a"], where=where)
    prevalences = pl.DataFrame({"count": [1, 2], "prevalence": [5, 3]})
    for asked_of in ("count > 1", "prevalence > 1"):
        with pytest.raises(UsageError, match="must not use the column of counts"):
            read_profile(prevalences, where=asked_of)


def test_labels_alone_have_no_columns() -> None:
    for labels in (["x", "y"], {"x", "y"}):
        with pytest.raises(UsageError, match="A list of labels has no columns"):
            read_profile(labels, where="label = 'x'")
    assert read_profile(pl.Series("s", ["x", "y", "y"]), where="label = 'y'") == Profile([2], [1])


def test_parts_are_of_one_condition(tmp_path: Path) -> None:
    parts = [tmp_path / f"{name}.counts" for name in ("first", "second", "third", "fourth")]
    write_part(_table(), parts[0], label="what", where=WHERE)
    write_part(_table(), parts[1], label="what", where="country  =  'DE'")
    write_part(_table(), parts[2], label="what")
    write_part(_table(), parts[3], label="what", like=parts[0])
    assert [PartFile.open(str(part)).document.where for part in parts] == [SAID, SAID, None, SAID]
    together = read_profile([parts[0], parts[1], parts[3]])
    assert (together, together.where) == (Profile([9], [1]), SAID)
    assert ah.release(together, epsilon=5, simulations=2).where == SAID
    for others in ([parts[0], parts[2]], [parts[2], parts[1]]):
        with pytest.raises(UsageError, match="were counted with different conditions"):
            read_profile(others)
    with pytest.raises(UsageError, match="where applies to events"):
        read_profile(parts[0], where=WHERE)
    with pytest.raises(UsageError, match="counts other rows: leave"):
        write_part(_table(), tmp_path / "fifth.counts", label="what", like=parts[0], where="day = '2026-11-01'")
    count_into(_table(), parts[0], label="what", part="more")
    assert read_profile(parts[0]) == Profile([6], [1])
    with pytest.raises(UsageError, match="were counted with different conditions"):
        count_into([parts[2]], parts[0])


def test_parts_of_users_are_filtered_before_their_bound(tmp_path: Path) -> None:
    path = tmp_path / "users.counts"
    write_part(_table(), path, label="what", user="who", max_per_user=1, where="what = 'y'")
    assert read_profile(path).n == 2


@each_of("where", ["", "lower(n) = 1", "n  = 1", 5])
def test_a_part_with_another_text_is_damaged(tmp_path: Path, where: Any) -> None:
    document = replace(_document(tmp_path))
    text = document.to_json().replace(b'"n = 1"', (f'"{where}"' if isinstance(where, str) else str(where)).encode())
    with pytest.raises(DataError, match="is damaged"):
        type(document).read(text, "part")


def _document(folder: Path) -> Any:
    write_part(pl.DataFrame({"what": ["x"], "n": [1]}), folder / "a.counts", label="what", count="none", where="n = 1")
    return PartFile.open(str(folder / "a.counts")).document
