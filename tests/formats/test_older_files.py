"""Files of versions before 1.0 are refused, each in one sentence that says so."""

from pathlib import Path

import pytest

from anonhist.errors import DataError
from anonhist.formats.files import read
from anonhist.formats.releases import read_release
from anonhist.formats.untrusted import check_version
from anonhist.local.files import read_survey, read_tally
from anonhist_testing.cases import each_of

OLDER = Path(__file__).parent / "older"
FILES = sorted(path.name for path in OLDER.iterdir())
READERS = {"release": read_release, "survey": read_survey, "tally": read_tally}


def test_there_are_such_files() -> None:
    assert {name.partition("-")[0] for name in FILES} == {"release", "sketch", "survey", "tally"}


@each_of("name", FILES)
def test_files_of_before_are_refused_in_one_sentence(name: str) -> None:
    path = OLDER / name
    with pytest.raises(DataError) as caught:
        read(path)
    assert "was written by a version before 1.0, whose files this one does not read" in str(caught.value)
    assert str(caught.value).startswith(f"'{path}' is not a ")
    assert "\n" not in str(caught.value)


def test_a_document_of_before_is_refused_wherever_it_stands() -> None:
    for name in ("anonhist.release", "anonhist", "", None):
        with pytest.raises(DataError, match=r"^its format is not 'anonhist/release'$"):
            check_version({"format": name, "version": 1}, "anonhist/release")


@each_of("name", [name for name in FILES if name.partition("-")[0] in READERS])
def test_so_are_they_by_readers_of_their_own_kind(name: str) -> None:
    with pytest.raises(DataError, match=r"is not a .* that can be read: "):
        READERS[name.partition("-")[0]](OLDER / name)
