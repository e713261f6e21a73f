"""``show --registry``: a record of a release, whole or not at all, with what only a person knows."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]
KNOWN = ("--curator", "City Library", "--curator-type", "nonprofit", "--published", "2026-01-31")


@pytest.fixture(autouse=True)
def _released(cli: Cli, folder: Path) -> None:
    made = ("release", "events.csv", "--epsilon", "0.3", "--mechanism", "frobenius", "--simulations", "2")
    assert cli(*made, "-o", "r.json", "--quiet").returncode == 0
    assert (folder / "r.json").exists()


def test_a_record_is_written_beside_what_is_shown(cli: Cli, folder: Path) -> None:
    done = cli("show", "r.json", "--registry", "record.yaml", *KNOWN)
    assert done.returncode == 0, done.stderr
    assert done.stdout == cli("show", "r.json").stdout + (
        "Wrote record.yaml; left for you to fill in: url_slug, name, intended_use, data_product_region, "
        "registry_authors.\n"
    )
    written = (folder / "record.yaml").read_text(encoding="utf-8")
    record = json.loads(written)
    assert written == json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    told = record["deployment"]
    assert told["basic"]["data_curators"] == [{"data_curator_name": "City Library", "data_curator_type": "Nonprofit"}]
    assert told["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.3}
    assert told["implementation"]["mechanisms"].startswith("frobenius (epsilon=0.3, unit=item, ")
    piped = cli("show", "r.json", "--registry", "-", *KNOWN)
    assert (piped.returncode, piped.stderr) == (0, "")
    assert piped.stdout == written


def test_an_existing_record_is_kept_without_force(cli: Cli, folder: Path) -> None:
    (folder / "record.yaml").write_text("mine")
    done = cli("show", "r.json", "--registry", "record.yaml", *KNOWN)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'record.yaml' exists already; choose another name or overwrite it (--force)" in done.stderr
    assert (folder / "record.yaml").read_text() == "mine"
    assert cli("show", "r.json", "--registry", "record.yaml", "--force", *KNOWN).returncode == 0
    assert (folder / "record.yaml").read_text() != "mine"


@each_of(
    "title",
    [
        'Words: "all"\n    status: "Approved"  # yes',
        "😀 ε \u2028 \x85 \x7f \x1b \\ {[&*!|>%@`",
        "half a sign: \udcff",  # how Python takes a byte that is no text
    ],
)
def test_titles_stay_text(cli: Cli, folder: Path, title: str) -> None:
    own = ("--title", title, "--purpose", "a: b", "--region", "'", "--author", "- me")
    done = cli("show", "r.json", "--registry", "record.yaml", "--force", *KNOWN, *own)
    assert done.stdout.endswith("Wrote record.yaml; left for you to fill in: url_slug.\n"), done.stderr
    written = (folder / "record.yaml").read_text(encoding="utf-8")
    assert cli("show", "r.json", "--registry", "-", *KNOWN, *own).stdout == written
    told = json.loads(written)["deployment"]
    basic = told["basic"]
    assert (basic["name"], basic["intended_use"], basic["data_product_region"]) == (title, "a: b", "'")
    assert told["administrative"] == {"status": "Draft", "registry_authors": ["- me"], "tier": 1}


def test_help_says_what_a_record_is_written_as(cli: Cli) -> None:
    assert "The record is JSON, which is also valid YAML." in " ".join(cli("show", "--help").stdout.split())


@each_of(
    ("options", "said"),
    [
        (("--registry", "r.yaml"), "--registry also needs --curator, --curator-type, --published: the registry"),
        (("--registry", "r.yaml", *KNOWN[:4]), "--registry also needs --published: the registry requires it"),
        (("--registry", "r.yaml", *KNOWN, "--published", "soon"), "--published must be a day such as 2026-01-31"),
        (("--registry", "r.txt", *KNOWN), "end the path in .yaml, not 'r.txt'"),
        (("--registry", "gone/r.yaml", *KNOWN), "The folder of 'gone/r.yaml' does not exist"),
        (("--registry", "r.yaml", *KNOWN, "--group", "x"), "leave --group out"),
        (("--curator", "me"), "--curator requires --registry FILE.yaml"),
        (("--force",), "--force requires --registry FILE.yaml"),
    ],
)
def test_one_sentence_says_what_is_missing(cli: Cli, folder: Path, options: tuple[str, ...], said: str) -> None:
    done = cli("show", "r.json", *options)
    assert (done.returncode != 0, done.stdout) == (True, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == ["events.csv", "r.json"]
