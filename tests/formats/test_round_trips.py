import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonhist.errors import DataError, OutputError, UsageError
from anonhist.formats.document import from_document, to_document
from anonhist.formats.files import write
from anonhist.formats.releases import read_release
from anonhist.formats.tables import csv_text, to_arrow
from anonhist.mechanisms import MECHANISM_NAMES, FrobeniusMechanism, PartitionMechanism
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.properties.estimate import Holds
from anonhist.releases import Release, ReleaseError
from anonhist_testing.cases import each_of

GOLDEN = Path(__file__).parent / "golden"
Compare = Callable[[Release, Release], None]


@each_of("ending", [".json", ".parquet", ".JSON"])
def test_what_is_written_is_read(
    tmp_path: Path, releases: dict[str, Release], assert_same: Compare, ending: str
) -> None:
    for name, release in releases.items():
        path = tmp_path / f"{name}{ending}"
        write(release, path)
        assert_same(read_release(path), release)


units = st.one_of(
    st.just(PrivacyUnit.item()),
    st.builds(lambda m: PrivacyUnit.user(max_items=m), st.integers(1, 1000)),
    st.builds(lambda c: PrivacyUnit.label(max_count=c), st.integers(1, 1000)),
)
positive = st.fractions(min_value=Fraction(1, 2), max_value=30, max_denominator=10**20)
profiles = st.dictionaries(st.integers(1, 2**40), st.integers(1, 2**15), max_size=12).map(Profile.from_prevalences)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=80, database=None)
@given(
    profile=profiles,
    mechanism=st.builds(FrobeniusMechanism, positive, units, st.sampled_from(NeighboringRelation)),
    spread=st.floats(0, 1e300),
)
def test_every_release_survives(
    make_release: Callable[..., Release],
    assert_same: Compare,
    *,
    profile: Profile,
    mechanism: FrobeniusMechanism,
    spread: float,
) -> None:
    release = make_release(profile, mechanism, spread=spread)
    assert_same(from_document(json.loads(json.dumps(to_document(release)))), release)


def test_golden_files_are_read_for_ever(releases: dict[str, Release], assert_same: Compare) -> None:
    for name, release in releases.items():
        assert_same(read_release(GOLDEN / f"release-{name}.json"), release)


def test_a_golden_parquet_file_is_read_for_ever(releases: dict[str, Release], assert_same: Compare) -> None:
    assert_same(read_release(GOLDEN / "release-frobenius.parquet"), releases["frobenius"])


@each_of("name", ["frobenius", "node-histogram"])
def test_a_file_with_a_band_is_read_and_written_for_ever(tmp_path: Path, name: str) -> None:
    golden = GOLDEN / f"release-band-{name}.json"
    write(read_release(golden), tmp_path / "a.json")
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == golden.read_text(encoding="utf-8")
    document = json.loads(golden.read_text(encoding="utf-8"))
    document["error"]["band"]["lows"][0] += 1000
    with pytest.raises(DataError, match="band"):
        from_document(document)


def test_intervals_in_files_are_those_of_their_bands() -> None:
    read = read_release(GOLDEN / "release-band-frobenius.json")
    assert read.k_plus(2).interval == (1, 6)
    read = read_release(GOLDEN / "release-band-node-histogram.json")
    assert [read.prevalence(count).interval for count in (0, 2)] == [(1, 5), (1, 5)]


def test_every_mechanism_has_a_file_that_is_read_for_ever(releases: dict[str, Release]) -> None:
    assert {release.mechanism.name for release in releases.values()} == set(MECHANISM_NAMES) - {"auto"}


def test_the_number_of_items_is_written_where_it_was_released_on_its_own(
    tmp_path: Path, releases: dict[str, Release]
) -> None:
    for name, release in releases.items():
        assert (to_document(release)["items"] is not None) == name.startswith("privhist")
        for ending in ("json", "parquet"):
            path = tmp_path / f"{name}.{ending}"
            write(release, path)
            back = read_release(path)
            assert (back.items, back.n) == (release.items, release.n)
    assert releases["privhist"].n == 2**62 + 1 != releases["privhist"].profile.n


def test_what_each_step_of_privhist_spends_is_written(tmp_path: Path, releases: dict[str, Release]) -> None:
    write(releases["privhist"], tmp_path / "release.json")
    guarantee = read_release(tmp_path / "release.json").guarantee
    assert guarantee.spending == (
        ("the number of items", Fraction(1, 100)),
        ("small and large counts", Fraction(6, 25)),
        ("sums over blocks of counts", Fraction(1, 4)),
    )
    assert "spent in steps (0.01 for the number of items, 0.24 for small" in str(guarantee)
    # Of thirds the last is not spent above 1 per cell: the promise is two thirds of what was asked for.
    write(releases["privhist-thirds"], tmp_path / "thirds.json")
    thirds = read_release(tmp_path / "thirds.json")
    assert (thirds.guarantee.epsilon, thirds.mechanism.epsilon) == (4, 6)


def test_releases_are_written_as_ever(tmp_path: Path, releases: dict[str, Release]) -> None:
    for name, release in releases.items():
        path = tmp_path / f"release-{name}.json"
        write(release, path)
        golden, written = (json.loads(file.read_text(encoding="utf-8")) for file in (GOLDEN / path.name, path))
        # The sentence is for people, and may be put better.
        assert golden["guarantee"].pop("sentence")
        assert written["guarantee"].pop("sentence") == release.guarantee.sentence
        assert written == golden


