"""What is wrong is told in one sentence, with an exit code, and leaves nothing behind."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.formats.files import write
from anonhist.local import KRR, OptimizedUnary

Cli = Callable[..., CompletedProcess[str]]
Refusals = Callable[..., list[CompletedProcess[str]]]

SURVEY = KRR(alphabet=["cat", "dog", "emu"], epsilon=1)
NEW = ("new", "--mechanism", "k-rr", "--epsilon", "1")


@pytest.fixture
def files(folder: Path) -> Path:
    write(SURVEY, folder / "survey.json")
    write(KRR(alphabet=["cat", "dog", "emu"], epsilon=1, title="Other"), folder / "other.json")
    reports = SURVEY.randomize(["cat", "dog"] * 50)
    write(reports, folder / "reports.parquet")
    write(SURVEY.tally(reports), folder / "tally.json")
    for name, text in (
        ("words.txt", "cat\ndog\n"),
        ("empty.txt", ""),
        ("lone.txt", "cat\n"),
        ("twice.txt", "cat\ndog\ncat\n"),
        ("gap.txt", "cat\n\ndog\n"),
        ("values.csv", "word,x\ncat,1\nsecret,2\n"),
        ("good.csv", "word\ncat\n"),
        ("missing.csv", "word,x\ncat,1\n,2\n"),
    ):
        (folder / name).write_text(text)
    rows = ("0", "secret", "2", "3")
    (folder / "bad.csv").write_text("survey,report\n" + "".join(f"{SURVEY.digest},{row}\n" for row in rows))
    (folder / "latin.txt").write_bytes("Käse\nBrot\n".encode("latin-1"))
    (folder / "cut.parquet").write_bytes((folder / "reports.parquet").read_bytes()[:-20])
    return folder


CASES: list[tuple[tuple[str, ...], int, str]] = [
    ((*NEW, "--alphabet", "empty.txt"), 3, "The file 'empty.txt' is empty: list the possible values"),
    ((*NEW, "--alphabet", "lone.txt"), 2, "An alphabet needs at least two labels"),
    ((*NEW, "--alphabet", "twice.txt"), 3, "Line 3 of 'twice.txt' repeats an earlier line"),
    ((*NEW, "--alphabet", "gap.txt"), 3, "Line 2 of 'gap.txt' is empty"),
    ((*NEW, "--alphabet", "latin.txt"), 3, "is not UTF-8 text"),
    ((*NEW, "--alphabet", "none.txt"), 3, "There is no file 'none.txt'"),
    ((*NEW, "--alphabet", "words.txt", "--alphabet-size", "3"), 2, "not both"),
    ((*NEW, "--alphabet-size", "1"), 2, "--alphabet-size must be a whole number from 2"),
    ((*NEW, "--alphabet-size", "99999999999"), 2, "--alphabet-size must be a whole number from 2"),
    (
        ("new", "--mechanism", "subset-selection", "--epsilon", "1", "--alphabet-size", "1e9"),
        2,
        "A report would need 1,008,530,329 bytes, and the limit is 2^24",
    ),
    ((*NEW, "--alphabet-size", "many"), 2, "--alphabet-size must be a whole number"),
    ((*NEW, "--alphabet-size", "3", "--other", "x"), 2, "--other requires --alphabet FILE"),
    ((*NEW,), 2, "k-rr also requires --alphabet"),
    (
        (*NEW, "--alphabet-size", "3", "--subset-size", "2"),
        2,
        "k-rr does not take --subset-size; it takes --alphabet",
    ),
    ((*NEW, "--alphabet-size", "3", "--p", "1/2"), 2, "k-rr does not take --p"),
    ((*NEW, "--alphabet-size", "3", "--title", "two\nlines"), 2, "title"),
    ((*NEW, "--alphabet-size", "3", "-o", "a.csv"), 2, "A survey is written as .json"),
    ((*NEW, "--alphabet-size", "3", "-o", "survey.json"), 2, "exists already"),
    ((*NEW[:3], "--alphabet-size", "3"), 2, "Give the privacy budget of a report"),
    ((*NEW[:3], "--alphabet-size", "3", "--epsilon", "0"), 2, "epsilon must be a finite number greater than zero"),
    ((*NEW[:3], "--alphabet-size", "3", "--epsilon", "-1"), 2, "epsilon must be a finite number greater than zero"),
    ((*NEW[:3], "--alphabet-size", "3", "--epsilon", "100"), 2, "epsilon of a survey must lie between"),
    (("new", "--mechanism", "warner", "--epsilon", "1", "--alphabet-size", "5"), 2, "not 5; take k-rr."),
    (("new", "--mechanism", "laplace", "--epsilon", "1"), 2, "there is no 'laplace'; choose one of warner, k-rr"),
    (("randomize", "survey.json", "values.csv", "--label", "word"), 3, "declare a label for all of them (--other)"),
    (("randomize", "survey.json", "values.csv"), 2, "Name the column that holds the labels (--label)"),
    (
        ("randomize", "survey.json", "-"),
        2,
        "one label per line (--format labels), or CSV",
    ),
    (
        ("randomize", "survey.json", "-", "--format", "labels", "--label", "x"),
        2,
        "have no columns: leave out the columns",
    ),
    (("randomize", "survey.json", "-", "--format", "counts"), 2, "there is no 'counts'; choose one of events, labels"),
    (("randomize", "survey.json", "values.csv", "--label", "words"), 3, "There is no column 'words'"),
    (("randomize", "survey.json", "missing.csv", "--label", "word"), 3, "A row has no value in that column"),
    (("randomize", "survey.json", "good.csv", "-o", "a.json"), 2, "Reports are written as .csv"),
    (("randomize", "survey.json", "good.csv", "-o", "good.csv"), 2, "is the input"),
    (("randomize", "survey.json", "good.csv", "-o", "good.csv", "--force"), 2, "is the input"),
    (("randomize", "tally.json", "good.csv"), 3, "'tally.json' is not a survey that can be read"),
    (("randomize", "none.json", "good.csv"), 3, "There is no file 'none.json'"),
    (("tally", "survey.json"), 2, "Missing argument"),
    (("tally", "survey.json", "none.parquet"), 3, "There is no file 'none.parquet'"),
    (("tally", "survey.json", "none.json"), 3, "There is no file 'none.json'"),
    (("tally", "survey.json", "cut.parquet"), 3, "is not a complete Parquet file"),
    (("tally", "survey.json", "reports.parquet", "cut.parquet"), 3, "is not a complete Parquet file"),
    (("tally", "survey.json", "survey.json"), 3, "'survey.json' is not a tally that can be read"),
    (("tally", "other.json", "reports.parquet"), 3, "holds reports of another survey"),
    (("tally", "other.json", "tally.json"), 2, "This tally belongs to another survey"),
    (("tally", "survey.json", "tally.json", "tally.json"), 2, "A file is named twice"),
    (
        ("tally", "survey.json", "bad.csv"),
        3,
        "holds a row that is not a report of this survey: row 2; --skip-bad sets how many to leave out",
    ),
    (("tally", "survey.json", "bad.csv", "--skip-bad", "1"), 3, "row 2; more than 1 such rows. Nothing was counted."),
    (("tally", "survey.json", "bad.csv", "--skip-bad", "-1"), 2, "--skip-bad must be a whole number"),
    (("tally", "survey.json", "good.csv"), 3, "which have the columns survey, report"),
    (("tally", "survey.json", "tally.json", "-o", "tally.json", "--force"), 2, "is the input"),
    (("tally", "survey.json", "tally.json", "-o", "a.csv"), 2, "A tally is written as .json, .parquet"),
    (("estimate", "other.json", "tally.json"), 2, "This tally belongs to another survey"),
    (("estimate", "tally.json", "survey.json"), 3, "'tally.json' is not a survey that can be read"),
    (("estimate", "survey.json", "reports.parquet"), 3, "'reports.parquet' is not a tally that can be read"),
    (("estimate", "survey.json", "tally.json", "--candidates", "twice.txt"), 3, "repeats an earlier line"),
    (("estimate", "survey.json", "tally.json", "--candidates", "empty.txt"), 3, "list the values to estimate"),
    (("estimate", "survey.json", "tally.json", "--candidates", "good.csv"), 2, "A candidate is not in the alphabet"),
    (("estimate", "survey.json", "tally.json", "--decoder", "best"), 2, "there is no 'best'; choose one of projected"),
    (("estimate", "survey.json", "tally.json", "--correction", "none"), 2, "there is no 'none'; choose one of holm"),
    (("estimate", "survey.json", "tally.json", "--shuffled-users", "10"), 2, "--shuffled-users requires --delta"),
    (("estimate", "survey.json", "tally.json", "--delta", "0"), 2, "delta must be a finite number greater than zero"),
    (("estimate", "survey.json", "tally.json", "--top", "0"), 2, "--top must be a whole number"),
    (("estimate", "survey.json", "tally.json", "-o", "a.parquet"), 2, "An estimate is written as .csv, .json"),
    (("estimate", "survey.json", "tally.json", "--report", "a.pdf"), 2, "A report is an HTML page"),
    (("recommend", "--alphabet-size", "1e99", "--epsilon", "1", "--users", "5"), 2, "--alphabet-size must be below"),
    (("recommend", "--alphabet-size", "9", "--epsilon", "1", "--users", "few"), 2, "--users must be a whole number"),
]


def _with_output(words: tuple[str, ...]) -> tuple[str, ...]:
    """Name an output for calls that need one and name none."""
    if "-o" in words or words[0] == "estimate":
        return words
    return (*words, "-o", "out.json" if words[0] in {"new", "tally"} else "out.csv")


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_bad_input_is_one_sentence(refusals: Refusals) -> None:
    calls = ((("local", *_with_output(words)), code, told) for words, code, told in CASES)
    assert refusals(calls, secrets=("secret",)) == []


def test_force_replaces_what_is_there(files: Path, cli: Cli) -> None:
    assert cli("local", *NEW, "--alphabet-size", "3", "-o", "survey.json", "--force").returncode == 0
    assert cli("local", "randomize", "survey.json", "-", "-o", "survey.json", "--force").returncode == 2
    assert files.exists()


@pytest.mark.slow
def test_interrupts_leave_nothing_behind(files: Path, interrupt: Cli) -> None:
    (files / "values.txt").write_text("word\n" + "cat\n" * 1000)
    where = (
        "from anonhist.local.randomizers.closed import KRR\n"
        "KRR._draw = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)"
    )
    done = interrupt(
        "local", "randomize", "survey.json", "values.txt", "--label", "word", "-o", "out.parquet", where=where
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert not [path for path in files.iterdir() if path.name.startswith((".anonhist", "out"))]


@pytest.mark.slow
def test_candidates_may_be_hundreds_of_thousands(files: Path, cli: Cli) -> None:
    survey = OptimizedUnary(alphabet=300_001, epsilon=1)
    write(survey, files / "large.json")
    write(survey.tally(survey.randomize([5] * 3)), files / "large.parquet")
    (files / "many.txt").write_text("".join(f"{number}\n" for number in range(300_000)))
    done = cli(
        "local", "estimate", "large.json", "large.parquet", "--candidates", "many.txt", "-o", "out.csv", "--quiet"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with (files / "out.csv").open() as file:
        assert sum(1 for _ in file) == 300_001
