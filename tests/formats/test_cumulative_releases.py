"""Files of releases of cumulative windows: what is written is read, and what cannot be is refused."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from anonhist.accounting import Receipt
from anonhist.errors import DataError, UsageError
from anonhist.formats.files import read, write
from anonhist.formats.releases import is_table_of_release, to_cumulative_document
from anonhist.formats.tables import csv_text
from anonhist.mechanisms.window_release import WINDOW_MECHANISMS, release_cumulative
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles.windows import CumulativeCounts
from anonhist.releases.content import content_digest
from anonhist.releases.cumulative import CumulativeRelease

KEY = "0123456789abcdef" * 2
DAYS = tuple(f"2026-11-{day:02}" for day in range(1, 6))
UNITS = {
    "item": (PrivacyUnit.item(), None),
    "users": (PrivacyUnit.user(max_items=3), KEY),
    "labels": (PrivacyUnit.label(max_count=5), None),
}


def release_of(unit: str = "users", mechanism: Any = "auto", **given: Any) -> CumulativeRelease:
    protected, key = UNITS[unit]
    increments = [[40, 10, 0, 7, 3], [20, 9, 1, 0, 2]]
    counts = CumulativeCounts((1, 3), DAYS, increments, unit=protected, order_key=key)
    return release_cumulative(counts, epsilon="1/3", mechanism=mechanism, **given)


@pytest.mark.parametrize("relation", list(NeighboringRelation))
@pytest.mark.parametrize("ending", ["json", "parquet"])
@pytest.mark.parametrize("mechanism", list(WINDOW_MECHANISMS))
@pytest.mark.parametrize("unit", list(UNITS))
def test_what_is_written_is_read(
    unit: str, mechanism: str, ending: str, relation: NeighboringRelation, tmp_path: Path
) -> None:
    release = release_of(unit, mechanism, relation=relation)
    path = tmp_path / f"reach.{ending}"
    write(release, path)
    back = read(path)
    assert isinstance(back, CumulativeRelease)
    assert to_cumulative_document(back) == to_cumulative_document(release)
    assert (back.mechanism, back.guarantee) == (release.mechanism, release.guarantee)
    assert str(back[DAYS[2], 3]) == str(release[DAYS[2], 3])
    assert is_table_of_release(str(path)) == (ending == "parquet")


def test_the_table_has_a_row_for_each_threshold_and_day(tmp_path: Path) -> None:
    release = release_of()
    write(release, tmp_path / "reach.csv")
    text = (tmp_path / "reach.csv").read_text()
    assert text == csv_text(release)
    rows = list(csv.DictReader(text.splitlines()))
    assert list(rows[0]) == ["k", "day", "value", "low", "high"]
    assert len(rows) == 10
    for row in rows:
        found = release[row["day"], int(row["k"])]
        assert (found.value, *found.interval) == tuple(float(row[name]) for name in ("value", "low", "high"))


def _set(*path: Any, to: Any) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_set("format", to="anonhist/grouped-release"), "a release of groups by exactly the fields"),
        (_set("format", to="anonhist.cumulative-release"), "written by a version before 1.0"),
        (_set("version", to=2), "its version is not 1, .* a newer program may read it"),
        (_set("version", to=True), "its version is not 1"),
        (lambda document: document.pop("receipt"), "windows by exactly the fields"),
        (_set("receipt", to={}), "the receipt by exactly the fields"),
        (
            _set("receipt", to={"ledger": "0" * 32, "entry": -1, "head": "f" * 64}),
            "entry must be a whole number from 1",
        ),
        (_set("receipt", to={"ledger": "0" * 32, "entry": 1, "head": "f"}), "64 hexadecimal digits, not 'f'"),
        (_set("more", to=2), "by exactly the fields"),
        (_set("days", to="x"), "must be lists"),
        (_set("days", 1, to=3), "a day must be plain text"),
        (_set("days", 1, to="2026-12-01"), "ascending order"),
        (_set("days", to=[]), "a number for each day"),
        (_set("thresholds", to=[3, 1]), "ascending order"),
        (_set("thresholds", to=[1, 2, 3]), "for each threshold and day"),
        (_set("groups", 0, "values", to=[]), "a list for each threshold"),
        (_set("groups", 0, "values", 0, to=[1]), "a number for each day"),
        (_set("groups", 0, "values", 0, 0, to=1.5), "whole numbers"),
        (_set("groups", 0, "values", 0, 0, to=10**6), "must not decrease"),
        (_set("groups", 0, "lows", 0, 0, to=-1), "in its interval"),
        (_set("groups", 0, "highs", 0, 4, to=0), "in its interval"),
        (_set("mechanism", "name", to="frobenius"), "must be one of anchors"),
        (_set("mechanism", "parameters", to=3), "must be an object"),
        (_set("mechanism", "parameters", "days", to=6), "another number of thresholds or days"),
        (_set("mechanism", "parameters", "share", to=3), "of the parameters of the mechanism"),
        (_set("mechanism", "parameters", "share", to="2"), "of the parameters of the mechanism"),
        (_set("mechanism", "parameters", "width", to=99), "of the parameters of the mechanism"),
        (_set("mechanism", "parameters", "epsilon", to="2"), "the sentence of the guarantee"),
        (_set("mechanism", "parameters", "unit", to="edge"), "of the parameters of the mechanism"),
        (_set("order_key", to="x"), "hexadecimal"),
        (_set("guarantee", to="private"), "the sentence of the guarantee"),
        (_set("groups", 0, "group", to=["x"]), "one name for each grouping column"),
        (lambda document: document["groups"].append(document["groups"][0]), "listed twice"),
    ],
)
def test_what_cannot_be_is_refused(change: Callable[[Any], None], told: str, tmp_path: Path) -> None:
    document = to_cumulative_document(release_of(mechanism="tree"))
    change(document)
    path = tmp_path / "reach.json"
    path.write_text(json.dumps(document))
    with pytest.raises(DataError, match=told):
        read(path)


def test_rows_that_were_changed_later_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "reach.parquet"
    write(release_of(), path)
    table = pq.read_table(path)
    pq.write_table(table.slice(1), path)
    with pytest.raises(DataError, match="changed later"):
        read(path)
    pq.write_table(table.set_column(2, "value", table.column("high")), path)
    with pytest.raises(DataError, match="changed later"):
        read(path)


def test_a_release_is_a_value_that_holds_together() -> None:
    release = release_of()
    assert not release.values.flags.writeable
    assert "CumulativeRelease(2 thresholds on 5 days, " in repr(release)
    assert release[DAYS[0], 1].assumes.startswith("users with more than 3 items")
    for place in ((DAYS[0], 2), ("x", 1), (DAYS[0],), 3):
        with pytest.raises(KeyError, match="name one of the days"):
            release[place]  # type: ignore[index]  # that is the point
    given = {name: getattr(release, name) for name in ("thresholds", "days", "values", "lows", "highs", "mechanism")}
    with pytest.raises(UsageError, match="Only a release for users"):
        CumulativeRelease(
            **given | {"mechanism": release_of("item").mechanism}, reason="", library_version="", order_key=KEY
        )
    with pytest.raises(UsageError, match="for each threshold and day"):
        CumulativeRelease(**given | {"values": np.zeros((2, 4), dtype=int)}, reason="", library_version="")


def test_a_receipt_is_kept(tmp_path: Path) -> None:
    receipt = Receipt("0123456789abcdef" * 2, 12, "fedcba9876543210" * 4)
    charged = replace(release_of(mechanism="tree"), receipt=receipt)
    assert to_cumulative_document(charged)["receipt"]["entry"] == 12
    for name in ("reach.json", "reach.parquet"):
        write(charged, tmp_path / name)
        found = read(tmp_path / name)
        assert isinstance(found, CumulativeRelease)
        assert (found.receipt, content_digest(found)) == (receipt, content_digest(charged))
        assert content_digest(replace(found, receipt=None)) != content_digest(charged)
