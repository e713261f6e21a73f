"""What is wrong is told in one sentence, with an exit code, and leaves every file as it was."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.formats.files import write
from anonhist.privacy import PrivacyUnit
from anonhist.sketches import DomainSketch, HashedSketch

Refusals = Callable[..., list[CompletedProcess[str]]]

WORDS = ("cat", "dog", "emu")
_BUCKETS = ("new", "--buckets", "9", "--epsilon", "1", "-o", "new.sketch")
_ALPHABET = ("new", "--epsilon", "1", "-o", "new.sketch", "--alphabet")
_LIKE = ("new", "--like", "day.sketch", "-o", "new.sketch")
_SECRET = "zebra"  # noqa: S105  # a label


@pytest.fixture
def files(folder: Path) -> Path:
    day = DomainSketch(alphabet=WORDS, epsilon=1)
    write(day, folder / "day.sketch")
    write(day, folder / "copy.sketch")
    write(DomainSketch(alphabet=WORDS[:2], epsilon=1), folder / "fewer.sketch")
    write(DomainSketch(alphabet=WORDS, epsilon=1, unit=PrivacyUnit.user(max_items=2)), folder / "users.sketch")
    write(HashedSketch(buckets=3, epsilon=1, key=b"k"), folder / "hashed.sketch")
    day.clip(5)
    write(day, folder / "clipped.sketch")
    (folder / "cut.sketch").write_bytes((folder / "day.sketch").read_bytes()[:-9])
    (folder / "text.sketch").write_text("pet\ncat\n")
    (folder / "pets.csv").write_text("pet,times,who\ncat,5,u\ndog,1,v\n")
    (folder / "secret.csv").write_text(f"pet,times,who\ncat,-1,u\n{_SECRET},731973,v\n")
    (folder / "words.txt").write_text("cat\ndog\n")
    (folder / "twice.txt").write_text("cat\ndog\ncat\n")
    (folder / "page.html").write_text("")
    return folder


CASES: list[tuple[tuple[str, ...], int, str]] = [
    (("new", "-o", "new.sketch"), 2, "one of --buckets B, --alphabet FILE or --like SKETCH"),
    (("new", "--buckets", "9", "--alphabet", "words.txt", "-o", "new.sketch"), 2, "one of --buckets B"),
    (("new", "--buckets", "9", "-o", "new.sketch"), 2, "such as --epsilon 1; there is no default"),
    (("new", "--buckets", "9", "--epsilon", "1"), 2, "Missing option '-o'"),
    ((*_BUCKETS, "--buckets", "0"), 2, "--buckets must be a whole number"),
    ((*_BUCKETS, "--buckets", "many"), 2, "--buckets must be a whole number"),
    ((*_BUCKETS, "--buckets", "1e10"), 2, "buckets"),
    ((*_BUCKETS, "--epsilon", "0"), 2, "epsilon must be a finite number greater than zero"),
    ((*_BUCKETS, "--epsilon", "1e-20"), 2, "epsilon must be at least"),
    ((*_BUCKETS, "--key", ""), 2, "key"),
    ((*_BUCKETS, "--sampling-rate", "2"), 2, "--sampling-rate must be at most 1"),
    ((*_BUCKETS, "--sampling-rate", "half"), 2, "--sampling-rate"),
    ((*_BUCKETS, "--unit", "user"), 2, "--max-per-user M"),
    ((*_BUCKETS, "--unit", "item", "--max-per-user", "2"), 2, "--unit item protects only items"),
    ((*_BUCKETS, "--max-per-user", "0"), 2, "--max-per-user must be a whole number from 1"),
    ((*_BUCKETS, "--unit", "label"), 2, "'label'"),
    ((*_BUCKETS, "--relation", "swap"), 2, "'swap'"),
    ((*_BUCKETS, "--honest-parties", "2"), 2, "must be given together"),
    ((*_BUCKETS, "--session", "x"), 2, "must be given together"),
    ((*_BUCKETS, "--adversary", "party"), 2, "--adversary requires --honest-parties"),
    ((*_BUCKETS, "--users-in", "one-sketch"), 2, "--users-in requires --max-per-user M"),
    ((*_BUCKETS, "--users-in", "some"), 2, "'some'"),
    ((*_BUCKETS, "--honest-parties", "1", "--session", "x"), 2, "honest"),
    ((*_BUCKETS, "--honest-parties", "some", "--session", "x"), 2, "--honest-parties must be a whole number"),
    ((*_BUCKETS, "--honest-parties", "2", "--session", "a\nb"), 2, "session must be plain text"),
    ((*_BUCKETS, "-o", "new.parquet"), 2, "A sketch is written as .sketch"),
    ((*_BUCKETS, "-o", "day.sketch"), 2, "exists already"),
    ((*_BUCKETS, "-o", "nowhere/new.sketch"), 3, "does not exist"),
    ((*_ALPHABET, "none.txt"), 3, "There is no file 'none.txt'"),
    ((*_ALPHABET, "twice.txt"), 3, "Line 3 of 'twice.txt' repeats an earlier line"),
    ((*_ALPHABET, "words.txt", "--sampling-rate", "1/1000000"), 2, "increase --sampling-rate"),
    ((*_LIKE, "--key", "x"), 2, "--like already sets --key"),
    ((*_LIKE, "--relation", "substitute"), 2, "--like already sets --relation"),
    ((*_LIKE, "--users-in", "one-sketch"), 2, "--like already sets --users-in"),
    ((*_LIKE, "--adversary", "outsider"), 2, "--like already sets --adversary"),
    ((*_LIKE, "--epsilon", "no"), 2, "epsilon must be"),
    ((*_LIKE[:2], "cut.sketch", *_LIKE[3:]), 3, "'cut.sketch' is not a sketch that can be read"),
    ((*_LIKE[:2], "pets.csv", *_LIKE[3:]), 2, "is not a sketch file: name one that ends in .sketch"),
    ((*_LIKE[:3], "-o", "day.sketch", "--force"), 2, "is the input"),
    (("update", "day.sketch"), 2, "SOURCE"),
    (("update", "none.sketch", "pets.csv"), 3, "There is no file 'none.sketch'"),
    (("update", "cut.sketch", "pets.csv"), 3, "'cut.sketch' is not a sketch that can be read"),
    (("update", "text.sketch", "pets.csv"), 3, "'text.sketch' is not a sketch that can be read: it is not an Arrow"),
    (("update", "pets.csv", "pets.csv"), 2, "is not a sketch file: name one that ends in .sketch"),
    (("update", "clipped.sketch", "pets.csv", "--label", "pet"), 2, "before it is unfolded"),
    (("update", "day.sketch", "day.sketch"), 2, "'anonhist sketch merge' adds several"),
    (("update", "day.sketch", "none.csv"), 3, "There is no file 'none.csv'"),
    (("update", "day.sketch", "pets.csv"), 2, "(--label); there are 3 columns (--no-header"),
    (("update", "day.sketch", "pets.csv", "--label", "x"), 3, "no column 'x' to use as label"),
    (("update", "day.sketch", "pets.csv", "--label", "pet", "--count", "x"), 3, "no column 'x' to use as count"),
    (("update", "day.sketch", "pets.csv", "--label", "pet", "--user", "who"), 2, "protects single items"),
    (("update", "users.sketch", "pets.csv", "--label", "pet"), 2, "(--user)"),
    (("update", "users.sketch", "pets.csv", "--label", "pet", "--user", "x"), 3, "no column 'x' to use as user"),
    (("update", "users.sketch", "pets.csv", "secret.csv", "--user", "who"), 2, "may be in several sources"),
    (("update", "day.sketch", "pets.csv", "./pets.csv", "--label", "pet"), 2, "A file is named twice"),
    (("update", "day.sketch", "-", "-"), 2, "A file is named twice"),
    (("update", "day.sketch", "secret.csv", "--label", "pet"), 3, "A label is not in the sketch's domain"),
    (("update", "day.sketch", "secret.csv", "--label", "pet", "--count", "times"), 3, "whole numbers from 0 to 2^63"),
    (("update", "day.sketch", "pets.csv", "secret.csv", "--label", "pet"), 3, "not in the sketch's domain"),
    (("merge", "day.sketch", "-o", "new.sketch"), 2, "Name at least two sketches"),
    (("merge", "day.sketch", "copy.sketch", "-o", "new.sketch"), 2, "share noise"),
    (("merge", "day.sketch", "day.sketch", "-o", "new.sketch"), 2, "share noise"),
    (("merge", "day.sketch", "fewer.sketch", "-o", "new.sketch"), 2, "Only sketches with the same domain"),
    (("merge", "day.sketch", "hashed.sketch", "-o", "new.sketch"), 2, "with 'anonhist sketch new --like SKETCH'"),
    (("merge", "day.sketch", "users.sketch", "-o", "new.sketch"), 2, "protect the same unit"),
    (("merge", "users.sketch", "cut.sketch", "-o", "new.sketch"), 3, "'cut.sketch' is not a sketch"),
    (("merge", "day.sketch", "users.sketch", "-o", "new.json"), 2, "A sketch is written as .sketch"),
    (("merge", "day.sketch", "users.sketch", "-o", "users.sketch"), 2, "is the input"),
    (("merge", "day.sketch", "users.sketch", "-o", "users.sketch", "--force"), 2, "is the input"),
    (("profile", "none.sketch", "-o", "new.json"), 3, "There is no file 'none.sketch'"),
    (("profile", "cut.sketch", "-o", "new.json"), 3, "'cut.sketch' is not a sketch that can be read"),
    (("profile", "clipped.sketch", "-o", "new.json"), 2, "before it is unfolded"),
    (("profile", "day.sketch", "--simulations", "1"), 2, "--simulations must be 0 or a whole number from 2 to 1,000"),
    (
        ("profile", "day.sketch", "--decoder", "magic", "-o", "new.json"),
        2,
        "there is no 'magic'; choose one of empirical-bayes",
    ),
    (("profile", "day.sketch", "-o", "new.html"), 2, "use --report FILE.html"),
    (("profile", "day.sketch", "-o", "new.txt"), 2, ".csv, .json, .parquet"),
    (("profile", "day.sketch", "-o", "new.json", "--report", "new.pdf"), 2, ".html"),
    (("profile", "day.sketch", "-o", "new.json", "--report", "page.html"), 2, "exists already"),
    (("info", "none.sketch"), 3, "There is no file 'none.sketch'"),
    (("info", "pets.csv"), 2, "is not a sketch file: name one that ends in .sketch"),
    (("info", "cut.sketch"), 3, "'cut.sketch' is not a sketch that can be read"),
]


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_what_is_wrong_is_told_in_one_sentence(refusals: Refusals) -> None:
    calls = ((("sketch", *arguments), code, told) for arguments, code, told in CASES)
    assert refusals(calls, secrets=(_SECRET, "731973")) == []
