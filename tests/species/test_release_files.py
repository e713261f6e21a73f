"""Files of private incidence frequencies: what is written is read back, and what no release has is refused."""

import json
from copy import deepcopy
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import anonhist as ah
from anonhist.accounting import Ledger
from anonhist.errors import AnonhistError, DataError
from anonhist.formats.document import to_document
from anonhist.formats.files import claim_of
from anonhist.kinds import kind_of_value
from anonhist.mechanisms import MECHANISM_NAMES
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.species.release_files import incidence_document, incidence_from
from anonhist.species.releasing import IncidenceRelease, incidence_digest, release_incidence
from anonhist.species.sampling_units import SamplingUnits
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

ADD, REPLACE = NeighboringRelation
GOLDEN = Path(__file__).parent / "golden"
PLOTS = SamplingUnits([["oak", "elm"], ["oak"], ["ash", "oak", "elm"], []] * 50)


@cache
def made(relation: NeighboringRelation = ADD, mechanism: str = "auto") -> IncidenceRelease:
    found = release_incidence(
        PLOTS,
        epsilon=3,
        max_per_unit=2,
        relation=relation,
        mechanism=mechanism,  # type: ignore[arg-type]
        simulations=4,
        source=SeededSource(8),
    )
    return found.with_error()


@each_of("ending", [".json", ".parquet"])
def test_what_is_written_is_read_back(tmp_path: Path, ending: str) -> None:
    for relation in (ADD, REPLACE):
        found = made(relation)
        found.save(tmp_path / f"plots{ending}", overwrite=True)
        again = ah.read(tmp_path / f"plots{ending}")
        assert (again, again.guarantee) == (found, found.guarantee)
        assert incidence_document(again) == incidence_document(found)
        assert incidence_digest(again) == incidence_digest(found)
        assert again.species_richness() == found.species_richness()


def test_every_mechanism_that_fits_is_read_back() -> None:
    tried = 0
    for name in MECHANISM_NAMES:
        try:
            found = made(mechanism=name)
        except AnonhistError:
            continue
        assert incidence_from(json.loads(json.dumps(incidence_document(found)))) == found
        tried += 1
    assert tried > 3


def test_golden_files_are_read_for_ever() -> None:
    for relation in (ADD, REPLACE):
        golden = GOLDEN / f"incidence-{relation.value}.json"
        found = ah.read(golden)
        assert found == made(relation)
        document = json.loads(golden.read_text(encoding="utf-8"))
        assert set(document) == set(incidence_document(found))
    # A field that is added to a release must be written, too, and golden files are then read without it.
    assert {each.name for each in fields(IncidenceRelease)} == {
        *("release", "sampling_units", "units_epsilon", "receipt"),
    }


def spoiled(**values: Any) -> dict[str, Any]:
    document = deepcopy(incidence_document(made()))
    for place, value in values.items():
        at: Any = document
        *path, last = place.split("__")
        for name in path:
            at = at[name]
        at[last] = value
    return document


OF_USERS = to_document(
    ah.release(Profile.from_counts([9, 4], unit=PrivacyUnit.user(max_items=2)), epsilon="2.7", simulations=4)
)


@each_of(
    ("document", "why"),
    [
        (spoiled(format="anonhist/release"), "format"),
        (spoiled(version=2), "version"),
        (spoiled(more=1), "exactly the fields"),
        (spoiled(sampling_units=2.0), "whole number"),
        (spoiled(sampling_units=True), "whole number"),
        (spoiled(sampling_units=0), "sampling_units"),
        (spoiled(sampling_units=3), "more sampling units"),
        (spoiled(units_epsilon=None), "part of epsilon"),
        (spoiled(units_epsilon="0"), "units_epsilon"),
        (spoiled(units_epsilon=0.3), "plain text"),
        (spoiled(units_epsilon="1/2"), "sentence of the guarantee"),
        (spoiled(guarantee="It is private."), "sentence of the guarantee"),
        (spoiled(library_version="0.9"), "two versions"),
        (spoiled(receipt={"ledger": "x"}), "receipt"),
        (spoiled(release__receipt={"ledger": "a" * 32, "entry": 1, "head": "b" * 64}), "other releases|receipt"),
        (spoiled(release__where="a = 'b'"), "other releases"),
        (spoiled(release__guarantee__epsilon="1"), "guarantee"),
        (spoiled(release__version=7), "version"),
        (spoiled(release=OF_USERS), "other than sampling units"),
        ([], "format"),
    ],
)
def test_what_no_release_has_is_refused(document: Any, why: str) -> None:
    with pytest.raises(DataError, match=why):
        incidence_from(document)


def test_public_units_cost_nothing() -> None:
    document = incidence_document(made(REPLACE))
    with pytest.raises(DataError, match="part of epsilon"):
        incidence_from({**document, "units_epsilon": "1/10"})


def test_rows_that_were_changed_are_seen(tmp_path: Path) -> None:
    made().save(tmp_path / "plots.parquet")
    table = pq.read_table(tmp_path / "plots.parquet")
    place = table.column_names.index("sampling_units")
    other = table.set_column(place, "sampling_units", [[7] * table.num_rows])
    pq.write_table(other.replace_schema_metadata(table.schema.metadata), tmp_path / "other.parquet")
    with pytest.raises(DataError):
        ah.read(tmp_path / "other.parquet")


def test_a_ledger_knows_the_file(tmp_path: Path) -> None:
    with Ledger(str(tmp_path / "budget.db")) as ledger:
        ledger.create("plots", "user", epsilon=2)
        found = release_incidence(PLOTS, epsilon=1, max_per_unit=2, ledger=ledger, dataset="plots")
    found.save(tmp_path / "plots.json")
    claim = claim_of(tmp_path / "plots.json")
    assert (claim.receipt, claim.digest) == (found.receipt, incidence_digest(found))


def test_a_notebook_shows_the_promise() -> None:
    html = made()._repr_html_()
    assert "sampling units" in html
    assert "3-differentially private" in html
    assert kind_of_value(made()).format == "anonhist/incidence-release"
