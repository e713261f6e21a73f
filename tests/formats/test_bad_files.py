import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonhist.errors import DataError, UsageError
from anonhist.formats.document import from_document, to_document
from anonhist.formats.files import write
from anonhist.formats.releases import read_release
from anonhist.formats.tables import to_arrow
from anonhist.mechanisms import release
from anonhist.profiles import Profile
from anonhist.releases import KPlusBand, PrevalenceBand, Release
from anonhist_testing.bad_files import ABSENT, as_json, as_parquet, change_field
from anonhist_testing.cases import each_of

# Where, what is put there, and what the refusal says. The good document is releases["frobenius"].
BAD = [
    ("format", "anonhist/sketch", "its format"),
    ("format", "anonhist/tree", "its format is not 'anonhist/release'"),
    ("format", ["anonhist/release"], "its format is not 'anonhist/release'"),
    ("format", None, "its format is not 'anonhist/release'"),
    ("version", 2, "its version is not 1, .* a newer program may read it"),
    ("version", 7, "its version is not 1"),
    ("version", 0, "its version is not 1"),
    ("version", 1.0, "its version is not 1"),
    ("version", True, "its version is not 1"),
    ("version", "1", "its version is not 1"),
    ("version", [1] * 1000, "its version is not 1"),
    ("version", None, "its version is not 1"),
    ("version", ABSENT, "its version is not 1"),
    ("library_version", None, "library version"),
    ("library_version", 1, "library version"),
    ("reason", 5, "reason"),
    ("reason", "\x1b[2J the screen is mine", "reason"),
    ("reason", "half a character: \ud800", "reason"),
    ("reason", "x" * 5000, "reason"),
    ("where", ABSENT, "exactly the fields"),
    ("where", 5, "the condition on rows must be plain text"),
    ("where", "", "where must be a condition"),
    ("where", "lower(n) = 'a'", "there are no functions"),
    ("where", "n = '\x1b[2J'", "the condition on rows must be plain text"),
    ("extra", 1, "exactly the fields"),
    ("profile", ABSENT, "exactly the fields"),
    ("profile", None, "the profile"),
    ("profile", [], "the profile"),
    ("profile.counts", ABSENT, "the profile"),
    ("profile.more", 1, "the profile"),
    ("profile.counts", [2, 1, 7, 2**62 + 1], "ascending"),
    ("profile.counts", [1, 1, 7, 2**62 + 1], "ascending"),
    ("profile.counts", [0, 2, 7, 2**62 + 1], "at least 1"),
    ("profile.counts", [-1, 2, 7, 2**62 + 1], "at least 1"),
    ("profile.counts", [1, 2, 7, 2**63], "below 2\\^63"),
    ("profile.counts", [1, 2, 7.0, 2**62 + 1], "whole numbers"),
    ("profile.counts", [1, 2, "7", 2**62 + 1], "whole numbers"),
    ("profile.counts", [True, 2, 7, 2**62 + 1], "whole numbers"),
    ("profile.counts", [1, 2, None, 2**62 + 1], "whole numbers"),
    ("profile.counts", [1, 2, [7], 2**62 + 1], "whole numbers"),
    ("profile.counts", {"1": 4}, "whole numbers"),
    ("profile.counts", [1, 2, 7], "as many"),
    ("profile.counts", [1, 2, 70, 2**62 + 1], "every released count"),
    ("profile.prevalences", [4, 3, 2, 2], "2\\^63"),
    ("profile.prevalences", [4, 3, -2, 1], "at least 1"),
    ("profile.prevalences", [4, 3, 0, 1], "at least 1"),
    ("profile.prevalences", [4, 3, 1.5, 1], "whole numbers"),
    ("guarantee", 1, "the guarantee"),
    ("guarantee.sentence", 1, "sentence"),
    ("guarantee.sentence", ABSENT, "the guarantee"),
    ("guarantee.epsilon", "0", "epsilon"),
    ("guarantee.epsilon", "-1", "epsilon"),
    ("guarantee.epsilon", "nan", "epsilon"),
    ("guarantee.epsilon", "inf", "epsilon"),
    ("guarantee.epsilon", "1/0", "epsilon"),
    ("guarantee.epsilon", "1e999999999", "epsilon"),
    ("guarantee.epsilon", "one", "epsilon"),
    ("guarantee.epsilon", 1, "epsilon"),
    ("guarantee.epsilon", 0.5, "epsilon"),
    ("guarantee.epsilon", "1/2", "different steps or epsilons"),
    ("guarantee.delta", "1", "delta"),
    ("guarantee.delta", "3/2", "delta"),
    ("guarantee.delta", "-1/2", "delta"),
    ("guarantee.delta", 0, "delta"),
    ("guarantee.delta", "1/1000", "not that of the mechanism"),
    ("guarantee.arithmetic", "perfectly private", "not that of the mechanism"),
    ("guarantee.sentence", "Nothing can be learnt from this.", "sentence"),
    ("guarantee.unit", "family", "unit"),
    ("guarantee.unit", ["item"], "unit"),
    ("guarantee.unit", "item", "exactly one item"),
    ("guarantee.unit", "label", "different units"),
    ("guarantee.bound", 0, "max_items"),
    ("guarantee.bound", 4, "different units"),
    ("guarantee.bound", 5.0, "bound"),
    ("guarantee.bound", True, "bound"),
    ("guarantee.relation", "replace", "relation"),
    ("guarantee.relation", ["substitute"], "relation"),
    ("guarantee.relation", "add-or-remove", "relations"),
    ("guarantee.arithmetic", None, "arithmetic"),
    ("guarantee.arithmetic", "", "arithmetic"),
    ("guarantee.spending", [["all", "1/2"]], "add up"),
    ("guarantee.spending", [["the noisy size", "103/300"], ["nothing", "0"]], "greater than zero"),
    ("guarantee.spending", [["all"]], "pairs"),
    ("guarantee.spending", {"all": "103/300"}, "pairs"),
    ("guarantee.spending", [[1, "103/300"]], "purpose"),
    ("guarantee.spending", [["all", 0.5]], "step"),
    ("guarantee.spending", [["the noisy size", "1/3"]], "different steps or epsilons"),
    ("guarantee.conditions", ["it rains"], "conditions that the mechanism does not need"),
    ("guarantee.sketches", 1.0, "must be whole numbers"),
    ("guarantee.sketches", None, "must be whole numbers"),
    ("guarantee.sketches", 0, "sketches must be a whole number from 1"),
    ("guarantee.sketches", 2, "different units"),
    ("guarantee.groups", True, "must be whole numbers"),
    ("guarantee.groups", None, "must be whole numbers"),
    ("guarantee.groups", 0, "groups must be a whole number from 1"),
    ("guarantee.groups", 2, "different units"),
    ("guarantee.conditions", None, "the conditions of the guarantee must be a list"),
    ("guarantee.conditions", [1], "a condition must be plain text"),
    ("guarantee.party_epsilon", 2, "party_epsilon must be plain text"),
    ("guarantee.party_epsilon", "0", "epsilon must be a finite number greater than zero"),
    ("order_key", ABSENT, "exactly the fields"),
    ("order_key", 5, "the order key must be plain text"),
    ("order_key", "0x0", "32 hexadecimal digits"),
    ("excess", ABSENT, "exactly the fields"),
    ("excess", [], "the excess by exactly the fields"),
    ("items", ABSENT, "exactly the fields"),
    ("zeros", ABSENT, "exactly the fields"),
    ("zeros", 5, "zeros belong to"),
    ("zeros", "5", "zeros must be a whole number"),
    ("receipt", ABSENT, "exactly the fields"),
    ("receipt", {}, "the receipt by exactly the fields"),
    ("receipt", {"ledger": "0" * 32, "entry": -1, "head": "f" * 64}, "entry must be a whole number from 1"),
    ("receipt", {"ledger": "0" * 32, "entry": 3, "head": "f"}, "64 hexadecimal digits, not 'f'"),
    ("mechanism", "frobenius", "the mechanism"),
    ("mechanism.name", "laplace", "laplace"),
    ("mechanism.name", "auto", "auto"),
    ("mechanism.name", None, "name"),
    ("mechanism.name", "prevalence", "label privacy"),
    ("mechanism.parameters", [], "parameters"),
    ("mechanism.parameters", {}, "parameter"),
    ("mechanism.parameters.seed", 1, "parameter"),
    ("mechanism.parameters.epsilon", "2", "epsilons"),
    ("mechanism.parameters.epsilon", "1/4", "different steps or epsilons"),
    ("mechanism.parameters.epsilon", 1, "must be text"),
    ("mechanism.parameters.relation", ["substitute"], "relation|parameters"),
    ("mechanism.parameters.bound", 6, "different units"),
    ("mechanism.parameters.bound", 1.5, "whole number"),
    ("error", None, "the error"),
    ("error.method", 3, "method"),
    ("error.simulations", 1, "simulations"),
    ("error.simulations", 2.0, "simulations"),
    ("error.simulations", True, "simulations"),
    ("error.sorted_l1", 3.5, "sorted ℓ1"),
    ("error.sorted_l1.mean", -1, "negative"),
    ("error.sorted_l1.mean", None, "mean"),
    ("error.sorted_l1.mean", 10**400, "finite"),
    ("error.sorted_l1.standard_error", -0.5, "negative"),
    ("error.sorted_l1.standard_error", "0.5", "standard_error"),
    ("error.levels", [], "row per level"),
    ("error.levels", [0, 1, 2, 3, 7, 8, 2**62 + 1], "at least 1"),
    ("error.levels", [2, 3, 7, 8, 9, 10, 2**62 + 1], "every released count"),
    ("error.levels", [1, 2, 3, 8, 9, 10, 2**62 + 1], "every released count"),
    ("error.levels", [1, 3, 2, 7, 8, 9, 2**62 + 1], "ascending"),
    ("error.prevalence_standard_errors", [0.5], "row per level"),
    ("error.prevalence_standard_errors", [-0.5] * 7, "not negative"),
    ("error.k_plus_standard_errors", 0.5, "finite"),
    ("error.k_plus_standard_errors", [10**400] * 7, "finite"),
    ("error.k_plus_standard_errors", [True] * 7, "finite"),
    ("error.sorted_l1", None, "the sorted ℓ1 error"),
    ("error.sorted_l1.mean", 1e308, "exceeds the largest distance between profiles"),
    ("error.sorted_l1.standard_error", 1e308, "exceeds the largest distance between profiles"),
    ("error.sorted_l1.range", ABSENT, "the sorted ℓ1 error by exactly the fields"),
    ("error.sorted_l1.range", [1.0], "range must have two ends"),
    ("error.sorted_l1.range", ["1", "9"], "range must be finite numbers"),
    ("error.zeros_standard_error", ABSENT, "the error by exactly the fields"),
    ("error.zeros_standard_error", 1.0, "zeros and their standard error belong together"),
    ("error.band", ABSENT, "the error by exactly the fields"),
    ("error.band", {}, "a band by exactly the fields"),
    ("error.band", [], "a band by exactly the fields"),
    ("error.prevalence_band", ABSENT, "the error by exactly the fields"),
    ("error.prevalence_band", {"ends": [1], "lows": [0], "highs": 5}, "highs must be a list of whole numbers"),
    ("error.zeros_interval", ABSENT, "the error by exactly the fields"),
    ("error.zeros_interval", [0, 5], "zeros and their interval belong together"),
    ("error.items_interval", ABSENT, "the error by exactly the fields"),
    ("error.items_interval", [1, 2, 3], "items_interval must have two ends"),
    ("error.items_interval", [1.0, 2.0], "items_interval must be a list of whole numbers"),
]


