"""``anonhist curve``: CSV in a pipe, a table on a terminal, a page on request, and never silent about privacy."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

import anonhist as ah

Cli = Callable[..., CompletedProcess[str]]
Refusals = Callable[..., list[CompletedProcess[str]]]

_SAID = ["says", "reason"]
_ERRORS = ["standard_error", "sampling_error", "privacy_noise_error"]
_WARNING = "Warning: This curve is not private: it is computed from the exact data."
_CURVES = {
    "rarefaction": ah.properties.rarefaction_curve,
    "guessing": ah.guessing_curve,
    "hill": ah.properties.hill_curve,
}
_OPTIONS = {"rarefaction": {"points": 100}, "guessing": {"points": 100}, "hill": {}}
# Few samples for the band.
_QUICKLY = ("--bootstraps", "5")
_PROFILE = ah.Profile([1, 2, 9, 77], [900, 300, 5, 1])
_KINDS = pytest.mark.parametrize("kind", _CURVES)


@pytest.fixture(autouse=True)
def counts_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Bands are drawn by chance, the same one here.
    generator = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed=5: generator(seed))
    (folder / "x.csv").write_text("count,prevalence\n1,900\n2,300\n9,5\n77,1\n")
    return folder


def _columns(text: str) -> dict[str, list[str]]:
    header, *rows = csv.reader(io.StringIO(text))
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.slow
@_KINDS
def test_a_pipe_gets_every_point(kind: str, cli: Cli) -> None:
    # As many samples as are drawn by default for the quickest, few for the others: the option is that of all kinds.
    few = {} if kind == "guessing" else {"bootstraps": 5}
    done = cli("curve", kind, "x.csv", *(f"--{name}={value}" for name, value in few.items()))
    assert done.returncode == 0
    assert done.stderr.startswith(_WARNING)
    assert done.stderr.count("\n") == 1
    expected = _CURVES[kind](_PROFILE, **_OPTIONS[kind], **few)
    found = _columns(done.stdout)
    assert list(found) == [*expected.header, *_SAID, *_ERRORS]
    says = "interval" if kind == "guessing" else "chance alone"
    assert set(zip(found["says"], found["reason"], strict=True)) == {(says, expected.bias)}
    assert bool(expected.bias) == (kind != "guessing")
    x, value = (np.array(found[name], dtype=float) for name in expected.header[:2])
    assert x == pytest.approx(expected.x)
    assert value == pytest.approx(expected.value, rel=1e-9)
    assert found["kind"] == list(expected.kinds)
    low, high, error, sampling, noise = (np.array(found[name], dtype=float) for name in ("low", "high", *_ERRORS))
    assert (low <= value).all()
    assert (value <= high).all()
    assert (sampling == error).all()
    assert not noise.any()
    assert low == pytest.approx(expected.low, rel=1e-9)
    assert high == pytest.approx(expected.high, rel=1e-9)


@pytest.mark.slow
def test_whole_numbers_are_written_as_such(cli: Cli) -> None:
    far = cli("curve", "rarefaction", "x.csv", "--points", "4", "--draws", "123456789012", *_QUICKLY)
    assert _columns(far.stdout)["draws"][-1] == "123456789012"
    orders = _columns(cli("curve", "hill", "x.csv", "--order", "0:0.5:0.1", *_QUICKLY).stdout)["orders"]
    assert orders == ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]
    listed = cli("curve", "hill", "x.csv", "--order", "0, 1,2.5", *_QUICKLY)
    assert _columns(listed.stdout)["orders"] == ["0", "1", "2.5"]


@pytest.mark.slow
def test_options_reach_the_curve(cli: Cli) -> None:
    found = _columns(cli("curve", "rarefaction", "x.csv", "--draws", "1e3", "--points", "5", *_QUICKLY).stdout)
    assert found["draws"] == ["1", "250", "500", "750", "1000"]
    assert set(found["says"]) == {"chance alone"}
    assert len(_columns(cli("curve", "guessing", "x.csv", "--points", "7", *_QUICKLY).stdout)["guesses"]) == 7
    narrow, wide = (
        _columns(cli("curve", "hill", "x.csv", "--order", "0", "--level", level, "--bootstraps", "99").stdout)
        for level in ("0.5", "0.999")
    )
    for found, quantile in ((narrow, 0.67449), (wide, 3.29053)):
        half = float(found["high"][0]) - float(found["labels"][0])
        assert half == pytest.approx(quantile * float(found["standard_error"][0]), rel=1e-4)


@pytest.mark.slow
@_KINDS
def test_of_a_release_there_is_a_promise_and_two_parts_of_the_error(kind: str, cli: Cli) -> None:
    # The noise of a curve comes from as many runs as those of the release.
    given = ("--epsilon", "0.5", "--simulations", "4")
    assert cli("release", "x.csv", *given, "-o", "r.json").returncode == 0
    piped = cli("curve", kind, "r.json", *_QUICKLY)
    assert (piped.returncode, piped.stderr) == (0, "")
    error, sampling, noise = (np.array(_columns(piped.stdout)[name], dtype=float) for name in _ERRORS)
    assert error == pytest.approx(np.hypot(sampling, noise), rel=1e-8, abs=1e-12)
    assert noise.max() > 0
    told = cli("curve", kind, "r.json", *_QUICKLY, "-o", "r.csv")
    assert "Promise: 0.5-differentially private" in told.stdout
    assert re.search(r"standard errors are largest at .+ from sampling and .+ from privacy\s+noise", told.stdout)
    assert told.stderr == ""


def test_the_warning_cannot_be_silenced(cli: Cli) -> None:
    done = cli("curve", "guessing", "x.csv", "--quiet", "-o", "x2.csv", *_QUICKLY)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith(_WARNING)


@pytest.mark.slow
def test_files_are_written_and_kept(cli: Cli, folder: Path) -> None:
    asked = ("curve", "rarefaction", "x.csv", "--bootstraps", "3", "-o", "out.csv", "--report", "out.html")
    done = cli(*asked)
    assert done.returncode == 0
    assert done.stdout.endswith("Wrote out.csv.\nWrote out.html.\n")
    assert (folder / "out.csv").read_text().startswith("draws,labels,low,high,kind,says,reason,standard_error,")
    page = (folder / "out.html").read_text()
    options = "<span>--bootstraps</span> 3 <span>-o</span> out.csv <span>--report</span> out.html"
    assert f"<pre>anonhist curve rarefaction x.csv {options}</pre>" in page
    for name in ("out.csv", "out.html"):
        (folder / name).write_text("precious")
        again = cli(*asked)
        assert again.returncode == 2
        assert "exists already" in again.stderr
        assert "Warning" not in again.stderr
        assert (folder / name).read_text() == "precious"
        assert cli(*asked, "--force").returncode == 0


@pytest.mark.slow
def test_a_person_gets_a_small_table(terminal: Cli, folder: Path) -> None:
    done = terminal("curve", "rarefaction", "x.csv", "--draws", "99999", *_QUICKLY)
    assert done.returncode == 0
    assert re.search(r"Drawing samples ━* +\d+%", done.stdout)
    lines = [line for line in done.stdout.replace("\r", "\n").split("\n") if "━" not in line]
    rows = [line for line in lines if re.search(r"(interpolated|observed|extrapolated) *$", line)]
    assert 8 <= len(rows) <= 14
    assert [line.split()[:2] for line in rows if "observed" in line] == [["1,622", "1,206"]]
    assert rows[0].split()[0] == "1"
    assert rows[-1].split()[0] == "99,999"
    assert max(map(len, lines)) <= 80
    assert "Warning: There are too many draws" in done.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["events.csv", "x.csv"]


def test_data_are_read_as_by_release(cli: Cli, folder: Path) -> None:
    (folder / "log.csv").write_text("word,who\n" + "a,1\n" * 5 + "a,2\nb,2\nb,3\nb,3\n")
    options = ("--label", "word", "--user", "who", "--max-per-user", "2")
    found = _columns(cli("curve", "rarefaction", "log.csv", *options, *_QUICKLY).stdout)
    assert found["draws"][found["kind"].index("observed")] == "6"


@pytest.mark.slow
@_KINDS
@pytest.mark.parametrize("rows", ["", "7,1\n", "1,1\n", "1,9\n", "1,3\n1000000000000,1000\n"])
def test_odd_data_are_drawn(kind: str, rows: str, cli: Cli, folder: Path) -> None:
    (folder / "odd.csv").write_text("count,prevalence\n" + rows)
    done = cli("curve", kind, "odd.csv", "--bootstraps", "3", "-o", "out.csv", "--report", "out.html")
    assert done.returncode == 0
    assert ("There is no interval: the profile is empty." in done.stdout) == (not rows)
    for text in (done.stdout, (folder / "out.csv").read_text(), (folder / "out.html").read_text()):
        assert not re.search(r"\bnan\b", text)


_WRONG: list[tuple[tuple[str, ...], str]] = [
    (("hill", "--epsilon", "1"), "For a private curve, run 'anonhist release' with --epsilon"),
    (("hill", "--unit", "item"), "There is no --unit here"),
    (("hill", "--draws", "9"), "--draws applies to rarefaction, not to hill"),
    (("hill", "--points", "9"), "--points applies to rarefaction and guessing, not to hill"),
    (("hill", "--of", "data"), "--of applies to guessing, not to hill"),
    (("guessing", "--of", "sample"), "there is no 'sample'; choose one of distribution, data"),
    (("guessing", "--order", "1"), "--order applies to hill, not to guessing"),
    (("rarefaction", "--draws", "0"), "--draws must be a whole number"),
    (("rarefaction", "--points", "3"), "--points must be a whole number from 4"),
    (("guessing", "--points", "1"), "--points must be a whole number from 2"),
    (("guessing", "--points", "1e9"), "--points must be at most 10,000"),
    (("hill", "--bootstraps", "2"), "--bootstraps must be a whole number from 3"),
    (("hill", "--bootstraps", "1e5"), "--bootstraps must be at most 10,000"),
    (("hill", "--level", "1"), "--level must be a number between 0 and 1"),
    (("hill", "--order", "many"), "FIRST:LAST:STEP such as 0:3:0.1, not 'many'"),
    (("hill", "--order", "nan"), "--order must be a list"),
    (("hill", "--order", ""), "--order must be a list"),
    (("hill", "--order", "0:3"), "--order must be a list"),
    (("hill", "--order", "0:3:0"), "must ascend"),
    (("hill", "--order", "3:0:1"), "must ascend"),
    (("hill", "--order", "0:3:1e-99999"), "take a larger step"),
    (("hill", "--order", "1,0"), "--order must be ascending"),
    (("hill", "--order", "0,13"), "--order must be a number from 0 to 12"),
    (("spiral",), "there is no 'spiral'; choose one of rarefaction, guessing, hill"),
    (("hill", "-o", "out.json"), "A curve is written as CSV"),
    (("hill", "--report", "out.pdf"), ".html"),
]


def test_wrong_calls_are_refused_in_a_sentence_before_anything_is_read(refusals: Refusals) -> None:
    assert refusals((("curve", *arguments, "nowhere.csv"), 2, told) for arguments, told in _WRONG) == []


def test_the_input_is_not_replaced(cli: Cli, folder: Path) -> None:
    before = (folder / "x.csv").read_text()
    assert "is the input" in cli("curve", "hill", "x.csv", "-o", "x.csv", "--force").stderr
    assert (folder / "x.csv").read_text() == before


@pytest.mark.slow
def test_where_nothing_is_known_there_is_no_band(cli: Cli) -> None:
    capped = ("--unit", "label", "--max-count", "10", "--epsilon", "1", "--simulations", "2")
    assert cli("release", "x.csv", *capped, "-o", "r.json").returncode == 0
    found = _columns(cli("curve", "guessing", "r.json", *_QUICKLY).stdout)
    why = "counts of 10 or more were merged, so the value is that of capped counts"
    assert set(zip(found["says"], found["reason"], strict=True)) == {("no interval", why)}
    # An error of chance would be taken for one of all.
    assert set(found["standard_error"]) == {""}
    assert "" not in found["sampling_error"]
    told = cli("curve", "guessing", "r.json", *_QUICKLY, "-o", "r.csv", "--report", "r.html").stdout
    assert f"There is no interval: {why}." in " ".join(told.split())
    page = Path("r.html").read_text()
    for wrong in ("no bias)", "meant to hold", "100.0", "100.00"):
        assert wrong not in told, wrong
        assert wrong not in page, wrong
