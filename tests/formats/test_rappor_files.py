"""Files of google/rappor: read as they are written, refused in a sentence that says where they are not."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from anonhist.errors import DataError
from anonhist.local.rappor_counts import RapporParameters, read_rappor
from anonhist_testing.cases import each_of

PARAMS = "k,h,m,p,q,f\n4,2,3,0.25,0.75,0.5\n"
COUNTS = "1000,600,400,400,600\n900,540,360,360,540\n1100,660,440,440,660\n"
# Bits of two hashes in each of three cohorts of four: 1 to 4, 5 to 8, 9 to 12.
MAP = 'v1,1,4,5,8,9,12\n"v, 2",2,2,6,7,10,9\n,3,1,8,5,12,11\n'


def write_files(folder: Path, params: str = PARAMS, counts: str = COUNTS, candidates: str = MAP) -> list[Path]:
    paths = [folder / name for name in ("params.csv", "counts.csv", "map.csv")]
    for path, text in zip(paths, (params, counts, candidates), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def test_files_are_read_as_they_are_written(tmp_path: Path) -> None:
    counts, candidates = read_rappor(*write_files(tmp_path))
    assert counts.parameters == RapporParameters(4, 2, 3, Fraction(1, 4), Fraction(3, 4), Fraction(1, 2))
    assert counts.users.tolist() == [1000, 900, 1100]
    assert counts.bits[2].tolist() == [660, 440, 440, 660]
    assert candidates.candidates == ("v1", "v, 2", "Empty")
    assert candidates.places.T.tolist() == [[0, 3, 0, 3, 0, 3], [1, 1, 1, 2, 1, 0], [2, 0, 3, 0, 3, 2]]
    estimate = counts.estimate(candidates)
    assert estimate.users == 3000
    assert np.isclose(estimate.raw[0], (0.9 - 7 / 16) / (9 / 16))
    assert np.isfinite(estimate.standard_errors).all()


def test_windows_lines_marks_and_empty_lines_do_not_matter(tmp_path: Path) -> None:
    plain, _ = read_rappor(*write_files(tmp_path))
    odd, _ = read_rappor(
        *write_files(tmp_path, "\ufeff" + PARAMS.replace("\n", "\r\n"), "\n" + COUNTS.replace("\n", "\r\n\r\n"), MAP)
    )
    assert (plain.bits == odd.bits).all()
    assert plain.parameters == odd.parameters


@each_of(
    ("name", "text", "said"),
    [
        ("params", "k,h,m\n1,2,3\n", "k,h,m,p,q,f"),
        ("params", "", "k,h,m,p,q,f"),
        ("params", PARAMS.replace("4,2,3", "4.5,2,3"), "whole numbers"),
        ("params", PARAMS.replace("0.25", "nan"), "decimals"),
        ("params", PARAMS.replace("0.25", "-0.25"), "decimals"),
        ("params", PARAMS.replace("0.25", "1e-999999999"), "decimals"),
        ("params", PARAMS.replace("0.25", "1e999999999"), "decimals"),
        ("params", PARAMS.replace("0.25", "0.75"), "carry no information"),
        ("counts", COUNTS.replace("1000,", "1000,1,"), "line 1 has 6 numbers"),
        ("counts", COUNTS.replace("540", "x"), "line 2"),
        ("counts", 4 * COUNTS, "more lines than the 3 cohorts"),
        ("counts", COUNTS.replace("1000", "100"), "reports of its cohort"),
        ("counts", COUNTS.replace("600", "9" * 30), "2\\^63"),
        ("counts", COUNTS.splitlines()[0], "3 cohorts"),
        ("counts", "", "3 cohorts"),
        ("candidates", MAP.replace("8,9", "9,9"), "line 1 a bit"),
        ("candidates", MAP.replace("8,9", "4,9"), "line 1 a bit"),
        ("candidates", MAP.replace("8,9", "9" * 400 + ",9"), "line 1 a bit"),
        ("candidates", MAP.replace("12\n", "12,12\n"), "line 1 has 7"),
        ("candidates", MAP.replace('"v, 2"', "v1"), "twice"),
        ("candidates", MAP + "v9,1,4,5,8,NA,12\n", "line 4"),
        ("candidates", "", "empty"),
        ("candidates", 'v1,"1', "not a CSV"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_rappor(*write_files(tmp_path, **{name: text}))


def test_files_that_are_not_there_or_not_text_are_refused(tmp_path: Path) -> None:
    paths = write_files(tmp_path)
    with pytest.raises(DataError, match=r"nowhere\.csv"):
        read_rappor(paths[0], tmp_path / "nowhere.csv", paths[2])
    paths[2].write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="UTF-8"):
        read_rappor(*paths)
