"""``anonhist collect``: collections are described, or refused in a sentence, and the client is written as shipped."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import anonhist as ah

Cli = Callable[..., CompletedProcess[str]]
DAY = "--last-day", "2026-12-31"
CLIENT = Path(ah.local.__file__).parent / "client"


@pytest.fixture
def survey(tmp_path: Path) -> str:
    ah.local.KRR(alphabet=["bus", "car"], epsilon="1/2", title="Modes").save(tmp_path / "survey.json")
    ah.local.LocalHashing(epsilon=1).save(tmp_path / "open.json")
    return str(tmp_path / "survey.json")


def test_a_collection_is_described_and_explained(cli: Cli, survey: str, tmp_path: Path) -> None:
    target = tmp_path / "collection.json"
    done = cli("collect", "new", survey, "--answers", "once", *DAY, "-o", str(target))
    assert (done.returncode, done.stderr) == (0, "")
    written = ah.read(target)
    assert written == ah.local.Collection(survey=ah.read(survey), answers="once", last_day="2026-12-31")
    assert written.guarantee.sentence in done.stdout
    assert f"Digest, to be named by pages: {written.digest}\n" in done.stdout
    assert "Caution: Whoever answers again" in done.stdout
    # In a pipe, the file itself.
    assert cli("collect", "new", survey, "--answers", "once", *DAY).stdout == target.read_text(encoding="utf-8")


def test_batches_and_candidates_are_options(cli: Cli, survey: str, tmp_path: Path) -> None:
    (tmp_path / "candidates.txt").write_text("bus\ncar\n", encoding="utf-8")
    batches = "--batch", "1000", "--honest", "500", "--delta", "1e-6"
    given = survey.replace("survey", "open"), "--candidates", str(tmp_path / "candidates.txt"), "--keep-ids", "30"
    done = cli("collect", "new", *given, "--answers", "7", *DAY, *batches, "-o", str(tmp_path / "c.json"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "Toward those who see only batches: " in done.stdout
    assert ah.read(tmp_path / "c.json") == ah.local.Collection(
        survey=ah.read(tmp_path / "open.json"),
        answers=7,
        candidates=["bus", "car"],
        last_day="2026-12-31",
        shown=ah.local.Batches(users=1000, honest=500, delta="1e-6"),
        keep_ids=30,
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--answers", "twice", *DAY), "--answers"),
        (("--answers", "0", *DAY), "--answers"),
        (("--answers", "once", "--last-day", "tomorrow"), "last-day"),
        (("--answers", "once", *DAY, "--batch", "100"), "--batch, --honest and --delta"),
        (("--answers", "once", *DAY, "--batch", "9", "--honest", "10", "--delta", "1e-6"), "can be honest"),
        (("--answers", "once", *DAY, "--keep-ids", "0"), "keep-ids"),
        (("--answers", "once", *DAY, "-o", "collection.csv"), "written as .json"),
        (("--answers", "once"), "--last-day"),
        (DAY, "--answers"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(cli: Cli, survey: str, options: tuple[str, ...], sentence: str) -> None:
    done = cli("collect", "new", survey, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") <= 2


def test_the_client_is_written_as_it_is_shipped(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "static"
    done = cli("collect", "client", "-o", str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    for path in CLIENT.iterdir():
        assert (folder / path.name).read_bytes() == path.read_bytes()
        assert f"Wrote {folder / path.name}.\n" in done.stdout
    collection = ah.read(folder / "try.json")
    assert isinstance(collection, ah.local.Collection)
    assert f'const DIGEST = "{collection.digest}";' in (folder / "try.js").read_text(encoding="utf-8")
    assert json.loads((folder / "package.json").read_text(encoding="utf-8"))["type"] == "module"
    again = cli("collect", "client", "-o", str(folder))
    assert (again.returncode, again.stdout) == (2, "")
    assert "--force" in again.stderr
    assert cli("collect", "client", "-o", str(folder), "--force", "--quiet").stdout == ""


def test_a_folder_that_cannot_be_made_is_refused(cli: Cli, survey: str) -> None:
    done = cli("collect", "client", "-o", f"{survey}/static")
    assert (done.returncode, done.stdout) == (3, "")
    assert "cannot be made" in done.stderr


def test_the_client_is_small() -> None:
    import gzip

    text = (CLIENT / "client.js").read_bytes()
    assert len(gzip.compress(text, 9)) <= 12_000
    for word in (b"Math.random", b"crypto.subtle", b"randomUUID", b"navigator.locks", b"sendBeacon", b"import "):
        assert word not in text.replace(b"because crypto.subtle is missing", b"")
