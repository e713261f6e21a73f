"""``anonhist count``: private parts, and what other commands make of them."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.formats.releases import read_release
from anonhist.ingest import read_profile
from anonhist.profiles import Profile

Cli = Callable[..., CompletedProcess[str]]
TRUTH = Profile.from_counts([5, 5, 2])
USERS = "user,label\n" + "".join(f"u{number % 7},w{number % 5}\n" for number in range(60))


@pytest.fixture
def parts(cli: Cli, folder: Path) -> Path:
    """Make two parts in the working directory, and parts of users."""
    (folder / "users.csv").write_text(USERS)
    for name in ("mon", "tue"):
        assert cli("count", "events.csv", "-o", f"{name}.counts").returncode == 0
    of_users = ("users.csv", "--label", "label", "--user", "user")
    assert cli("count", *of_users, "--max-per-user", "3", "-o", "u1.counts").returncode == 0
    assert cli("count", *of_users, "--like", "u1.counts", "-o", "u2.counts").returncode == 0
    return folder


def test_a_part_is_private_and_says_so(cli: Cli, folder: Path) -> None:
    done = cli("count", "events.csv", "-o", "mon.counts")
    assert (done.returncode, done.stdout) == (
        0,
        "Wrote mon.counts, which is as sensitive as the data: do not share it.\n",
    )
    # How many rows there are is told to nobody but an operator who watches.
    assert "12" not in done.stdout + done.stderr
    assert stat.S_IMODE((folder / "mon.counts").stat().st_mode) == 0o600
    assert read_profile("mon.counts") == TRUTH
    assert cli("count", "events.csv", "-o", "mon.counts").returncode == 2
    quiet = cli("count", "events.csv", "-o", "mon.counts", "--force", "--quiet", "--part", "x", "--hash-labels")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    assert read_profile("mon.counts") == TRUTH


@pytest.mark.full
def test_parts_are_released_together(cli: Cli, parts: Path) -> None:
    for sources in (("mon.counts", "tue.counts"), ("*e.counts", "mon.counts")):
        done = cli("release", *sources, "--epsilon", "1e9", "-o", "r.json", "--force", "--simulations", "0")
        assert done.returncode == 0, done.stderr
        assert read_profile({"a": 10, "b": 10, "c": 4}, format="counts") == _released(parts / "r.json")
    label = ("--unit", "label", "--max-count", "4")
    assert cli("release", "mon.counts", "--epsilon", "1", *label, "-o", "label.json").returncode == 0
    # What a bound on labels leaves out follows from their counts, which parts hold: 5, 5 and 2 in each.
    excess = ("--epsilon", "9000", "--excess-share", "0.5", *label, "-o", "label.json", "--force")
    done = cli("release", "mon.counts", "tue.counts", *excess)
    assert "left out at least 12 items (95% confidence), of 2 to 2 labels" in done.stdout
    # In the way that the shell does not expand.
    assert cli("estimate", "entropy", "*n.counts", "--quiet").returncode == 0
    assert cli("estimate", "entropy", "mon.counts", "tue.counts", "--epsilon", "1", "--quiet").returncode == 0
    assert cli("curve", "hill", "mon.counts", "tue.counts", "--quiet").returncode == 0
    compared = cli(
        "compare", "mon.counts", "tue.counts", "--epsilon", "1", "--repeats", "2", "--mechanism", "frobenius"
    )
    assert compared.returncode == 0, compared.stderr


def _released(path: Path) -> Profile:
    return read_release(path).profile


@pytest.mark.full
def test_users_of_parts_are_protected_without_a_word(cli: Cli, parts: Path) -> None:
    done = cli("release", "u1.counts", "u2.counts", "--epsilon", "1", "-o", "u.json", "--simulations", "0")
    assert done.returncode == 0, done.stderr
    assert "one user with all their items (at most 3 of them count)" in done.stdout
    released = json.loads((parts / "u.json").read_text())
    assert released["order_key"] == read_profile("u1.counts").order_key
    done = cli("release", "u?.counts", "--max-per-user", "2", "--epsilon", "1", "-o", "v.json", "--simulations", "0")
    assert "one user with all their items (at most 2 of them count)" in done.stdout
    estimated = cli("estimate", "entropy", "u1.counts", "--epsilon", "1", "-o", "-")
    assert "one user with all their items (at most 3 of them count)" in estimated.stdout


@pytest.mark.full
@pytest.mark.usefixtures("parts")
def test_releases_of_parts_are_charged_and_counting_is_not(cli: Cli) -> None:
    account = ("--ledger", "b.db", "--dataset", "log")
    assert cli("budget", "create", "log", "--epsilon", "2", "--unit", "user", "--ledger", "b.db").returncode == 0

    def spent() -> str:
        return cli("budget", "show", "log", "--ledger", "b.db").stdout

    nothing = spent()
    assert cli("count", "u2.counts", "--onto", "u1.counts").returncode == 0
    # What parts say about themselves is public: such errors cost nothing.
    for refused in (("u1.counts", "mon.counts"), ("u1.counts", "u2.counts"), ("u1.counts", "--max-per-user", "9")):
        assert cli("release", *refused, "--epsilon", "1", *account).returncode == 2
    assert spent() == nothing
    done = cli("release", "u1.counts", "--epsilon", "1", "-o", "u.json", *account)
    assert done.returncode == 0, done.stderr
    assert "charged to 'log'" in done.stdout
    assert spent() != nothing


@pytest.mark.full
def test_a_total_grows_by_days(cli: Cli, parts: Path) -> None:
    assert cli("count", "mon.counts", "tue.counts", "-o", "total.counts").returncode == 0
    (parts / "wed.csv").write_text("label\nzebra\nmole\n")
    done = cli("count", "wed.csv", "--label", "label", "--onto", "total.counts", "-o", "new.counts")
    assert (done.returncode, done.stdout.split(",")[0]) == (0, "Wrote new.counts")
    assert read_profile("total.counts").n == 24
    assert read_profile("new.counts") == Profile.from_counts([11, 10, 4, 1])
    assert cli("count", "wed.csv", "--onto", "total.counts").returncode == 0
    assert read_profile("total.counts") == read_profile("new.counts")
    again = cli("count", "wed.csv", "--onto", "total.counts")
    assert again.returncode == 2
    assert again.stderr.startswith(
        "anonhist: The part 'wed' is given twice, on its own or in a total: leave one out or"
    )


REFUSED = {
    "count events.csv": "Name the output: -o FILE.counts, or --onto",
    "count events.csv -o -": "never go to standard output",
    "count events.csv -o a.parquet": "Parts end in .counts",
    "count mon.counts -o a.counts": "One part alone has nothing to be added to",
    "count mon.counts --label x --onto tue.counts": "--label applies to events: leave --label out",
    "count mon.counts --hash-labels --onto tue.counts": "leave --hash-labels out",
    "count events.csv --like mon.counts --onto tue.counts": "--onto takes the settings of its total: leave --like out",
    "count events.csv --onto mon.counts --force": "leave --force out",
    "count events.csv --onto none.counts": "There is no file 'none.counts'",
    "count mon.counts tue.counts -o mon.counts --force": "is the input",
    "count events.csv --max-per-user 3 -o a.counts": "--user and --max-per-user must be given together",
    "count events.csv --order-key 00 -o a.counts": "--order-key is the key of hashes, so it requires --user or --hash",
    "count events.csv --format prevalences -o a.counts": "do not reveal which label has a count",
    "release events.csv users.csv --epsilon 1": "Several sources are read together only if all are parts",
    "release mon.counts users.csv --epsilon 1": "Several sources are read together only if all are parts",
    "release mon.counts --label label --epsilon 1": "--label applies to events: leave it out",
    "release mon.counts --by label --groups a --epsilon 1": "no groups can be made of them",
    "release mon.counts --cumulative-by label --days 2026-11-01..2026-11-02 --thresholds 1 --unit label --max-count 1 "
    "--epsilon 1": "no windows can be made of them",
    "release u1.counts --excess-share 0.1 --epsilon 1": "--excess-share applies to events",
    "release u1.counts --unit item --epsilon 1": "whom a release of them protects: leave --unit out",
    "release u1.counts --unit label --max-count 3 --epsilon 1": "give one of the two",
    "release u1.counts --max-per-user 4 --epsilon 1": "--max-per-user can be at most 3",
    "release mon.counts --max-per-user 4 --epsilon 1": "no users, so the items of a user cannot be bounded",
    "degrees mon.counts --epsilon 1 --unit edge": "is a part, by its ending",
}


@pytest.mark.full
def test_what_is_refused_is_said_in_one_sentence(cli: Cli, parts: Path) -> None:
    before = {path.name: path.read_bytes() for path in parts.glob("*.counts")}
    for typed, sentence in REFUSED.items():
        done = cli(*typed.split())
        assert done.returncode in (2, 3), typed
        assert sentence in done.stderr, (typed, done.stderr)
        assert done.stderr.count("\n") == 1, (typed, done.stderr)
    assert {path.name: path.read_bytes() for path in parts.glob("*.counts")} == before