@each_of(("where", "value", "reason"), BAD)
def test_bad_documents_are_refused_through_every_way_in(
    tmp_path: Path, releases: dict[str, Release], where: str, value: object, reason: str
) -> None:
    release = releases["frobenius"]
    document = change_field(to_document(release), where, value)
    for path in (as_json(tmp_path, document), as_parquet(tmp_path, release, document)):
        with pytest.raises(DataError, match=reason) as caught:
            read_release(path)
        message = str(caught.value)
        assert message.startswith(f"'{path}' is not a release that can be read: ")
        assert message.endswith(".")
        assert message.count("\n") == 0
        assert len(message) < 600


def test_the_good_document_is_read(tmp_path: Path, releases: dict[str, Release]) -> None:
    # Without this, the test above could pass for another reason than the one it names.
    release = releases["frobenius"]
    assert read_release(as_json(tmp_path, to_document(release))).profile == release.profile
    assert read_release(as_parquet(tmp_path, release, to_document(release))).profile == release.profile


@each_of(
    ("content", "reason"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"[]", "its format is not"),
        (b"null", "its format is not"),
        (b'"anonhist/release"', "its format is not"),
        (b"\xff\xfe{}", "not valid JSON"),
        (b'{"a": "\xff"}', "not valid JSON"),
        (b"[" * 200_000, "not valid JSON"),
        (b'{"a": ' * 100_000, "not valid JSON"),
        (b"9" * 10_000, "not valid JSON"),
        (b'{"format": 1, "format": 1}', "twice"),
        (b'{"error": {"levels": NaN}}', "NaN"),
        (b'{"error": -Infinity}', "Infinity"),
        (b"PAR1", "not valid JSON"),
    ],
)
def test_bad_json(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=reason):
        read_release(path)