def test_json_is_laid_out_for_people(tmp_path: Path, releases: dict[str, Release]) -> None:
    write(releases["bounded-partition"], tmp_path / "release.json")
    text = (tmp_path / "release.json").read_text(encoding="utf-8")
    assert '\n    "counts": [1, 9],\n' in text
    assert "δ ≤" in text
    assert text.endswith("}\n")


def test_csv_has_exact_counts_and_readable_intervals(make_release: Callable[..., Release]) -> None:
    profile = Profile([1, 3, 2**61], [11_884_635, 2, 1])
    release = make_release(profile, PartitionMechanism(Fraction(2)), spread=0.7)  # errors of more than four decimals
    text = csv_text(release)
    assert text.startswith("count,prevalence,")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [int(row["count"]) for row in rows] == profile.counts.tolist()
    assert [int(row["prevalence"]) for row in rows] == profile.prevalences.tolist()
    assert [int(row["k_plus"]) for row in rows] == [11_884_638, 3, 1]
    assert "e" not in text.partition("\n")[2]
    for row in rows:
        for name, estimate in (
            ("prevalence", release.prevalence(int(row["count"]))),
            ("k_plus", release.k_plus(int(row["count"]))),
        ):
            assert float(row[f"{name}_standard_error"]) == pytest.approx(estimate.standard_error, abs=6e-5)
            assert float(row[f"{name}_low"]) == pytest.approx(estimate.interval[0], abs=6e-5)
            assert float(row[f"{name}_high"]) == pytest.approx(estimate.interval[1], abs=6e-5)


def test_csv_of_an_empty_profile_is_its_header(releases: dict[str, Release]) -> None:
    assert csv_text(releases["empty"]).count("\n") == 1


def test_csv_file_is_the_csv_text(tmp_path: Path, releases: dict[str, Release]) -> None:
    write(releases["partition"], tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_bytes().decode() == csv_text(releases["partition"])


def test_a_profile_is_no_table_to_publish() -> None:
    with pytest.raises(UsageError, match=r"A Release is needed, .* not a Profile\."):
        to_arrow(Profile.from_counts([3, 1]))  # type: ignore[arg-type]


def test_arrow_table_carries_the_whole_release(releases: dict[str, Release], assert_same: Compare) -> None:
    table = to_arrow(releases["frobenius"])
    assert table.schema.field("count").type == table.schema.field("prevalence").type == pa.int64()
    assert table.column("count").to_pylist() == [1, 2, 7, 2**62 + 1]
    assert table.column("prevalence").to_pylist() == [4, 3, 2, 1]
    assert_same(from_document(json.loads(table.schema.metadata[b"anonhist/release"])), releases["frobenius"])


def test_parquet_file_is_an_ordinary_table(tmp_path: Path, releases: dict[str, Release]) -> None:
    write(releases["frobenius"], tmp_path / "a.parquet")
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.equals(to_arrow(releases["frobenius"]))


@pytest.mark.slow
def test_errors_are_computed_before_writing(tmp_path: Path) -> None:
    release = FrobeniusMechanism(Fraction(1)).release(Profile.from_counts([5, 3, 1]))
    write(release, tmp_path / "a.json")
    back = read_release(tmp_path / "a.json")
    assert back.error.simulations == 32
    assert np.array_equal(back.error.k_plus_errors, release.error.k_plus_errors)


@each_of("name", ["a.txt", "a", ".json", "a.json.gz", "a.html"])
def test_other_endings_are_wrong(tmp_path: Path, releases: dict[str, Release], name: str) -> None:
    with pytest.raises(UsageError, match=r"\.csv, \.json, \.parquet"):
        write(releases["empty"], tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_existing_files_and_missing_folders(tmp_path: Path, releases: dict[str, Release]) -> None:
    path = tmp_path / "a.csv"
    write(releases["empty"], path)
    with pytest.raises(UsageError, match="exists already"):
        write(releases["partition"], path)
    write(releases["partition"], path, overwrite=True)
    assert path.read_text() == csv_text(releases["partition"])
    with pytest.raises(OutputError):
        write(releases["partition"], tmp_path / "none" / "a.csv")


def test_a_release_without_simulations_stays_one(releases: dict[str, Release]) -> None:
    for made in releases.values():
        none = replace(made, recorded_error=ReleaseError.without_runs(), simulations=0)
        document = json.loads(json.dumps(to_document(none)))
        assert (document["error"]["method"], document["error"]["sorted_l1"]) == ("not simulated", None)
        read = from_document(document)
        assert (read.simulations, read.error.sorted_l1, read.resimulate()) == (0, None, ())
        assert read.prevalence(1).statement.holds is Holds.NONE
        assert "nan" not in csv_text(none)
        for field, value, reason in (
            ("sorted_l1", {"mean": 1.0, "standard_error": 1.0, "range": None}, "there is no sorted ℓ1 error"),
            ("method", "guessed", "the method of its errors must be 'not simulated'"),
            ("levels", [1], "level"),
            ("simulations", 2, "the sorted ℓ1 error by exactly the fields"),
        ):
            broken = {**document, "error": {**document["error"], field: value}}
            with pytest.raises(DataError, match=reason):
                from_document(broken)
