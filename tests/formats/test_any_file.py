"""One function reads whatever was written: a file says what it is."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.formats.document import to_document
from anonhist.formats.files import read, write
from anonhist.formats.releases import read_release
from anonhist.local import KRR
from anonhist.local.files import read_survey, read_tally
from anonhist.mechanisms import release
from anonhist.profiles import Profile
from anonhist.releases import Release
from anonhist.sketches import HashedSketch

SURVEY = KRR(alphabet=3, epsilon=1)
FORMATS = (
    "anonhist/release, anonhist/grouped-release, anonhist/cumulative-release, "
    "anonhist/survey, anonhist/collection, anonhist/tally, anonhist/sketch, anonhist/incidence-release"
)


@pytest.mark.parametrize("ending", [".json", ".parquet", ".JSON"])
def test_a_release_and_a_tally_are_told_apart_by_what_they_say(tmp_path: Path, ending: str) -> None:
    released = release(Profile.from_labels("abracadabra"), epsilon=1, simulations=2)
    tally = SURVEY.tally(SURVEY.randomize([0, 2, 2]))
    paths = [tmp_path / f"a{ending}", tmp_path / f"b{ending}"]
    for written, path in zip((released, tally), paths, strict=True):
        write(written, path)
    found = read(str(paths[0]))
    assert isinstance(found, Release)
    assert to_document(found) == to_document(read_release(paths[0])) == to_document(released)
    assert read(paths[1]) == read_tally(paths[1]) == tally


def test_surveys_and_sketches_are_read(tmp_path: Path) -> None:
    sketch = HashedSketch(buckets=100, epsilon=1, key=b"week 47")
    write(SURVEY, tmp_path / "a.json")
    write(sketch, tmp_path / "a.sketch")
    assert read(tmp_path / "a.json") == read_survey(tmp_path / "a.json") == SURVEY
    again = read(tmp_path / "a.sketch")
    assert isinstance(again, HashedSketch)
    assert (again.counters == sketch.counters).all()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1, 2]", f"'PATH' is not a file of this program that can be read: its format is not one of {FORMATS}."),
        (
            '{"format": "anonhist/frequencies"}',
            f"of this program that can be read: its format is not one of {FORMATS}.",
        ),
        (
            '{"format": "anonhist.frequencies"}',
            (
                "'PATH' is not a file of this program that can be read: it was written by a version before 1.0, whose "
                "files this one does not read."
            ),
        ),
        ('{"format": ["anonhist/release"]}', "its format is not one of"),
        ('{"format": "anonhist/release"', "is not a file of this program that can be read: it is not valid JSON."),
        ('{"format": "anonhist/tally", "version": 1}', "'PATH' is not a tally that can be read: "),
        ('{"format": "anonhist/grouped-release", "version": 1}', "'PATH' is not a grouped release that can be read: "),
        ('{"format": "anonhist/sketch", "version": 1}', "'PATH' is not a sketch that can be read: "),
    ],
)
def test_what_is_no_such_file_is_refused_in_one_sentence(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read(path)
    assert reason.replace("PATH", str(path)) in str(caught.value)


def test_tables_of_others_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"count": [1], "prevalence": [2]}), path)
    with pytest.raises(DataError, match=f"not one of {FORMATS}"):
        read(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="it is not a Parquet file, or a damaged one"):
        read(path)


@pytest.mark.parametrize("key", [b"anonhist/survey", b"anonhist/sketch", b"anonhist/\xff", b"anonhist.\xff"])
def test_tables_that_say_they_are_what_no_table_is_are_refused(tmp_path: Path, key: bytes) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"count": [1]}).replace_schema_metadata({key: "{}"}), path)
    with pytest.raises(DataError, match=r"a\.parquet' is not a .* that can be read: "):
        read(path)


def test_other_endings_are_refused_before_anything_is_read() -> None:
    with pytest.raises(UsageError, match=r"ending in \.json, \.parquet or \.sketch; '\S+/release\.csv' does not"):
        read("nowhere/release.csv")
    with pytest.raises(DataError, match="There is no file"):
        read("nowhere/release.json")


def test_a_file_of_another_kind_is_called_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "survey.json"
    write(KRR(alphabet=["a", "b"], epsilon=1), path)
    with pytest.raises(
        DataError, match=r"survey\.json' is not a release that can be read: its format says that it is a survey\.$"
    ):
        read_release(path)