@pytest.mark.parametrize("name", ["mean", "standard_error"])
def test_numbers_beyond_a_float_are_refused(tmp_path: Path, releases: dict[str, Release], name: str) -> None:
    document = to_document(releases["partition"])
    document["error"]["sorted_l1"][name] = 123456.75
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document).replace("123456.75", "1e999"), encoding="utf-8")
    with pytest.raises(DataError, match="finite"):
        read_release(path)


def test_bad_parquet(tmp_path: Path, releases: dict[str, Release]) -> None:
    release, path = releases["frobenius"], tmp_path / "bad.parquet"
    good = tmp_path / "good.parquet"
    pq.write_table(to_arrow(release), good)
    whole = good.read_bytes()
    for content in (b"", b"PAR1", b"{}", whole[:-1], whole[4:], whole[: len(whole) // 2], whole[:-8] + b"\xff" * 8):
        path.write_bytes(content)
        with pytest.raises(DataError, match="not a Parquet file, or a damaged one"):
            read_release(path)
    pq.write_table(to_arrow(release).replace_schema_metadata({}), path)
    with pytest.raises(DataError, match="not one of a release"):
        read_release(path)


def test_parquet_whose_columns_have_no_names(tmp_path: Path, releases: dict[str, Release]) -> None:
    path = tmp_path / "bad.parquet"
    pq.write_table(to_arrow(releases["frobenius"]), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"prevalence_low", b"\x80revalence_low"))
    with pytest.raises(DataError, match="not a Parquet file, or a damaged one"):
        read_release(path)


def test_parquet_whose_rows_were_changed(tmp_path: Path, releases: dict[str, Release]) -> None:
    table, path = to_arrow(releases["frobenius"]), tmp_path / "bad.parquet"
    more = pa.array([4, 3, 2, 2], pa.int64())
    with_null = pa.array([1, 2, 7, None], pa.int64())
    for other in (
        table.slice(1),
        table.take(np.array([1, 0, 2, 3])),
        table.drop_columns("count"),
        table.drop_columns("prevalence"),
        table.set_column(1, "prevalence", more),
        table.set_column(0, "count", with_null),
        table.set_column(0, "count", table.column("count").cast(pa.float64(), safe=False)),
        table.set_column(1, "prevalence", table.column("prevalence").cast(pa.string())),
    ):
        pq.write_table(other.replace_schema_metadata(table.schema.metadata), path)
        with pytest.raises(DataError, match="changed later"):
            read_release(path)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=150, database=None)
@given(places=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_files_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, releases: dict[str, Release], places: list[tuple[float, int]]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    release = releases["partition"]
    sink = pa.BufferOutputStream()
    pq.write_table(to_arrow(release), sink)
    for name, content in (
        ("damaged.parquet", sink.getvalue().to_pybytes()),
        ("damaged.json", json.dumps(to_document(release)).encode()),
    ):
        damaged = bytearray(content)
        for place, byte in places:
            damaged[int(place * len(damaged))] = byte
        path = folder / name
        path.write_bytes(damaged)
        try:
            read = read_release(path)
        except DataError:
            continue
        assert read.profile.n >= 1


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    for name in ("none.json", "none.parquet", "x" * 300 + ".json", "nul\0.json"):
        with pytest.raises(DataError, match="There is no file" if name.startswith("none") else "cannot be read"):
            read_release(tmp_path / name)
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(DataError, match="directory"):
        read_release(tmp_path / "folder.json")


@pytest.mark.parametrize("name", ["a.csv", "a", "a.json.gz"])
def test_other_endings_are_wrong(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"\.json or \.parquet"):
        read_release(tmp_path / name)


def test_promises_of_other_mechanisms_are_refused(releases: dict[str, Release]) -> None:
    partition = to_document(releases["partition"])
    with pytest.raises(DataError, match="not that of the mechanism"):
        from_document(change_field(partition, "guarantee.delta", "1/73786976294838206464"))
    with pytest.raises(DataError, match="not that of the mechanism"):
        from_document(change_field(partition, "mechanism.name", "frobenius"))


def test_counts_beyond_what_a_unit_of_labels_allows_are_refused(releases: dict[str, Release]) -> None:
    document = change_field(to_document(releases["prevalence"]), "profile.counts", [1, 6])
    document = change_field(document, "error.levels", [1, 2, 5, 6])
    with pytest.raises(DataError, match="exceeds the largest"):
        from_document(document)


def test_bands_where_no_noisy_values_are_kept_are_refused() -> None:
    made = release(Profile.from_counts([5, 3, 3, 1]), epsilon=4, mechanism="partition", simulations=4)
    assert from_document(to_document(made)).profile == made.profile
    band = KPlusBand([5], [4], [4])
    for forged in (replace(made.error, band=band), replace(made.error, prevalence_band=PrevalenceBand([5], [2], [2]))):
        document = to_document(replace(made, recorded_error=forged, simulations=None))
        with pytest.raises(DataError, match="keep noisy values"):
            from_document(document)


def test_a_table_of_errors_begins_at_one(releases: dict[str, Release]) -> None:
    # No label of this release has one item, so no released count asks for that level.
    document = to_document(releases["partition"])
    assert document["error"]["levels"] == [1, 3, 4, 8, 9]
    with pytest.raises(DataError, match="must be 1 and every released count"):
        from_document(change_field(document, "error.levels", [2, 3, 4, 8, 9]))


def test_only_releases_are_written(tmp_path: Path, releases: dict[str, Release]) -> None:
    with pytest.raises(UsageError, match="a profile is exact and must stay secret"):
        write(releases["frobenius"].profile, tmp_path / "p.json")
    assert list(tmp_path.iterdir()) == []


# Which release, where, what is put there, and what the refusal says.
